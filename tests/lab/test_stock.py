"""The environments of a run: built once, a few at a time, and one that cannot be built costs its own cells only."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.errors import HarnessFault
from a2a_lab.lab.stock import BUILDS, FILE, Stock
from a2a_lab.vendors.environments import Environment
from a2a_lab.vendors.registry import find_vendor
from a2a_lab.vendors.vendor import Vendor

NAMES = ("a2a-sdk-1.3", "a2a-sdk-1.3+compat", "a2a-sdk-0.3", "a2a-sdk-0.2", "fasta2a-2.1")


class Builder:
    """Counts builds, and how many ran at once; none ends before `together` of them have begun."""

    def __init__(self, together: int = 1) -> None:
        self.built: list[str] = []
        self.at_once = self.most = 0
        self._lock = threading.Lock()
        self._met = threading.Barrier(together)

    def __call__(self, vendor: Vendor, **how: Any) -> Environment:
        with self._lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        self._met.wait(timeout=30)
        with self._lock:
            self.at_once -= 1
            self.built.append(vendor.environment_name)
        if vendor.environment_name == "a2a-sdk-0.2":
            raise HarnessFault(
                "it was not built: step 'install' ended\nwith a log", step="install", cause="failed", log="x.log"
            )
        return Environment(
            name=vendor.environment_name,
            folder=Path("/nowhere"),
            kind="python",
            runtime="cpython",
            installer="uv",
            seconds=1.5,
            bytes=10,
            built="2026-01-01T00:00:00Z",
            packages=("a==1",),
        )


def test_each_environment_is_built_once_and_a_few_at_a_time() -> None:
    builder = Builder(together=BUILDS)

    async def life() -> list[Environment | BaseException]:
        stock = Stock(ensure=builder)
        return await asyncio.gather(*(stock.get(find_vendor(name)) for name in NAMES * 3), return_exceptions=True)

    found = asyncio.run(life())
    assert sorted(builder.built) == ["a2a-sdk-0.2", "a2a-sdk-0.3", "a2a-sdk-1.3", "fasta2a-2.1"]
    assert builder.most == BUILDS
    faults = [one for one in found if isinstance(one, HarnessFault)]
    assert len(faults) == 3 and {fault.fields["step"] for fault in faults} == {"install"}


def test_a_cell_that_is_cancelled_does_not_take_the_build_along() -> None:
    builder = Builder()

    async def life() -> Environment:
        stock = Stock(ensure=builder)
        impatient = asyncio.create_task(stock.get(find_vendor("fasta2a-2.1")))
        await asyncio.sleep(0)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        return await stock.get(find_vendor("fasta2a-2.1"))

    assert asyncio.run(life()).name == "fasta2a-2.1"
    assert builder.built == ["fasta2a-2.1"]


def test_what_was_built_and_what_was_not_is_written_down(tmp_path: Path) -> None:
    async def life() -> None:
        stock = Stock(ensure=Builder())
        await asyncio.gather(*(stock.get(find_vendor(name)) for name in NAMES), return_exceptions=True)
        stock.write(tmp_path)

    asyncio.run(life())
    told = json.loads((tmp_path / FILE).read_text())
    assert told["fasta2a-2.1"]["packages"] == ["a==1"]
    assert told["a2a-sdk-0.2"] == {
        "problem": "it was not built: step 'install' ended",
        "step": "install",
        "cause": "failed",
        "log": "x.log",
    }

"""The environments of one run: each built once, when a cell first needs it, and a few at a time.

A vendor that cannot be built here costs its own cells, each with the step and the log; the run goes on. What was built,
and what was installed in it, is written beside the records.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import Environment, ensure_environment
from a2a_lab.vendors.vendor import Vendor

BUILDS: Final = 2  # at once: package tools wait for the network most of the time, and unpack for the rest
FILE: Final = "environments.json"

Ensure = Callable[..., Environment]


class Stock:
    """Hands out environments. `say` is told what is being built; `ensure` builds, unless a test puts another there."""

    def __init__(self, say: Callable[[str], None] = lambda _: None, ensure: Ensure = ensure_environment) -> None:
        self._say, self._ensure = say, ensure
        self._building: dict[str, asyncio.Task[Environment]] = {}
        self._few = asyncio.Semaphore(BUILDS)

    async def get(self, vendor: Vendor) -> Environment:
        """The vendor's environment. Raises HarnessFault with `step` and `log`, to each that asks, where it fails."""
        name = vendor.environment_name
        if name not in self._building:
            self._building[name] = asyncio.create_task(self._build(vendor))
        # Shielded: a cell that is cancelled must not take the build from the others.
        return await asyncio.shield(self._building[name])

    def write(self, folder: Path) -> None:
        """Write what was built and what was not into the run's folder."""
        told = {name: _told(task) for name, task in sorted(self._building.items()) if task.done()}
        (folder / FILE).write_text(json.dumps(told, indent=1), encoding="utf-8")

    async def _build(self, vendor: Vendor) -> Environment:
        async with self._few:
            return await _in_thread(lambda: self._ensure(vendor, say=self._say))


async def _in_thread(build: Callable[[], Environment]) -> Environment:
    """Build in a thread that nobody waits for: an interrupted lab leaves at once, and its keeper ends the step."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Environment] = loop.create_future()

    def settle(result: Environment | BaseException) -> None:
        if done.cancelled():
            return
        if isinstance(result, BaseException):
            done.set_exception(result)
        else:
            done.set_result(result)

    def work() -> None:
        try:
            result: Environment | BaseException = build()
        except BaseException as problem:
            result = problem
        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it whoever wanted to know
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=work, name="a2a-lab build", daemon=True).start()
    return await done


def _told(task: asyncio.Task[Environment]) -> dict[str, Any]:
    if task.cancelled():
        return {"problem": "the run ended before it was built"}
    fault = task.exception()
    if fault is not None:
        fields: dict[str, Any] = fault.fields if isinstance(fault, HarnessFault) else {}
        named = {name: value for name, value in fields.items() if name in ("step", "cause", "log")}
        return {"problem": str(fault).splitlines()[0], **named}
    built = task.result()
    return {
        "runtime": built.runtime,
        "installer": built.installer,
        "seconds": built.seconds,
        "bytes": built.bytes,
        "built": built.built,
        "packages": list(built.packages),
    }

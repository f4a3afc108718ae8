"""The bench of simulated agents, one host process a module; and at the very end, which real vendors were met."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vendors.bench import Bench
from tests.vendors.met import MET
from tests.vendors.real import NOT_BUILT


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    try:
        yield made
    finally:
        made.close()


def pytest_unconfigure(config: pytest.Config) -> None:
    """After the last line of the summary: vendors that were not met must not hide among hundreds of skipped tests."""
    met = config.stash.get(MET, None)
    for line in met.told(NOT_BUILT) if met is not None else ():
        config.get_terminal_writer().line(line, bold=True, red=line.startswith("REAL VENDORS NOT"))

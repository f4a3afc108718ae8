"""The bench of simulated agents, one host process a module; and at the very end, which real vendors were met."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vendors.bench import Bench
from tests.vendors.met import MET


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
    for line in met.told() if met is not None else ():
        config.get_terminal_writer().line(line, bold=bool(met and met.lacking), red=line.startswith("REAL VENDOR NOT"))

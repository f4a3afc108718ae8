"""The bench of simulated agents, one host process a module: agents that live on when a lab is killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vendors.bench import Bench


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    try:
        yield made
    finally:
        made.close()

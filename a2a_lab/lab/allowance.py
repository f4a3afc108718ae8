"""How many agent runs one run of the lab may still start at one live agent: counted on disk, asked before each (R37).

The ledger counts, so that two workers, a resumed run and another process of the same run have one budget between them.
A cell is begun only where all that it may cost is left: one that is stopped in the middle shows nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from a2a_lab.core.quoting import counted
from a2a_lab.errors import Withheld
from a2a_lab.ledger import Ledger
from a2a_lab.verdicts import NotGradeable


class Allowance:
    """The budget of one vendor in one run. `most` is its `max_runs`, `where` how a sentence calls its file."""

    def __init__(self, ledger: Ledger, run: str, vendor: str, *, most: int, where: str) -> None:
        self._ledger, self._run, self._vendor = ledger, run, vendor
        self._most, self._where = most, where
        self._promised = 0

    @property
    def left(self) -> int:
        """Agent runs that are neither spent nor promised to a cell under way."""
        return self._most - self._ledger.spent(self._run, self._vendor) - self._promised

    @contextlib.contextmanager
    def promised(self, runs: int) -> Iterator[None]:
        """Hold what a cell may cost for as long as it runs. Raises Withheld where that is not left."""
        if runs > self.left:
            raise self._refused(f"the cell may start {counted(runs, 'agent run')}, with {self.left} left")
        self._promised += runs
        try:
            yield
        finally:
            self._promised -= runs

    async def spend(self) -> None:
        """A message is about to leave. Returns when it is counted on disk; raises Withheld where none is left."""
        if not await asyncio.to_thread(self._ledger.spend, self._run, self._vendor, self._most):
            raise self._refused("all are used")

    def _refused(self, why: str) -> Withheld:
        return Withheld(
            f"not sent: {why} of the {self._most} that {self._where} grants a run (max_runs)",
            word=NotGradeable.HARNESS_ERROR,
            slug="budget-spent",
        )

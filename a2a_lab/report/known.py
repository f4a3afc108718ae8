"""What was known of the cells of a run before it ran, so that a page can be loud about news and fold the rest.

For real vendors that stands in the expectations of their matrix. A simulated agent says in its matrix what enforcing
must name; an agent that says nothing is expected to work. Where the matrix is gone nothing is known or folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from a2a_lab.errors import Misuse
from a2a_lab.lab.expectations import Compared, Outcome, compare_run
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.lab.runmatrix import kept_matrix
from a2a_lab.report.opening import of_pairs

SETTLED = frozenset({Outcome.WORKS, Outcome.AS_EXPECTED})


def compared(run: Run) -> tuple[Sequence[Compared], str]:
    """Each cell of a run of real vendors beside what was expected, and a sentence where that cannot be told."""
    return _compared(_Held(run))


def outcomes(run: Run) -> Mapping[str, Outcome]:
    """How each cell compares with what was known of it, by key; empty where nothing is known of the matrix."""
    if of_pairs(run):
        return {str(one.cell.key): one.outcome for one in compared(run)[0]}
    if run.header.posture != "enforcing":
        return {}  # what a misbehaviour costs who trusts is counted, and written down nowhere
    try:
        agents = kept_matrix(run.folder, run.header).agents
    except Misuse:
        return {}
    expects = {name: frozenset(agent.expects) for name, agent in agents.items()}
    if not any(expects.values()):
        return {}
    return {str(cell.key): _simulated(cell, expects.get(cell.key.agent, frozenset())) for cell in run.cells}


def _simulated(cell: CellRecord, expects: frozenset[str]) -> Outcome:
    if expects <= {finding.slug for finding in cell.findings}:
        return Outcome.WORKS if cell.works else Outcome.AS_EXPECTED if expects else Outcome.UNEXPECTED_FAILURE
    return Outcome.UNEXPECTED_PASS if cell.works else Outcome.FAILS_OTHERWISE


class _Held:
    """A run as the key of a cache: the pieces of one page ask for the same run again and again."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __hash__(self) -> int:
        return hash((self.run.folder, len(self.run.cells)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.run.folder == other.run.folder and self.run.cells == other.run.cells


@lru_cache(maxsize=4)
def _compared(held: _Held) -> tuple[Sequence[Compared], str]:
    try:
        return tuple(compare_run(held.run)), ""
    except Misuse as fault:
        return (), fault.message

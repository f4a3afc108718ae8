"""What the end of a command says of a run's worth: whether it is whole, and whether anything was tested at all (R39).

A run that was interrupted looks like a smaller one, and one in which every cell was skipped like one without news. Both
are told in a sentence on stderr and in the JSON, and nothing tested ends with 2: a gate must not be green for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from a2a_lab.cli import show

if TYPE_CHECKING:
    from a2a_lab.lab.records import Run

NOTHING_TESTED: Final = 2


def json_of(runs: Sequence[Run]) -> dict[str, object]:
    """`complete`, and `missing`: how many planned cells of the runs have no record."""
    from a2a_lab.lab.records import missing_cells

    return {
        "complete": all(run.is_complete for run in runs),
        "missing": sum(len(missing_cells(run)) for run in runs),
    }


def tell_gaps(runs: Iterable[Run]) -> None:
    """Say of each run that is not whole what it lacks, and how it goes on."""
    for run in runs:
        if run.gap:
            show.fail(f"{run.gap}: all figures are of the rest; a2a-lab run --resume {run.folder} goes on with it")


def ended(runs: Sequence[Run], code: int) -> int:
    """How a command ends that would end with `code`: with 2, and why, where a run graded no cell."""
    from a2a_lab.tabulate import ungraded

    for run in runs:
        if not any(cell.is_graded for cell in run.cells):
            why = ", ".join(f"{count} {word}" for word, count in ungraded(run).items()) or "none was run"
            show.fail(f"nothing was tested: no cell of run {run.header.run} could be graded ({why})")
            code = NOTHING_TESTED
    return code

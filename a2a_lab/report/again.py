"""Makes the page of runs that are recorded already: nothing is run, no kernel is started, no agent is asked.

One run of real vendors is a page of its own, as is one run of one posture; two runs, or a run that holds both
postures, are compared. What the page shows is what the same notebooks would show, so that a page can be made again from
a run that somebody sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.bundled import bundled
from a2a_lab.errors import Misuse
from a2a_lab.lab.records import Run, read_run
from a2a_lab.report.inprocess import run_here
from a2a_lab.report.making import PAIRS, POSTURES, Report
from a2a_lab.report.notebooks import join
from a2a_lab.report.opening import MIXED, SIDES, Placed, of_pairs, on_side, two_runs
from a2a_lab.report.render import make_place, write_page


def report_again(folders: Sequence[Path], *, page: Path | None = None, bodies: bool = False) -> Report:
    """The page of one run, or of two compared; without `page` it goes into the folder of the (last) run.

    Raises `Misuse` for another number of runs, `RecordFault` for a folder that holds none.
    """
    if not 1 <= len(folders) <= 2:
        raise Misuse(f"report takes one run, or two to compare; {len(folders)} were named")
    runs = [read_run(folder, allow_cut=True) for folder in folders]
    if len({of_pairs(run) for run in runs}) > 1:
        named = " and ".join(run.header.run for run in runs)
        raise Misuse(f"{named}: one is of real vendors, the other is not; name two of a kind")
    place = page or runs[-1].folder / "page.html"
    make_place(place)
    both = len(runs) == 2 or (runs[0].header.posture == MIXED and not of_pairs(runs[0]))
    notebook, shown = _compared(runs, bodies=bodies) if both else _alone(runs[0], bodies=bodies)
    return Report(page=write_page(notebook, place, now=datetime.now(UTC)), runs=shown)


def _alone(run: Run, *, bodies: bool) -> tuple[Any, dict[str, Run]]:
    name = PAIRS if of_pairs(run) else run.header.posture
    return _notebook(run, bodies=bodies), {name: run}


def _compared(runs: Sequence[Run], *, bodies: bool) -> tuple[Any, dict[str, Run]]:
    """The comparison, then each run in full."""
    given = {"base": str(runs[0].folder), "other": str(runs[-1].folder)}
    first, second = two_runs(**given)
    names = _names(first, second)
    details = []
    for name, run in zip(names, (first, second), strict=True):
        with on_side(name if _is_placed(run) else ""):
            details.append((name.capitalize(), _notebook(run, bodies=bodies)))
    comparison = run_here(bundled("notebooks", "comparison", ".ipynb"), given)
    return join(comparison, details), dict(zip(names, (first, second), strict=True))


def _names(first: Run, second: Run) -> tuple[str, str]:
    postures = (first.header.posture, second.header.posture)
    return postures if set(postures) == set(POSTURES) else SIDES


def _is_placed(run: Run) -> bool:
    return any(isinstance(cell, Placed) for cell in run.cells)


def _notebook(run: Run, *, bodies: bool) -> Any:
    given: dict[str, Any] = {"recorded": str(run.folder), "bodies": bodies}
    if of_pairs(run):
        return run_here(bundled("notebooks", PAIRS, ".ipynb"), given)
    posture = run.header.posture
    if posture in POSTURES:
        given["posture"] = posture
    return run_here(bundled("notebooks", "matrix", ".ipynb"), given)

"""The main job: a matrix in both postures, the comparison, and one page of the three executed notebooks.

The two matrix notebooks run at the same time in kernels of their own, then the comparison reads what they recorded.
While they run, progress is read from the records on disk: what is shown is what is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.bundled import bundled
from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.plan import make_plan
from a2a_lab.lab.records import Run, read_run
from a2a_lab.report.execute import Job, execute, execute_all
from a2a_lab.report.notebooks import join, run_folders
from a2a_lab.report.recorded import Recorded
from a2a_lab.report.render import make_place, write_page
from a2a_lab.tabulate import summary

POSTURES = ("trusting", "enforcing")
PAIRS = "pairs"
"""The notebook of a matrix of real vendors, and what its one run is called."""

Watch = Callable[[Mapping[str, tuple[int, int]]], None]
"""Told now and then how many cells of each posture are recorded, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page and the runs it was made of. `notebooks` is the folder of the executed notebooks."""

    page: Path
    runs: Mapping[str, Run]
    notebooks: Path

    def as_json(self) -> dict[str, Any]:
        """What `report --json` prints."""
        return {
            "page": str(self.page),
            "runs": {posture: str(run.folder) for posture, run in self.runs.items()},
            "summary": {posture: summary(run) for posture, run in self.runs.items()},
        }


def make_report(
    matrix: str = "seven-pairs",
    *,
    page: Path | None = None,
    out: str = "runs",
    transport_timeout_s: float | None = None,
    only: str = "",
    attempts: int = 1,
    bodies: bool = False,
    watch: Watch | None = None,
    now: datetime | None = None,
) -> Report:
    """Run a matrix in both postures, compare, and write the page; without `page` into the folder of the notebooks.

    Raises what the runs raise: `Misuse` for a matrix or parameter that cannot be, `HarnessFault` for the lab's own.
    """
    loaded = Matrix.load(matrix)
    if page is not None:
        make_place(page)
    began = now or datetime.now(UTC)
    if loaded.pairings is not None:
        plan_pairs(loaded, only=only, attempts=attempts)
        parameters = {"matrix": matrix, "out": out, "only": only, "attempts": attempts, "bodies": bodies}
        parameters |= {"transport_timeout_s": transport_timeout_s or 0.0}
        return _pairs_report(parameters, page=page, out=Path(out), watch=watch, began=began)
    make_plan(loaded, only=only, attempts=attempts)  # what cannot be is refused before a kernel starts
    folder = _folder(Path(out), began)
    recorded = Recorded(Path(out))
    parameters = {
        "matrix": matrix,
        "out": out,
        "transport_timeout_s": transport_timeout_s or 0.0,
        "only": only,
        "attempts": attempts,
        "bodies": bodies,
    }
    jobs = [
        Job(
            notebook=bundled("notebooks", "matrix", ".ipynb"),
            output=folder / f"matrix-{posture}.ipynb",
            parameters=parameters | {"posture": posture},
        )
        for posture in POSTURES
    ]
    tick = (lambda: watch(recorded.now())) if watch is not None else None
    details = dict(zip(POSTURES, execute_all(jobs, tick=tick), strict=True))
    runs = {posture: _run_of(notebook) for posture, notebook in details.items()}
    comparison = execute(
        bundled("notebooks", "comparison", ".ipynb"),
        folder / "comparison.ipynb",
        {"base": str(runs["trusting"].folder), "other": str(runs["enforcing"].folder), "out": out},
    )
    joined = join(comparison, [(posture.capitalize(), notebook) for posture, notebook in details.items()])
    written = write_page(joined, page or folder / "page.html", now=datetime.now(UTC))
    return Report(page=written, runs=runs, notebooks=folder)


def _pairs_report(
    parameters: Mapping[str, Any], *, page: Path | None, out: Path, watch: Watch | None, began: datetime
) -> Report:
    """A matrix of real vendors is one run: its consumers have the habits that they have."""
    folder = _folder(out, began)
    recorded = Recorded(out)
    job = Job(notebook=bundled("notebooks", PAIRS, ".ipynb"), output=folder / f"{PAIRS}.ipynb", parameters=parameters)
    tick = (lambda: watch(recorded.now())) if watch is not None else None
    (executed,) = execute_all([job], tick=tick)
    written = write_page(executed, page or folder / "page.html", now=datetime.now(UTC))
    return Report(page=written, runs={PAIRS: _run_of(executed)}, notebooks=folder)


def make_page(
    notebook: str | Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    page: Path | None = None,
    out: str = "runs",
) -> Path:
    """Execute one notebook, bundled by name or by its path, and write its page; gives the page's path.

    Without `page` it goes beside the executed notebook, into a new folder under `out`.
    """
    source = notebook_path(notebook)
    if page is not None:
        make_place(page)
    folder = _folder(Path(out), datetime.now(UTC))
    executed = execute(source, folder / source.name, parameters or {})
    return write_page(executed, page or folder / f"{source.stem}.html", now=datetime.now(UTC))


def notebook_path(notebook: str | Path) -> Path:
    """Where a notebook is: a bundled one by name, any other by its path."""
    path = Path(notebook)
    return path if path.suffix == ".ipynb" else bundled("notebooks", str(notebook), ".ipynb")


def _folder(out: Path, began: datetime) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
        # 0700, as mkdtemp makes it: executed notebooks hold what agents answered (R38).
        return Path(tempfile.mkdtemp(prefix=f"report-{began:%Y%m%dT%H%M%SZ}-", dir=out))
    except OSError as fault:
        raise Misuse(f"cannot write into {out}: {fault.strerror}. Name a writable folder with --out") from fault


def _run_of(notebook: Any) -> Run:
    folders = run_folders(notebook)
    if not folders:
        raise HarnessFault("the matrix notebook names no run; its cell `run` must show show.what_was_run(run)")
    return read_run(folders[-1], allow_cut=True)

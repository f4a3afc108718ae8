"""The main job: run a matrix in both postures side by side, compare them, and write one page.

Each posture is the same notebook in a kernel of its own, so that one cannot disturb the other and every part can be
opened and run again. While they run, progress is read from the records on disk: what is shown is what is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.bundled import bundled
from a2a_lab.core.typed import not_seconds
from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.lab.live_plan import require_credentials
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.plan import make_plan
from a2a_lab.lab.records import Run, read_run
from a2a_lab.report.execute import Job, execute, execute_all
from a2a_lab.report.notebooks import end_of, join, run_folders
from a2a_lab.report.recorded import Recorded, Standing
from a2a_lab.report.render import make_place, write_page
from a2a_lab.tabulate import summary

POSTURES = ("trusting", "enforcing")
PAIRS = "pairs"
"""The notebook of a matrix of real vendors, and what its one run is called."""

Watch = Callable[[Mapping[str, Standing], str], None]
"""Told now and then how far each posture is, and what the lab said last, such as what it is building."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page and the runs it was made of. `notebooks` is the folder of the executed notebooks, if any were executed."""

    page: Path
    runs: Mapping[str, Run]
    notebooks: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """What `report --json` prints."""
        return {
            "page": str(self.page),
            "runs": {name: str(run.folder) for name, run in self.runs.items()},
            "summary": {name: summary(run) for name, run in self.runs.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The page of one notebook, the exit code that it calls for (R39), and in words why."""

    page: Path
    ends: int
    said: str = ""


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
    if transport_timeout_s is not None and (expected := not_seconds(transport_timeout_s)):
        raise Misuse(f"--transport-timeout {transport_timeout_s:g}: expected {expected}")
    loaded = Matrix.load(matrix)
    refuse_timeout(transport_timeout_s)
    if page is not None:
        make_place(page)
    parameters = {"matrix": matrix, "out": out, "only": only, "attempts": attempts, "bodies": bodies}
    parameters |= {"transport_timeout_s": transport_timeout_s or 0.0}
    if loaded.pairings is not None:  # what cannot be is refused before a kernel starts
        require_credentials(plan_pairs(loaded, only=only, attempts=attempts))
    else:
        make_plan(loaded, only=only, attempts=attempts)
    folder = _folder(Path(out), now or datetime.now(UTC))
    if loaded.pairings is not None:
        return _pairs_report(parameters, folder, page=page, out=Path(out), watch=watch)
    jobs = [
        Job(
            notebook=bundled("notebooks", "matrix", ".ipynb"),
            output=folder / f"matrix-{posture}.ipynb",
            parameters=parameters | {"posture": posture},
        )
        for posture in POSTURES
    ]
    details = dict(zip(POSTURES, _watched(jobs, Path(out), watch), strict=True))
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
    parameters: Mapping[str, Any], folder: Path, *, page: Path | None, out: Path, watch: Watch | None
) -> Report:
    """A matrix of real vendors is one run: its consumers have the habits that they have."""
    job = Job(notebook=bundled("notebooks", PAIRS, ".ipynb"), output=folder / f"{PAIRS}.ipynb", parameters=parameters)
    (executed,) = _watched([job], out, watch)
    written = write_page(executed, page or folder / "page.html", now=datetime.now(UTC))
    return Report(page=written, runs={PAIRS: _run_of(executed)}, notebooks=folder)


def _watched(jobs: list[Job], out: Path, watch: Watch | None) -> list[Any]:
    """Execute the notebooks, and tell who watches how far their runs are and what the lab said last."""
    if watch is None:
        return execute_all(jobs)
    recorded, said = Recorded(out), [""]

    def hear(text: str) -> None:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        said[0] = lines[-1] if lines else said[0]

    return execute_all(jobs, tick=lambda: watch(recorded.now(), said[0]), hear=hear)


def make_page(
    notebook: str | Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    page: Path | None = None,
    out: str = "runs",
) -> Made:
    """Execute one notebook, bundled by name or by its path, and write its page.

    Without `page` it goes beside the executed notebook, into a new folder under `out`.
    """
    source = notebook_path(notebook)
    if page is not None:
        make_place(page)
    folder = _folder(Path(out), datetime.now(UTC))
    executed = execute(source, folder / source.name, parameters or {})
    written = write_page(executed, page or folder / f"{source.stem}.html", now=datetime.now(UTC))
    ends, said = end_of(executed)
    return Made(page=written, ends=ends, said=said)


def notebook_path(notebook: str | Path) -> Path:
    """Where a notebook is: a bundled one by name, any other by its path."""
    path = Path(notebook)
    return path if path.suffix == ".ipynb" else bundled("notebooks", str(notebook), ".ipynb")


def refuse_timeout(seconds: float | None) -> None:
    """`Misuse` for a transport timeout that no client could have; None takes the matrix's own."""
    if seconds is not None and (expected := not_seconds(seconds)):
        raise Misuse(f"--transport-timeout {seconds:g}: expected {expected}")


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

"""Reads the records of a run, and refuses what is not one whole run.

The file alone tells: a header first, cells of its plan only and each once, a footer last. A file that merely ends too
early may be read on request, up to its last whole line; everything else that is wrong is a `RecordFault` that names
the line, because a figure counted from damaged records looks like any other figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from a2a_lab.errors import RecordFault
from a2a_lab.lab.rowreading import read_cell, read_footer, read_header
from a2a_lab.lab.rows import CellKey, CellRecord, Footer, Header

RECORDS = "records.jsonl"
RUNS = "runs"  # where the commands put runs, unless told otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All that one run recorded, cells in the order of the plan.

    `cut` says in a sentence what is missing at the end of the file; None when whole.
    """

    folder: Path
    header: Header
    cells: tuple[CellRecord, ...]
    footer: Footer | None
    cut: str | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the writing ended without a footer: the machine, a kill or a full disk ended it."""
        return self.footer is None

    @property
    def is_complete(self) -> bool:
        return self.footer is not None and not self.footer.interrupted

    @property
    def gap(self) -> str:
        """In half a sentence what keeps the run from being whole; empty where nothing does."""
        if self.is_complete:
            return ""
        done = f"{len(self.cells)} of {len(self.header.plan)} cells"
        return self.cut or f"run {self.header.run} was interrupted after {done}"

    @property
    def ended(self) -> str | None:
        return self.footer.ended if self.footer else None

    def select(self, posture: str) -> Run:
        """The part of a mixed run that one posture ran, as a run of its own."""
        cells = tuple(cell for cell in self.cells if cell.key.posture == posture)
        plan = tuple(key for key in self.header.plan if CellKey.parse(key).posture == posture)
        return replace(self, cells=cells, header=replace(self.header, plan=plan, posture=posture))


def missing_cells(run: Run) -> tuple[str, ...]:
    """The keys that were planned and not recorded, in the order of the plan: what `--resume` runs."""
    done = {str(cell.key) for cell in run.cells}
    return tuple(key for key in run.header.plan if key not in done)


def run_folder(given: Path) -> Path:
    """The folder that is meant: as it was given, or that of a run of this id below `runs`, as pages print ids."""
    there = Path(RUNS) / given
    is_id = len(given.parts) == 1 and not given.exists()
    return there if is_id and (there / RECORDS).is_file() else given


def newest_run(out: str | Path, *, posture: str | None = None) -> Path:
    """The folder of the run that started last under `out`, of one posture if given. `RecordFault` where there is none.

    Run ids sort by their start; what is there and is no run is passed over.
    """
    root = Path(out)
    for folder in sorted(root.iterdir() if root.is_dir() else (), key=lambda path: path.name, reverse=True):
        try:
            header = read_run(folder, allow_cut=True).header
        except RecordFault:
            continue
        if posture is None or header.posture in (posture, "mixed"):
            return folder
    what = f"no {posture} run" if posture else "no run"
    raise RecordFault(f"there is {what} under {out}; run a matrix first, or name the folder of a run", out=str(out))


def read_run(folder: str | Path, *, allow_cut: bool = False) -> Run:
    """Read a run from its folder (or the records file itself).

    `RecordFault` for what is no whole run: no records, another schema, a cut last line, no footer, a duplicate cell,
    a cell that was not planned, lines of two runs. With `allow_cut` a file that merely ends too early is read up to
    its last whole line, and `Run.cut` says so.
    """
    path = _records_file(Path(folder))
    header: Header | None = None
    footer: Footer | None = None
    cells: dict[str, CellRecord] = {}
    cut: str | None = None
    for number, (line, whole) in enumerate(_lines(path), 1):
        if not whole:
            cut = f"line {number} of {path} breaks off: the writing was cut"
            break
        kind = line.get("kind")
        try:
            if footer is not None:
                raise RecordFault("something follows the footer: two files were joined, or two runs wrote into one")
            if kind == "header" and header is None:
                header = read_header(line)
                planned = set(header.plan)
            elif header is None:
                raise RecordFault(f"the first line is {kind!r}; expected the header of a run")
            elif kind == "cell":
                cell = read_cell(line)
                if str(cell.key) in cells:
                    raise RecordFault(f"cell {cell.key} is recorded twice; a cell has one result")
                if str(cell.key) not in planned:
                    raise RecordFault(f"cell {cell.key} is not in the plan of run {header.run}: two runs are mixed")
                cells[str(cell.key)] = cell
            elif kind == "footer":
                footer = read_footer(line)
            else:
                raise RecordFault(f"a {kind!r} line after the header: two runs are mixed, or the file was edited")
        except RecordFault as fault:
            raise RecordFault(f"{path}, line {number}: {fault.message}", line=number, **fault.fields) from fault
    if header is None:
        raise RecordFault(f"{path} holds no whole line; the run was cut before its header. Start it again", cut=True)
    recorded = tuple(cells[key] for key in header.plan if key in cells)
    run = Run(folder=path.parent, header=header, cells=recorded, footer=footer, cut=cut)
    return _checked(run, path, allow_cut)


def _checked(run: Run, path: Path, allow_cut: bool) -> Run:
    if run.footer is None:
        told = run.cut or f"{path} has no footer: the run was cut"
        left = len(run.header.plan) - len(run.cells)
        said = f"{told} after {len(run.cells)} of {len(run.header.plan)} cells"
        if not allow_cut:
            raise RecordFault(f"{said}. Finish it with --resume ({left} left), or run it again", cut=True)
        return replace(run, cut=said)
    if run.footer.cells != len(run.cells):
        raise RecordFault(f"{path}: the footer counts {run.footer.cells} cells, the file holds {len(run.cells)}")
    if not run.footer.interrupted and missing_cells(run):
        raise RecordFault(f"{path}: the footer says whole, but {missing_cells(run)[0]} was never recorded")
    return run


def _records_file(folder: Path) -> Path:
    path = folder if folder.name == RECORDS else folder / RECORDS
    if not path.is_file():
        raise RecordFault(
            f"{folder} holds no {RECORDS}; name the folder of a run, such as runs/<run-id>", path=str(path)
        )
    return path


def _lines(path: Path) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Each line and whether it is whole: only a line feed says that a line was written to its end."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                yield {}, False
                return
            try:
                line = json.loads(raw)
            except ValueError as fault:
                raise RecordFault(f"{path}, line {number}: no JSON ({fault}); the file is damaged") from fault
            if not isinstance(line, dict):
                raise RecordFault(f"{path}, line {number}: {line!r:.60} is no record; the file is damaged")
            yield line, True

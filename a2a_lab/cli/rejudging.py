"""`a2a-lab judge RUN`: a stored run judged again, and what would now differ from its records."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from a2a_lab.cli import show
from a2a_lab.lab.records import RECORDS
from a2a_lab.lab.rejudge import CellAgain, RunAgain, rejudge, told


def is_run(path: Path) -> bool:
    """Whether a path is the folder of a run, or its records."""
    return (path / RECORDS).is_file() or (path.name == RECORDS and path.is_file())


def rejudge_command(folder: Path, *, as_json: bool = False, details: bool = False) -> int:
    """Judge a run again, show what differs, and give the exit code: 1 where anything does."""
    again = rejudge(folder)
    if as_json:
        sys.stdout.write(json.dumps(again.as_json(), ensure_ascii=False) + "\n")
    else:
        _show(again, details)
    return again.exit_code


def _show(again: RunAgain, details: bool) -> None:
    for note in again.notes:
        show.say(note)
    shown = [cell for cell in again.cells if details or cell.differs or cell.problem or cell.not_recomputable]
    if shown:
        show.table(
            ["cell", "recorded", "now", "what differs"],
            [[cell.cell, show.word(cell.recorded.value), _now(cell), _why(cell)] for cell in shown],
        )
    kept = sum(not cell.differs and not cell.problem for cell in again.cells)
    problems = sum(bool(cell.problem) for cell in again.cells)
    also = f", {problems} that cannot be judged again" if problems else ""
    show.say(f"run {again.run}: {len(again.differing)} of {len(again.cells)} cells differ, {kept} as recorded{also}")


def _now(cell: CellAgain) -> object:
    return show.word(cell.now.value) if cell.now is not None else "-"


def _why(cell: CellAgain) -> str:
    lines = [cell.problem] if cell.problem else [told(change) for change in cell.changes]
    return "\n".join([*lines, *(f"not recomputable: {decision}" for decision in cell.not_recomputable)])

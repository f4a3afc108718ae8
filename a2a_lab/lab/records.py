"""Writes the records of a run: `records.jsonl` with a header, one line a cell as it ends, and a footer.

A line is on the disk before the next cell counts, and only the footer says that nothing is missing; so a kill at any
point leaves readable records. A writer remembers keys, never cells: memory follows what is in flight. All names that
runners and readers of records need are importable from here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

from a2a_lab.errors import HarnessFault, Misuse, RecordFault
from a2a_lab.lab.rowreading import read_cell
from a2a_lab.lab.rows import (
    SCHEMA,
    CellKey,
    CellRecord,
    Footer,
    Header,
    Measures,
    Orphan,
    Outcome,
    StageRecord,
    VendorRecord,
)
from a2a_lab.lab.runreading import RECORDS, Run, missing_cells, newest_run, read_run

try:  # Windows has none; there nothing keeps two labs from continuing one run
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "RECORDS",
    "SCHEMA",
    "CellKey",
    "CellRecord",
    "Footer",
    "Header",
    "Measures",
    "Orphan",
    "Outcome",
    "Run",
    "RunWriter",
    "StageRecord",
    "VendorRecord",
    "evidence_path",
    "missing_cells",
    "newest_run",
    "read_run",
    "run_id",
]


def run_id(started: datetime, noise: str) -> str:
    """A name for a run that sorts by its start: UTC time and four hexadecimal digits that the caller drew."""
    if started.tzinfo is None or not re.fullmatch(r"[0-9a-f]{4}", noise):
        raise Misuse(f"run_id takes an aware time and four hex digits; got {started!r} and {noise!r}")
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{noise}"


def evidence_path(key: CellKey | str) -> str:
    """Where the evidence of a cell lies, relative to the run's folder. Two cells never share a file."""
    text = str(key)
    plain = re.sub(r"[^A-Za-z0-9.@_+-]", "_", text.replace("/", "--"))
    if plain != text.replace("/", "--") or len(plain) > 150:
        plain = f"{plain[:150]}-{sha256(text.encode()).hexdigest()[:8]}"
    return f"evidence/{plain}.har"


class RunWriter:
    """Appends the lines of one run, each on the disk before `append` returns. Use as a context manager.

    The folder must not hold records yet; `RunWriter.resume` continues what was cut or interrupted. Times come in.
    """

    def __init__(self, folder: str | Path, header: Header) -> None:
        if len(set(header.plan)) != len(header.plan):
            raise Misuse("the plan names a cell twice; a cell has one result")
        self.folder = Path(folder)
        self.header = header
        self._left = dict.fromkeys(header.plan)
        self._done = 0
        path = self.folder / RECORDS
        try:
            (self.folder / "evidence").mkdir(parents=True, exist_ok=True)
            # 0600: what agents answered is other people's data (R38).
            self._open: int | None = _claim(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), self.folder)
        except FileExistsError:
            raise Misuse(f"{path} is there already; choose another folder, or continue the run with --resume") from None
        except OSError as fault:
            raise Misuse(f"cannot write records into {self.folder}: {fault.strerror}. Name a writable folder") from None
        self._write(header.as_json())

    @classmethod
    def resume(cls, folder: str | Path) -> RunWriter:
        """Continue a run that was cut or interrupted. A half line and the old footer go; all cells stay."""
        path = read_run(folder, allow_cut=True).folder / RECORDS
        try:
            claimed = _claim(os.open(path, os.O_RDWR), path.parent)
        except OSError as fault:
            raise Misuse(f"cannot resume in {path.parent}: {fault.strerror}. Make it writable") from None
        run = read_run(folder, allow_cut=True)  # again: until the file was ours, another lab might have been writing
        if run.is_complete:
            os.close(claimed)
            raise Misuse(f"run {run.header.run} is complete; there is nothing to resume")
        writer = cls.__new__(cls)
        writer.folder, writer.header, writer._open = run.folder, run.header, claimed
        writer._left = dict.fromkeys(missing_cells(run))
        writer._done = len(run.cells)
        with path.open("rb") as file:
            kept = sum(len(line) for line, _ in zip(file, range(1 + len(run.cells)), strict=False))
        os.truncate(claimed, kept)
        os.lseek(claimed, 0, os.SEEK_END)
        return writer

    @property
    def left(self) -> tuple[str, ...]:
        """The planned keys that have no record yet, in the order of the plan."""
        return tuple(self._left)

    def append(self, cell: CellRecord | Mapping[str, Any]) -> None:
        """Record one cell, by value or as its JSON form. `RecordFault` if it is there already or was not planned."""
        record = cell if isinstance(cell, CellRecord) else read_cell(cell)
        key = str(record.key)
        if key not in self._left:
            state = "recorded already" if key in self.header.plan else "not planned"
            raise RecordFault(f"cell {key} is {state}; nothing was written", cell=key)
        self._write(record.as_json())
        del self._left[key]
        self._done += 1

    def close(self, *, ended: str, interrupted: bool = False) -> None:
        """Write the footer. A plan with cells left is interrupted, whatever the caller says."""
        self._write(Footer(cells=self._done, ended=ended, interrupted=interrupted or bool(self._left)).as_json())
        self._release()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Without `close` the file stays without a footer, and so reads as cut: nobody said that it is whole."""
        self._release()

    def _release(self) -> None:
        if self._open is not None:
            os.close(self._open)
            self._open = None

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._open is None:
            raise Misuse(f"the records of {self.folder} are closed; nothing can be added")
        rest = memoryview(_dump(line))
        try:
            while rest:
                rest = rest[os.write(self._open, rest) :]
            os.fsync(self._open)
        except OSError as fault:
            # Half a line may be on the disk: adding another one would bury it in the middle, where it reads as damage.
            self._release()
            raise HarnessFault(f"cannot write to {self.folder / RECORDS}: {fault.strerror}") from fault


def _claim(file: int, folder: Path) -> int:
    """Lock an open records file to this process; `Misuse` when another lab holds it."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            raise Misuse(f"another a2a-lab is writing into {folder}; wait for it, or choose another folder") from None
    return file


def _dump(line: Mapping[str, Any]) -> bytes:
    """One line of plain ASCII. A value that JSON has no word for is shown as text: it must not end a run."""
    try:
        text = json.dumps(line, default=str, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError):
        text = json.dumps(_without_nan(line), default=str, separators=(",", ":"))
    return text.encode("ascii") + b"\n"


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _without_nan(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(member) for member in value]
    return str(value) if isinstance(value, float) and (value != value or abs(value) == float("inf")) else value

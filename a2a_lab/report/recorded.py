"""Counts what runs have recorded while they are running: what is shown is what is kept.

Each look reads only the lines that were added since the last one, so watching a long run costs what it writes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from a2a_lab.errors import RecordFault
from a2a_lab.lab.records import RECORDS
from a2a_lab.lab.rowreading import read_header


@dataclass(slots=True)
class _Seen:
    posture: str
    planned: int
    done: int
    read: int  # bytes, up to the end of a whole line


class Recorded:
    """The runs that begin under a folder from now on."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._before = set(out.glob(f"*/{RECORDS}"))
        self._seen: dict[Path, _Seen] = {}

    def now(self) -> dict[str, tuple[int, int]]:
        """Cells recorded and planned, by posture."""
        told: dict[str, tuple[int, int]] = {}
        for path in sorted(set(self._out.glob(f"*/{RECORDS}")) - self._before):
            seen = self._look(path)
            if seen is not None:
                done, planned = told.get(seen.posture, (0, 0))
                told[seen.posture] = (done + seen.done, planned + seen.planned)
        return told

    def _look(self, path: Path) -> _Seen | None:
        try:
            with path.open("rb") as file:
                if path not in self._seen:
                    first = file.readline()
                    header = read_header(json.loads(first))
                    self._seen[path] = _Seen(header.posture, len(header.plan), 0, len(first))
                seen = self._seen[path]
                file.seek(seen.read)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    seen.read += len(line)
                    seen.done += line.startswith(b'{"kind":"cell"')
        except (OSError, ValueError, RecordFault):
            return None  # just being written; the next look will see it
        return seen

"""Counts what runs have recorded while they are running: what is shown is what is kept.

Each look reads only the lines that were added since the last one, so watching a long run costs what it writes. Cells
start in the order of the plan, so the first that is planned and not recorded is what the run is waiting for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from a2a_lab.errors import RecordFault
from a2a_lab.lab.records import RECORDS
from a2a_lab.lab.rowreading import read_header


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a run is: cells recorded, cells planned, and the key of the cell it is waiting for, empty at the end."""

    done: int
    planned: int
    waiting: str = ""


@dataclass(slots=True)
class _Seen:
    posture: str
    left: dict[str, None]  # planned and not recorded, in the order of the plan
    planned: int
    read: int  # bytes, up to the end of a whole line


class Recorded:
    """The runs that begin under a folder from now on."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._before = set(out.glob(f"*/{RECORDS}"))
        self._seen: dict[Path, _Seen] = {}

    def now(self) -> dict[str, Standing]:
        """How far each posture is."""
        told: dict[str, Standing] = {}
        for path in sorted(set(self._out.glob(f"*/{RECORDS}")) - self._before):
            seen = self._look(path)
            if seen is not None:
                told[seen.posture] = Standing(
                    done=seen.planned - len(seen.left), planned=seen.planned, waiting=next(iter(seen.left), "")
                )
        return told

    def _look(self, path: Path) -> _Seen | None:
        try:
            with path.open("rb") as file:
                if path not in self._seen:
                    first = file.readline()
                    header = read_header(json.loads(first))
                    self._seen[path] = _Seen(header.posture, dict.fromkeys(header.plan), len(header.plan), len(first))
                seen = self._seen[path]
                file.seek(seen.read)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    seen.read += len(line)
                    if line.startswith(b'{"kind":"cell"'):
                        seen.left.pop(json.loads(line)["cell"], None)
        except (OSError, ValueError, RecordFault):
            return None  # just being written; the next look will see it
        return seen

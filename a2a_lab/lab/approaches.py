"""How the consumers of a run came to their messages: one row a consumer, from the evidence of all its cells.

For whoever compares orchestrators: in which order cards are fetched, agents chosen and payloads sent, how often a card
is asked for, what a second message stands on, what became of a tenant, and what was proven when the payload left. Reads
a run that is over; the consumer's own program is believed in one thing only, when it chose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final

from a2a_lab.core.policy import Policy
from a2a_lab.errors import RecordFault
from a2a_lab.judge.steps import Approach, approach
from a2a_lab.judge.visit import Visit
from a2a_lab.lab.pair_recall import closing_digest, foreign, read_beside
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.net.evidence import read_har

COLUMNS: Final = (
    "consumer",
    "order",
    "card GETs",
    "ms to the commit",
    "second message",
    "tenant",
    "known at the commit",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One consumer. `served` are the digests that the agent's card had at the end, a cell each, None where unknown."""

    consumer: str
    cells: tuple[CellRecord, ...]
    approaches: tuple[Approach, ...]
    served: tuple[str | None, ...]

    @property
    def steps(self) -> list[str]:
        """The steps of the cell that took the median time, each with its milliseconds."""
        waits = [one.commit_ms or 0.0 for one in self.approaches]
        typical = min(self.approaches, key=lambda one: abs((one.commit_ms or 0.0) - median(waits)))
        return [f"{step.at_ms:.0f} ms {step.what}: {step.told}" for step in typical.steps]

    @property
    def second(self) -> str:
        """What the second message stood on: a card fetched anew, or an old one, and whether that still held."""
        told = Counter(_second(one, served) for one, served in zip(self.approaches, self.served, strict=True))
        return _counted({name: count for name, count in told.items() if name})

    def row(self) -> list[str | int]:
        """The values of `COLUMNS`."""
        looks = sorted({one.looks for one in self.approaches})
        return [
            self.consumer,
            _counted(Counter(one.order for one in self.approaches)),
            "–".join(str(count) for count in dict.fromkeys((looks[0], looks[-1]))),
            round(median(one.commit_ms or 0.0 for one in self.approaches)),
            self.second or "sent one only",
            _counted(Counter(one.turns[0].tenant for one in self.approaches if one.turns)),
            _counted(Counter(", ".join(one.turns[0].known) for one in self.approaches if one.turns)),
        ]

    def as_json(self) -> dict[str, Any]:
        """The row, and every cell with its steps and messages."""
        return {
            **dict(zip(COLUMNS, self.row(), strict=True)),
            "cells": [
                {"cell": str(cell.key), "order": one.order, "card_at_the_end": served, **asdict(one)}
                for cell, one, served in zip(self.cells, self.approaches, self.served, strict=True)
            ],
        }


def ways_of(run: Run) -> list[Way]:
    """A way each of the watched consumers that sent anything, by name. Cells without evidence are left out."""
    found: dict[str, list[tuple[CellRecord, Approach, str | None]]] = {}
    for cell in run.cells:
        seen = _seen(run, cell)
        if seen is not None and seen[0].commit_ms is not None:
            found.setdefault(cell.key.consumer, []).append((cell, *seen))
    return [
        Way(
            consumer=name,
            cells=tuple(cell for cell, _, _ in seen),
            approaches=tuple(one for _, one, _ in seen),
            served=tuple(served for _, _, served in seen),
        )
        for name, seen in sorted(found.items())
    ]


def _seen(run: Run, cell: CellRecord) -> tuple[Approach, str | None] | None:
    if cell.evidence is None or cell.key.posture != "foreign":
        return None
    path = run.folder / cell.evidence
    try:
        exchanges = read_har(path)
    except RecordFault:
        return None
    try:
        account = read_beside(path).account
    except RecordFault:  # a run of before, or one that was taken elsewhere without it
        account = None
    served = closing_digest(exchanges, Policy())
    return approach(Visit(foreign(exchanges), policy=Policy()), account), served


def _second(one: Approach, served: str | None) -> str:
    """In a clause; empty where there was no second message."""
    if len(one.turns) < 2:
        return ""
    first, second = one.turns[:2]
    if second.digest is None:
        return "no card"
    if second.looks:
        again = f"fetched again ({second.looks} GETs)" if second.looks > 1 else "fetched again"
        told = again + (", revalidating" if second.conditional else "")
    else:
        told = "kept"
    if first.digest != second.digest:
        return f"{told}, the new card"
    return f"{told}, while the agent's changed" if served not in (None, second.digest) and not second.looks else told


def _counted(told: Iterable[str] | dict[str, int]) -> str:
    """The clauses, the most frequent first, with how often where there are several."""
    ordered: Sequence[tuple[str, int]] = Counter(told).most_common()
    return ordered[0][0] if len(ordered) == 1 else "; ".join(f"{name} (in {count})" for name, count in ordered)

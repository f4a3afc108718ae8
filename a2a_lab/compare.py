"""Compares two runs pair by pair: newly failing, newly passing, changed, flaky, missing, new.

Pairs are joined by the *names* of agent and consumer, with binding, version, scenario and posture; the vendors' own
versions and card digests are attributes, so that an upgrade lines up with what it replaced (R36). A pair that either
run could not grade is neither better nor worse, and is listed as such. Reads records only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from a2a_lab.errors import RecordFault
from a2a_lab.lab.records import CellRecord, Measures, Run
from a2a_lab.tabulate import pairs


class Change(StrEnum):
    """What became of one pair between two runs, the loudest first."""

    NEWLY_FAILING = "newly failing"
    NEWLY_PASSING = "newly passing"
    FLAKY = "flaky"
    CHANGED = "changed"
    NOT_GRADED = "not graded"
    MISSING = "missing"
    NEW = "new"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The attempts of one pair in one run."""

    cells: tuple[CellRecord, ...]

    @property
    def graded(self) -> tuple[CellRecord, ...]:
        return tuple(cell for cell in self.cells if cell.is_graded)

    @property
    def working(self) -> int:
        return sum(cell.works for cell in self.graded)

    @property
    def is_flaky(self) -> bool:
        """Whether attempts of the same run differ in whether they work."""
        return 0 < self.working < len(self.graded)

    @property
    def told(self) -> str:
        """`hint`, or `3/5 hint, hang` where there were several attempts."""
        words = ", ".join(dict.fromkeys(cell.verdict.value for cell in self.cells))
        return words if len(self.cells) == 1 else f"{self.working}/{len(self.graded)} {words}"

    def largest(self, measure: str) -> float:
        return max((float(getattr(cell.measures, measure)) for cell in self.graded), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChange:
    """One pair in both runs. `details` says in short phrases what differs, base first."""

    pair: tuple[str, ...]
    change: Change
    base: Side | None
    other: Side | None
    details: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "pair": "/".join(self.pair),
            "change": self.change.value,
            "base": self.base.told if self.base else None,
            "other": self.other.told if self.other else None,
            "details": list(self.details),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs beside each other; pairs in the order of the base run, new ones last."""

    base: Run
    other: Run
    changes: tuple[PairChange, ...]
    vendors: tuple[str, ...] = ()

    def of(self, change: Change) -> tuple[PairChange, ...]:
        return tuple(row for row in self.changes if row.change is change)

    @property
    def regressions(self) -> tuple[PairChange, ...]:
        """What a gate stops for: pairs that worked in every attempt and now work in none."""
        return self.of(Change.NEWLY_FAILING)

    @property
    def left_out(self) -> tuple[PairChange, ...]:
        """Pairs that only one of the runs has."""
        return self.of(Change.MISSING) + self.of(Change.NEW)

    @property
    def is_conclusive(self) -> bool:
        """Whether each pair of the base run was graded again. If not, no regression found proves little."""
        return not self.of(Change.MISSING) and not self.of(Change.NOT_GRADED)

    def as_json(self) -> dict[str, Any]:
        return {
            "base": self.base.header.run,
            "other": self.other.header.run,
            "counts": {change.value: len(self.of(change)) for change in Change},
            "conclusive": self.is_conclusive,
            "vendors": list(self.vendors),
            "changes": [row.as_json() for row in self.changes if row.change is not Change.SAME],
        }


def compare(base: Run, other: Run, *, across_postures: bool = False) -> Comparison:
    """Compare two runs. With `across_postures` the posture is left out of the join: trusting against enforcing.

    `RecordFault` where the two share no pair at all, because then every figure would compare nothing with nothing.
    """
    axes = 5 if across_postures else 6
    ours, theirs = _sides(base, axes), _sides(other, axes)
    if not ours.keys() & theirs.keys():
        raise _nothing_shared(base, other, across_postures)
    shared = [pair for pair in ours if pair in theirs]
    told = _vendors(base, other, [ours[pair] for pair in shared], [theirs[pair] for pair in shared])
    rows = [_change(pair, ours.get(pair), theirs.get(pair)) for pair in dict.fromkeys([*ours, *theirs])]
    return Comparison(base=base, other=other, changes=tuple(rows), vendors=tuple(told))


def _sides(run: Run, axes: int) -> dict[tuple[str, ...], Side]:
    grouped: dict[tuple[str, ...], list[CellRecord]] = {}
    for pair, cells in pairs(run.cells).items():
        grouped.setdefault(pair[:axes], []).extend(cells)
    return {pair: Side(cells=tuple(cells)) for pair, cells in grouped.items()}


def _nothing_shared(base: Run, other: Run, across_postures: bool) -> RecordFault:
    told = [f"{run.header.run} (matrix {run.header.matrix}, posture {run.header.posture})" for run in (base, other)]
    if not across_postures and _sides(base, 5).keys() & _sides(other, 5).keys():
        remedy = "they differ in posture only: compare runs of one posture, or compare across postures"
    else:
        remedy = "expected at least one agent and consumer of the same names, binding, version and scenario in both"
    return RecordFault(f"runs {told[0]} and {told[1]} have no pair in common; {remedy}")


def _change(pair: tuple[str, ...], base: Side | None, other: Side | None) -> PairChange:
    if base is None or other is None:
        change = Change.NEW if base is None else Change.MISSING
        return PairChange(pair=pair, change=change, base=base, other=other)
    details = tuple(_details(base, other))
    if not base.graded or not other.graded:
        same = {cell.verdict for cell in base.cells} == {cell.verdict for cell in other.cells}
        change = Change.SAME if same else Change.NOT_GRADED
        return PairChange(pair=pair, change=change, base=base, other=other)
    if base.is_flaky or other.is_flaky:
        change = Change.FLAKY
    elif bool(base.working) != bool(other.working):
        change = Change.NEWLY_FAILING if base.working else Change.NEWLY_PASSING
    else:
        change = Change.CHANGED if details else Change.SAME
    return PairChange(pair=pair, change=change, base=base, other=other, details=details)


_COUNTED = {
    "renegotiation_cycles": "renegotiation cycles",
    "refused_sends": "refused payload sends",
    "orphaned_artifacts": "orphaned artifacts",
    "orphaned_tasks": "orphaned tasks",
    "hangs": "hangs",
}
# Times and request counts differ between any two runs; they are shown beside a change and never make one.


def _details(base: Side, other: Side) -> list[str]:
    told = []
    if base.told != other.told:
        told.append(f"{base.told} → {other.told}")
    for name, ours, theirs in (
        ("errors", _words(base, "errors"), _words(other, "errors")),
        ("held", _flags(base, "held"), _flags(other, "held")),
        ("delivered", _flags(base, "delivered"), _flags(other, "delivered")),
        ("authority", _text(base, "standing"), _text(other, "standing")),
        ("mode", _text(base, "mode"), _text(other, "mode")),
    ):
        if ours != theirs and "not examined" not in (ours, theirs):
            told.append(f"{name} {ours} → {theirs}")
    for measure, name in _COUNTED.items():
        before, after = base.largest(measure), other.largest(measure)
        if before != after:
            told.append(f"{name} {before:g} → {after:g}")
    return told


def _words(side: Side, name: str) -> str:
    return ", ".join(sorted({word for cell in side.cells for word in getattr(cell, name)})) or "none"


def _text(side: Side, name: str) -> str:
    return ", ".join(sorted({str(getattr(cell, name) or "none") for cell in side.graded}))


def _flags(side: Side, name: str) -> str:
    words = {True: "yes", False: "no", None: "untested"}
    return "/".join(sorted({words[_flag(cell.measures, name)] for cell in side.graded}))


def _flag(measures: Measures, name: str) -> bool | None:
    value: bool | None = getattr(measures, name)
    return value


def _vendors(base: Run, other: Run, ours: Iterable[Side], theirs: Iterable[Side]) -> list[str]:
    """What the same names stood for, where that differs: the first thing to look at after an upgrade.

    Cards are compared where both runs saw one in the pairs that both have (`ours` and `theirs`): of an agent that one
    of them did not get to, nothing is known.
    """
    told, before_cards, after_cards = [], _cards(base, ours), _cards(other, theirs)
    for name, before in base.header.vendors.items():
        after = other.header.vendors.get(name)
        if after is None:
            continue
        if before.version != after.version:
            told.append(f"{name} {before.version} → {after.version}")
        was, now = before_cards.get(name), after_cards.get(name)
        if was and now and was != now:
            told.append(f"the card of {name} changed")
    return told


def _cards(run: Run, sides: Iterable[Side]) -> dict[str, set[str]]:
    """By agent the digests of the cards that it showed, without its own origin: another port is no change.

    Where no cell has one, that of the run's header counts.
    """
    seen: dict[str, set[str]] = {}
    for cell in (cell for side in sides for cell in side.cells):
        digests = seen.setdefault(cell.key.agent, set())
        if cell.portable_digest:
            digests.add(cell.portable_digest)
    for name, digests in seen.items():
        if not digests and (listed := run.header.vendors[name].portable_digest):
            digests.add(listed)
    return seen

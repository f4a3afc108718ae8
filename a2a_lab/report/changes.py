"""What became of each pair between two runs, as a table: the loudest change first, the unchanged ones counted."""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab.compare import Change, Comparison, PairChange, Side
from a2a_lab.report.chips import chip, link
from a2a_lab.report.html import LONG, Html, escape, join, plural, tag
from a2a_lab.report.table import Prose, Sorted, Value, table


def changes_table(comparison: Comparison) -> Html:
    """What became of each pair; pairs that are the same in both runs are counted below the table."""
    words = {change: change.value for change in Change}
    told = ""
    if comparison.base.header.posture != comparison.other.header.posture:
        words |= {Change.NEWLY_FAILING: "caught", Change.NEWLY_PASSING: "rescued"}
        told = " ".join(_meaning(comparison, change) for change in words if comparison.of(change)).strip()
    rows = [row for change in Change for row in comparison.of(change) if change is not Change.SAME]
    same = len(comparison.of(Change.SAME))
    sides = [run.header.posture for run in (comparison.base, comparison.other)]
    if len(set(sides)) == 1:
        sides = ["before", "after"]
    shown = table(
        "changes",
        ["pair", "change", *sides, "what differs"],
        (
            (
                [cell for side in (row.base, row.other) if side for cell in side.cells],
                [
                    _pair(row.pair),
                    Sorted(tag("span", words[row.change], class_=f"kind c-{row.change.name}"), order),
                    *(_side(side) for side in (row.base, row.other)),
                    Prose(escape("; ".join(_beside(row)), cap=LONG)),
                ],
            )
            for order, row in enumerate(rows)
        ),
    )
    told += f" The same in both runs: {same} of {plural(len(comparison.changes), 'pair')}."
    return join([shown if rows else None, tag("p", told.strip(), class_="legend")])


def _meaning(comparison: Comparison, change: Change) -> str:
    """Between two postures of the lab nothing got better or worse at the agent: one of them looks closer."""
    base, other = (run.header.posture for run in (comparison.base, comparison.other))
    if change is Change.NEWLY_FAILING:
        return f"Caught: {base} takes it as working, {other} says why it does not."
    if change is Change.NEWLY_PASSING:
        return f"Rescued: it goes wrong when {base}, and works when {other}."
    return ""


def _beside(row: PairChange) -> Sequence[str]:
    """The details without the verdicts, which have columns of their own."""
    verdicts = f"{row.base.told} → {row.other.told}" if row.base and row.other else None
    return [detail for detail in row.details if detail != verdicts]


def _pair(pair: Sequence[str]) -> str:
    agent, consumer, *axes = pair
    rest = " ".join(axis for axis in axes if axis not in ("JSONRPC", "default"))
    return f"{agent} × {consumer}" + (f" ({rest})" if rest and rest != "1.0" else "")


def _side(side: Side | None) -> Value:
    if side is None:
        return "—"
    return join(join([" ", link(cell, chip(cell.verdict))]) for cell in side.cells)

"""The head of a page: one sentence, six tiles, and the lines that stand out. Figures come from `tabulate` alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import TIMED_OUT, anchor_of, number
from a2a_lab.report.html import Html, join, plural, tag
from a2a_lab.report.opening import FOREIGN
from a2a_lab.tabulate import Insight, summary, ungraded

_TILES: list[tuple[str, str, bool | None, str]] = [
    # figure, label, whether more is better (None: a property of the agents, neither), the sum shown beside the pairs
    ("held", "pairs hold what the card declares", None, ""),
    ("delivered", "pairs delivered", True, ""),
    ("pairs_with_renegotiation", "pairs renegotiated", False, "renegotiation_cycles"),
    ("refused_sends", "payloads sent and refused", False, ""),
    ("pairs_with_orphans", "pairs left orphans", False, "orphans"),
    ("hangs", "timed-out waits", False, ""),
]
_OF_PAIRS = {"held", "delivered", "pairs_with_renegotiation", "pairs_with_orphans"}


def tiles(runs: Sequence[Run]) -> Html:
    """Six figures of one run, or of two beside each other as `before → after`."""
    figures = [summary(run) for run in runs]
    shown = [_tile(figures, *row) for row in _TILES]
    legend = ""
    if len(runs) > 1:
        names = [run.header.posture for run in runs]
        legend = " → ".join(names if len(set(names)) > 1 else [run.header.run for run in runs])
    return join(
        [
            tag("p", f"Each tile: {legend}.", class_="legend") if legend else None,
            tag("div", *shown, class_="tiles"),
            _ungraded(runs),
        ]
    )


def _tile(figures: Sequence[dict[str, Any]], name: str, label: str, more_is_better: bool | None, total: str) -> Html:
    values = [figure[name] for figure in figures]
    of = [f"/{number(figure['pairs'])}" if name in _OF_PAIRS else "" for figure in figures]
    change = _change(values, more_is_better)
    before = tag("span", number(values[0]), tag("small", of[0]) if of[0] != of[-1] else None, class_="before")
    big = [before, " → "] if len(set(values)) > 1 or of[0] != of[-1] else []
    sums = [figure["orphaned_artifacts"] + figure["orphaned_tasks"] for figure in figures]
    if total == "orphans":
        detail = " → ".join(number(value) for value in sums) + " left behind"
    elif total:
        detail = " → ".join(number(figure[total]) for figure in figures) + " cycles"
    else:
        detail = ""
    return tag(
        "div",
        tag("b", *big, number(values[-1]), tag("small", of[-1])),
        tag("span", label),
        tag("span", detail, class_="muted") if detail else None,
        class_=f"tile {change}".rstrip(),
    )


def _change(values: Sequence[int], more_is_better: bool | None) -> str:
    if len(values) < 2 or values[0] == values[-1] or more_is_better is None:
        return ""
    return "better" if (values[-1] > values[0]) == more_is_better else "worse"


def _ungraded(runs: Sequence[Run]) -> Html | None:
    told = []
    for run in runs:
        counts = ", ".join(f"{count} {word}" for word, count in ungraded(run).items())
        if counts:
            told.append(f"{run.header.posture}: {counts}" if len(runs) > 1 else counts)
    if not told:
        return None
    return tag("p", f"Not gradeable and counted for and against nobody: {'; '.join(told)}.", class_="legend")


def headline(runs: Sequence[Run]) -> str:
    """What a reader should take home, in one or two sentences."""
    figures = [summary(run) for run in runs]
    last = figures[-1]
    if not last["pairs"]:
        return "No pair could be graded."
    held = (
        f"{figures[0]['held']} of {plural(figures[0]['pairs'], 'pair')} do at runtime what the agent's card declares."
    )
    if len(runs) == 1:
        return f"{held} {last['delivered']} delivered; {_cost(last)}."
    if runs[0].header.posture == runs[-1].header.posture:
        return f"{held} Before: {_cost(figures[0])}. After: {_cost(last)}."
    names = [run.header.posture for run in runs]
    return (
        f"{held} The {names[0]} consumers pay with {_cost(figures[0])} and get {figures[0]['delivered']} results; "
        f"the {names[-1]} ones with {_cost(last)} and get {last['delivered']}."
    )


def _cost(figures: dict[str, Any]) -> str:
    orphans = figures["orphaned_artifacts"] + figures["orphaned_tasks"]
    cycles = plural(figures["renegotiation_cycles"], "renegotiation cycle")
    return f"{cycles}, {plural(orphans, 'orphan')} and {plural(figures['hangs'], TIMED_OUT)}"


def insight_list(found: Sequence[Insight], runs: Sequence[Run], *, most: int = 12) -> Html:
    """The lines that stand out, the loudest kind first, each linked to its cells; what works is one line."""
    if not found:
        return Html("")
    cells = {str(cell.key): cell for run in runs for cell in run.cells}
    works = [insight for insight in found if insight.kind == _WORKS]
    others = [insight for insight in found if insight.kind != _WORKS]
    items = [_line(insight.kind, [insight], cells) for insight in others[:most]]
    if len(others) > most:
        items.append(tag("li", f"and {len(others) - most} more", class_="muted"))
    if works:
        items.append(_line(_WORKS, works, cells))
    return tag("ul", *items, class_="insights")


_WORKS = "works with everyone"
_WORKING = 6  # of those that work named in the one line; the matrix shows all


def _line(kind: str, found: Sequence[Insight], cells: Mapping[str, CellRecord]) -> Html:
    told = join(
        join(["; " if place else "", _linked(insight, cells)]) for place, insight in enumerate(found[:_WORKING])
    )
    more = f" and {len(found) - _WORKING} more" if len(found) > _WORKING else ""
    posture = found[0].posture if found[0].posture != FOREIGN else ""
    where = tag("small", f" {posture}", class_="muted") if posture else None
    return tag("li", tag("span", kind, class_=f"kind k-{kind.replace(' ', '-')}"), tag("span", told, more, where))


def _linked(insight: Insight, cells: Mapping[str, CellRecord]) -> Html:
    met = cells.get(insight.cells[0]) if insight.cells else None
    return tag("a", insight.text, href=f"#{anchor_of(met)}" if met else None)


def honesty(runs: Sequence[Run]) -> str:
    """The sentence that keeps a zero from being read as a promise; empty where there is no zero."""
    last = summary(runs[-1])
    orphans = last["orphaned_artifacts"] + last["orphaned_tasks"]
    counts = {"0 cycles": last["renegotiation_cycles"], "0 orphans": orphans, f"0 {TIMED_OUT}s": last["hangs"]}
    zeros = [name for name, count in counts.items() if not count]
    if not zeros or not last["pairs"]:
        return ""
    listed = " and ".join(part for part in (", ".join(zeros[:-1]), zeros[-1]) if part)
    told = f"{listed}: a property of this matrix, not a promise."
    if not orphans:
        told += (
            " An agent that is honest about small probes and not about payloads, or that ignores a cancel, "
            "would leave some; each would have its row below."
        )
    return told

"""How a verdict, a pair and a cell look wherever they appear: one word, its colour, and the figures beside it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence

from a2a_lab.core.quoting import without_content
from a2a_lab.lab.pairings import SCENARIOS
from a2a_lab.lab.records import CellRecord, Outcome
from a2a_lab.report.html import Child, Html, anchor, join, plural, shown, tag
from a2a_lab.report.opening import Placed
from a2a_lab.verdicts import Verdict

_NAME = 80  # characters of a vendor's name where two stand beside each other

TIMED_OUT = "timed-out wait"
"""What the measure `hangs` counts, in words that nobody takes for the verdict `hang` (R30)."""


def tone(verdict: Outcome) -> str:
    """The class that colours a verdict; what could not be judged has none of its own."""
    return f"v-{verdict.value}" if isinstance(verdict, Verdict) else "v-none"


def chip(verdict: Outcome) -> Html:
    return tag("span", verdict.value, class_=f"chip {tone(verdict)}")


def worst_of(cells: Sequence[CellRecord]) -> CellRecord:
    """The cell that stands for several attempts: the most severe, the first of equals; an ungraded one last."""
    return max(cells, key=lambda cell: cell.verdict.severity if isinstance(cell.verdict, Verdict) else -1)


def word(cells: Sequence[CellRecord]) -> str:
    """`hint`, or how many of several attempts worked and what the worst of them was."""
    graded = [cell for cell in cells if cell.is_graded]
    verdict = worst_of(cells).verdict.value
    if len(cells) == 1:
        return verdict
    return f"{sum(cell.works for cell in graded)}/{len(graded)} work, {verdict}"


def figures(cells: Sequence[CellRecord]) -> str:
    """What happened in numbers, nothing where it is nothing: `1 cycle · 3 orphans · 5.4 s`."""
    measures = [cell.measures for cell in cells if cell.is_graded]
    cycles = sum(one.renegotiation_cycles for one in measures)
    orphans = sum(one.orphans for one in measures)
    hangs = sum(one.hangs for one in measures)
    told = [
        plural(cycles, "cycle") if cycles else "",
        plural(orphans, "orphan") if orphans else "",
        plural(hangs, TIMED_OUT) if hangs else "",
        seconds(max((cell.measures.time_to_verdict_s for cell in cells), default=0.0)),
    ]
    return " · ".join(part for part in told if part)


def seconds(value: float) -> str:
    """`0.48 s`, `12.3 s`, `310 s`: three digits say enough."""
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def number(value: float) -> str:
    """A count with thin spaces, since the figures of large runs are read by people."""
    return f"{value:,.0f}".replace(",", "\u202f")


def anchor_of(cell: CellRecord) -> str:
    """The id of a cell's evidence: its key, and its side where a page shows two runs of the same cells."""
    return anchor(str(cell.key), side=cell.side if isinstance(cell, Placed) else "")


def marks(cells: Iterable[CellRecord]) -> str | None:
    """Names of cells for the filters of a page, seven letters each: a finding may be seen in hundreds of cells."""
    return " ".join(dict.fromkeys(map(_mark, cells))) or None


def _mark(cell: CellRecord) -> str:
    digest = hashlib.blake2s(anchor_of(cell).encode(errors="replace"), digest_size=5).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def link(cell: CellRecord, *children: Child) -> Html:
    """A link to a cell's evidence; its text is the pair unless told otherwise."""
    return tag("a", *(children or (pair_name(cell),)), href=f"#{anchor_of(cell)}")


def links(cells: Sequence[CellRecord], *, most: int = 6) -> Html:
    """Links to several cells; more than a handful are counted."""
    shown = join(join([", ", link(cell)]) if place else link(cell) for place, cell in enumerate(cells[:most]))
    more = f" and {len(cells) - most} more" if len(cells) > most else ""
    return join([shown, more])


def said_of(cell: CellRecord) -> str:
    """What the consumer said of how it ended; what people wrote stays out of a page (R38)."""
    return without_content(cell.said)


def pair_name(cell: CellRecord) -> str:
    """`alder × notes`; with what a pair of real vendors did, and with the attempt where it is not the first."""
    did = f", {cell.key.scenario}" if cell.key.scenario in SCENARIOS else ""
    attempt = f" #{cell.key.attempt}" if cell.key.attempt > 1 else ""
    return f"{shown(cell.key.agent, cap=_NAME)} × {shown(cell.key.consumer, cap=_NAME)}{did}{attempt}"

"""Figures as inline SVG that takes its colours and its font from the page: right in light, in dark and in print.

matplotlib draws with stand-in colours, which become CSS variables; what it writes besides the drawing (a document
type, metadata with the time, ids that a second figure would repeat) is cut away. matplotlib is imported here alone,
and only when a figure is drawn.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.html import Html, escape, shown, tag
from a2a_lab.tabulate import pairs

MOST = 24  # rows of one figure; more are a wall
_COLOURS = {"#010101": "currentColor", "#020202": "var(--before)", "#030303": "var(--after)", "#040404": "var(--line)"}
_INK, _BEFORE, _AFTER, _LINE = _COLOURS


def cost(runs: Sequence[Run]) -> Html:
    """What each pair cost: seconds until the consumer knew how it ended, and HTTP requests; one or two runs."""
    rows = _rows(runs)
    if not rows:
        return Html("")
    names = [run.header.posture for run in runs]
    if len(set(names)) < len(names):
        names = ["before", "after"]
    left = [[cells and max(cell.measures.time_to_verdict_s for cell in cells) for cells in sides] for _, sides in rows]
    right = [[cells and max(cell.measures.requests for cell in cells) for cells in sides] for _, sides in rows]
    labels = [label for label, _ in rows]

    def draw(figure: Any) -> None:
        time, requests = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        _bars(time, labels, left, "seconds to the verdict")
        _bars(requests, labels, right, "HTTP requests")

    title = f"Time to the verdict and requests by pair: {' and '.join(names)}"
    key = tag(
        "figcaption",
        *(
            tag("span", tag("i", class_=f"key {'before' if place == 0 and len(names) > 1 else 'after'}"), name)
            for place, name in enumerate(names)
        ),
        tag("span", f"the {MOST} slowest pairs", class_="muted") if len(_all_pairs(runs)) > MOST else None,
    )
    drawn = svg(draw, title=title, width=11.5, height=0.75 + 0.4 * len(rows))
    return tag("figure", key, tag("div", drawn, class_="scroll"))


def _all_pairs(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(pair[:5] for run in runs for pair in pairs(run.cells)))


def _rows(runs: Sequence[Run]) -> list[tuple[str, list[list[CellRecord]]]]:
    """Each pair with its cells in every run, in the order of the plan; of many the slowest, slowest first."""
    sides = []
    for run in runs:
        grouped: dict[tuple[str, ...], list[CellRecord]] = {}
        for pair, cells in pairs(run.cells).items():
            grouped.setdefault(pair[:5], []).extend(cells)
        sides.append(grouped)
    rows = [
        (f"{shown(pair[0], cap=24)} × {shown(pair[1], cap=24)}", [side.get(pair, []) for side in sides])
        for pair in _all_pairs(runs)
    ]
    if len(rows) > MOST:
        rows.sort(key=lambda row: -max(c.measures.time_to_verdict_s for cells in row[1] for c in cells))
    return rows[:MOST]


def _bars(axes: Any, labels: Sequence[str], values: Sequence[Sequence[Any]], unit: str) -> None:
    """Horizontal bars, one or two beside each other for each label, the first label on top."""
    count = len(values[0])
    thick = 0.36 if count > 1 else 0.56
    for side in range(count):
        colour = _BEFORE if side == 0 and count > 1 else _AFTER
        middle = (side - (count - 1) / 2) * thick
        places = [row + middle for row in range(len(labels))]
        axes.barh(places, [row[side] or 0 for row in values], height=thick * 0.86, color=colour)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel(unit)
    axes.grid(axis="x", color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side_of_frame in axes.spines.values():
        side_of_frame.set_visible(False)


def svg(draw: Callable[[Any], None], *, title: str, width: float, height: float) -> Html:
    """Draw into a figure of that size in inches; the SVG scales to the page's width."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    salt = sha256(title.encode(errors="replace")).hexdigest()[:8]
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "axes.facecolor": "none",
        "text.color": _INK,
        "axes.labelcolor": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "font.size": 9,
        "text.parse_math": False,  # a vendor called $x^2$ is text
    }
    with rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        written = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(written, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _inline(written.getvalue(), title, salt)


def _inline(drawn: str, title: str, salt: str) -> Html:
    """The drawing alone: no document type, no background, no ids that a second figure would repeat."""
    body = drawn[drawn.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="patch_1">.*?</g>', "", body, count=1, flags=re.DOTALL)
    body = re.sub(r' id="(?:figure|axes|patch|text|line2d|matplotlib\.axis|xtick|ytick|grid)_?\d*"', "", body)
    body = re.sub(r'(id="|#)(m|p)(?=[0-9a-f]{8})', rf"\g<1>\g<2>{salt}", body)
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    body = re.sub(r'<style type="text/css">.*?</style>| font-family: [^;"]*;', "", body)
    for stand_in, colour in _COLOURS.items():
        body = body.replace(stand_in, colour)
    body = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", body, count=1)
    body = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", body, count=1)
    body = re.sub(r' xmlns(:xlink)?="[^"]*"', "", body).replace("xlink:href", "href")
    name = escape(title)
    return Html(body.replace("<svg", f'<svg role="img" aria-label="{name}"', 1).rstrip())

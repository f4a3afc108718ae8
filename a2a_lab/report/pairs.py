"""What only runs of real vendors have: why pairs fail, how consumers come to their first message, and which
environments the run stood on."""

from __future__ import annotations

import json
from collections.abc import Sequence

from a2a_lab.lab.approaches import COLUMNS, ways_of
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.lab.stock import FILE
from a2a_lab.report.chips import chip, links
from a2a_lab.report.html import Html, join, plural, tag
from a2a_lab.report.rules import cited
from a2a_lab.report.table import Prose, Sorted, Value, table
from a2a_lab.report.words import load_catalogue
from a2a_lab.verdicts import CATALOGUE, NotGradeable


def causes(run: Run) -> Html:
    """Each cause with what it means and the cells that failed by it, the most frequent first."""
    load_catalogue()
    grouped: dict[str, list[CellRecord]] = {}
    for cell in run.cells:
        if cell.cause:
            grouped.setdefault(cell.cause, []).append(cell)
    if not grouped:
        return tag("p", "No pair failed.", class_="legend")
    rows = sorted(grouped.items(), key=lambda item: -len(item[1]))
    columns = ["cause", "whose rule", "cells", "which"]
    return table("causes", columns, ((cells, _cause(slug, cells)) for slug, cells in rows))


def _cause(slug: str, cells: Sequence[CellRecord]) -> Sequence[Value]:
    known = CATALOGUE.get(slug)
    means = known.means if known is not None else cells[0].said
    whose = join([known.judge.value, " ", known.clause or cited(known.rule)]) if known is not None else ""
    return [Prose(means, name=slug), whose, len(cells), Sorted(links(cells, most=4), len(cells))]


def approaches(run: Run) -> Html:
    """What each consumer does between its first byte and its first message, and before those after it."""
    ways = ways_of(run)
    if not ways:
        return tag("p", "No consumer was watched.", class_="legend")
    return table(
        "approaches",
        [*COLUMNS, "what it does", "cells"],
        ((one.cells, [*one.row(), Prose("; ".join(one.steps)), len(one.cells)]) for one in ways),
    )


def environments(run: Run) -> Html:
    """What was built for the run, and what could not be."""
    try:
        told = json.loads((run.folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return tag("p", "No environments were recorded.", class_="legend")
    return table(
        "environments",
        ["environment", "runtime", "MB", "built in s", "packages"],
        (([], _environment(name, one)) for name, one in sorted(told.items())),
    )


def _environment(name: str, told: dict[str, object]) -> Sequence[Value]:
    if "problem" in told:
        step = f" (step {told['step']})" if "step" in told else ""
        return [name, chip(NotGradeable.HARNESS_ERROR), 0, 0.0, Prose(f"{told['problem']}{step}")]
    packages = told.get("packages")
    listed = packages if isinstance(packages, list) else []
    size = told.get("bytes")
    return [
        name,
        str(told.get("runtime")),
        round(size / 1e6) if isinstance(size, int) else 0,
        float(str(told.get("seconds") or 0)),
        Prose(", ".join(map(str, listed[:400])), name=plural(len(listed), "package")),
    ]

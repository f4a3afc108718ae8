"""The tables of a run: every cell, every orphan, and the vendors.

A large run has its tables folded, each below a line that says what is in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import chip, link, seconds
from a2a_lab.report.folds import fold
from a2a_lab.report.html import Html, join, plural, tag
from a2a_lab.report.opening import name_of
from a2a_lab.report.table import Sorted, Value, table
from a2a_lab.verdicts import Verdict

_FEW = 20  # cells; a table of so few stands in the open
_FLAGS = {True: "yes", False: "no", None: "untested"}


def cells_table(run: Run) -> Html:
    """Every cell with its measures; a column in which nothing differs from nothing is named below and left out."""
    columns = [
        *("pair", "verdict", "authority", "held", "cycles", "refused", "orphans", "timed out", "waited", "delivered"),
        *("requests", "time", "mode"),
    ]
    rows = [(cell, _cell_row(cell)) for cell in run.cells]
    empty = [place for place in range(len(columns)) if rows and all(row[place] in (0, "") for _, row in rows)]
    kept = [place for place in range(len(columns)) if place not in empty or len(rows) <= _FEW]
    shown = table(
        f"cells-{name_of(run)}",
        [columns[place] for place in kept],
        (([cell], [row[place] for place in kept]) for cell, row in rows),
    )
    if len(rows) <= _FEW:
        return shown
    left = ", ".join(columns[place] for place in empty)
    said = tag("p", f"Nothing in any cell, and so not shown: {left}.", class_="legend") if left else None
    return fold(f"cells-{name_of(run)}", f"all {plural(len(rows), 'cell')}", shown, said)


def _cell_row(cell: CellRecord) -> Sequence[Value]:
    measures = cell.measures
    held = _FLAGS[measures.held] + (f": {', '.join(measures.diverged)}" if measures.diverged else "")
    return [
        link(cell),
        Sorted(chip(cell.verdict), _severity(cell)),
        tag("span", cell.standing, title=", ".join(cell.because) or None),
        held,
        measures.renegotiation_cycles,
        measures.refused_sends,
        measures.orphans,
        measures.hangs,
        Sorted(seconds(measures.waited_s), measures.waited_s, is_number=True),
        _FLAGS[measures.delivered],
        measures.requests,
        Sorted(seconds(measures.time_to_verdict_s), measures.time_to_verdict_s, is_number=True),
        cell.mode or "",
    ]


def _severity(cell: CellRecord) -> float:
    return cell.verdict.severity if isinstance(cell.verdict, Verdict) else -1


def orphans_table(run: Run) -> Html:
    rows = [(cell, orphan) for cell in run.cells for orphan in cell.orphans]
    if not rows:
        return tag("p", "Nothing was left behind that the evidence or the ledger knows of.", class_="legend")
    columns = ["cell", "agent", "task", "artifact or message", "media type", "bytes", "clean-up"]
    return table(
        f"orphans-{name_of(run)}",
        columns,
        (
            (
                [cell],
                [
                    link(cell),
                    orphan.agent,
                    tag("code", orphan.task_id or "unknown"),
                    tag("code", orphan.artifact_or_message_id or "the task itself"),
                    orphan.media_type or "",
                    orphan.bytes if orphan.bytes is not None else "",
                    orphan.state,
                ],
            )
            for cell, orphan in rows
        ),
    )


def vendors_table(run: Run) -> Html:
    columns = ["vendor", "version", "reached as", "card digest"]
    digests: dict[str, set[str]] = {}
    for cell in run.cells:
        if cell.card_digest:
            digests.setdefault(cell.key.agent, set()).add(cell.card_digest)
    rows = []
    for name, vendor in run.header.vendors.items():
        seen = sorted(digests.get(name, set()) or ({vendor.card_digest} if vendor.card_digest else set()))
        shown = join(join([" ", tag("code", digest[:16], title=digest)]) for digest in seen[:3])
        about = [cell for cell in run.cells if name in (cell.key.agent, cell.key.consumer)]
        rows.append((about, [name, vendor.version, vendor.reach, shown]))
    shown = table(f"vendors-{name_of(run)}", columns, rows)
    return shown if len(rows) <= _FEW else fold(f"vendors-{name_of(run)}", f"all {plural(len(rows), 'vendor')}", shown)

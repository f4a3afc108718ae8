"""The tables of a run: every cell, every finding, every orphan, and the vendors.

A finding seen in several cells of one agent is one row with all its cells. Each row says whose rule decided, since a
broken MUST of the specification is a vendor's defect and falling short of policy is not (R3).
"""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import chip, link, links, seconds
from a2a_lab.report.html import Html, join, plural, tag
from a2a_lab.report.table import Prose, Sorted, Value, table
from a2a_lab.verdicts import Finding, Judge, Kind, Verdict

_FLAGS = {True: "yes", False: "no", None: "untested"}


def cells_table(run: Run) -> Html:
    columns = [
        *("pair", "verdict", "authority", "held", "cycles", "refused", "orphans", "hangs", "waited", "delivered"),
        *("requests", "time", "mode"),
    ]
    return table(f"cells-{run.header.posture}", columns, (([cell], _cell_row(cell)) for cell in run.cells))


def _cell_row(cell: CellRecord) -> Sequence[Value]:
    measures = cell.measures
    held = _FLAGS[measures.held] + (f": {', '.join(measures.diverged)}" if measures.diverged else "")
    return [
        link(cell),
        Sorted(chip(cell.verdict), _severity(cell)),
        tag("span", cell.authority, title=", ".join(cell.because) or None),
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


def findings_table(run: Run) -> Html:
    """Every observation of a run, the most severe first, with whose rule it is and what the other judge would say."""
    grouped: dict[tuple[object, ...], tuple[str, Finding, list[CellRecord]]] = {}
    for cell in run.cells:
        for finding in cell.findings:
            same = (cell.key.agent, finding.slug, finding.stage, finding.verdict, finding.detail)
            grouped.setdefault(same, (cell.key.agent, finding, []))[2].append(cell)
    order = {Kind.CONFORMANCE: 0, Kind.AUTHORITY: 1, Kind.NOTE: 2}
    rows = sorted(grouped.values(), key=lambda row: (order[row[1].kind], -row[1].verdict.severity))
    if not rows:
        return tag("p", "No finding: every stage that was reached accepted.", class_="legend")
    columns = ["verdict", "finding", "agent", "stage", "judge", "cells"]
    return join(
        [
            tag("p", _judged([finding for _, finding, _ in rows]), class_="legend"),
            table(
                f"findings-{run.header.posture}",
                columns,
                ((cells, _finding_row(agent, finding, cells)) for agent, finding, cells in rows),
            ),
        ]
    )


def _finding_row(agent: str, finding: Finding, cells: Sequence[CellRecord]) -> Sequence[Value]:
    return [
        Sorted(chip(finding.verdict), finding.verdict.severity),
        Prose(finding.detail, name=finding.slug),
        agent,
        finding.stage.value,
        judge_told(finding),
        Sorted(links(cells), len(cells)),
    ]


def judge_told(finding: Finding) -> Html:
    """Whose rule decided, with clause and rule, and what the other judge would have said where that differs."""
    law = f"{finding.judge.value} · {finding.clause}" if finding.clause else finding.judge.value
    return join(
        [
            tag("span", law, class_=f"judge j-{finding.judge.value}"),
            tag("small", f" {finding.rule}", class_="muted") if finding.rule else None,
            tag("small", f" ({finding.other})", class_="muted") if finding.other else None,
        ]
    )


def _judged(findings: Sequence[Finding]) -> str:
    """The two judges are never mixed up: what is a vendor's defect, and what is this lab's stricter rule (R3)."""
    decided = [f for f in findings if f.kind is Kind.CONFORMANCE and f.verdict.severity > Verdict.HINT.severity]
    spec = sum(finding.judge is Judge.SPEC for finding in decided)
    authority = sum(finding.kind is Kind.AUTHORITY for finding in findings)
    told = (
        f"{plural(len(findings), 'distinct finding')}, {len(decided)} worse than a hint: {spec} by the specification "
        f"(a defect of the vendor), {len(decided) - spec} by this lab's stricter policy."
    )
    return told + (f" On authority only: {authority}." if authority else "")


def orphans_table(run: Run) -> Html:
    rows = [(cell, orphan) for cell in run.cells for orphan in cell.orphans]
    if not rows:
        return tag("p", "Nothing was left behind that the evidence or the ledger knows of.", class_="legend")
    columns = ["cell", "agent", "task", "artifact or message", "media type", "bytes", "clean-up"]
    return table(
        f"orphans-{run.header.posture}",
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
    return table(f"vendors-{run.header.posture}", columns, rows)

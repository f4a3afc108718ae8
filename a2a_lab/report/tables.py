"""The tables of a run: every cell, every finding, every orphan, and the vendors.

A finding seen in several cells of one agent is one row with all its cells. Each row says whose rule decided, since a
broken MUST of the specification is a vendor's defect and falling short of policy is not (R3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from a2a_lab.judge.consumer import CONSUMER, WHOSE
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import chip, link, links, seconds
from a2a_lab.report.html import LONG, Html, escape, join, plural, tag
from a2a_lab.report.table import Prose, Sorted, Value, table
from a2a_lab.verdicts import Finding, Judge, Kind, Verdict

_SEEN = 3  # details of one finding in the table; the evidence of each cell has its own
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


def findings_table(run: Run) -> Html:
    """Every observation of a run, the most severe first, with whose rule it is and what the other judge would say."""
    grouped: dict[tuple[object, ...], Observed] = {}
    for cell in run.cells:
        for finding in cell.findings:
            whose = _whose(cell, finding)
            same = (whose, finding.slug, finding.stage, finding.verdict)
            grouped.setdefault(same, Observed(whose, finding)).add(finding, cell)
    order = {Kind.CONFORMANCE: 0, Kind.AUTHORITY: 1, Kind.NOTE: 2}
    rows = sorted(grouped.values(), key=lambda row: (order[row.finding.kind], -row.finding.verdict.severity))
    if not rows:
        return tag("p", "No finding: every stage that was reached accepted.", class_="legend")
    columns = ["verdict", "finding", "whose", "stage", "judge", "cells"]
    return join(
        [
            tag("p", _judged([row.finding for row in rows]), class_="legend"),
            table(f"findings-{run.header.posture}", columns, ((row.cells, _finding_row(row)) for row in rows)),
        ]
    )


def _whose(cell: CellRecord, finding: Finding) -> str:
    """Who is meant: the agent, unless the finding says that it is about the consumer."""
    return f"{cell.key.consumer} (consumer)" if finding.values.get(WHOSE) == CONSUMER else cell.key.agent


@dataclass(slots=True)
class Observed:
    """One finding about one agent or consumer, with what was seen each time and where."""

    whose: str
    finding: Finding
    details: dict[str, None] = field(default_factory=dict)
    cells: list[CellRecord] = field(default_factory=list)

    def add(self, finding: Finding, cell: CellRecord) -> None:
        self.details[finding.detail] = None
        if cell not in self.cells:
            self.cells.append(cell)


def _finding_row(row: Observed) -> Sequence[Value]:
    finding = row.finding
    return [
        Sorted(chip(finding.verdict), finding.verdict.severity),
        Prose(_seen(list(row.details)), name=finding.slug),
        row.whose,
        finding.stage.value,
        tag("div", judge_told(finding), class_="law"),
        Sorted(links(row.cells), len(row.cells)),
    ]


def _seen(details: Sequence[str]) -> Html:
    """What was seen, each time that it differed; of many the first."""
    lines = [tag("p", escape(detail, cap=LONG)) for detail in details[:_SEEN]]
    more = tag("p", f"and {len(details) - _SEEN} more like these", class_="muted") if len(details) > _SEEN else None
    return join([*lines, more])


def judge_told(finding: Finding) -> Html:
    """Whose rule decided, with clause and rule, and what the other judge would have said where that differs."""
    told = [
        finding.rule,
        f"· {finding.clause}" if finding.clause else "",
        f"({finding.other})" if finding.other else "",
    ]
    return join(
        [
            tag("span", finding.judge.value, class_=f"judge j-{finding.judge.value}"),
            tag("small", " ", " ".join(part for part in told if part), class_="muted"),
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

"""What was observed in a run, as one table: each finding once, with whose it is, whose rule decided, and its cells.

Of many, what is seen in cells that came out as is known is folded, and so is what decides nothing by itself. Each row
says whose rule decided, since a broken MUST of the specification is a vendor's defect and falling short of policy is
not (R3).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from a2a_lab.judge.consumer import CONSUMER, WHOSE
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import chip, links
from a2a_lab.report.folds import fold
from a2a_lab.report.html import LONG, Html, escape, join, plural, tag
from a2a_lab.report.known import SETTLED, outcomes
from a2a_lab.report.opening import name_of
from a2a_lab.report.rules import cited
from a2a_lab.report.table import Prose, Sorted, Value, table
from a2a_lab.verdicts import Finding, Judge, Kind, Verdict

_VERY_MANY = 40  # findings in a fold; of more those of all vendors are one row
_NAMED = 4  # vendors named in such a row
_MANY = 15  # findings; of more the known and the mild ones are folded
_SEEN = 3  # details of one finding in the table; the evidence of each cell has its own


def findings_table(run: Run) -> Html:
    """Every observation of a run, the most severe first, with whose rule it is and what the other judge would say.

    Of many, what is seen in cells that came out as is known is folded, and so is what decides nothing by itself.
    """
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
    judged = tag("p", _judged([row.finding for row in rows]), class_="legend")
    if len(rows) <= _MANY:
        return join([judged, _findings(run, "findings", rows)])
    known = {key for key, outcome in outcomes(run).items() if outcome in SETTLED}
    loud = [row for row in rows if row.is_decisive and not row.is_of(known)]
    settled = [row for row in rows if row.is_decisive and row.is_of(known)]
    mild = [row for row in rows if not row.is_decisive]
    folds = [
        ("settled", settled, "in cells that came out as is known"),
        ("mild", mild, "that decide nothing by themselves: hints, on authority, notes"),
    ]
    return join(
        [
            judged,
            _findings(run, "findings", loud) if loud else None,
            *(
                fold(
                    f"{name}-{name_of(run)}",
                    f"{plural(len(some), 'finding')} {title}",
                    _findings(run, name, _merged(some)),
                )
                for name, some, title in folds
                if some
            ),
        ]
    )


def _findings(run: Run, name: str, rows: Sequence[Observed]) -> Html:
    columns = ["verdict", "finding", "whose", "stage", "judge", "cells"]
    return table(f"{name}-{name_of(run)}", columns, ((row.cells, _finding_row(row)) for row in rows))


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

    @property
    def is_decisive(self) -> bool:
        """Whether it bears on what became of the cell, and is worse than a hint."""
        return self.finding.kind is Kind.CONFORMANCE and self.finding.verdict.severity > Verdict.HINT.severity

    def is_of(self, keys: AbstractSet[str]) -> bool:
        """Whether it was seen in none but these cells."""
        return all(str(cell.key) in keys for cell in self.cells)

    def add(self, finding: Finding, cell: CellRecord) -> None:
        self.details[finding.detail] = None
        if not self.cells or self.cells[-1] is not cell:
            self.cells.append(cell)


def _finding_row(row: Observed) -> Sequence[Value]:
    finding = row.finding
    return [
        Sorted(chip(finding.verdict), finding.verdict.severity),
        Prose(_seen(list(row.details)), name=finding.slug),
        Sorted(_listed(row.whose.split(", ")), row.whose),
        finding.stage.value,
        tag("div", judge_told(finding), class_="law"),
        Sorted(links(row.cells), len(row.cells)),
    ]


def _merged(rows: Sequence[Observed]) -> Sequence[Observed]:
    """Of very many rows one for each finding, whoever it is about: nobody reads a list of hundreds."""
    if len(rows) <= _VERY_MANY:
        return rows
    grouped: dict[tuple[object, ...], Observed] = {}
    for row in rows:
        same = (row.finding.slug, row.finding.stage, row.finding.verdict, row.finding.values.get(WHOSE) == CONSUMER)
        into = grouped.setdefault(same, Observed("", row.finding))
        into.whose = f"{into.whose}, {row.whose}" if into.whose else row.whose
        into.details |= row.details
        into.cells += row.cells
    return list(grouped.values())


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _seen(details: Sequence[str]) -> Html:
    """What was seen, each time that it differed; of many the first."""
    lines = [tag("p", escape(detail, cap=LONG)) for detail in details[:_SEEN]]
    more = tag("p", f"and {len(details) - _SEEN} more like these", class_="muted") if len(details) > _SEEN else None
    return join([*lines, more])


def judge_told(finding: Finding) -> Html:
    """Whose rule decided, with clause and rule, and what the other judge would have said where that differs."""
    told = [
        f" · {finding.clause}" if finding.clause else "",
        f" ({finding.other})" if finding.other else "",
    ]
    return join(
        [
            tag("span", finding.judge.value, class_=f"judge j-{finding.judge.value}"),
            tag("small", " ", cited(finding.rule), "".join(told), class_="muted"),
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

"""The evidence of each cell: what every stage said, what was counted, and the timeline of its exchanges.

The worst cells come first and the page has a budget: of a large run the cells that work name their findings and their
file, and no more. Files that cannot be read are said to be so; the page is still written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from a2a_lab.errors import RecordFault
from a2a_lab.lab.records import CellRecord, Run, StageRecord
from a2a_lab.net.evidence import read_har
from a2a_lab.report.chips import chip, figures, pair_name, seconds, tone
from a2a_lab.report.html import LONG, Child, Html, anchor, escape, join, tag
from a2a_lab.report.table import facts
from a2a_lab.report.tables import judge_told
from a2a_lab.report.timeline import Row, timeline
from a2a_lab.report.told import Seal
from a2a_lab.verdicts import Stage, Verdict

BUDGET = 1_500_000  # bytes of evidence in one section; a page of this size still opens at once
_MARKS = {"request": "request ›", "response": "‹ response", "fault": "‹ fault"}


def evidence(run: Run, *, bodies: bool = False, budget: int = BUDGET) -> Html:
    """A `<details>` for each cell, in the order of the run. `bodies` shows contents, for pages that stay in house."""
    seal = Seal()
    spent = 0
    shown: dict[str, Html] = {}
    for cell in sorted(run.cells, key=lambda cell: -_severity(cell)):
        is_whole = spent < budget
        details = _details(run, cell, _whole(run, cell, seal, bodies=bodies) if is_whole else _short(cell))
        shown[str(cell.key)] = details
        spent += len(details) if is_whole else 0
    return join(shown[str(cell.key)] for cell in run.cells)


def _severity(cell: CellRecord) -> int:
    return cell.verdict.severity if isinstance(cell.verdict, Verdict) else Verdict.HINT.severity


def _details(run: Run, cell: CellRecord, body: Html) -> Html:
    summary = tag(
        "summary",
        chip(cell.verdict),
        " ",
        tag("b", pair_name(cell)),
        " ",
        tag("span", cell.said, class_="said"),
        tag("small", figures([cell]), class_="muted"),
    )
    where = tag("p", tag("code", str(cell.key)), class_="key")
    key = anchor(str(cell.key))
    return tag("details", summary, tag("div", where, body), class_="evidence", id=key, data_cells=key)


def _whole(run: Run, cell: CellRecord, seal: Seal, *, bodies: bool) -> Html:
    return join(
        [
            stage_strip(cell.stages),
            _findings(cell),
            facts(_facts(cell)),
            cell_timeline(run.folder, cell, seal, bodies=bodies),
            tag("p", "For the vendor: ", tag("code", _reproduce(run, cell)), class_="legend"),
        ]
    )


def _short(cell: CellRecord) -> Html:
    slugs = ", ".join(finding.slug for finding in cell.findings) or "no finding"
    told = f"{slugs}. The timeline is left out to keep the page small; it is in {cell.evidence}."
    return tag("p", told, class_="legend")


def _reproduce(run: Run, cell: CellRecord) -> str:
    return f"a2a-lab reproduce {run.header.run} '{cell.key}'"


def stage_strip(stages: Mapping[Stage, StageRecord]) -> Html:
    """All stages in the order of the flow; those not reached are empty."""
    return tag("ol", *(_stage(stage, stages.get(stage)) for stage in Stage), class_="stages")


def _stage(stage: Stage, record: StageRecord | None) -> Html:
    if record is None:
        return tag("li", stage.value, class_="v-none", title="not reached")
    said = "; ".join(finding.detail for finding in record.findings) or "nothing to object"
    return tag("li", stage.value, tag("b", record.verdict.value), class_=tone(record.verdict), title=said)


def _findings(cell: CellRecord) -> Html | None:
    if not cell.findings:
        return None
    items = [
        tag("li", chip(f.verdict), " ", tag("code", f.slug), " ", escape(f.detail, cap=LONG), " ", judge_told(f))
        for f in cell.findings
    ]
    return tag("ul", *items, class_="found")


def _facts(cell: CellRecord) -> dict[str, Child]:
    measures = cell.measures
    told: dict[str, Child] = {
        "authority": cell.standing + (f" ({', '.join(cell.because)})" if cell.because else ""),
        "closure": cell.closure,
        "mode used": cell.mode,
        "held": {True: "yes", False: f"no: {', '.join(measures.diverged)}", None: "untested"}[measures.held],
        "payloads sent": f"{measures.payload_sends}, refused {measures.refused_sends}",
        "waited": seconds(measures.waited_s) if measures.waited_s >= 0.5 else None,
        "bytes committed": measures.bytes_committed or None,
        "of them before authority": measures.bytes_before_authority or None,
        "orphans": measures.orphans or None,
        "card": tag("code", cell.card_digest[:16], title=cell.card_digest) if cell.card_digest else None,
        "evidence": cell.evidence,
    }
    return {name: value for name, value in told.items() if value is not None}


def cell_timeline(folder: Path, cell: CellRecord, seal: Seal, *, bodies: bool = False) -> Html:
    """The timeline of one cell from its HAR file; a sentence where there is no file, or none that can be read."""
    if cell.evidence is None:
        return tag("p", "No exchange was recorded for this cell.", class_="legend")
    path = folder / cell.evidence
    if folder.resolve() not in path.resolve().parents:
        return tag("p", f"The evidence path {cell.evidence} leads out of the run's folder.", class_="legend")
    try:
        rows = timeline(read_har(path), seal, bodies=bodies)
    except RecordFault as fault:
        # The fault names the whole path; what is handed out names the file in the run only.
        said = fault.message.replace(str(path), cell.evidence)
        return tag("p", f"The timeline cannot be shown: {said}", class_="legend")
    return timeline_table(rows)


def timeline_table(rows: Sequence[Row]) -> Html:
    if not rows:
        return tag("p", "No request was sent.", class_="legend")
    return tag("div", tag("table", tag("tbody", *map(_row, rows)), class_="timeline"), class_="scroll")


def _row(row: Row) -> Html:
    purpose = join([tag("i", row.purpose), " "]) if row.purpose else None
    text = join([purpose, escape(row.text, cap=600), tag("pre", escape(row.body, cap=4000)) if row.body else None])
    return tag(
        "tr",
        tag("td", f"{row.at_ms:.0f} ms"),
        tag("td", row.call),
        tag("td", _MARKS.get(row.mark, row.mark)),
        tag("td", text),
        class_=f"t-{row.mark}",
    )

"""The evidence of each cell: what every stage said, what was counted, and the timeline of its exchanges.

The page has a budget, which news and the worst cells spend first: of a large run the other cells name their findings
and their file, and no more. What works and what fails as is known is folded there. Files that cannot be read are said
to be so; the page is still written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from a2a_lab.errors import RecordFault
from a2a_lab.lab.expectations import Outcome
from a2a_lab.lab.records import CellRecord, Run, StageRecord
from a2a_lab.net.evidence import read_har
from a2a_lab.report.chips import anchor_of, chip, figures, marks, pair_name, said_of, seconds, tone
from a2a_lab.report.folds import fold
from a2a_lab.report.html import LONG, Child, Html, escape, join, plural, tag
from a2a_lab.report.known import outcomes
from a2a_lab.report.observations import judge_told
from a2a_lab.report.table import facts
from a2a_lab.report.timeline import Row, timeline
from a2a_lab.report.told import Seal
from a2a_lab.verdicts import Stage, Verdict

_FEW = 20  # cells; of so few all stand in the open
BUDGET = 1_500_000  # bytes of evidence in one section; a page of this size still opens at once
_MARKS = {"request": "request ›", "response": "‹ response", "fault": "‹ fault"}


def evidence(run: Run, *, bodies: bool = False, budget: int = BUDGET) -> Html:
    """A `<details>` for each cell, in the order of the run. `bodies` shows contents, for pages that stay in house."""
    seal = Seal()
    spent = whole = 0
    shown: dict[str, Html] = {}
    known = outcomes(run)
    for cell in sorted(run.cells, key=lambda cell: (not _is_news(cell, known), -_severity(cell))):
        is_whole = spent < budget
        details = _details(run, cell, _whole(run, cell, seal, bodies=bodies) if is_whole else _short(cell))
        shown[str(cell.key)] = details
        spent += len(details) if is_whole else 0
        whole += is_whole
    said = None
    if whole < len(run.cells):
        size = f"{budget / 1e6:g} MB"
        said = tag(
            "p",
            f"To keep the page small, {size} of timelines are shown, the worst cells first: {whole} of "
            f"{plural(len(run.cells), 'cell')}. The others name their file.",
            class_="legend",
        )
    if len(run.cells) <= _FEW:
        return join([said, *(shown[str(cell.key)] for cell in run.cells)])
    return join([said, *_grouped(run, known, shown)])


def _is_news(cell: CellRecord, known: Mapping[str, Outcome]) -> bool:
    """Whether a reader should meet the cell first: it came out otherwise than known, or fails and nothing is known."""
    outcome = known.get(str(cell.key))
    return outcome.is_news if outcome is not None else cell.is_graded and not cell.works


def _grouped(run: Run, known: Mapping[str, Outcome], shown: Mapping[str, Html]) -> Iterator[Html]:
    """News in the open; what fails as is known, what works and what was skipped each below one line."""
    groups: dict[str, list[Html]] = {"news": [], "known": [], "works": [], "skipped": []}
    for cell in run.cells:
        is_news = _is_news(cell, known)
        name = "news" if is_news else "works" if cell.works else "known" if cell.is_graded else "skipped"
        groups[name].append(shown[str(cell.key)])
    yield from groups["news"]
    titles = {
        "known": ("cell that fails as expected", "cells that fail as expected"),
        "works": ("cell that works", "cells that work"),
        "skipped": ("cell that could not be judged", "cells that could not be judged"),
    }
    for name, (one, many) in titles.items():
        if groups[name]:
            yield fold(f"{name}-{run.header.run}", plural(len(groups[name]), one, many), *groups[name])


def _severity(cell: CellRecord) -> int:
    return cell.verdict.severity if isinstance(cell.verdict, Verdict) else Verdict.HINT.severity


def _details(run: Run, cell: CellRecord, body: Html) -> Html:
    summary = tag(
        "summary",
        chip(cell.verdict),
        " ",
        tag("b", pair_name(cell)),
        " ",
        tag("span", said_of(cell), class_="said"),
        tag("small", figures([cell]), class_="muted"),
    )
    where = tag("p", tag("code", str(cell.key)), class_="key")
    return tag(
        "details", summary, tag("div", where, body), class_="evidence", id=anchor_of(cell), data_cells=marks([cell])
    )


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
    slugs = join(join([", " if place else "", tag("code", slug)]) for place, slug in enumerate(_slugs(cell)))
    where = f". The timeline is in {cell.evidence}." if cell.evidence else ". No exchange was recorded."
    return tag("p", slugs or "no finding", where, class_="legend found")


def _slugs(cell: CellRecord) -> list[str]:
    return list(dict.fromkeys([*cell.errors, *(finding.slug for finding in cell.findings)]))


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

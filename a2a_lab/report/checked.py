"""What `check` found at one agent, as pieces of a page: the verdict in a sentence, stage by stage, and the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from a2a_lab.errors import RecordFault
from a2a_lab.lab.rowreading import read_stages
from a2a_lab.net.evidence import read_har
from a2a_lab.report.chips import chip
from a2a_lab.report.evidence import stage_strip, timeline_table
from a2a_lab.report.html import LONG, Child, Html, escape, join, tag
from a2a_lab.report.observations import judge_told
from a2a_lab.report.table import Prose, Sorted, facts, table
from a2a_lab.report.timeline import timeline
from a2a_lab.report.words import words_for
from a2a_lab.verdicts import NotGradeable, Stage, Verdict

_UNITS = {"time_to_verdict_s": "seconds to the verdict", "waited_s": "seconds waited", "hangs": "timed-out waits"}
_SPARE = frozenset({"held", "diverged", "delivered"})


def verdict(checked: Mapping[str, Any], *, said: str, card: Mapping[str, Any], would_send: str) -> Html:
    """The verdict with its reasons, the card and the target it is about. `checked` has the `check --json` shape."""
    word = checked["verdict"]
    outcome = NotGradeable(word) if word in set(NotGradeable) else Verdict(word)
    authority = checked["authority"]
    because = ", ".join(authority.get("because") or ())
    target = checked.get("target") or {}
    told: dict[str, Child] = {
        "card": f"{card['name']} {card['version']}" if card else "none",
        "card from": card.get("url"),
        "dispatch url": target.get("url"),
        "binding": target.get("binding"),
        "version": target.get("version"),
        "tenant": target.get("tenant"),
    }
    told |= {
        _UNITS.get(name, name.replace("_", " ")): _figure(value)
        for name, value in (checked.get("measures") or {}).items()
        if value and name not in _SPARE
    }
    return join(
        [
            tag("p", chip(outcome), " ", authority["status"], f": {because}" if because else "", class_="headline"),
            tag("p", escape(said, cap=LONG)) if said else None,
            facts({name: value for name, value in told.items() if value is not None}),
            tag("p", f"Sending would mean: {would_send}", class_="legend") if would_send else None,
        ]
    )


def _figure(value: Any) -> Child:
    return f"{value:.3g}" if isinstance(value, float) else value if isinstance(value, int) else str(value)


def stages(checked: Mapping[str, Any]) -> Html:
    """Each stage with its verdict, then each finding with its judge, in the order of the flow."""
    read = read_stages(checked)
    rows = [(stage, finding) for stage, record in read.items() for finding in record.findings]
    columns = ["stage", "verdict", "finding", "judge"]
    listed = table(
        "findings",
        columns,
        (
            (
                [],
                [
                    Sorted(stage.value, list(Stage).index(stage)),
                    Sorted(chip(finding.verdict), finding.verdict.severity),
                    Prose(escape(finding.detail, cap=LONG), name=finding.slug),
                    tag("div", judge_told(finding), class_="law"),
                ],
            )
            for stage, finding in rows
        ),
    )
    nothing = tag("p", "No finding: every stage that was reached accepted.", class_="legend")
    return join([stage_strip(read), listed if rows else nothing])


def clients(readings: Mapping[str, str]) -> Html:
    """What a client of each generation makes of the card; one card can be read as two."""
    if not readings:
        return tag("p", "There is no card that a client could read.", class_="legend")
    return tag(
        "dl", *(join([tag("dt", f"{v} client"), tag("dd", told)]) for v, told in readings.items()), class_="words"
    )


def words(checked: Mapping[str, Any]) -> Html:
    """What the words and rules on the page of one agent mean."""
    found = [finding for record in read_stages(checked).values() for finding in record.findings]
    return words_for(found, verdicts={checked["verdict"]})


def exchanges(path: str, *, bodies: bool = False) -> Html:
    """The timeline of the requests that the check made, from its HAR file."""
    try:
        return timeline_table(timeline(read_har(Path(path)), bodies=bodies))
    except RecordFault as fault:
        said = fault.message.replace(path, Path(path).name)
        return tag("p", f"The timeline cannot be shown: {said}", class_="legend")

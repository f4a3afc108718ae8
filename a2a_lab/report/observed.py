"""The page of one observation: how it went, what is said of the consumer and of the agent, and the timeline.

Rendered like an executed notebook whose cells show these pieces, so that it looks like every other page of the lab.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from a2a_lab.judge.steps import approach
from a2a_lab.lab.observe import Observation
from a2a_lab.report.chips import chip
from a2a_lab.report.evidence import timeline_table
from a2a_lab.report.html import Fragment, Html, join, tag
from a2a_lab.report.notebooks import nbformat
from a2a_lab.report.observations import judge_told
from a2a_lab.report.render import write_page
from a2a_lab.report.table import Prose, Sorted, facts, table
from a2a_lab.report.timeline import timeline
from a2a_lab.report.words import words_for
from a2a_lab.verdicts import Finding, Stage


def observed_page(seen: Observation, path: Path, *, now: datetime, bodies: bool = False) -> Path:
    """Write the page. `bodies` shows what messages and artifacts contain; keep such a page in the house (R38)."""
    sections = [
        ("# What passed between them\n\nOne client and one agent, watched by a recorder in between.", _headline(seen)),
        (
            "## The consumer\n\nWhat its traffic shows, and whose rule it is.",
            findings_of("consumer", seen.consumer_findings),
        ),
        (
            "## The agent\n\nWhat its answers show; a fault of the consumer is not among it.",
            findings_of("agent", seen.agent_findings),
        ),
        ("## Before the first message", steps_table(seen)),
        ("## Timeline", timeline_table(timeline(seen.exchanges, bodies=bodies))),
        ("## Words", words_for([*seen.consumer_findings, *seen.agent_findings], verdicts={seen.verdict.value})),
    ]
    new = nbformat().v4
    cells = []
    for text, html in sections:
        shown = Fragment(tag("div", html, class_="lab"), text="shown as HTML")
        output = new.new_output("display_data", data=shown._repr_mimebundle_())
        cells += [new.new_markdown_cell(text), new.new_code_cell("", outputs=[output])]
    notebook = new.new_notebook(cells=cells, metadata={"title": "A2A observation"})
    return write_page(notebook, path, now=now)


def _headline(seen: Observation) -> Html:
    noted = [tag("p", f"{one.slug}: {one.detail}", class_="legend") for one in seen.noted]
    return join(
        [
            tag("p", chip(seen.verdict), " ", seen.said, class_="headline"),
            *noted,
            facts(
                {
                    "agent": seen.to,
                    "client was given": seen.address,
                    "requests": len(seen.exchanges),
                    "watched for": f"{seen.seconds:.1f} s",
                    "evidence": seen.evidence.name,
                }
            ),
        ]
    )


def findings_of(whose: str, found: Sequence[Finding]) -> Html:
    """Findings of one of the two, in the order of the flow, each with whose rule it is."""
    if not found:
        return tag("p", "Nothing to object.", class_="legend")
    order = list(Stage)
    rows = sorted(found, key=lambda one: (order.index(one.stage), -one.verdict.severity))
    return table(
        f"{whose}-findings",
        ["stage", "verdict", "finding", "judge"],
        (
            (
                [],
                [
                    Sorted(one.stage.value, order.index(one.stage)),
                    Sorted(chip(one.verdict), one.verdict.severity),
                    Prose(one.detail, name=one.slug),
                    judge_told(one),
                ],
            )
            for one in rows
        ),
    )


def steps_table(seen: Observation) -> Html:
    """What the consumer did from its first byte to its first message."""
    if seen.judged is None:
        return tag("p", seen.said, class_="legend")
    steps = approach(seen.judged.visit).steps
    return table("steps", ["ms", "step", "what"], (([], [round(step.at_ms), step.what, step.told]) for step in steps))

"""The pieces of a page as notebooks display them: one call a cell, each takes runs and returns something to show.

Pieces that compare take two runs, the base first. What the page needs only once (style, script) is not in them; in
JupyterLab `styles()` brings the style along.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from a2a_lab.compare import Comparison
from a2a_lab.lab.records import Run
from a2a_lab.report import checked, expected, known, observations, pairs, pairs_head, tables, tiles, words
from a2a_lab.report import overview as overview_of
from a2a_lab.report.changes import changes_table
from a2a_lab.report.evidence import evidence as evidence_html
from a2a_lab.report.html import LONG, Fragment, Html, escape, join, tag
from a2a_lab.report.matrix import matrix as matrix_html
from a2a_lab.report.opening import of_pairs
from a2a_lab.report.progress import progress
from a2a_lab.tabulate import insights as find_insights

__all__ = [
    "approaches",
    "causes",
    "cells",
    "changes",
    "check_clients",
    "check_exchanges",
    "check_stages",
    "check_verdict",
    "check_words",
    "cost",
    "differences",
    "environments",
    "evidence",
    "expectations",
    "findings",
    "headline",
    "made_from",
    "matrix",
    "orphans",
    "overview",
    "progress",
    "styles",
    "what_was_run",
    "words_of",
]

TEMPLATE = Path(__file__).parent / "template"


class Checked(Protocol):
    """What `check_agent` returns, as far as a page needs it."""

    @property
    def evidence(self) -> str: ...

    @property
    def said(self) -> str: ...

    @property
    def card(self) -> Mapping[str, Any]: ...

    @property
    def clients(self) -> Mapping[str, str]: ...

    @property
    def would_send(self) -> str: ...

    @property
    def exit_code(self) -> int: ...

    def as_json(self) -> dict[str, Any]: ...


def _piece(*parts: Html | None, text: str = "", run: str | None = None, ends: int | None = None) -> Fragment:
    return Fragment(tag("div", join(parts), class_="lab"), text=text, run=run, ends=ends)


def styles() -> Fragment:
    """What makes the pieces look right in JupyterLab, light and dark. On a page it is dropped: the page has its own."""
    css = (TEMPLATE / "fragments.css").read_text(encoding="utf-8")
    return Fragment(Html(f"<style>{css}</style>"), text="styles", is_style=True)


def what_was_run(*runs: Run) -> Fragment:
    """Matrix, posture, pairs, agents and how they are reached; loud where a run is not whole."""
    folder = str(runs[0].folder) if len(runs) == 1 else None
    told = "; ".join(f"{run.header.matrix}, {run.header.posture}, {len(run.cells)} cells" for run in runs)
    return _piece(words.what_was_run(runs), text=told, run=folder)


def headline(*runs: Run) -> Fragment:
    """The sentence to take home, the tiles, and what stands out."""
    if len(runs) == 1 and of_pairs(runs[0]):
        told = pairs_head.sentence(runs[0])
        return _piece(
            tag("p", escape(told, cap=LONG), class_="headline"),
            pairs_head.tiles(runs[0]),
            tiles.insight_list(find_insights(runs[0]), runs),
            text=told,
        )
    told = tiles.headline(runs)
    found = find_insights(runs[-1], runs[0]) if len(runs) > 1 else find_insights(runs[0])
    honest = tiles.honesty(runs)
    return _piece(
        tag("p", escape(told, cap=LONG), class_="headline"),
        tiles.tiles(runs),
        tag("p", escape(honest, cap=LONG), class_="legend") if honest else None,
        tiles.insight_list(found, runs),
        text=told,
    )


def matrix(*runs: Run) -> Fragment:
    """Agents by consumers; each cell links to its evidence."""
    return _piece(matrix_html(runs), text=f"matrix of {len(runs[0].cells)} cells")


def cost(*runs: Run) -> Fragment:
    """The figure of time and requests by pair. Imports matplotlib."""
    from a2a_lab.report.figures import cost as draw

    return _piece(draw(runs), text="time to the verdict and requests by pair")


def changes(comparison: Comparison) -> Fragment:
    """What became of each pair, and what the same names stood for where that differs."""
    moved = "; ".join(comparison.vendors)
    note = tag("p", f"Between the runs: {moved}.", class_="legend") if moved else None
    return _piece(note, changes_table(comparison), text=str(comparison.as_json()["counts"]))


def findings(run: Run) -> Fragment:
    """Every observation with its judge, the most severe first."""
    return _piece(observations.findings_table(run), text=f"{sum(len(cell.findings) for cell in run.cells)} findings")


def orphans(run: Run) -> Fragment:
    """Every task and artifact left behind, with the state its clean-up reached."""
    return _piece(tables.orphans_table(run), text=f"{sum(len(cell.orphans) for cell in run.cells)} orphans")


def cells(run: Run) -> Fragment:
    """Every cell with all its measures."""
    return _piece(tables.cells_table(run), text=f"{len(run.cells)} cells")


def evidence(run: Run, *, bodies: bool = False) -> Fragment:
    """The timeline of each cell. `bodies` shows what the parts contain; keep such a page in the house (R38)."""
    return _piece(evidence_html(run, bodies=bodies), text=f"evidence of {len(run.cells)} cells")


def expectations(run: Run) -> Fragment:
    """A run of real vendors beside what was expected of it, the news first."""
    news = sum(one.outcome.is_news for one in known.compared(run)[0])
    return _piece(expected.expectations(run), text=f"{news} news", ends=1 if news else 0)


def overview(run: Run) -> Fragment:
    """All agents by all consumers, and how many of the cells of each two work."""
    return _piece(overview_of.overview(run), text=f"overview of {len(run.cells)} cells")


def differences(run: Run) -> Fragment:
    """Agents that differ for the same consumer, and consumers that differ for the same agent."""
    return _piece(overview_of.differences(run), text="who differs")


def causes(run: Run) -> Fragment:
    """Why pairs of real vendors failed, the most frequent cause first."""
    return _piece(pairs.causes(run), text="causes")


def approaches(run: Run) -> Fragment:
    """What each real consumer does between its first byte and its first message."""
    return _piece(pairs.approaches(run), text="approaches of consumers")


def environments(run: Run) -> Fragment:
    """The environments that a run of real vendors stood on."""
    return _piece(pairs.environments(run), text="environments")


def words_of(*runs: Run) -> Fragment:
    """A glossary of what occurs on this page."""
    return _piece(words.words(runs), text="what the words mean")


def made_from(*runs: Run) -> Fragment:
    """Tool versions, parameters and vendors of each run."""
    return _piece(words.made_from(runs), text="; ".join(run.header.tool for run in runs))


def check_verdict(result: Checked) -> Fragment:
    """The verdict on one agent, its authority, and the target it is about."""
    shown = result.as_json()
    told = checked.verdict(shown, said=result.said, card=result.card, would_send=result.would_send)
    return _piece(told, text=f"{shown['verdict']}, {shown['authority']['status']}", ends=result.exit_code)


def check_stages(result: Checked) -> Fragment:
    """Stage by stage: verdicts and findings with their judge."""
    return _piece(checked.stages(result.as_json()), text="stages and findings")


def check_clients(result: Checked) -> Fragment:
    """What today's clients of each generation would do with the card."""
    return _piece(checked.clients(result.clients), text="what clients would do")


def check_words(result: Checked) -> Fragment:
    """A glossary of what occurs on the page of one agent."""
    return _piece(checked.words(result.as_json()), text="what the words mean")


def check_exchanges(result: Checked, *, bodies: bool = False) -> Fragment:
    """The requests that the check made, as a timeline."""
    return _piece(checked.exchanges(result.evidence, bodies=bodies), text="exchanges")

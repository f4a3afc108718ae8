"""The head of a page of real vendors: how many cells work, what fails as is known, and what is news either way."""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab.lab.expectations import Compared, Outcome, counts
from a2a_lab.lab.records import Run
from a2a_lab.report.chips import number
from a2a_lab.report.expected import told
from a2a_lab.report.html import Html, plural, tag
from a2a_lab.report.known import compared


def sentence(run: Run) -> str:
    """`28 of 50 cells work; 22 fail, all of them as expected.`"""
    found, _ = compared(run)
    graded = [cell for cell in run.cells if cell.is_graded]
    working = sum(cell.works for cell in graded)
    skipped = len(run.cells) - len(graded)
    if not graded:
        return f"No cell could be judged: all {len(run.cells)} were skipped."
    works = "works" if working == 1 else "work"
    said = f"{working} of {plural(len(graded), 'cell')} {works}; {_failing(found, len(graded) - working)}."
    news = [one for one in found if one.outcome.is_news]
    if news:
        said += f" {plural(len(news), 'cell is', 'cells are')} news: {told(news)}."
    return said + (f" {plural(skipped, 'cell was', 'cells were')} skipped." if skipped else "")


def _failing(found: Sequence[Compared], failing: int) -> str:
    known = sum(one.outcome is Outcome.AS_EXPECTED for one in found)
    verb = "fails" if failing == 1 else "fail"
    if not failing:
        return "none fails"
    if not found:
        return f"{failing} {verb}"
    if known == failing:
        return f"{failing} {verb}, {'as expected' if failing == 1 else 'all of them as expected'}"
    return f"{failing} {verb}, {known or 'none'} of them as expected"


def tiles(run: Run) -> Html:
    """What came of the cells, in six figures; news is marked, whichever way it goes."""
    found, _ = compared(run)
    tally = counts(found)
    graded = [cell for cell in run.cells if cell.is_graded]
    working = sum(cell.works for cell in graded)
    orphans = sum(cell.measures.orphans for cell in graded)
    news = [Outcome.UNEXPECTED_FAILURE, Outcome.UNEXPECTED_PASS, Outcome.FAILS_OTHERWISE]
    labels = ["unexpected failures", "unexpected passes", "fail otherwise than expected"]
    return tag(
        "div",
        _tile(working, "cells work", of=len(graded)),
        _tile(tally[Outcome.AS_EXPECTED.value], "fail as expected", of=len(graded)),
        *(
            _tile(tally[outcome.value], label, is_news=tally[outcome.value] > 0)
            for outcome, label in zip(news, labels, strict=True)
        ),
        _tile(len(run.cells) - len(graded), "skipped, with the reason"),
        _tile(orphans, "tasks and artifacts left behind"),
        class_="tiles",
    )


def _tile(value: int, label: str, *, of: int | None = None, is_news: bool = False) -> Html:
    figure = tag("b", number(value), tag("small", f"/{number(of)}") if of is not None else None)
    return tag("div", figure, tag("span", label), class_="tile news" if is_news else "tile")

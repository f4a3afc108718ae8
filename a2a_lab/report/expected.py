"""A run of real vendors beside what was expected of it: the news loud, in either direction, and the known in groups.

A cell that works although it is expected to fail is as loud as one that fails unexpectedly: an expectation that is out
of date hides the next failure. What fails as expected is told once for each reason, with the cells that it explains.
"""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab.lab.expectations import TOLD, Compared, Expected, Outcome, counts
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import chip, link, links
from a2a_lab.report.folds import fold
from a2a_lab.report.html import LONG, Child, Html, escape, join, plural, tag
from a2a_lab.report.known import compared
from a2a_lab.report.table import Prose, Sorted, Value, table

NEWS = (Outcome.UNEXPECTED_FAILURE, Outcome.UNEXPECTED_PASS, Outcome.FAILS_OTHERWISE)


def expectations(run: Run) -> Html:
    """News first, in both directions alike; then what fails as is known, and what was skipped, by its reason."""
    found, problem = compared(run)
    if problem:
        return tag("p", tag("b", "What was expected cannot be told: "), escape(problem, cap=LONG), class_="alarm")
    if not found:
        return tag("p", "Nothing is expected of this matrix.", class_="legend")
    known = [one for one in found if one.outcome is Outcome.AS_EXPECTED]
    skipped = [one for one in found if one.outcome is Outcome.SKIPPED]
    return join(
        [
            _news([one for one in found if one.outcome.is_news]),
            _by_reason(known),
            _skipped(skipped),
        ]
    )


def told(found: Sequence[Compared]) -> str:
    """`28 work, 22 fail as expected, 1 unexpected pass`."""
    tally = counts(found)
    return ", ".join(plural(tally[one.value], *words) for one, words in TOLD.items() if tally[one.value])


def _news(news: Sequence[Compared]) -> Html:
    if not news:
        return tag("p", "No news: every cell came out as was known.", class_="legend")
    alarm = tag(
        "p",
        tag("b", f"{plural(len(news), 'cell is', 'cells are')} news: "),
        f"{told(news)}. Either a vendor or an expectation is out of date.",
        class_="alarm",
    )
    columns = ["outcome", "cell", "found", "expected", "reason given"]
    order = {outcome: place for place, outcome in enumerate(NEWS)}
    rows = sorted(news, key=lambda one: order[one.outcome])
    return join([alarm, table("news", columns, (([one.cell], _news_row(one, order)) for one in rows))])


def _news_row(one: Compared, order: dict[Outcome, int]) -> Sequence[Value]:
    loud = tag("b", TOLD[one.outcome][0], class_=f"news n-{one.outcome.name}")
    reason = join([one.expected.reason, _source(one.expected)]) if one.expected else "none: it was expected to work"
    return [
        Sorted(loud, order[one.outcome]),
        link(one.cell),
        _found(one),
        _expected(one.expected),
        Prose(reason),
    ]


def _by_reason(known: Sequence[Compared]) -> Html | None:
    """One row for each expectation that came true, with its cells."""
    grouped: dict[tuple[str, str], list[Compared]] = {}
    for one in known:
        assert one.expected is not None
        grouped.setdefault((one.expected.reason, one.expected.told), []).append(one)
    if not grouped:
        return None
    rows = sorted(grouped.values(), key=len, reverse=True)
    listed = table(
        "expected",
        ["why it fails", "found", "cells", "which"],
        (([one.cell for one in same], _known_row(same)) for same in rows),
    )
    title = f"{plural(len(known), 'cell fails', 'cells fail')} as expected, for {plural(len(rows), 'reason')}"
    return fold("expected", title, listed)


def _known_row(same: Sequence[Compared]) -> Sequence[Value]:
    expected, cells = same[0].expected, [one.cell for one in same]
    reason = expected.reason if expected else ""
    ways = {one.told: one for one in same}
    shown = join(tag("div", _found(one)) for one in ways.values())
    return [
        Prose(join([reason, _source(expected)])),
        shown,
        len(cells),
        Sorted(links(cells, most=4), len(cells)),
    ]


def _skipped(skipped: Sequence[Compared]) -> Html | None:
    grouped: dict[str, list[CellRecord]] = {}
    for one in skipped:
        grouped.setdefault(one.cell.said or "no reason was recorded", []).append(one.cell)
    if not grouped:
        return None
    rows = sorted(grouped.items(), key=lambda item: -len(item[1]))
    listed = table(
        "skipped",
        ["why it was skipped", "cells", "which"],
        (
            (cells, [Prose(escape(said, cap=LONG)), len(cells), Sorted(links(cells, most=4), len(cells))])
            for said, cells in rows
        ),
    )
    title = f"{plural(len(skipped), 'cell was', 'cells were')} skipped, and counted for and against nobody"
    return fold("skipped", title, listed)


def _found(one: Compared) -> Html:
    return join([chip(one.cell.verdict), *(join([" ", tag("code", slug)]) for slug in one.slugs)])


def _expected(expected: Expected | None) -> Child:
    if expected is None:
        return "works"
    return join(
        [expected.verdict, " " if expected.verdict else "", tag("code", expected.cause) if expected.cause else ""]
    )


def _source(expected: Expected | None) -> Html | None:
    return join([" ", tag("code", expected.link)]) if expected is not None and expected.link else None

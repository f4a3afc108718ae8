"""The one sortable table of a page, and the short list of facts.

A row carries the ids of the cells it is about, so that the page's filters reach it; a cell of the table may sort by
another value than the one it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from a2a_lab.lab.records import CellRecord
from a2a_lab.report.chips import marks
from a2a_lab.report.html import Child, Html, join, tag

_TALL = 12  # rows; a longer table keeps its heads in sight


class Sorted:
    """A table cell that sorts by another value than the one it shows."""

    def __init__(self, shown: Child, by: float | str, *, is_number: bool = False) -> None:
        self.shown = shown
        self.by = by
        self.is_number = is_number


class Prose:
    """A table cell that holds a sentence and may take the width for it, below a name by which the column sorts."""

    def __init__(self, text: Child, *, name: str | None = None) -> None:
        self.text = text
        self.name = name


Value = Child | Sorted | Prose


def table(name: str, columns: Sequence[str], rows: Iterable[tuple[Sequence[CellRecord], Sequence[Value]]]) -> Html:
    """A sortable table called `name`; each row comes with the cells it is about."""
    listed = list(rows)
    numeric = [_is_number(value) for value in listed[0][1]] if listed else [False] * len(columns)
    head = [
        tag("th", tag("button", column, type="button"), scope="col", class_="n" if is_number else None)
        for column, is_number in zip(columns, numeric, strict=True)
    ]
    body = [tag("tr", *map(_value, values), data_cells=marks(cells)) for cells, values in listed]
    drawn = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), class_="sortable", data_name=name)
    return framed(drawn, rows=len(body))


def framed(table: Html, *, caption: str = "", rows: int = 0) -> Html:
    """A table in a frame that scrolls by itself where the table is larger, its heads staying in sight."""
    tall = " tall" if rows > _TALL else ""
    named = tag("p", caption, class_="caption") if caption else None
    return join([named, tag("div", table, class_=f"scroll{tall}")])


def _value(value: Value) -> Html:
    if isinstance(value, Sorted):
        return tag("td", value.shown, data_v=value.by, class_="n" if _is_number(value) else None)
    if isinstance(value, Prose):
        named = tag("code", value.name) if value.name else None
        return tag("td", tag("div", named, " ", value.text), class_="w", data_v=value.name)
    return tag("td", value, class_="n" if _is_number(value) else None)


def _is_number(value: Value) -> bool:
    if isinstance(value, Sorted):
        return value.is_number
    return isinstance(value, int | float) and not isinstance(value, bool)


def facts(rows: Mapping[str, Child]) -> Html:
    """A short list of names and values."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in rows.items()), class_="facts")

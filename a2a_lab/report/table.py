"""The one sortable table of a page, and the short list of facts.

A row carries the ids of the cells it is about, so that the page's filters reach it; a cell of the table may sort by
another value than the one it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from a2a_lab.lab.records import CellRecord
from a2a_lab.report.html import Child, Html, anchor, tag


class Sorted:
    """A table cell that sorts by another value than the one it shows."""

    def __init__(self, shown: Child, by: float | str, *, is_number: bool = False) -> None:
        self.shown = shown
        self.by = by
        self.is_number = is_number


class Prose:
    """A table cell that holds a sentence and may take the width for it."""

    def __init__(self, text: Child) -> None:
        self.text = text


Value = Child | Sorted | Prose


def table(name: str, columns: Sequence[str], rows: Iterable[tuple[Sequence[CellRecord], Sequence[Value]]]) -> Html:
    """A sortable table called `name`; each row comes with the cells it is about."""
    head = tag("tr", *(tag("th", tag("button", column, type="button"), scope="col") for column in columns))
    body = [
        tag("tr", *map(_value, values), data_cells=" ".join(anchor(str(cell.key)) for cell in cells) or None)
        for cells, values in rows
    ]
    return tag(
        "div",
        tag("table", tag("thead", head), tag("tbody", *body), class_="sortable", data_name=name),
        class_="scroll",
    )


def _value(value: Value) -> Html:
    if isinstance(value, Sorted):
        return tag("td", value.shown, data_v=value.by, class_="n" if value.is_number else None)
    if isinstance(value, Prose):
        return tag("td", value.text, class_="w")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return tag("td", value, class_="n" if is_number else None)


def facts(rows: Mapping[str, Child]) -> Html:
    """A short list of names and values."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in rows.items()), class_="facts")

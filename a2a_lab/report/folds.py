"""What a page keeps folded: true, complete, and not what a reader came for.

A fold is a plain `<details>`, so that it opens without a script and by keyboard. The page's filters open the folds that
hold what was asked for, and paper shows what the reader had open.
"""

from __future__ import annotations

from a2a_lab.report.html import Html, tag


def fold(name: str, title: str, *content: Html | None, is_open: bool = False) -> Html:
    """Content below one line that says what is in it and how much."""
    return tag(
        "details",
        tag("summary", title),
        tag("div", *content),
        class_="fold",
        data_fold=name,
        open=is_open,
    )

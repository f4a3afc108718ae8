"""The one way by which text becomes HTML: escaped, capped in length, with control characters shown.

Whatever a vendor wrote (card names, error texts, task ids) is hostile. Other modules of the report build elements with
`tag` and never write a bracket themselves; a plain `str` is always text, only `Html` is markup.
"""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

CAP = 240  # characters of one text; a card name of a megabyte would be the page
LONG = 1000  # characters of a sentence: a finding's detail, or one of our own
_JOINED = "\u200d\ufe0f"  # format characters that ordinary emoji are made of
_MARKS = 3  # combining marks on one letter; more of them paint over the neighbouring lines
_VOID = frozenset({"br", "col", "hr", "img", "input", "wbr"})


class Html(str):
    """Text that is markup already. Made by `tag`, `join` and the figures only."""

    __slots__ = ()


Child = str | int | float | None | Iterable["Child"]
"""What an element may contain: markup, text to be escaped, numbers, nothing, or several of these."""


def shown(text: str, *, cap: int = CAP) -> str:
    """The text as a person may safely see it: control and direction characters named, long ones cut with a count."""
    kept, marks = [], 0
    for letter in text[:cap]:
        kind = unicodedata.category(letter)
        marks = marks + 1 if kind in {"Mn", "Me"} else 0
        if marks > _MARKS:
            continue
        if letter in "\n\r\t":
            kept.append({"\n": "␊", "\r": "␍", "\t": "␉"}[letter])
        elif kind in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and letter not in _JOINED:
            kept.append(f"⟨U+{ord(letter):04X}⟩")
        else:
            kept.append(letter)
    more = f"… (+{len(text) - cap} characters)" if len(text) > cap else ""
    return "".join(kept) + more


def escape(child: Child, *, cap: int = CAP) -> Html:
    """Markup for whatever an element may contain."""
    if isinstance(child, Html):
        return child
    if child is None:
        return Html("")
    if isinstance(child, str):
        return Html(html.escape(shown(child, cap=cap)))
    if isinstance(child, bool | int | float):
        return Html(html.escape(f"{child:g}" if isinstance(child, float) else str(child)))
    return join(child)


def join(children: Iterable[Child]) -> Html:
    return Html("".join(escape(child) for child in children))


def tag(name: str, *children: Child, **attributes: str | int | float | bool | None) -> Html:
    """One element. Attribute names lose a last underscore (`class_`) and turn others into hyphens; None is left out."""
    written = "".join(_attributes(attributes))
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def _attributes(attributes: dict[str, Any]) -> Iterator[str]:
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        plain = name.rstrip("_").replace("_", "-")
        yield f" {plain}" if value is True else f' {plain}="{html.escape(shown(str(value), cap=2000))}"'


STYLE_TYPE = "application/vnd.a2a-lab.style"
"""Marks an output that only JupyterLab needs: the page brings the style itself."""

RUN_TYPE = "application/vnd.a2a-lab.run+json"
"""Carries the folder of a run from an executed notebook to the lab that executed it."""


END_TYPE = "application/vnd.a2a-lab.end+json"
"""Carries what the command ends with (R39) from an executed notebook to the lab that executed it."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of the page as a notebook displays it.

    `run` is set on the piece that names a run's folder, `ends` on the piece that knows the exit code.
    """

    html: Html
    text: str = ""
    run: str | None = None
    is_style: bool = False
    ends: int | None = None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/html": str(self.html), "text/plain": self.text or "(shown as HTML)"}
        if self.run is not None:
            bundle[RUN_TYPE] = {"folder": self.run}
        if self.ends is not None:
            bundle[END_TYPE] = {"exit": self.ends}
        if self.is_style:
            bundle[STYLE_TYPE] = "style"
        return bundle

    def __str__(self) -> str:
        return str(self.html)


def anchor(cell: str, *, side: str = "") -> str:
    """The id of a cell's evidence on the page, from its key: letters that a URL needs not escape, never shared.

    `side` parts the two runs of a page whose cells have the same keys.
    """
    plain = re.sub(r"[^A-Za-z0-9.@-]", "_", cell)
    if re.search(r"[^A-Za-z0-9.@/-]", cell):
        plain += f"_{hashlib.sha256(cell.encode(errors='replace')).hexdigest()[:8]}"
    return f"c-{side}-{plain}" if side else f"c-{plain}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 cell`, `2 cells`."""
    return f"{count} {one if count == 1 else many or one + 's'}"

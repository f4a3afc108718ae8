"""Finds the values in a JSON text by where they stand, without reading the text as a whole, and exchanges some of them.

Evidence may be malformed on purpose: duplicate keys, NaN, half an event. So it is never parsed and written anew: tokens
are walked, which works for any bytes in time that follows their number, and every byte that is not exchanged stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

_TOKEN: Final = re.compile(rb'"(?:[^"\\]+|\\.)*+(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_DATA: Final = re.compile(rb"data: ?")

_PART_LISTS: Final = (b'"parts"', b'"content"')  # the second is that of messages over REST in 0.3

Change = tuple[int, int, bytes]
"""From where to where, and what is to stand there."""


@dataclass(frozen=True, slots=True)
class Within:
    """An open bracket, and the member that it is the value of. `objects` counts those open up to here; `part` is the
    place, among the open brackets, of the message or artifact part that it belongs to, None outside of parts."""

    bracket: bytes
    key: bytes | None
    objects: int
    part: int | None


@dataclass(slots=True)
class Scalar:
    """A string, number or word. `key` is the raw name of its member, or of the array that it stands in; `within` the
    brackets around it from the outside, which change as the walk goes on."""

    start: int
    end: int
    text: bytes
    key: bytes | None
    within: list[Within]

    @property
    def value(self) -> Any:
        return read(self.text)

    @property
    def is_outermost(self) -> bool:
        """Whether it stands in one object only; arrays do not count, since a batch holds outermost objects."""
        return bool(self.within) and self.within[-1].objects == 1

    @property
    def in_part(self) -> bytes | None:
        """Where in a part it stands: empty for a member of the part itself, else the raw name of the member that it is
        inside of; None outside of parts."""
        part = self.within[-1].part if self.within else None
        if part is None:
            return None
        return b"" if len(self.within) == part + 1 else self.within[part + 1].key or b""


def read(text: bytes) -> Any:
    """One JSON scalar; None for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def written(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def exchanged(
    parts: Sequence[bytes], other: Callable[[Scalar], bytes | None], *, is_stream: bool = False
) -> list[bytes]:
    """The parts of one body with other values in place of those for which `other` gives one.

    Parts stay parts, also where a value lies across two of them: the new one then stands in the first.
    """
    whole = b"".join(parts)
    changes = [
        (scalar.start, scalar.end, new)
        for spans in _texts(whole, is_stream)
        for scalar in _scalars(whole, spans)
        if (new := other(scalar)) is not None
    ]
    return applied(parts, changes)


def applied(parts: Sequence[bytes], changes: Sequence[Change]) -> list[bytes]:
    """The parts with the changes, which are in order and apart from each other."""
    if not changes:
        return list(parts)
    made, begin, ahead = [], 0, 0
    for part in parts:
        end, at, pieces = begin + len(part), begin, []
        while ahead < len(changes) and changes[ahead][0] < end:
            start, stop, new = changes[ahead]
            if start >= begin:
                pieces += [part[at - begin : start - begin], new]
            at = min(stop, end)
            if stop > end:
                break  # its rest lies in the next part, where it is left out
            ahead += 1
        pieces.append(part[at - begin :])
        made.append(b"".join(pieces))
        begin = end
    return made


def _texts(whole: bytes, is_stream: bool) -> Iterator[list[tuple[int, int]]]:
    """The JSON texts of a body, each as the spans that it is made of: of a stream the data lines of one event."""
    if not is_stream:
        yield [(0, len(whole))]
        return
    spans: list[tuple[int, int]] = []
    for line in _LINE.finditer(whole):
        if not line.group().strip(b"\r\n"):
            yield spans
            spans = []
        elif data := _DATA.match(whole, line.start()):
            spans.append((data.end(), line.end()))


def _scalars(whole: bytes, spans: list[tuple[int, int]]) -> Iterator[Scalar]:
    within: list[Within] = []
    last: bytes = b""
    key: bytes | None = None
    for start, end in spans:
        for token in _TOKEN.finditer(whole, start, end):
            text = token.group()
            if text == b":":
                key = last
            elif text in (b"{", b"["):
                within.append(_opened(text, key, within))
                key = key if text == b"[" else None
            elif text in (b"}", b"]"):
                del within[-1:]
                key = _of_elements(within)
            elif text == b",":
                key = _of_elements(within)
            else:
                last = text
                if key is not None:
                    yield Scalar(token.start(), token.end(), text, key, within)


def _opened(bracket: bytes, key: bytes | None, within: list[Within]) -> Within:
    outer = within[-1] if within else None
    part = outer.part if outer else None
    if part is None and bracket == b"{" and outer is not None and outer.bracket == b"[" and outer.key in _PART_LISTS:
        part = len(within)
    return Within(bracket=bracket, key=key, objects=(outer.objects if outer else 0) + (bracket == b"{"), part=part)


def _of_elements(within: list[Within]) -> bytes | None:
    """The member to which the next element belongs: that of the array; an object's next member is not known yet."""
    return within[-1].key if within and within[-1].bracket == b"[" else None

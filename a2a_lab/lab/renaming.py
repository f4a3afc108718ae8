"""Puts the ids of a live request into a recorded answer, and leaves every other byte of it alone (R43).

An answer may be evidence of a fault: duplicate keys, odd numbers, a half written event. So it is never parsed and
written anew; the members that hold an id are found in its text, and only their values are exchanged. An id that was not
the recorded request's own (an answer to somebody else, a task that nobody asked for) stays as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Kind = Literal["rpc", "message", "task", "context"]

KINDS: Final[dict[str, Kind]] = {
    "messageId": "message",
    "message_id": "message",
    "taskId": "task",
    "task_id": "task",
    "referenceTaskIds": "task",
    "reference_task_ids": "task",
    "contextId": "context",
    "context_id": "context",
    "sessionId": "context",  # the draft's word for it
    "id": "task",  # of a task; the id of a JSON-RPC request is told by where it stands
}
"""Which members hold an id, and of what; by the spellings of all dialects."""

_TOKEN: Final = re.compile(rb'"(?:[^"\\]+|\\.)*+(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_DATA: Final = re.compile(rb"data: ?")


@dataclass(slots=True, kw_only=True)
class Renames:
    """Which id took whose place: of the request itself, and of messages, tasks and contexts, recorded to live."""

    rpc: tuple[Any, Any] | None = None
    ids: dict[tuple[Kind, str], str] = field(default_factory=dict)

    @property
    def changes_nothing(self) -> bool:
        same_rpc = self.rpc is None or _same(*self.rpc)
        return same_rpc and all(recorded == live for (_, recorded), live in self.ids.items())

    def live(self, kind: Kind, found: Any) -> Any:
        """What takes the place of a value that was found; the value itself where nothing does.

        The type that was found is kept: an agent that answers 1 with "1" answers 7 with "7", which is still wrong.
        """
        if kind != "rpc":
            return self.ids.get((kind, found), found) if isinstance(found, str) else found
        if self.rpc is None or found is None or isinstance(found, bool | list | dict):
            return found
        recorded, live = self.rpc
        if _same(found, recorded):
            return live
        if str(found) != str(recorded):
            return found
        if isinstance(found, str):
            return str(live)
        return int(live) if isinstance(live, str) and live.isdecimal() else found


def put_in(parts: Sequence[bytes], renames: Renames, *, is_stream: bool = False) -> list[bytes]:
    """The parts of one body with the live ids in place. Parts stay parts, also where an id lies across two of them."""
    whole = b"".join(parts)
    if renames.changes_nothing or not whole:
        return list(parts)
    changes = [change for spans in _texts(whole, is_stream) for change in _changes(whole, spans, renames)]
    return _applied(parts, changes) if changes else list(parts)


def moved(parts: Sequence[bytes], origins: Mapping[str, str]) -> list[bytes]:
    """The parts with other origins in their URLs, for clients that cannot be told to connect elsewhere."""
    if not origins:
        return list(parts)
    known = "|".join(re.escape(origin) for origin in sorted(origins, key=len, reverse=True))
    found = re.finditer(rf"(?:{known})(?![\w.:-])".encode(), b"".join(parts))
    changes = [(one.start(), one.end(), origins[one.group().decode()].encode()) for one in found]
    return _applied(parts, changes) if changes else list(parts)


Change = tuple[int, int, bytes]


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


def _changes(whole: bytes, spans: list[tuple[int, int]], renames: Renames) -> Iterator[Change]:
    """Walks the tokens of one text, knowing only how deep it is and which member it is in."""
    within: list[bytes | None] = []  # for each open bracket, the member that its elements belong to
    depth, last = 0, b""
    key: bytes | None = None
    for start, end in spans:
        for token in _TOKEN.finditer(whole, start, end):
            text = token.group()
            if text == b":":
                key = last
            elif text in (b"{", b"["):
                within.append(key if text == b"[" else None)
                depth += text == b"{"
                key = within[-1]
            elif text in (b"}", b"]"):
                depth -= text == b"}" and depth > 0
                within = within[:-1]
                key = within[-1] if within else None
            elif text == b",":
                key = within[-1] if within else None
            else:
                last = text
                if key is not None and (new := _exchanged(key, text, depth, renames)) is not None:
                    yield token.start(), token.end(), new


def _exchanged(key: bytes, text: bytes, depth: int, renames: Renames) -> bytes | None:
    """What is written in place of one value; None where it stays."""
    name = _read(key)
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        return None
    if name == "id" and depth == 1 and renames.rpc is not None:
        kind = "rpc"
    found = _read(text)
    live = renames.live(kind, found)
    return None if _same(live, found) else json.dumps(live, ensure_ascii=False).encode("utf-8", "replace")


def _read(text: bytes) -> Any:
    """One JSON scalar; None for what is none, which no id equals."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _same(one: Any, other: Any) -> bool:
    """Equal, and of one type: 1 is neither true nor "1"."""
    return type(one) is type(other) and bool(one == other)


def _applied(parts: Sequence[bytes], changes: list[Change]) -> list[bytes]:
    """The parts with the changes in them: what is new stands in the part where the old one began."""
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

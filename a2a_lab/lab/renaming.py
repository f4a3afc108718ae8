"""Puts the ids of a live request into a recorded answer, and leaves every other byte of it alone (R43).

An answer may be evidence of a fault, so only the values of members that hold an id are exchanged in its text. An id
that was not the recorded request's own (an answer to somebody else, a task that nobody asked for) stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from a2a_lab.lab.jsontext import Scalar, applied, exchanged, read, written

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
    if renames.changes_nothing:
        return list(parts)

    def other(scalar: Scalar) -> bytes | None:
        name = read(scalar.key) if scalar.key else None
        kind = KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            return None
        if name == "id" and renames.rpc is not None and scalar.is_outermost:
            kind = "rpc"
        found = scalar.value
        live = renames.live(kind, found)
        return None if _same(live, found) else written(live)

    return exchanged(parts, other, is_stream=is_stream)


def moved(parts: Sequence[bytes], origins: Mapping[str, str]) -> list[bytes]:
    """The parts with other origins in their URLs, for clients that cannot be told to connect elsewhere."""
    if not origins:
        return list(parts)
    known = "|".join(re.escape(origin) for origin in sorted(origins, key=len, reverse=True))
    found = re.finditer(rf"(?:{known})(?![\w.:-])".encode(), b"".join(parts))
    return applied(parts, [(one.start(), one.end(), origins[one.group().decode()].encode()) for one in found])


def _same(one: Any, other: Any) -> bool:
    """Equal, and of one type: 1 is neither true nor "1"."""
    return type(one) is type(other) and bool(one == other)

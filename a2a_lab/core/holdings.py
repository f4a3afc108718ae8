"""What is known of one task and its artifacts, as the books hold it; and what of an artifact is measured."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final, Literal

from a2a_lab.core.model import Artifact, State

Cleanup = Literal["none", "asked", "acknowledged", "declined", "unsupported", "unknown", "lost"]

_IMPLIED: Final = {"text": "text/plain", "data": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An artifact that was seen, without its content: the books need only what it was, how big, in how many parts."""

    id: str
    media_type: str | None
    bytes: int
    parts: int = 1


@dataclass(slots=True, kw_only=True, eq=False)
class Held:
    """A task that is known. `completed_with` holds the artifact ids of its completed snapshot, None without one."""

    id: str
    context_id: str | None = None
    state: State | None = None
    artifacts: dict[str, Received] = field(default_factory=dict)
    completed_with: frozenset[str] | None = None
    messages: list[str] = field(default_factory=list)
    is_known: bool = False  # the agent named it, or the consumer tried to cancel it
    is_acknowledged: bool = False  # canceled by the answer to a cancel of ours
    is_superseded: bool = False  # a second task answered the same message
    is_foreign: bool = False  # came in a stream about another task: whose it is nobody knows, so it is never touched
    is_lost: bool = False  # the agent says that it does not know its own task
    is_booked: bool = False
    is_answered: bool = False  # a message of ours came since the last state
    cleanup: Cleanup = "none"

    @property
    def is_open(self) -> bool:
        """Whether the task may still be running."""
        return self.is_known and not (self.is_acknowledged or (self.state is not None and self.state.is_terminal))

    def bear(self, message_id: str) -> None:
        """The task is about a message of ours."""
        if message_id not in self.messages:
            self.messages.append(message_id)

    def receive(self, artifact: Artifact, *, append: bool) -> None:
        """Take an artifact, or a chunk of one, into account."""
        known = self.artifacts.get(artifact.id) if append else None
        self.artifacts[artifact.id] = Received(
            id=artifact.id,
            media_type=(known.media_type if known else None) or media_type(artifact),
            bytes=(known.bytes if known else 0) + size(artifact),
            parts=(known.parts if known else 0) + len(artifact.parts),
        )


def media_type(artifact: Artifact) -> str | None:
    """The type of the first part, stated or implied by what it holds."""
    return next((part.media_type or _IMPLIED.get(part.kind) for part in artifact.parts), None)


def size(artifact: Artifact) -> int:
    """Bytes of content: text in UTF-8, base64 decoded, data as compact JSON; what a URL points to counts as none."""
    total = 0
    for part in artifact.parts:
        if part.text is not None:
            total += len(part.text.encode("utf-8", "surrogatepass"))
        elif part.raw is not None:
            total += len(part.raw.rstrip("=")) * 3 // 4
        elif part.kind == "data":
            total += len(json.dumps(part.data, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"))
    return total

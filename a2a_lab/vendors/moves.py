"""What an agent does with a task, one move at a time, without a dialect: the script that misbehaviours rewrite.

An executor yields moves; the agent applies each to the task in its store and writes it to whoever streams. A move may
say otherwise on the wire than in the store (`task_id`, `context_id`), be written only (`stored=False`) or be stored
only (`written=False`): that is how a misbehaviour lies.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

TERMINAL = frozenset({"completed", "failed", "canceled", "rejected"})
INTERRUPTED = frozenset({"input-required", "auth-required"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part in the agent's own words: text, or data where `data` is set; `mode` is its media type."""

    mode: str = "text/plain"
    text: str = ""
    data: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One step. `task_id` and `context_id` replace the task's own on the wire only."""

    task_id: str | None = None
    context_id: str | None = None
    stored: bool = True
    written: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Move):
    """The whole task as it stands, in `state`."""

    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Move):
    """A status update. `final` None writes what the dialect asks for; words of no dialect are written as they are."""

    state: str
    parts: tuple[Part, ...] = ()
    final: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(Move):
    """A piece of an artifact, or all of it."""

    artifact: str
    parts: tuple[Part, ...]
    append: bool = False
    last: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Say(Move):
    """A bare message, outside the task."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes(Move):
    """Bytes on the stream as they are: a comment, or what no honest server would write."""

    data: bytes


Moves = AsyncIterator[Move]


@dataclass(slots=True, kw_only=True)
class SimTask:
    """A task in the agent's store. `received` holds the raw parts of each message, as JSON text."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    context_id: str = field(default_factory=lambda: secrets.token_hex(6))
    state: str = "submitted"
    status_parts: tuple[Part, ...] = ()
    artifacts: dict[str, list[Part]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)
    job: asyncio.Task[None] | None = None
    listeners: list[asyncio.Queue[Move | None]] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.state not in TERMINAL

    def apply(self, move: Move) -> None:
        """Change the store as the move says."""
        if not move.stored:
            return
        match move:
            case Snapshot(state=str(state)):
                self.state, self.status_parts = state, ()
            case Status():
                self.state, self.status_parts = move.state, move.parts
            case Chunk(append=True):
                self.artifacts.setdefault(move.artifact, []).extend(move.parts)
            case Chunk():
                self.artifacts[move.artifact] = list(move.parts)
            case _:
                pass

    def tell(self, move: Move | None) -> None:
        """Hand a move to every stream that listens; None ends them."""
        for queue in self.listeners:
            queue.put_nowait(move)

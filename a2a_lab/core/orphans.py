"""What an orphan is (R35), as a function of what is known about one task. Keeps no books; `tasks` does.

An orphan is a task that neither ended by its own word nor was canceled by an answer that says so, or whose answer
belongs to nobody; and each artifact or committed payload in such a task, in one that did not complete, or missing from
the completed snapshot. A probe that was cancelled with the agent's acknowledgement leaves nothing behind: that
clean-up is what the cancel is for. A payload does, since its side effect may have happened (A7).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from a2a_lab.core.model import Artifact, State, Task

Cleanup = Literal["none", "asked", "acknowledged", "declined", "unsupported", "unknown", "lost"]

_IMPLIED: Final = {"text": "text/plain", "data": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanRow:
    """One thing left behind. `what` tells task, artifact and payload apart; `bytes` is its size, decoded.

    `state` is the task's last known state, or "id-unknown" where a send may have started a task that we cannot name.
    `why` is the reason in one slug, `cleanup` how far the clean-up came.
    """

    agent: str
    what: Literal["task", "artifact", "payload"]
    task_id: str | None
    artifact_or_message_id: str | None
    media_type: str | None
    bytes: int
    state: str
    why: str
    cleanup: Cleanup = "none"


@dataclass(slots=True, kw_only=True)
class Sent:
    """A message of ours. `unknown` counts the attempts whose outcome nobody knows; `tasks` are what answered it."""

    message_id: str
    purpose: str
    media_type: str | None
    bytes: int
    is_payload: bool
    context_id: str | None
    continues: str | None
    attempts: int = 0
    unknown: int = 0
    outcome: Literal["open", "task", "message", "refused", "unknown", "not-processed"] = "open"
    tasks: list[Held] = field(default_factory=list)

    def answered_by(self, held: Held) -> None:
        """A task answers the message. A second one makes the first an orphan, unless it was only found in a listing."""
        self.outcome = "task"
        held.bear(self.message_id)
        if held in self.tasks:
            return
        if held.is_superseded:
            self.tasks.insert(0, held)
            return
        for earlier in self.tasks:
            earlier.is_superseded = True
        self.tasks.append(held)

    def may_have_started(self, task: Task) -> bool:
        """Whether an unknown task may be the one that an attempt of unknown outcome started, going by its context."""
        contexts = {self.context_id, *(held.context_id for held in self.tasks)} - {None}
        return bool(self.unknown) and (task.context_id is None or not contexts or task.context_id in contexts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An artifact that was seen, without its content: the books need only what it was and how big."""

    id: str
    media_type: str | None
    bytes: int


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
        )


def why_orphan(task: Held) -> str | None:
    """Why the task itself is an orphan; None where it is settled."""
    if task.is_superseded:
        return "second-task"
    if not task.is_open:
        return None
    if task.is_lost:
        return "lost-by-agent"
    return {"declined": "cancel-not-effective", "unsupported": "cancel-unsupported"}.get(task.cleanup, "left-open")


def rows(agent: str, task: Held, payloads: list[Sent]) -> Iterator[OrphanRow]:
    """All that one task leaves behind: itself, then its artifacts, then the payloads committed to it."""
    why = why_orphan(task)
    state = task.state.value if task.state else State.UNKNOWN.value
    if why is not None:
        yield OrphanRow(
            agent=agent,
            what="task",
            task_id=task.id,
            artifact_or_message_id=None,
            media_type=None,
            bytes=0,
            state=state,
            why=why,
            cleanup=task.cleanup,
        )
    for artifact in task.artifacts.values():
        if (lost := why or _why_lost(task, artifact, bool(payloads))) is not None:
            yield OrphanRow(
                agent=agent,
                what="artifact",
                task_id=task.id,
                artifact_or_message_id=artifact.id,
                media_type=artifact.media_type,
                bytes=artifact.bytes,
                state=state,
                why=lost,
                cleanup=task.cleanup,
            )
    for payload in payloads:
        if (lost := why or _why_failed(task)) is not None:
            yield OrphanRow(
                agent=agent,
                what="payload",
                task_id=task.id,
                artifact_or_message_id=payload.message_id,
                media_type=payload.media_type,
                bytes=payload.bytes,
                state=state,
                why=lost,
                cleanup=task.cleanup,
            )


def unknown_rows(agent: str, sent: Sent) -> Iterator[OrphanRow]:
    """What a send of unknown outcome may have left behind: a task without a name, and the payload in it."""
    if not sent.unknown or sent.continues is not None:  # a task that was continued has a name
        return
    kinds: tuple[Literal["task", "payload"], ...] = ("task", "payload") if sent.is_payload else ("task",)
    for what in kinds:
        yield OrphanRow(
            agent=agent,
            what=what,
            task_id=None,
            artifact_or_message_id=sent.message_id,
            media_type=sent.media_type,
            bytes=sent.bytes,
            state="id-unknown",
            why="outcome-unknown",
        )


def _why_lost(task: Held, artifact: Received, bears_payload: bool) -> str | None:
    if task.is_acknowledged and not bears_payload:
        return None
    if task.completed_with is not None and artifact.id not in task.completed_with:
        return "missing-from-snapshot"
    return _why_failed(task)


def _why_failed(task: Held) -> str | None:
    if task.is_acknowledged:
        return "in-canceled-task"
    return None if task.state in (State.COMPLETED, None) else f"in-{task.state.value}-task"


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

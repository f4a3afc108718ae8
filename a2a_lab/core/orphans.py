"""What an orphan is (R35), as a function of what is known about one task. Keeps no books; `tasks` does.

An orphan is a task that neither ended by its own word nor was canceled by an answer that says so, or whose answer
belongs to nobody; and each artifact or committed payload in such a task, in one that did not complete, or missing from
the completed snapshot. A probe that was cancelled with the agent's acknowledgement leaves nothing behind: that
clean-up is what the cancel is for. A payload does, since its side effect may have happened (A7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.holdings import Cleanup, Held, Received
from a2a_lab.core.model import State
from a2a_lab.core.sends import Sent


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


def why_orphan(task: Held) -> str | None:
    """Why the task itself is an orphan; None where it is settled."""
    if task.is_superseded:
        return "second-task"
    if not task.is_open:
        return None
    if task.is_foreign:
        return "foreign-in-stream"
    if task.is_lost:
        return "lost-by-agent"
    return {"declined": "cancel-not-effective", "unsupported": "cancel-unsupported"}.get(task.cleanup, "left-open")


def rows(agent: str, task: Held, payloads: list[Sent]) -> Iterator[OrphanRow]:
    """All that one task leaves behind: itself, then its artifacts, then the payloads committed to it."""
    why = why_orphan(task)
    if task.is_foreign and why is None:
        return  # it ended, and what it made is its owner's
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
    """What a send of unknown outcome may have left behind: a task, mostly without a name, and the payload in it."""
    if not sent.unknown or sent.continues is not None:  # a task that was continued has a name
        return
    kinds: tuple[Literal["task", "payload"], ...] = ("task", "payload") if sent.is_payload else ("task",)
    for what in kinds:
        yield OrphanRow(
            agent=agent,
            what=what,
            task_id=sent.opens,
            artifact_or_message_id=sent.message_id,
            media_type=sent.media_type,
            bytes=sent.bytes,
            state="id-unknown" if sent.opens is None else State.UNKNOWN.value,
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

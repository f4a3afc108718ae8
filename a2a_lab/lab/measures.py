"""Counts what happened in a cell, from its exchanges, the card and the books alone (DESIGN 5).

Sees neither the posture nor what an agent was told to do. A payload is told by its canary and not by a label, so that
an initiator cannot look better than it is by calling a payload a probe (R23).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from a2a_lab.core.holdings import size
from a2a_lab.core.media import matches
from a2a_lab.core.model import Artifact, Card, Message, State, Task
from a2a_lab.core.modes import declared_modes
from a2a_lab.core.named_modes import named_modes
from a2a_lab.core.policy import Intent
from a2a_lab.core.receive import part_media_type
from a2a_lab.core.refusals import CONTENT_TYPE
from a2a_lab.core.tasks import TaskBook
from a2a_lab.judge.transcript import Call
from a2a_lab.lab.records import Measures
from a2a_lab.wire.exchange import Exchange

INTENDED = "intendedInputModes"
"""Where our probes say in their metadata which modes the payload will have (A3)."""
WAITED_OUT = frozenset({"transport-timeout", "cap"})
"""Waits that nothing but the transport timeout or the lab's own cap ended: the record's hang (R30)."""

TIME_ENDED = WAITED_OUT | {"hang-limit", "total-limit"}


@dataclass(slots=True, kw_only=True)
class Send:
    """One message that left: what it carried, and what became of it by the end of the cell."""

    call: Call
    mode: str
    is_payload: bool
    size: int
    meant: tuple[str, ...] = ()
    task_id: str | None = None
    state: State | None = None
    asks_for: tuple[str, ...] = ()
    made: set[str] = field(default_factory=set)

    @property
    def is_answered(self) -> bool:
        """Whether the runtime said anything about the message at all; an error page of a proxy is none of its words."""
        said = self.call.answer is not None and self.call.answer.message is not None
        return self.task_id is not None or self.call.error is not None or bool(self.call.events) or said

    @property
    def is_refused(self) -> bool:
        """Whether the mode of this send was refused: by modes named instead, or by the error that exists for it."""
        return self.has_type_error or (self.state is State.INPUT_REQUIRED and self.declines(self.mode))

    @property
    def has_type_error(self) -> bool:
        return self.call.error is not None and self.call.error.name == CONTENT_TYPE

    def declines(self, mode: str) -> bool:
        """Whether the answer names modes, and not this one."""
        return bool(self.asks_for) and not _among(mode, self.asks_for)


def measure(
    exchanges: Sequence[Exchange],
    calls: Sequence[Call],
    *,
    card: Card | None,
    intent: Intent,
    canary: str,
    book: TaskBook,
    booked: frozenset[str] | set[str],
    silence_s: float,
) -> Measures:
    """The measures of one cell. `booked` are the tasks whose result the consumer took."""
    sends = follow(calls, canary)
    diverged = _diverged(sends, calls, card, intent, silence_s) if card is not None else []
    waits = [call for call in calls if call.exchange.cut_by in WAITED_OUT]
    orphans = book.orphans()
    ended = max((exchange.ended_ms for exchange in exchanges), default=0.0)
    return Measures(
        held=False if diverged else True if card is not None and any(send.is_answered for send in sends) else None,
        diverged=tuple(diverged),
        delivered=any(
            send.is_payload and send.state is State.COMPLETED and send.task_id in booked and bool(send.made)
            for send in sends
        ),
        renegotiation_cycles=_cycles(sends),
        refused_sends=sum(send.is_payload and send.is_refused for send in sends),
        payload_sends=sum(send.is_payload for send in sends),
        orphaned_artifacts=sum(row.what != "task" for row in orphans),
        orphaned_tasks=sum(row.what == "task" for row in orphans),
        hangs=len(waits),
        waited_s=round(max((_waited_s(call) for call in calls if _was_cut(call)), default=0.0), 3),
        time_to_verdict_s=round(ended / 1000, 3),
        requests=len(exchanges),
        bytes_committed=sum(send.size for send in sends if send.is_payload),
        bytes_before_authority=_bytes_before_authority(sends),
    )


def follow(calls: Sequence[Call], canary: str) -> list[Send]:
    """Every send, with the state its task was in before the next message to it or its cancel, or at the end."""
    sends: list[Send] = []
    settled: set[str | None] = set()  # what a task is once we cancelled it says nothing about what it was asked
    for call in calls:
        if call.op == "cancel":
            settled.add(call.asked.task_id)
        if call.is_send and call.asked.message is not None:
            sends.append(_sent(call, call.asked.message, canary))
            if sends[-1].has_type_error:
                sends[-1].asks_for = named_modes(call.error).modes
        for task in call.tasks:
            if task.id not in settled and (mine := _owner(sends, call, task.id)) is not None:
                _take(mine, task)
        for task_id, artifact in call.artifacts:
            if artifact.parts and (mine := _owner(sends, call, task_id)) is not None:
                mine.made.add(artifact.id)
    return sends


def _sent(call: Call, message: Message, canary: str) -> Send:
    meant = call.asked.metadata.get(INTENDED) or message.metadata.get(INTENDED)
    return Send(
        call=call,
        mode=(part_media_type(message.parts[0]) if message.parts else None) or "",
        is_payload=canary.encode() in call.exchange.request_body,
        size=size(Artifact(id="", parts=message.parts)),
        meant=tuple(mode for mode in meant if isinstance(mode, str)) if isinstance(meant, list) else (),
    )


def _owner(sends: Sequence[Send], call: Call, task_id: str | None) -> Send | None:
    """The send that an answer belongs to: its own, or the latest to that task where it was asked for later."""
    if call.is_send:
        return sends[-1] if sends else None
    return next((one for one in reversed(sends) if one.task_id == task_id), None)


def _was_cut(call: Call) -> bool:
    return call.exchange.cut_by not in (None, "done")


def _waited_s(call: Call) -> float:
    """Seconds since the last news: another state, or an artifact. Saying `working` again is none."""
    news_ms, state = call.exchange.started_ms, None
    for heard in call.events:
        if heard.event.artifact is not None or (heard.event.state is not None and heard.event.state is not state):
            news_ms, state = heard.at_ms, heard.event.state or state
    return max(0.0, call.exchange.ended_ms - news_ms) / 1000


def _take(send: Send, task: Task) -> None:
    send.task_id, send.state = task.id, task.state
    send.asks_for = named_modes(task).modes if task.state is State.INPUT_REQUIRED else ()


def _cycles(sends: Sequence[Send]) -> int:
    """Payload sends repeated in another mode after an answer that named modes other than the one used."""
    cycles, refused = 0, ""
    for send in sends:
        if not send.is_payload:
            continue
        if refused and send.mode != refused:
            cycles, refused = cycles + 1, ""
        if send.is_refused and send.state is State.INPUT_REQUIRED:
            refused = send.mode
    return cycles


def _bytes_before_authority(sends: Sequence[Send]) -> int:
    """Payload bytes that left in a mode which the runtime had not yet accepted or asked for."""
    proven: set[str] = set()
    total = 0
    for send in sends:
        if send.is_payload and send.mode not in proven:
            total += send.size
        if send.state in (State.WORKING, State.COMPLETED):
            proven.add(send.mode)
        proven.update(send.asks_for)
    return total


def _diverged(sends: Sequence[Send], calls: Sequence[Call], card: Card, intent: Intent, silence_s: float) -> list[str]:
    """What the card declares, the plan depends on, and the runtime did not keep."""
    skill = card.skill(intent.skill)
    is_declared = declared_modes(card, skill, "input").covers(intent.mode)[0]
    outputs = declared_modes(card, skill, "output")
    found: dict[str, None] = {}
    for send in sends:
        here = send.mode == intent.mode and (send.is_refused or send.state is State.REJECTED)
        asks = send.state is State.INPUT_REQUIRED or send.has_type_error
        told = intent.mode in send.meant and asks and send.declines(intent.mode)
        if is_declared and (here or told):
            found["mode"] = None
        if is_declared and send.mode == intent.mode and send.state is State.FAILED:
            found["failed"] = None
    for call in calls:
        if call.op == "stream" and card.capabilities.get("streaming"):
            found |= dict.fromkeys(_stream_divergence(call, silence_s))
        parts = [part for _, artifact in call.artifacts for part in artifact.parts]
        if any(not outputs.covers(part_media_type(part) or "")[0] for part in parts):
            found["output"] = None
    return list(found)


def _stream_divergence(call: Call, silence_s: float) -> list[str]:
    """Never final needs about a silence limit without news: a client that leaves early proves nothing."""
    tasks = call.tasks
    last = next((task for task in tasks if task.state.is_terminal), tasks[-1] if tasks else None)
    if call.answer is not None and not call.is_stream:
        return ["streaming"]  # refused, or answered as if it were an ordinary call
    settled = last is not None and (last.state.is_terminal or last.state.is_interrupted)
    if call.exchange.cut_by in TIME_ENDED and not settled and _waited_s(call) >= 0.9 * silence_s:
        return ["never-final"]
    if call.exchange.ending != "open" and call.is_stream and not settled:
        return ["cut-short"]
    has_result = any(artifact.parts for _, artifact in call.artifacts)
    if settled and last is not None and last.state is State.COMPLETED and not has_result:
        return ["no-artifact"]
    return []


def _among(mode: str, modes: Sequence[str]) -> bool:
    return any(matches(one, mode)[0] for one in modes)

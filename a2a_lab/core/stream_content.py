"""What the events of a stream say, one after another: whose they are, which state, which artifacts, what is the end.

Knows no time and no socket; `stream` adds the clocks. The end is proved per dialect (wire-facts 7.1): a terminal state
in 1.0; up to 0.3 `final:true`, a task snapshot in a terminal state, or a single message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from a2a_lab.core.closures import Situation
from a2a_lab.core.model import Artifact, Message, RpcError, State, StreamEvent, Task
from a2a_lab.core.quoting import quoted
from a2a_lab.core.reassembly import Reassembly
from a2a_lab.core.stream_findings import (
    END_REPEATED,
    ERROR_BEFORE_STREAM,
    EVENT_AFTER_END,
    FIRST_EVENT,
    FOREIGN_CONTEXT,
    FOREIGN_TASK,
    MESSAGE_MIXED,
    STREAM_ERROR,
    TASK_REPEATED,
)
from a2a_lab.core.transitions import check_transition
from a2a_lab.verdicts import Finding, Stage, Verdict

StreamOp = Literal["stream", "subscribe"]


class StreamContent:
    """`task_id` and `context_id` are those that the events must carry, where they are known beforehand."""

    def __init__(
        self,
        dialect_id: str,
        *,
        op: StreamOp,
        task_id: str | None,
        context_id: str | None,
        known: Iterable[Artifact],
    ) -> None:
        self.is_strict = dialect_id.startswith("1.")
        self.op = op
        self.task_id = task_id
        self.context_id = context_id
        self.reassembly = Reassembly(appends_strictly=self.is_strict, known=known)
        self.state: State | None = None
        self.task: Task | None = None
        self.message: Message | None = None
        self.error: RpcError | None = None
        self.is_before_stream = False  # the error was the very first thing that came
        self.final_seen = False
        self.status_events = 0
        self.artifact_events = 0
        self.has_result = False  # an artifact came that holds something
        self.events = 0  # all that came
        self.used = 0  # those that are events of this stream, and thus progress
        self.is_overrun = False
        self._is_terminal = False
        self._is_proved = False
        self._is_message = False
        self._given_context = context_id

    @property
    def situation(self) -> Situation:
        if self.error is not None:
            return "error"
        if self._is_message:
            return "message"
        if self.state is not None and self.state.is_interrupted:
            return "interrupted" if self.is_strict or self.final_seen else "interrupted-unproved"
        if self._is_proved:
            return "ended"
        return "unproved" if self._is_terminal else "active"

    @property
    def is_terminal(self) -> bool:
        return self._is_terminal

    @property
    def is_ended(self) -> bool:
        """Whether nothing more may come."""
        return self.situation in ("error", "message", "ended")

    def receive(self, event: StreamEvent) -> list[Finding]:
        """Take one event. An event of another task is reported and not used."""
        self.events += 1
        if event.kind == "unknown":
            return []
        if event.error is not None:
            return self._fail(event.error)
        findings: list[Finding] = []
        is_same = event.task_id == self.task_id and event.context_id == self.context_id
        if not is_same and not self._is_ours(event, findings):
            return findings
        self.used += 1
        if self.used == 1:
            findings += self._judge_first(event)
        if not self._is_message and (self._is_proved or self._is_terminal):
            findings += self._after_end(event)
            if self._is_terminal:
                return findings
        elif self._is_message or (event.kind == "message" and self.used > 1):
            findings.append(self._mixed(event))
        return findings + self._apply(event)

    def take_instead(self, task: Task) -> None:
        """A task came as a plain answer, where a stream was asked for."""
        self.task_id, self.task = task.id or None, task
        self._enter(task.state)

    # -- whose it is

    def _is_ours(self, event: StreamEvent, findings: list[Finding]) -> bool:
        if event.task_id is not None and self.task_id is None:
            self.task_id = event.task_id
        elif event.task_id is not None and event.task_id != self.task_id:
            detail = f"the stream is about task {quoted(self.task_id)}, an event about {quoted(event.task_id)}"
            findings.append(FOREIGN_TASK(detail, expected=self.task_id, found=event.task_id[:80]))
            return False
        if event.context_id is not None and self.context_id is None:
            self.context_id = event.context_id
        elif event.context_id is not None and event.context_id != self.context_id:
            is_given = self.context_id == self._given_context
            verdict = Verdict.HINT if is_given and not self.is_strict else None  # 0.3 does not forbid to replace it
            was = "given" if is_given else "begun"
            detail = f"context {quoted(self.context_id)} was {was}, {quoted(event.context_id)} came"
            findings.append(FOREIGN_CONTEXT(detail, verdict=verdict, expected=self.context_id))
            self.context_id = event.context_id
        return True

    def _judge_first(self, event: StreamEvent) -> list[Finding]:
        """1.0 begins with a task, or for a message call with a message; 0.3 has no rule."""
        allowed = ("task",) if self.op == "subscribe" else ("task", "message")
        if not self.is_strict or event.kind in allowed:
            return []
        detail = f"the first event is a {event.kind}, expected {' or '.join(allowed)}"
        return [FIRST_EVENT(detail, found=event.kind)]

    # -- what it says

    def _apply(self, event: StreamEvent) -> list[Finding]:
        findings: list[Finding] = []
        if event.state is not None:
            odd = check_transition(self.state, event.state, stage=Stage.STREAM)
            findings += [odd] if odd is not None else []
            self._enter(event.state)
        if event.artifact is not None:
            self.artifact_events += 1
            self.has_result = self.has_result or bool(event.artifact.parts)
            findings += self.reassembly.receive(event.artifact, append=event.append, last_chunk=event.last_chunk)
        elif event.task is not None:
            findings += self._take_snapshot(event.task)
        elif event.kind == "status":
            self.status_events += 1
            self.message = event.message or self.message
            self._is_proved = self._is_terminal if self.is_strict else event.final is True
            self.final_seen = self.final_seen or event.final is True
        else:
            self.message = event.message
            self._is_message = self._is_message or self.used == 1
        return findings

    def _enter(self, state: State) -> None:
        self.state = state
        self._is_terminal = state.is_terminal

    def _take_snapshot(self, task: Task) -> list[Finding]:
        findings = []
        if self.is_strict and self.task is not None and not self._is_terminal:
            findings.append(TASK_REPEATED(f"another snapshot of the task, in state {task.state.value}"))
        self.task = task
        self.message = task.message or self.message
        self.has_result = self.has_result or any(artifact.parts for artifact in task.artifacts)
        self._is_proved = self._is_terminal
        return findings + self.reassembly.rebase(task.artifacts, is_final=self._is_terminal)

    def _mixed(self, event: StreamEvent) -> Finding:
        """A message must stand alone. What comes all the same is used, since it may start a task that runs."""
        verdict = None if self.is_strict else Verdict.HINT
        was = "after a message" if self._is_message else "among task events"
        self.is_overrun = self.is_overrun or (self._is_message and self.is_strict)
        self._is_message = self._is_message and event.kind == "message"
        return MESSAGE_MIXED(f"a {event.kind} came {was}", verdict=verdict, found=event.kind)

    def _after_end(self, event: StreamEvent) -> list[Finding]:
        """The same end may be said again, also by a last snapshot; anything else is too late."""
        is_same = event.state is self.state
        if self._is_terminal and is_same and event.kind == "status":
            self.status_events += 1
            self.final_seen = self.final_seen or event.final is True
            repeats = self._is_proved
            self._is_proved = self._is_proved or self.final_seen
            return [END_REPEATED(f"{quoted(event.wire_state)} was said again")] if repeats else []
        if self._is_terminal and is_same and event.task is not None:
            self.task = event.task
            self._is_proved = True
            self.has_result = self.has_result or any(artifact.parts for artifact in event.task.artifacts)
            return self.reassembly.confirm(event.task.artifacts)
        self.is_overrun = True
        said = f"a {event.kind}" + (f" in state {quoted(event.wire_state)}" if event.state is not None else "")
        after = f"state {self.state.value}" if self._is_terminal and self.state else "final:true"
        return [EVENT_AFTER_END(f"{said} came after {after}", found=event.kind)]

    def _fail(self, error: RpcError) -> list[Finding]:
        if self.is_ended:
            self.is_overrun = True
            return [EVENT_AFTER_END(f"error {quoted(error.code)} came after the end", found="error")]
        self.error = error
        self.is_before_stream = self.used == 0
        self.used += 1
        kind = ERROR_BEFORE_STREAM if self.is_before_stream else STREAM_ERROR
        return [kind(described(error), code=quoted(error.code), name=error.name)]


def described(error: RpcError) -> str:
    """An error for a message."""
    return f"error {quoted(error.code)}{f' {error.name}' if error.name else ''}: {quoted(error.message, 200)}"

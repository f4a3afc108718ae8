"""Watches one stream until it is over: events and time come in, actions and at the end a result come out (A6, R30).

Two clocks run on protocol events, whatever comments and pings say. At `silence_s` the caller is told to ask for the
task, once; at `hang_s` without an event, or at `total_s` of it all, the stream hangs. After the end was signalled the
socket may stay open for `close_s`. Which closure follows from which end is one table, in `closures`.

    watch = StreamWatch("1.0", clocks, opened=now)
    while not watch.is_over: wait for an event until watch.deadline(now), then receive, comment, tick or close
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from a2a_lab.core import stream_findings as found
from a2a_lab.core.closures import CLOSURES, UNSETTLED, Closure, Ending
from a2a_lab.core.model import Artifact, State, StreamEvent, Task
from a2a_lab.core.policy import Clocks
from a2a_lab.core.quoting import counted
from a2a_lab.core.stream_content import StreamContent, StreamOp
from a2a_lab.core.stream_end import last_findings
from a2a_lab.core.stream_hangs import out_of_time
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.core.stream_times import Due, StreamTimes
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Finding


class Action(StrEnum):
    """What the caller has to do now."""

    WAIT = "wait"  # nothing, until the next deadline
    ASK = "ask"  # get the task once, and tell `asked`
    LEAVE = "leave"  # the agent waits for us: stop reading and close with "left"
    STOP = "stop"  # it is over; the result stands


_ALIKE: Final = 20  # findings of one kind that are kept


class StreamWatch:
    """The watch over one streaming call, made when the request leaves: silence runs from there.

    `declared_streaming` says that the evidence holds the declaration (R28). `task_id` and `context_id` are those that
    the request named, `known` the artifacts received before a cut. All times are on the caller's clock, in seconds.
    """

    def __init__(
        self,
        dialect_id: str,
        clocks: Clocks,
        *,
        opened: float,
        declared_streaming: bool = False,
        op: StreamOp = "stream",
        task_id: str | None = None,
        context_id: str | None = None,
        known: Iterable[Artifact] = (),
    ) -> None:
        self.times = StreamTimes(clocks=clocks, opened=opened)
        self.content = StreamContent(dialect_id, op=op, task_id=task_id, context_id=context_id, known=known)
        self.comments = 0
        self._declared = declared_streaming
        self._settled: Task | None = None
        self._has_settled = False  # asked after the end, with whatever answer
        self._closure: Closure | None = None
        self._over_at = opened
        self._findings: list[Finding] = []
        self._counts: Counter[str] = Counter()

    # -- what comes in

    def receive(self, event: StreamEvent, now: float) -> list[Finding]:
        """Take one event; the findings it gave rise to. What comes once the watch is over is not looked at."""
        if self.is_over:
            return []
        before = self.content.used
        findings = self.content.receive(event)
        if self.content.used > before:
            self.times.hear(now)
        if findings:
            self.note(*findings)
        if event.kind != "artifact" or findings:  # a chunk that is in order ends nothing
            self._look_for_the_end(now)
        return findings

    def _look_for_the_end(self, now: float) -> None:
        if self.content.situation == "error":
            self._finish("rpc-error-before-stream" if self.content.is_before_stream else "error-frame", now)
        elif not self.content.is_ended:
            self.times.ended_at = None
        elif self.times.ended_at is None:
            self.times.ended_at = now

    def comment(self, now: float, times: int = 1) -> None:
        """Comments came, or blocks without data: signs of life, and no progress."""
        self.comments += times
        self.times.is_pinged = True

    def note(self, *findings: Finding) -> None:
        """Take up findings of the wire. Those alike are kept only so often; the rest is dropped."""
        for finding in findings:
            self._counts[finding.slug] += 1
            if self._counts[finding.slug] <= _ALIKE:
                self._findings.append(finding)

    def asked(self, task: Task | None, now: float) -> None:
        """What asking for the task gave, None for nothing usable: on Action.ASK, or to settle after the end."""
        self._has_settled = self.is_over
        if task is None or (self.content.task_id is not None and task.id != self.content.task_id):
            return
        self._settled = task
        if self.is_over or self.content.is_ended:
            return
        times = self.times
        if task.state.is_terminal:
            times.found_ended_at = now
        elif task.state is not State.UNKNOWN and times.asked_at is not None and times.quiet_since <= times.asked_at:
            quiet = times.asked_at - times.quiet_since
            self.note(found.SLOW(f"nothing came for {quiet:.1f} s, the task is {task.state.value}", quiet_s=quiet))

    # -- time

    @property
    def is_over(self) -> bool:
        return self._closure is not None

    @property
    def task_id(self) -> str | None:
        return self.content.task_id

    @property
    def needs_settling(self) -> bool:
        """Whether the caller should ask for the task now that the watch is over, and tell `asked`."""
        is_unseen = self._closure in UNSETTLED or (self.content.situation == "ended" and not self.content.is_terminal)
        is_known = self._has_settled or (self._settled is not None and self._settled.state.is_terminal)
        return self.is_over and is_unseen and not is_known and self.content.task_id is not None

    def deadline(self, now: float) -> float | None:
        """When to call `tick` if nothing came before, never earlier than `now`; None once it is over."""
        due = self._due()
        return None if due is None else max(due[0], now)

    def tick(self, now: float) -> Action:
        """Time has passed."""
        due = self._due()
        if due is None:
            return Action.STOP
        at, what = due
        if now < at:
            return Action.WAIT
        if what == "ask":
            self.times.asked_at = now
            return Action.ASK
        if what == "leave":
            self.times.has_left = True
            return Action.LEAVE
        closure, findings = out_of_time(what, self.content, self.times, self._settled, comments=self.comments, now=now)
        self.note(*findings)
        self._finish(closure, now)
        return Action.STOP

    def _due(self) -> tuple[float, Due] | None:
        content = self.content
        if self.is_over:
            return None
        return self.times.due(
            content.situation,
            waits_for_input=content.state is State.INPUT_REQUIRED,
            can_ask=content.task_id is not None,
        )

    # -- the end

    def close(self, now: float, ending: Ending, *, dropped: str = "") -> None:
        """The body ended. `dropped` is what an incomplete last event held."""
        if self.is_over:
            return
        situation = self.content.situation
        closure = CLOSURES[situation][ending]
        if situation in ("message", "ended", "unproved") and ending in ("truncated", "reset"):
            self.note(found.TAIL_DROPPED(f"after the end the body was {ending}", dropped=dropped[:200]))
        state = self.content.state.value if self.content.state else "none"
        said = f"the last state was {state}, after {counted(self.content.events, 'event')}"
        if closure == "eof-nonterminal":
            self.note(found.EOF_NONTERMINAL(f"the stream was closed; {said}", state=state))
        elif closure == "truncated":
            self.note(
                found.TRUNCATED(f"the stream was cut inside an event; {said}", state=state, dropped=dropped[:200])
            )
        elif closure == "left":
            self.note(found.CLIENT_LEFT(f"the client left; {said}"))
        self._finish(closure, now)

    def refuse(self, closure: Closure, now: float, findings: Iterable[Finding], task: Task | None = None) -> None:
        """No stream came: an HTTP failure, an error before it, or an answer that is no stream."""
        self.note(*findings)
        if task is not None:
            self.content.take_instead(task)
        self._finish(closure, now)

    def _finish(self, closure: Closure, now: float) -> None:
        is_overrun = self.content.is_overrun and closure in ("final-proved", "message-only", "close-without-final")
        self._closure = "overrun" if is_overrun else closure
        self._over_at = now

    @property
    def result(self) -> StreamResult:
        """What came of it. Raises Misuse while the watch is still on. May change once more when `asked` settles it."""
        if self._closure is None:
            raise Misuse("the stream is not over; call close or tick until is_over")
        content = self.content
        return StreamResult(
            closure=self._closure,
            findings=(*self._findings, *self._said_at_the_end(self._closure)),
            state=content.state,
            task_id=content.task_id,
            context_id=content.context_id,
            artifacts=content.reassembly.artifacts,
            opened=self.times.opened,
            ended=self._over_at,
            last_event_at=self.times.last_event_at,
            events=content.events,
            comments=self.comments,
            message=content.message,
            task=content.task,
            settled=self._settled,
            error=content.error,
            final_seen=content.final_seen,
            artifact_events=content.artifact_events,
            open_ids=content.reassembly.open_ids,
            flawed_ids=content.reassembly.flawed_ids,
            unused=content.reassembly.unused,
        )

    def _said_at_the_end(self, closure: Closure) -> list[Finding]:
        return last_findings(
            self.content,
            closure,
            times=self.times,
            settled=self._settled,
            declared_streaming=self._declared,
        )

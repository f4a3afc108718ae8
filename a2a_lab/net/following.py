"""Follows one message to its end: a stream with its two clocks, or a task that is asked for until it settles (A6, R30).

The core says when to ask, when to leave and when it is a hang; this waits. What comes is written into the journal as
it comes. Ends at the latest at the clocks' total.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from a2a_lab.core.closures import Ending
from a2a_lab.core.model import Artifact, Json, Message, RpcError, State, Task
from a2a_lab.core.policy import Policy
from a2a_lab.core.refusals import METHOD_MISSING
from a2a_lab.core.stream import Action, StreamWatch
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.judge.answers import was_sent
from a2a_lab.judge.lastword import last_word, received
from a2a_lab.net.caller import Caller, Opened
from a2a_lab.net.client import LiveStream
from a2a_lab.net.journal import Journal
from a2a_lab.net.settling import judge_decline
from a2a_lab.verdicts import Finding, Kind, NotGradeable, Verdict
from a2a_lab.wire.dialects import Answer, OutMessage
from a2a_lab.wire.streams import StreamReader

# Between looks at a task, doubling: quick agents are seen quickly, slow ones not hammered, whatever they say.
FIRST_POLL_S, LAST_POLL_S = 0.05, 1.0


@dataclass(slots=True, kw_only=True)
class Followed:
    """What became of one message. `answer` is its last word, None where none could be read.

    `stream` is set for a streaming call. `timed_out`: a limit of ours ended the wait; `is_hang`: and nothing had moved.
    """

    message_id: str
    answer: Task | Message | RpcError | None = None
    artifacts: tuple[Artifact, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    stream: StreamResult | None = None
    timed_out: bool = False
    is_hang: bool = False
    not_gradeable: NotGradeable | None = None
    unreachable: bool = False
    challenge: str | None = None

    @property
    def task(self) -> Task | None:
        return self.answer if isinstance(self.answer, Task) else None


class Follower:
    """Sends messages of one cell and follows each to its end.

    A message has `total_s` for all that is asked about it: its answer, a patient retry, and every look at its task. Any
    news of the task moves the hang limit, a new status message too; nothing moves the total (R30).
    """

    def __init__(
        self,
        caller: Caller,
        journal: Journal,
        policy: Policy,
        *,
        declared: Mapping[str, Json],
        clock: Callable[[], float],
    ) -> None:
        """`declared` are the facts of the bound card, as `declared_by` gives them."""
        self._caller = caller
        self._journal = journal
        self._policy = policy
        self._declared = declared
        self._clock = clock

    async def send(
        self,
        message: OutMessage,
        *,
        purpose: str,
        metadata: Mapping[str, Json] | None = None,
        accepts: tuple[str, ...] = (),
    ) -> Followed:
        """A unary send that asks not to block, then a look now and then until the task settles or nothing moves."""
        clocks, until = self._policy.clocks, self._clock() + self._policy.clocks.total_s
        called = await self._caller.call(
            "send",
            purpose=purpose,
            message=message,
            metadata=metadata,
            accepts=accepts,
            return_immediately=True,
            total_s=clocks.total_s,
        )
        followed = Followed(message_id=message.message_id, findings=list(called.findings))
        answer = called.answer
        await self._journal.answer(message.message_id, answer, called.exchange)
        if answer is None:
            followed.timed_out = followed.is_hang = called.exchange.fault == "read-timeout"
            followed.unreachable = not was_sent(called.exchange)
            return followed
        followed.findings += answer.findings
        followed.not_gradeable, followed.challenge = answer.not_gradeable, answer.challenge
        followed.answer = answer.task or answer.message or answer.error
        if answer.task is not None and answer.task.id:
            await self._poll(answer.task, followed, until)
        return followed

    async def _poll(self, task: Task, followed: Followed, until: float) -> None:
        clocks, pause, moved = self._policy.clocks, FIRST_POLL_S, self._clock()
        missed: list[Finding] = []
        turned_away: Answer | None = None  # the last look, where nobody let it in
        while not (task.state.is_terminal or task.state.is_interrupted or task.state is State.UNKNOWN):
            left = min(moved + clocks.hang_s, until) - self._clock()
            if left <= 0:
                followed.timed_out = True
                break
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, LAST_POLL_S)
            left = max(0.0, until - self._clock())
            called = await self._caller.call("get", purpose="get", task_id=task.id, total_s=left)
            answer = called.answer
            odd = self._declined(answer, task)
            followed.findings += odd
            if any(one.slug == METHOD_MISSING.slug for one in odd):
                break  # nobody will ever say more of the task
            if answer is None and called.exchange.fault == "read-timeout":
                # One that the total cut short before it was silent for too long is no hang of its own.
                took_s = (called.exchange.ended_ms - called.exchange.started_ms) / 1000
                followed.timed_out, followed.is_hang = True, took_s >= clocks.hang_s
                break
            if answer is not None and answer.error is not None and answer.error.name == "TaskNotFound":
                followed.findings += answer.findings
                await self._journal.gone(task.id)
                break
            if answer is None or answer.task is None:
                # One look that fails says nothing about the task: it is asked again until nothing moved for too long.
                missed += (*called.findings, *(answer.findings if answer is not None else ()))
                turned_away = answer if answer is not None and answer.not_gradeable is not None else None
                continue
            if turned_away is not None:
                turned_away, moved = None, self._clock()  # a task that nobody was let see has not stood still
            followed.findings += (*called.findings, *answer.findings)
            followed.findings += [replace(one, verdict=Verdict.ACCEPT, kind=Kind.NOTE) for one in missed]
            missed = []
            seen = answer.task
            await self._journal.task(seen, how="get")
            if (seen.state, len(seen.artifacts)) != (task.state, len(task.artifacts)):
                moved, pause = self._clock(), FIRST_POLL_S
            elif seen.message != task.message:
                moved = self._clock()
            task = seen
        followed.findings += missed
        if turned_away is not None:
            followed.not_gradeable, followed.challenge = turned_away.not_gradeable, turned_away.challenge
        followed.answer, followed.artifacts = task, task.artifacts

    def _declined(self, answer: Answer | None, task: Task) -> list[Finding]:
        """By which errors a look was declined that misinform."""
        dialect = self._caller.dialect.id
        return judge_decline(answer, "get", task.id, state=task.state, dialect=dialect, declared=self._declared)

    async def stream(
        self,
        message: OutMessage,
        *,
        purpose: str,
        metadata: Mapping[str, Json] | None = None,
        accepts: tuple[str, ...] = (),
    ) -> Followed:
        """A streaming send, watched to its end."""
        followed = Followed(message_id=message.message_id)
        opening = self._caller.open(
            "stream",
            purpose=purpose,
            message=message,
            metadata=metadata,
            accepts=accepts,
            open_s=min(self._policy.clocks.hang_s, self._policy.clocks.total_s),
        )
        async with opening as opened:
            followed.findings += opened.findings
            watch = StreamWatch(
                self._caller.dialect.id,
                self._policy.clocks,
                opened=opened.live.exchange.started_ms / 1000,  # when the call left that was let in
                declared_streaming=bool(self._declared.get("declares_streaming")),
                task_id=self._caller.dialect.task_id_of(message),
                context_id=message.context_id,
            )
            reader = StreamReader(self._caller.dialect, watch, rpc_id=opened.rpc_id, bounds=self._policy.bounds)
            await self._pump(opened, reader, message.message_id)
        await self._conclude(opened.live, reader, followed)
        return followed

    async def _pump(self, opened: Opened, reader: StreamReader, message_id: str) -> None:
        """The only code that waits on a stream."""
        live, clock = opened.live, self._clock
        exchange = live.exchange
        if exchange.status is None:
            if exchange.fault == "read-timeout":
                reader.tick(max(clock(), reader.deadline(clock()) or 0.0))
            if not reader.is_over:
                reader.close(clock(), "reset", fault=exchange.fault, url=exchange.url)
            return
        began = exchange.started_ms / 1000
        reader.open(exchange.status, exchange.response_headers, clock())
        while not reader.is_over:
            now = clock()
            deadline = reader.deadline(now)
            is_late = now - began >= self._policy.clocks.total_s
            if is_late and deadline is not None and deadline <= now:
                # However fast it talks: a queue that is never empty must not outlive the total (R30).
                await self._act(reader.tick(now), reader, live)
                continue
            try:
                data = await live.next(None if deadline is None else max(0.0, deadline - clock()))
            except TimeoutError:
                await self._act(reader.tick(clock()), reader, live)
                continue
            if data is None:
                reader.close(clock(), _ending(live), fault=exchange.fault, url=exchange.url)
                break
            for event in reader.feed(data, clock()):
                await self._journal.event(event, message_id=message_id)
        if exchange.ending == "open" and exchange.cut_by is None and exchange.fault is None:
            exchange.cut_by = "hang-limit" if reader.result.is_hang else "done"

    async def _act(self, action: Action, reader: StreamReader, live: LiveStream) -> None:
        match action:
            case Action.ASK if reader.watch.task_id:
                until = live.exchange.started_ms / 1000 + self._policy.clocks.total_s
                seen = await self._look(reader.watch.task_id, until)
                reader.asked(seen, self._clock())
            case Action.LEAVE:
                reader.close(self._clock(), "left")
                live.exchange.cut_by = "done"
            case _:
                pass

    async def _settled(self, reader: StreamReader, followed: Followed) -> Task | None:
        """What became of a task whose stream is over and did not show its end.

        In 0.3 a stream may end by the book before its task does: it is then asked for until it settles or nothing moves
        any more. A stream that broke or hung is asked about once, and its task is cancelled with the rest.
        """
        until = self._clock() + self._policy.clocks.hang_s
        answer = await self._look(reader.watch.task_id or "", until)
        task = answer.task if answer is not None else None
        if reader.result.closure != "final-proved":
            return task
        if answer is not None and answer.not_gradeable is not None:
            said = last_word(reader.result, None)
            task = said if isinstance(said, Task) else None
        if task is None:
            return None
        rest = Followed(message_id=followed.message_id)
        await self._poll(task, rest, reader.result.opened + self._policy.clocks.total_s)
        followed.findings += rest.findings
        followed.not_gradeable, followed.challenge = rest.not_gradeable, rest.challenge
        return rest.task

    async def _look(self, task_id: str, until: float) -> Answer | None:
        """Ask for a task once, and write down what came."""
        left = max(0.0, min(self._policy.clocks.hang_s, until - self._clock()))
        called = await self._caller.call("get", purpose="get", task_id=task_id, total_s=left)
        answer = called.answer
        if answer is None:
            return None
        if answer.task is not None:
            await self._journal.task(answer.task, how="get")
        elif answer.error is not None and answer.error.name == "TaskNotFound":
            await self._journal.gone(task_id)
        return answer

    async def _conclude(self, live: LiveStream, reader: StreamReader, followed: Followed) -> None:
        if reader.watch.needs_settling and reader.watch.task_id:
            reader.asked(await self._settled(reader, followed), self._clock())
        result = followed.stream = reader.result
        followed.findings += result.findings
        if reader.answer is not None:
            followed.not_gradeable, followed.challenge = reader.answer.not_gradeable, reader.answer.challenge
        followed.is_hang = followed.timed_out = result.is_hang
        followed.unreachable = not was_sent(live.exchange)
        followed.answer = last_word(result, reader.answer)
        followed.artifacts = received(result)
        await self._journal.sizes()
        if reader.answer is not None:
            await self._journal.answer(followed.message_id, reader.answer, live.exchange)
        elif self._journal.book.task_of(followed.message_id) is not None or isinstance(followed.answer, Message):
            pass  # the events said it
        elif isinstance(followed.answer, RpcError):
            await self._journal.refused(followed.message_id, followed.answer)
        else:
            await self._journal.nothing(followed.message_id, live.exchange)


def _ending(live: LiveStream) -> Ending:
    exchange = live.exchange
    if exchange.fault is not None and exchange.fault.startswith("limit"):
        return "limit"
    return "reset" if exchange.ending == "reset" or exchange.fault else "close"

"""Watches a recorded stream as a live one is watched, on the recording's own clock (A6, R30, R31).

Where the recording has no times, as in the files of browsers and most proxies, no clock is run: the stream is judged by
what it said and how it ended. A question that the watch asks at silence is answered from the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from a2a_lab.core.model import Artifact, StreamEvent, Task
from a2a_lab.core.policy import Policy
from a2a_lab.core.stream import StreamWatch
from a2a_lab.judge.transcript import Call, Heard
from a2a_lab.wire.exchange import Ending, Exchange
from a2a_lab.wire.recorded import Ask, read_recorded
from a2a_lab.wire.streams import StreamReader

# Which ends of the wait were the peer's or a limit's doing; after any other the client had left of its own accord.
_LIMITS = frozenset({None, "transport-timeout", "cap", "silence", "hang-limit", "total-limit"})


def watch(
    call: Call,
    policy: Policy,
    *,
    declared_streaming: bool,
    known: Iterable[Artifact] = (),
    ask: Ask | None = None,
) -> None:
    """Fill in the call's events, findings, plain answer and result."""
    exchange = call.exchange
    has_times = bool(exchange.chunks) or exchange.status is None
    opened = (exchange.started_ms if has_times else exchange.ended_ms) / 1000
    message = call.asked.message
    stream = StreamWatch(
        call.dialect.id,
        policy.clocks,
        opened=opened,
        declared_streaming=declared_streaming,
        op="subscribe" if call.op == "subscribe" else "stream",
        task_id=call.asked.task_id or (message.task_id if message else None),
        context_id=message.context_id if message else None,
        known=known,
    )
    reader = StreamReader(call.dialect, stream, rpc_id=call.rpc_id, bounds=policy.bounds)
    call.is_stream = True
    if exchange.status is None:
        _without_answer(reader, exchange)
    else:
        read_recorded(
            reader,
            status=exchange.status,
            headers=exchange.response_headers,
            head_at=opened,
            chunks=_chunks(exchange),
            ending=_ending(exchange),
            ended_at=_ended_at(exchange),
            fault=exchange.fault,
            url=exchange.url,
            ask=ask,
            heard=_into(call),
        )
    call.watched, call.answer = reader.result, reader.answer
    call.findings += reader.result.findings


def asking(calls: Iterable[Call], after: Call) -> Ask:
    """Answers the watch from the evidence: with the first look at the task from then on, each look told once."""
    looks = [call for call in calls if call.op == "get" and call.answer is not None]
    used: set[int] = set()
    began = after.exchange.started_ms

    def ask(task_id: str, now: float) -> Task | None:
        for place, call in enumerate(looks):
            is_later = call.exchange.ended_ms >= max(began, now * 1000 - 1)
            if place not in used and call.asked.task_id == task_id and is_later:
                used.add(place)
                return call.answer.task if call.answer else None
        return None

    return ask


def _into(call: Call) -> Callable[[StreamEvent, float], None]:
    def heard(event: StreamEvent, now: float) -> None:
        call.events.append(Heard(at_ms=now * 1000, event=event))

    return heard


def _chunks(exchange: Exchange) -> Iterator[tuple[float, bytes]]:
    if exchange.chunks:
        return ((chunk.offset_ms / 1000, chunk.data) for chunk in exchange.chunks)
    return iter([(exchange.ended_ms / 1000, exchange.body)] if exchange.body else [])


def _ending(exchange: Exchange) -> Ending | Literal["limit"]:
    """How the body ended: where the transport ended it, by its word, whatever the recorder called that."""
    fault = exchange.fault
    if fault is not None and fault.startswith("limit"):
        return "limit"
    if fault is not None and fault != "read-timeout":
        return "reset"
    return exchange.ending


def _ended_at(exchange: Exchange) -> float | None:
    is_limited = _ending(exchange) == "open" and exchange.cut_by in _LIMITS
    return None if is_limited else exchange.ended_ms / 1000


def _without_answer(reader: StreamReader, exchange: Exchange) -> None:
    """No head came: after a timeout of ours the stream hangs, after anything else it broke."""
    now = exchange.ended_ms / 1000
    if exchange.fault == "read-timeout":
        while (due := reader.deadline(now)) is not None and not reader.is_over:
            now = due
            reader.tick(now)
    if not reader.is_over:
        reader.close(now, "reset", fault=exchange.fault, url=exchange.url)

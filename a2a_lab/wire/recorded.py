"""Reads a recorded stream as if it came now, so that evidence is judged by the code that judges live traffic (R5).

Time is that of the recording: between two chunks the watch is told of each deadline that passed, and after the last one
of those that would have come while the socket stayed open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from a2a_lab.core.model import StreamEvent, Task
from a2a_lab.core.stream import Action
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.wire.exchange import Ending
from a2a_lab.wire.messages import Answer, Headers
from a2a_lab.wire.streams import StreamReader

Ask = Callable[[str, float], Answer | Task | None]
"""Asks for a task at a time: whatever the evidence holds about it, None for nothing."""


def read_recorded(
    reader: StreamReader,
    *,
    status: int,
    headers: Headers,
    head_at: float,
    chunks: Iterable[tuple[float, bytes]],
    ending: Ending | Literal["limit"],
    ended_at: float | None = None,
    fault: str | None = None,
    url: str = "",
    ask: Ask | None = None,
    heard: Callable[[StreamEvent, float], None] | None = None,
) -> StreamResult:
    """The result of a recorded answer; all times in seconds on the clock that the watch was opened with.

    `heard` is told of every event with its time, for whoever keeps books beside the watch.

    `ending` is how the body ended, `fault` the evidence's word for why. For `open`, `ended_at` is when the client left
    of its own accord; None where a limit ended the wait or nothing did, so that the watch's own limits decide.
    """
    reader.open(status, headers, head_at)
    now = head_at
    for at, data in chunks:
        _pass_time(reader, at, ask)
        now = max(now, at)
        for event in reader.feed(data, now):
            if heard is not None:
                heard(event, now)
    if ending == "open":
        now = _pass_time(reader, ended_at, ask, leaves=True, now=now)
        reader.close(now if ended_at is None else max(now, ended_at), "left")
    else:
        now = now if ended_at is None else max(now, ended_at)
        _pass_time(reader, now, ask)
        reader.close(now, ending, fault=fault, url=url)
    if reader.watch.needs_settling and ask is not None and reader.watch.task_id is not None:
        reader.asked(ask(reader.watch.task_id, reader.result.ended), reader.result.ended)
    return reader.result


def _pass_time(
    reader: StreamReader, until: float | None, ask: Ask | None, *, leaves: bool = False, now: float = 0.0
) -> float:
    """Let the deadlines pass that lie before `until` (None: all of them); the last of those. An agent that waits for us
    is left only where the recording ends, since what it said later belongs to the evidence."""
    while (due := reader.deadline(now)) is not None and (until is None or due <= until):
        now = due
        action = reader.tick(now)
        if action is Action.ASK:
            task_id = reader.watch.task_id
            reader.asked(None if ask is None or task_id is None else ask(task_id, now), now)
        elif action is Action.LEAVE and leaves:
            break
    return now

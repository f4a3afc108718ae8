"""A consumer that sends the recorded requests again, over real sockets, and records what comes (R43).

It asks in the recorded order and with the recorded patience, under ids of its own where a consumer chooses them, and
concludes nothing: what it recorded goes to the judge that judged the recording.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from a2a_lab.core.policy import Bounds, Clocks
from a2a_lab.lab.renaming import Renames, put_in
from a2a_lab.lab.replay import Replay, Served
from a2a_lab.net.client import USER_AGENT, Http, LiveStream, Reach, new_client, tls_context
from a2a_lab.net.evidence import Recorder
from a2a_lab.wire.exchange import Chunk, Exchange

_MARGIN_S: Final = 0.25  # beyond a limit, so that it is the judge who finds it passed, not the consumer who left early
_LEAST_S: Final = 0.3  # of patience for a request that was never answered: it must have arrived at least
_NOT_SENT_AGAIN: Final = frozenset({"host", "user-agent", "content-length", "connection", "accept-encoding"})
_CLIENT_NAMES_TASK: Final = ("tasks/send", "tasks/sendSubscribe")  # the draft, where the client chooses the task's id


@dataclass(slots=True, kw_only=True)
class Played:
    """What came of a replay: live exchanges in the recorded order, and what the replay says it served."""

    exchanges: list[Exchange]
    served: list[Served]

    @property
    def unmatched(self) -> list[Served]:
        return [one for one in self.served if not one.matched]


async def play(exchanges: Sequence[Exchange], *, clocks: Clocks, bounds: Bounds, pace: float = 1.0) -> Played:
    """Replay a recording to its own requests. `pace` multiplies recorded pauses."""
    async with Replay(exchanges, pace=pace) as replay:
        reach = Reach(trust_env=False, connect_to=replay.connect_to)
        async with new_client(reach, _context()) as client:
            http = Http(client, Recorder(), bounds=bounds, connect_to=reach.connect_to)
            live = await Script(exchanges, clocks=clocks, pace=pace).send(http)
        return Played(exchanges=live, served=replay.served)


@functools.cache
def _context() -> ssl.SSLContext:
    """Made once: a replay speaks no TLS, and making one would stretch the first recorded pause."""
    return tls_context(Reach(trust_env=False))


class Script:
    """The requests of a recording, ready to be sent again to wherever `Http` connects."""

    def __init__(self, exchanges: Sequence[Exchange], *, clocks: Clocks, pace: float = 1.0) -> None:
        self._lines = list(exchanges)
        ends = (line.ended_ms for line in self._lines)
        self._busy_until = [float("-inf"), *itertools.accumulate(ends, max)]  # before each line
        self._clocks, self._pace = clocks, pace
        self._ids = Fresh()

    async def send(self, http: Http) -> list[Exchange]:
        """Send them all; what was recorded one after the other is sent so, and side by side what overlapped."""
        started = [asyncio.Event() for _ in self._lines]
        live: list[Exchange | None] = [None] * len(self._lines)
        under_way: dict[int, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            for place, line in enumerate(self._lines):
                await asyncio.gather(*(task for at, task in under_way.items() if self._ended(at) <= line.started_ms))
                under_way = {at: task for at, task in under_way.items() if not task.done()}
                beside = self._beside(place)
                if beside is not None:
                    await started[beside].wait()
                    await asyncio.sleep(self._pace * (line.started_ms - self._lines[beside].started_ms) / 1000)
                under_way[place] = group.create_task(self._one(place, http, live, started[place]))
        return [exchange for exchange in live if exchange is not None]

    def _ended(self, place: int) -> float:
        return self._lines[place].ended_ms

    def _beside(self, place: int) -> int | None:
        """The last request before this one that was still under way when this one began."""
        now = self._lines[place].started_ms
        if self._busy_until[place] <= now:
            return None
        return next(at for at in range(place - 1, -1, -1) if self._ended(at) > now)

    async def _one(self, place: int, http: Http, live: list[Exchange | None], started: asyncio.Event) -> None:
        line = self._lines[place]
        headers = {name: value for name, value in line.request_headers if name.lower() not in _NOT_SENT_AGAIN}
        body = self._ids.in_request(line.request_body, place)
        started.set()
        if line.chunks:
            made = await self._stream(line, http, headers, body)
        else:
            made = await http.send(
                line.method, line.url, headers, body, purpose=line.purpose, total_s=self._patience_s(line)
            )
        made.request_headers = [(name, value) for name, value in made.request_headers if value != USER_AGENT]
        # How long to wait was the recorded consumer's decision, and so is the word for it.
        made.cut_by = line.cut_by if made.ending == "open" else made.cut_by
        live[place] = made

    async def _stream(self, line: Exchange, http: Http, headers: Mapping[str, str], body: bytes) -> Exchange:
        async with http.stream(line.method, line.url, headers, body, purpose=line.purpose, open_s=None) as opened:
            await self._read(opened, line)
        if not opened.exchange.chunks:
            opened.exchange.chunks.append(Chunk(offset_ms=opened.exchange.ended_ms, data=b""))
        return opened.exchange

    async def _read(self, live: LiveStream, line: Exchange) -> None:
        """Read to the end; what stays open, until the recorded consumer left or every limit has passed."""
        clock, clocks = asyncio.get_running_loop().time, self._clocks
        recorded_s = (line.ended_ms - line.started_ms) / 1000 * self._pace
        until = clock() + (recorded_s if line.cut_by else max(recorded_s, clocks.total_s) + clocks.close_s + _MARGIN_S)
        quiet_s = None if line.cut_by else max(clocks.hang_s, clocks.close_s) + _MARGIN_S
        longest = max((later.offset_ms - earlier.offset_ms for earlier, later in _pairs(line)), default=0.0) / 1000
        try:
            while True:
                left = until - clock()
                patience = left if quiet_s is None else min(left, max(quiet_s, longest * self._pace + _MARGIN_S))
                if await live.next(max(0.0, patience)) is None:
                    return
        except TimeoutError:
            pass

    def _patience_s(self, line: Exchange) -> float:
        """Seconds for a whole answer: the recorded ones where they ran out, else as the clocks say, or longer."""
        recorded_s = (line.ended_ms - line.started_ms) / 1000 * self._pace
        if line.fault == "read-timeout":
            return max(recorded_s, _LEAST_S)
        return max(recorded_s + self._clocks.total_s, _LEAST_S)


def _pairs(line: Exchange) -> list[tuple[Chunk, Chunk]]:
    return list(zip(line.chunks, line.chunks[1:], strict=False))


@dataclass(slots=True)
class Fresh:
    """Ids of our own in place of those that the recorded consumer chose: of requests, messages, draft tasks."""

    ids: Renames = field(default_factory=Renames)

    def in_request(self, body: bytes, number: int) -> bytes:
        """The body under fresh ids, otherwise byte for byte; unchanged where it is no JSON object."""
        try:
            content = json.loads(body) if body else None
        except (ValueError, RecursionError):
            return body
        if not isinstance(content, dict):
            return body
        if "jsonrpc" in content:
            self.ids.rpc = (content.get("id"), _fresh(content.get("id"), number))
        params = content.get("params")
        params = params if isinstance(params, dict) else content
        message = params.get("message")
        name = message.get("messageId") if isinstance(message, dict) else None
        if isinstance(name, str) and name:
            self.ids.ids[("message", name)] = f"live-{name}"
        if content.get("method") in _CLIENT_NAMES_TASK and isinstance(params.get("id"), str):
            self.ids.ids[("task", params["id"])] = f"live-{params['id']}"
        return put_in([body], self.ids)[0]


def _fresh(rpc_id: Any, number: int) -> Any:
    """Another id of the same JSON type. A text that is a number stays one, and null stays null."""
    if isinstance(rpc_id, bool) or rpc_id is None:
        return rpc_id
    if isinstance(rpc_id, int):
        return 7000 + number
    if isinstance(rpc_id, str):
        return str(7000 + number) if rpc_id.isdecimal() else f"live-{number}"
    return rpc_id

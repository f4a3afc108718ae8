"""Waits for a client that somebody else starts: until it has come, has sent something, and has fallen silent."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from a2a_lab.errors import HarnessFault
from a2a_lab.net.evidence import Recorder

POLL_S: Final = 0.1
THINKING: Final = 6  # times the quiet after a message: an orchestrator asks its model between the card and the call


class Watched(Protocol):
    """The recorder in front of the agent, as far as waiting needs it."""

    @property
    def recorder(self) -> Recorder: ...

    @property
    def url(self) -> str: ...


async def wait_for_client(proxy: Watched, *, before: int, wait_s: float, quiet_s: float) -> None:
    """Return once a client came, sent something, and was quiet for `quiet_s` seconds.

    `before` is how much was recorded before it could come. One that only looks may be thinking, and is given longer.
    Raises HarnessFault where none came within `wait_s`.
    """
    recorder = proxy.recorder
    try:
        async with asyncio.timeout(wait_s):
            while len(recorder.exchanges) == before:
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise HarnessFault(
            f"no client came to {proxy.url} within {wait_s:g} s; run the cell again, or give it more time with wait_s",
            step="external",
        ) from None
    last = recorder.now_ms()
    while True:
        mine = recorder.exchanges[before:]
        has_sent = any(exchange.method == "POST" for exchange in mine)
        is_open = any(exchange.ended_ms <= exchange.started_ms for exchange in mine)
        newest = max(max(exchange.ended_ms, exchange.started_ms) for exchange in mine)
        last = recorder.now_ms() if is_open else max(last, newest)
        if recorder.now_ms() - last >= (quiet_s if has_sent else min(wait_s, THINKING * quiet_s)) * 1000:
            return
        await asyncio.sleep(POLL_S)

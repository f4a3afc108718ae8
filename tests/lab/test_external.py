"""A client that a person points at the lab is waited for, and judged once it has fallen silent (issue 4, item 4)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from a2a_lab.errors import HarnessFault
from a2a_lab.lab.external import wait_for_client
from a2a_lab.net.evidence import Recorder
from a2a_lab.wire.exchange import Exchange


@dataclass
class Front:
    recorder: Recorder = field(default_factory=Recorder)
    url: str = "http://127.0.0.1:1"

    def came(self, method: str) -> Exchange:
        exchange = self.recorder.begin(Exchange(method=method, url=self.url))
        exchange.ended_ms = exchange.started_ms + 0.5
        return exchange


def test_nobody_within_the_time_is_a_fault_of_the_harness() -> None:
    with pytest.raises(HarnessFault, match="no client came"):
        asyncio.run(wait_for_client(Front(), before=0, wait_s=0.2, quiet_s=0.1))


def test_it_ends_when_the_client_has_sent_and_is_quiet() -> None:
    front = Front()

    async def life() -> float:
        async def client() -> None:
            front.came("GET")
            await asyncio.sleep(0.2)
            front.came("POST")

        talking = asyncio.create_task(client())
        await wait_for_client(front, before=0, wait_s=5.0, quiet_s=0.2)
        await talking
        return front.recorder.now_ms()

    ended_ms = asyncio.run(life())
    assert len(front.recorder.exchanges) == 2, "between the card and the call an orchestrator may think"
    assert 350 <= ended_ms < 3000


def test_an_open_stream_is_not_quiet() -> None:
    front = Front()

    async def life() -> float:
        stream = front.came("POST")
        stream.ended_ms = stream.started_ms  # still open

        async def agent() -> None:
            await asyncio.sleep(0.5)
            stream.ended_ms = front.recorder.now_ms()

        talking = asyncio.create_task(agent())
        await wait_for_client(front, before=0, wait_s=5.0, quiet_s=0.2)
        await talking
        return front.recorder.now_ms()

    assert asyncio.run(life()) >= 700

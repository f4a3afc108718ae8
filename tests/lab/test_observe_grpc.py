"""`observe` in front of an agent over gRPC: the card leads its clients to the recorder there as well."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from a2a_lab.lab.observe import Observation, ObserveOptions, Observing
from a2a_lab.net.evidence import read_har
from tests.lab.grpc_agent import GrpcAgent, serving
from tests.net.test_grpc_calls import MESSAGE, caller_of


def test_a_client_over_grpc_has_another_name_there_and_is_one_all_the_same(tmp_path: Path) -> None:
    """The card is asked for by an HTTP library and the call is made by another: that is how such clients are made."""
    agent = GrpcAgent()

    async def life() -> Observation:
        reached = asyncio.Event()
        address: list[str] = []

        def opened(url: str) -> None:
            address.append(url)
            reached.set()

        async with serving(agent):
            watching = Observing(agent.url, ObserveOptions(out=str(tmp_path), trust_env=False), opened=opened)
            task = asyncio.create_task(watching.watch())
            await reached.wait()
            async with httpx.AsyncClient(trust_env=False) as client:
                card = (await client.get(f"{address[0]}/.well-known/agent-card.json")).json()
            async with caller_of(card["supportedInterfaces"][0]["url"]) as caller:
                await caller.call("send", purpose="", message=MESSAGE)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return watching.conclude()

    seen = asyncio.run(life())
    assert seen.verdict.value == "accept" and agent.called == ["SendMessage"]
    assert [one.slug for one in seen.noted] == ["card-rewritten"]
    assert read_har(seen.evidence)[-1].grpc is not None

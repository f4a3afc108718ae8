"""What a client that the lab does not steer may do at an agent that is not ours, over every binding (R37)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx
import pytest

from a2a_lab.errors import Withheld
from a2a_lab.lab.desk import opened
from a2a_lab.lab.live_guard import LiveGuard, starts_a_run
from a2a_lab.ledger import Ledger
from a2a_lab.net.recording import RecordingProxy
from a2a_lab.vendors.live import read_live
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.exchange import Exchange, GrpcBytes
from tests.lab.grpc_agent import GrpcAgent, serving
from tests.lab.plain import CARD, Asked, Says, agent, card, says_json
from tests.lab.plain import serving as serving_http
from tests.live.servers import vendor_file
from tests.net.test_grpc_calls import MESSAGE, caller_of
from tests.net.test_grpc_recording import card_at, recorded

RPC = "https://agent.example/rpc"
SERVICE = "https://agent.example/lf.a2a.v1.A2AService"


def posted(method: str, url: str = RPC) -> Exchange:
    parts = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    params = {"message": parts} if "end" in method else {"id": "t-1"}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return Exchange(method="POST", url=url, request_headers=[("A2A-Version", "1.0")], request_body=body)


@pytest.mark.parametrize(
    ("exchange", "starts"),
    [
        (posted("SendMessage"), True),
        (posted("SendStreamingMessage"), True),
        (posted("message/send"), True),
        (posted("GetTask"), False),
        (posted("CancelTask"), False),
        (posted("tasks/get"), False),
        (Exchange(method="GET", url="https://agent.example/.well-known/agent-card.json"), False),
        (Exchange(method="POST", url=RPC, request_body=b"who knows"), True),
        (Exchange(method="POST", url=f"{SERVICE}/SendMessage", grpc=GrpcBytes()), True),
        (Exchange(method="POST", url=f"{SERVICE}/SendStreamingMessage", grpc=GrpcBytes()), True),
        (Exchange(method="POST", url=f"{SERVICE}/GetTask", grpc=GrpcBytes()), False),
        (Exchange(method="POST", url="https://agent.example/other.Service/Whatever", grpc=GrpcBytes()), True),
    ],
    ids=lambda value: value.url.rpartition("/")[2] if isinstance(value, Exchange) else str(value),
)
def test_messages_start_an_agent_and_so_may_what_we_cannot_read(exchange: Exchange, starts: bool) -> None:
    assert starts_a_run(exchange) is starts


def test_a_call_over_grpc_passes_the_guard_as_well() -> None:
    """A recorder that stands before both ports of an agent has one guard for both."""
    its, asked = GrpcAgent(), []

    class Once:
        async def admit(self, exchange: Exchange) -> Mapping[str, str]:
            asked.append((exchange.method, exchange.url.rpartition("/")[2]))
            if exchange.grpc is not None and sum(method == "POST" for method, _ in asked) > 1:
                raise Withheld("enough", word=NotGradeable.HARNESS_ERROR, slug="client-stopped")
            return {"Authorization": "Bearer of-the-file"}

        async def again(self, exchange: Exchange, sent: Mapping[str, str]) -> None:
            return None

        def heard(self, exchange: Exchange) -> None:
            return None

        def leads(self, urls: Sequence[str]) -> None:
            return None

    async def life() -> tuple[RecordingProxy, list[object]]:
        async with serving(its), recorded(its.url, guard=Once()) as proxy:
            (interface,) = (await card_at(proxy.url))["supportedInterfaces"]
            async with caller_of(interface["url"]) as caller:
                calls = [await caller.call("send", purpose="", message=MESSAGE) for _ in range(2)]
            return proxy, [one.answer.task if one.answer else None for one in calls]

    proxy, answers = asyncio.run(life())
    assert answers[0] is not None and answers[1] is None
    assert asked == [("GET", "agent-card.json"), ("POST", "SendMessage"), ("POST", "SendMessage")]
    assert proxy.withheld is not None and proxy.withheld.reason == "client-stopped"
    assert "of-the-file" not in str(proxy.recorder.exchanges), "what the recorder puts on is not kept"


@pytest.mark.parametrize("how", ["redirect", "card"])
def test_a_client_is_not_led_past_the_recorder_by_what_the_agent_says_later(how: str, tmp_path: Path) -> None:
    """Measured: a redirect, or a card that the lab had not seen, took a client to where no budget holds."""

    def leads(asked: Asked) -> Says:
        if asked.method == "POST":
            return Says(status=307, headers={"Location": f"{other.url}/rpc"})
        return says_json(card(f"{other.url if how == 'card' else one.url}/rpc"))

    async def life() -> tuple[list[int], RecordingProxy]:
        live = read_live(vendor_file(tmp_path, one.url, "allow_send = true"))
        async with (
            opened(live, Ledger(tmp_path / "lab.db"), "r1") as desk,
            recorded(one.url, guard=LiveGuard(desk)) as proxy,
            httpx.AsyncClient(trust_env=False, follow_redirects=True) as client,
        ):
            seen = [(await client.get(f"{proxy.url}{CARD}")).status_code]
            return [*seen, (await client.post(f"{proxy.url}/rpc", content=b"{}")).status_code], proxy

    with serving_http(agent()) as other, serving_http(leads) as one:
        statuses, proxy = asyncio.run(life())
    assert statuses == ([200, 502] if how == "redirect" else [502, 502]) and not other.asked
    assert proxy.withheld is not None and f"leads to '{other.url}/rpc'" in proxy.withheld.message

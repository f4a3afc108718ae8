"""The recorder between a gRPC consumer and a gRPC agent: bytes pass untouched, and the traffic is judged as any (D4).

The consumer here is the lab's own caller, pointed at what the recorder made of the card.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx

from a2a_lab.core.policy import Bounds, Policy
from a2a_lab.judge.transcript import read_calls
from a2a_lab.lab.judging import judge_pair
from a2a_lab.lab.pair_recall import pair_intent
from a2a_lab.net.client import Reach
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.grpc_channel import opened as channel_to
from a2a_lab.net.keeping import Passing
from a2a_lab.net.recording import RecordingProxy
from a2a_lab.report.live import LiveLines
from a2a_lab.wire.dialects import BINDINGS
from tests.lab.grpc_agent import GrpcAgent, serving
from tests.net.grpc_peers import Handler, grpc_peer
from tests.net.peers import peer, response
from tests.net.test_grpc_calls import ANSWER, EVENT, MESSAGE, caller_of
from tests.wire.talk import slugs

WELL_KNOWN = "/.well-known/agent-card.json"


@contextlib.asynccontextmanager
async def recorded(url: str, **options: Any) -> AsyncIterator[RecordingProxy]:
    async with RecordingProxy(url, Recorder(), reach=Reach(trust_env=False), **options) as proxy:
        yield proxy


async def card_at(url: str) -> dict[str, Any]:
    async with httpx.AsyncClient(trust_env=False) as client:
        found: dict[str, Any] = (await client.get(f"{url}{WELL_KNOWN}")).json()
        return found


@contextlib.asynccontextmanager
async def in_front_of(**methods: Handler) -> AsyncIterator[tuple[RecordingProxy, str, str]]:
    """A recorder, where a consumer finds the agent over gRPC now, and where it really is."""
    async with grpc_peer(**methods) as place:

        async def cards(request: bytes, writer: asyncio.StreamWriter) -> None:
            interface = {"url": place, "protocolBinding": "GRPC", "protocolVersion": "1.0"}
            writer.write(response(json.dumps({"name": "a", "supportedInterfaces": [interface]}).encode()))
            await writer.drain()

        async with peer(cards) as url, recorded(url) as proxy:
            (interface,) = (await card_at(proxy.url))["supportedInterfaces"]
            yield proxy, interface["url"], place


def test_a_consumer_over_grpc_is_recorded_in_the_agents_terms() -> None:
    """Both ends are judged from what passed: nothing that the recorder did shows but its own note."""
    agent = GrpcAgent()

    async def life() -> tuple[RecordingProxy, str]:
        async with serving(agent), recorded(agent.url) as proxy:
            (interface,) = (await card_at(proxy.url))["supportedInterfaces"]
            assert interface["url"] != agent.place
            other = replace(MESSAGE, message_id="m2")
            async with caller_of(interface["url"]) as caller:
                sent = await caller.call("send", purpose="", message=MESSAGE)
                async with caller.open("stream", purpose="", message=other, open_s=5.0) as stream:
                    while await stream.live.next(5.0) is not None:
                        pass
            assert sent.answer is not None and sent.answer.task is not None
            return proxy, agent.place

    proxy, place = asyncio.run(life())
    _, send, stream = proxy.recorder.exchanges
    assert send.url == f"http://{place}/lf.a2a.v1.A2AService/SendMessage" and send.header("grpc-status") == "0"
    assert (len(send.chunks), len(stream.chunks), stream.ending) == (0, 3, "close")
    assert send.grpc is not None and len(send.grpc.messages) == 1 and send.grpc.request
    assert slugs(proxy.findings) == ["card-rewritten"]
    judged = judge_pair(
        proxy.recorder.exchanges,
        policy=Policy(bindings=BINDINGS),
        intent=pair_intent("stream"),
        now=0.0,
        address=agent.url,
    )
    assert judged.verdict == "accept" and judged.cause is None
    assert {call.dialect.binding for call in judged.visit.calls} == {"GRPC"}
    assert slugs(judged.consumer.findings) == ["committed-unprobed"]


def test_bytes_pass_untouched_and_what_is_no_method_of_a2a_passes_too() -> None:
    odd = b"\xa2\x06\x01a" + ANSWER
    heard: list[bytes] = []

    async def answers(request: bytes, context: Any) -> AsyncIterator[bytes]:
        heard.append(request)
        yield odd

    async def life() -> tuple[list[bytes], RecordingProxy]:
        got = []
        async with in_front_of(SendMessage=answers, Own=answers) as (proxy, front, _):
            async with channel_to(f"http://{front}", Reach(trust_env=False), None) as channel:
                for name in ("SendMessage", "Own"):
                    call = channel.unary_stream(f"/lf.a2a.v1.A2AService/{name}")(b"\x92\x03\x02hi")
                    got += [raw async for raw in call]
            return got, proxy

    got, proxy = asyncio.run(life())
    assert got == [odd, odd] and heard == [b"\x92\x03\x02hi"] * 2
    _, send, own = proxy.recorder.exchanges
    assert "@grpc" in json.loads(send.request_body) and own.body == b"" and own.header("grpc-status") == "0"
    assert own.grpc is not None and own.grpc.messages == [odd]


def test_an_error_passes_with_its_details_and_metadata_both_ways() -> None:
    async def refuses(request: bytes, context: Any) -> AsyncIterator[bytes]:
        import grpc

        said = dict(context.invocation_metadata())
        await context.send_initial_metadata((("x-seen", said["x-own"]),))
        context.set_trailing_metadata((("grpc-status-details-bin", b"\x08\x05"), ("x-trailer", "t")))
        await context.abort(grpc.StatusCode.NOT_FOUND, "gone")
        yield b""

    async def life() -> tuple[Any, RecordingProxy]:
        async with in_front_of(GetTask=refuses) as (proxy, front, _), caller_of(front) as caller:
            caller._selectors["x-own"] = "v"
            return await caller.call("get", purpose="", task_id="t"), proxy

    called, proxy = asyncio.run(life())
    kept = proxy.recorder.exchanges[-1]
    for one in (called.exchange, kept):
        assert one.header("x-seen") == "v" and one.header("x-trailer") == "t" and one.header("grpc-status") == "5"
        assert json.loads(one.body)["error"]["message"] == "gone"
    (call,) = read_calls([kept])
    assert call.error is not None and call.error.name == "TaskNotFound"


def test_whoever_goes_away_is_told_apart() -> None:
    """A consumer that leaves ends the call at the agent; an agent that dies is a reset, said to the consumer."""
    is_gone = asyncio.Event()

    async def waits(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield EVENT
        try:
            await asyncio.Event().wait()
        finally:
            is_gone.set()

    async def leaves() -> RecordingProxy:
        async with in_front_of(SendStreamingMessage=waits) as (proxy, front, _), caller_of(front) as caller:
            async with caller.open("stream", purpose="", message=MESSAGE, open_s=5.0) as stream:
                assert await stream.live.next(5.0) is not None
            async with asyncio.timeout(5):
                await is_gone.wait()
            return proxy

    left = asyncio.run(leaves()).recorder.exchanges[-1]
    assert (left.ending, left.cut_by, len(left.chunks)) == ("open", "left", 1)

    async def dies() -> tuple[Any, RecordingProxy]:
        async with contextlib.AsyncExitStack() as server:
            place = await server.enter_async_context(grpc_peer(SendStreamingMessage=waits))

            async def cards(request: bytes, writer: asyncio.StreamWriter) -> None:
                interface = {"url": f"http://{place}", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
                writer.write(response(json.dumps({"name": "a", "supportedInterfaces": [interface]}).encode()))
                await writer.drain()

            async with peer(cards) as url, recorded(url) as proxy:
                front = (await card_at(proxy.url))["supportedInterfaces"][0]["url"]
                assert front.startswith("http://127.0.0.1:")
                async with caller_of(front) as caller:
                    async with caller.open("stream", purpose="", message=MESSAGE, open_s=5.0) as stream:
                        assert await stream.live.next(5.0) is not None
                        await server.aclose()
                        while await stream.live.next(5.0) is not None:
                            pass
                    return stream.live.exchange, proxy

    seen, proxy = asyncio.run(dies())
    died = proxy.recorder.exchanges[-1]
    assert (died.ending, died.fault) == ("reset", "reset-after-request")
    assert seen.header("x-a2a-lab-fault") is not None or seen.ending == "reset"


def test_an_agent_that_is_not_there_is_said_to_be_not_there() -> None:
    async def life() -> tuple[Any, RecordingProxy]:
        async def cards(request: bytes, writer: asyncio.StreamWriter) -> None:
            interface = {"url": "127.0.0.1:1", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
            writer.write(response(json.dumps({"name": "a", "supportedInterfaces": [interface]}).encode()))
            await writer.drain()

        async with peer(cards) as url, recorded(url) as proxy:
            front = (await card_at(proxy.url))["supportedInterfaces"][0]["url"]
            async with caller_of(front) as caller:
                return await caller.call("get", purpose="", task_id="t"), proxy

    called, proxy = asyncio.run(life())
    assert called.exchange.header("x-a2a-lab-fault") == "connect-refused"
    assert (proxy.recorder.exchanges[-1].status, proxy.recorder.exchanges[-1].fault) == (None, "connect-refused")


def test_a_large_message_passes_though_the_copy_has_a_bound() -> None:
    large = ANSWER + b"\xa2\x06\xc0\x96\xb1\x02" + b"x" * 5_000_000

    async def answers(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield large

    async def life() -> int:
        async with (
            in_front_of(SendMessage=answers) as (_, front, _place),
            channel_to(f"http://{front}", Reach(trust_env=False), None) as channel,
        ):
            call = channel.unary_stream("/lf.a2a.v1.A2AService/SendMessage")(b"")
            return sum([len(raw) async for raw in call])

    assert asyncio.run(life()) == len(large)


def test_what_passes_is_told_line_by_line() -> None:
    lines: list[str] = []
    tell = LiveLines()

    def listen(passing: Passing) -> None:
        lines.extend(f"{line.who}: {line.what}" for line in tell(passing))

    agent = GrpcAgent()

    async def life() -> None:
        async with serving(agent), recorded(agent.url, listener=listen) as proxy:
            front = (await card_at(proxy.url))["supportedInterfaces"][0]["url"]
            async with caller_of(front, bounds=Bounds()) as caller:
                await caller.call("send", purpose="", message=MESSAGE)
                async with caller.open("stream", purpose="", message=MESSAGE, open_s=5.0) as stream:
                    while await stream.live.next(5.0) is not None:
                        pass

    asyncio.run(life())
    assert sum("a stream begins" in line for line in lines) == 1
    assert any("consumer: POST /lf.a2a.v1.A2AService/SendMessage" in line for line in lines)
    assert lines[-1] == "recorder: the agent closed the stream"


def test_a_consumer_whose_deadline_passes_has_left_and_no_agent_is_said_to_have_answered() -> None:
    """Measured: grpcio ends the call to the agent at that moment too, with a status that the agent never sent."""

    async def slow(request: bytes, context: Any) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield ANSWER

    async def life() -> RecordingProxy:
        import grpc

        async with (
            in_front_of(SendMessage=slow) as (proxy, front, _),
            channel_to(f"http://{front}", Reach(trust_env=False), None) as channel,
        ):
            for _ in range(5):  # which of the two clocks is first differs from call to call
                call = channel.unary_stream("/lf.a2a.v1.A2AService/SendMessage")(b"", timeout=0.1)
                with contextlib.suppress(grpc.aio.AioRpcError):
                    async for _raw in call:
                        pass
            return proxy

    _, *calls = asyncio.run(life()).recorder.exchanges
    assert [(one.status, one.ending, one.cut_by, one.body) for one in calls] == [(None, "open", "left", b"")] * 5


def test_what_an_agent_says_of_its_own_connections_is_no_fault_of_the_way_to_it() -> None:
    """Measured: an agent that was reached and answered UNAVAILABLE in grpcio's words was called unreachable (R2)."""

    async def refuses(request: bytes, context: Any) -> AsyncIterator[bytes]:
        import grpc

        await context.abort(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; connection refused")
        yield b""

    async def life() -> tuple[Any, RecordingProxy]:
        async with in_front_of(SendMessage=refuses) as (proxy, front, _), caller_of(front) as caller:
            return await caller.call("send", purpose="", message=MESSAGE), proxy

    called, proxy = asyncio.run(life())
    for one in (called.exchange, proxy.recorder.exchanges[-1]):
        assert (one.status, one.fault, one.header("grpc-status")) == (200, None, "14")

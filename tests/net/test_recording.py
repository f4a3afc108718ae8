"""The recorder between a consumer and an agent (issue 4, item 4): what passes is not changed, and all of it is kept."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import httpx
import pytest

from a2a_lab.core.policy import Bounds
from a2a_lab.errors import Misuse
from a2a_lab.net.client import Reach
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.keeping import Passing
from a2a_lab.net.recording import RecordingProxy
from tests.net.peers import STREAM_HEAD, Answer, chunk, peer, response


@contextlib.asynccontextmanager
async def recorded(answer: Answer, path: str = "", **more: Any) -> AsyncIterator[tuple[RecordingProxy, str]]:
    """A recorder in front of a peer; yields it and the peer's own URL."""
    async with (
        peer(answer) as base,
        RecordingProxy(base + path, Recorder(), reach=Reach(trust_env=False), **more) as proxy,
    ):
        yield proxy, base


async def raw(url: str, request: bytes, *, leave_after: bytes | None = None) -> bytes:
    """Send bytes and read the answer to its end, or until some bytes have come."""
    host, _, port = url.partition("://")[2].partition("/")[0].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    got = b""
    with contextlib.suppress(asyncio.IncompleteReadError):
        if leave_after is not None:
            got = await reader.readuntil(leave_after)
        else:
            while data := await reader.read(1 << 16):
                got += data
    writer.close()
    return got


def asked(target: str, *headers: str, body: bytes = b"", method: str = "POST") -> bytes:
    head = [f"{method} {target} HTTP/1.1", "Host: here", "Connection: close", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def events(exchange: Any) -> list[bytes]:
    return [piece.data for piece in exchange.chunks]


# -- what passes


def test_a_call_reaches_the_agent_byte_for_byte_but_for_the_host() -> None:
    seen: list[bytes] = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        writer.write(response(b"{}"))

    async def life() -> None:
        async with recorded(answer) as (proxy, base):
            body = b'{"jsonrpc": "2.0",  "id":1, "method":"SendMessage"}\r\n'
            target = "/a%2Fb/../c//d?x=%20y&z=a+b"
            await raw(proxy.url, asked(target, "A2A-Version: 1.0", "X-Odd:  two  words ", body=body))
            (exchange,) = proxy.recorder.exchanges
            assert exchange.url == base + target
            assert exchange.request_body == body
            assert exchange.request_headers[0] == ("Host", base.partition("://")[2])

    asyncio.run(life())
    head, _, body = seen[0].partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"post /a%2fb/../c//d?x=%20y&z=a+b http/1.1"
    assert b"a2a-version: 1.0" in lines and b"x-odd: two  words" in lines
    added = {line.partition(b":")[0] for line in lines[1:]} - {b"host", b"a2a-version", b"x-odd", b"content-length"}
    assert added <= {b"connection"}  # hop by hop; no Accept, no User-Agent that the consumer did not send
    assert body == b'{"jsonrpc": "2.0",  "id":1, "method":"SendMessage"}\r\n'


def test_header_names_are_passed_and_kept_as_they_were_written() -> None:
    """They mean the same in any case (RFC 9110 5.1); a peer that thinks otherwise is to be seen."""
    seen: list[bytes] = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        writer.write(response(b"{}", headers="X-oDD: 1\r\nx-odd: 2\r\n"))

    async def life() -> bytes:
        async with recorded(answer) as (proxy, _):
            for name in ("a2a-VERSION", "A2A-Version"):
                got = await raw(proxy.url, asked("/", f"{name}: 1.0"))
        names = [name for one in proxy.recorder.exchanges for name, _ in one.request_headers]
        assert [name for name in names if name.lower() == "a2a-version"] == ["a2a-VERSION", "A2A-Version"]
        assert ("X-oDD", "1") in proxy.recorder.exchanges[0].response_headers
        return got

    got = asyncio.run(life())
    assert b"\r\na2a-VERSION: 1.0\r\n" in seen[0] and b"\r\nA2A-Version: 1.0\r\n" in seen[1]
    assert b"\r\nX-oDD: 1\r\nx-odd: 2\r\n" in got


def test_an_answer_reaches_the_consumer_byte_for_byte() -> None:
    body = b'{"jsonrpc":"2.0", "id":1,\n "result": {"x": 1.0}} \xff'

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        more = 'Content-Type: application/a2a+json; x=Y\r\nETag: W/"a"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n'
        writer.write(response(body, status="418 I am", headers=more))

    async def life() -> bytes:
        async with recorded(answer) as (proxy, _):
            got = await raw(proxy.url, asked("/"))
        assert proxy.recorder.exchanges[0].body == body and not proxy.recorder.exchanges[0].chunks
        return got

    head, _, got = asyncio.run(life()).partition(b"\r\n\r\n")
    assert got == body
    lines = head.lower().split(b"\r\n")
    assert lines[0].startswith(b"http/1.1 418")
    assert [line for line in lines if line.startswith(b"set-cookie")] == [b"set-cookie: a=1", b"set-cookie: b=2"]
    assert not any(line.startswith((b"date", b"server")) for line in lines)


def test_a_packed_answer_passes_packed_and_is_kept_unpacked() -> None:
    packed = gzip.compress(b'{"jsonrpc":"2.0"}')

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response(packed, headers="Content-Type: application/json\r\nContent-Encoding: gzip\r\n"))

    async def life() -> bytes:
        async with recorded(answer) as (proxy, _):
            got = await raw(proxy.url, asked("/"))
        assert proxy.recorder.exchanges[0].body == b'{"jsonrpc":"2.0"}'
        return got

    assert asyncio.run(life()).endswith(packed)


def test_an_upload_in_chunks_stays_one() -> None:
    seen: list[bytes] = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        writer.write(response(b"{}"))

    async def body() -> AsyncIterator[bytes]:
        yield b"{}"

    async def life() -> bytes:
        async with recorded(answer) as (proxy, _), httpx.AsyncClient(trust_env=False) as client:
            await client.post(proxy.url + "/", content=body())
            return proxy.recorder.exchanges[0].request_body

    assert asyncio.run(life()) == b"{}"
    assert b"transfer-encoding: chunked" in seen[0].lower()


# -- when it passes


def test_each_chunk_passes_as_it_comes() -> None:
    """Timing within milliseconds: what the consumer waits for is what the agent takes, and it is written down."""
    gaps = 0.1

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        for number in range(3):
            await asyncio.sleep(gaps)
            writer.write(chunk(b"data: %d\n\n" % number))
            await writer.drain()
        writer.write(chunk(b""))

    async def life() -> tuple[list[float], Any]:
        came = []
        async with recorded(answer) as (proxy, _), httpx.AsyncClient(trust_env=False) as client:
            async with client.stream("POST", proxy.url + "/") as got:
                began = time.monotonic()
                async for _ in got.aiter_raw():
                    came.append(time.monotonic() - began)
            await asyncio.sleep(0)
            return came, proxy.recorder.exchanges[0]

    came, exchange = asyncio.run(life())
    assert events(exchange) == [b"data: 0\n\n", b"data: 1\n\n", b"data: 2\n\n"]
    assert exchange.ending == "close" and exchange.cut_by is None
    waits = [later - earlier for earlier, later in pairwise(came)]
    kept = [(later.offset_ms - earlier.offset_ms) / 1000 for earlier, later in pairwise(exchange.chunks)]
    assert all(wait > gaps / 2 for wait in waits)
    assert all(abs(one - other) < 0.05 for one, other in zip(waits, kept, strict=True))


def test_whoever_watches_is_told_as_it_happens() -> None:
    told: list[Passing] = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: 1\n\n"))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(chunk(b"data: 2\n\n") + chunk(b""))

    async def life() -> None:
        async with recorded(answer, listener=told.append) as (proxy, _):
            await raw(proxy.url, asked("/"))

    asyncio.run(life())
    assert [one.what for one in told] == ["request", "head", "chunk", "chunk", "end"]
    assert told[2].data == b"data: 1\n\n" and told[2].at_ms < told[3].at_ms


# -- who goes away


def test_when_the_consumer_leaves_the_agent_is_left() -> None:
    gone = asyncio.Event()

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: 1\n\n"))
        await writer.drain()
        with contextlib.suppress(ConnectionError):
            while True:
                await asyncio.sleep(0.01)
                writer.write(chunk(b": ping\n\n"))
                await writer.drain()
        gone.set()

    async def life() -> Any:
        async with recorded(answer) as (proxy, _):
            await raw(proxy.url, asked("/"), leave_after=b"data: 1\n\n")
            async with asyncio.timeout(5):
                await gone.wait()
            return proxy.recorder.exchanges[0]

    exchange = asyncio.run(life())
    assert (exchange.ending, exchange.cut_by, exchange.fault) == ("open", "left", None)
    assert exchange.body.startswith(b"data: 1\n\n")


def test_a_consumer_that_leaves_before_any_answer_is_named() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async def life() -> Any:
        async with recorded(answer) as (proxy, _), httpx.AsyncClient(trust_env=False) as client:
            proxy.cut_by = "cap"
            with pytest.raises(httpx.ReadTimeout):
                await client.post(proxy.url + "/", timeout=0.1)
            async with asyncio.timeout(5):
                while not proxy.recorder.exchanges[0].fault:
                    await asyncio.sleep(0.01)
            return proxy.recorder.exchanges[0]

    exchange = asyncio.run(life())
    assert (exchange.status, exchange.fault, exchange.cut_by, exchange.ending) == (None, "consumer-left", "cap", "open")
    assert exchange.ended_ms - exchange.started_ms >= 90


def test_when_the_agent_breaks_off_the_consumer_sees_a_broken_answer() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: 1\n\n"))
        await writer.drain()

    async def life() -> Any:
        async with recorded(answer) as (proxy, _), httpx.AsyncClient(trust_env=False) as client:
            with pytest.raises(httpx.RemoteProtocolError):
                await client.post(proxy.url + "/")
            return proxy.recorder.exchanges[0]

    exchange = asyncio.run(life())
    assert (exchange.status, exchange.ending, exchange.fault) == (200, "reset", "reset-after-request")


def test_an_agent_that_cannot_be_reached_is_a_bad_gateway_with_its_fault_named() -> None:
    async def life() -> tuple[httpx.Response, Any]:
        async with (
            RecordingProxy("http://127.0.0.1:1", Recorder(), reach=Reach(trust_env=False)) as proxy,
            httpx.AsyncClient(trust_env=False) as client,
        ):
            return await client.get(proxy.url + "/x"), proxy.recorder.exchanges[0]

    got, exchange = asyncio.run(life())
    assert (got.status_code, got.headers["x-a2a-lab-fault"]) == (502, "connect-refused")
    assert (exchange.status, exchange.fault, exchange.url) == (None, "connect-refused", "http://127.0.0.1:1/x")


def test_what_is_open_when_the_observation_ends_is_marked() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: 1\n\n"))
        await writer.drain()
        await asyncio.sleep(30)

    async def life() -> Any:
        async with recorded(answer) as (proxy, _):
            call = asyncio.create_task(raw(proxy.url, asked("/")))
            async with asyncio.timeout(5):
                while not (proxy.recorder.exchanges and proxy.recorder.exchanges[0].chunks):
                    await asyncio.sleep(0.01)
        await call
        return proxy.recorder.exchanges[0]

    exchange = asyncio.run(life())
    assert (exchange.ending, exchange.cut_by, exchange.body) == ("open", "stopped", b"data: 1\n\n")


def test_what_answers_must_be_what_was_started() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"somebody else"))

    async def life() -> tuple[bytes, Any]:
        async with recorded(answer, nonce="abc") as (proxy, _):
            return await raw(proxy.url, asked("/")), proxy.harness_fault

    got, fault = asyncio.run(life())
    assert got.startswith(b"HTTP/1.1 502") and b"somebody else" not in got
    assert "did not start" in str(fault)


# -- cards


def card_server(card: bytes, headers: str = "Content-Type: application/json\r\n") -> Answer:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        base = next(line for line in request.split(b"\r\n") if line.lower().startswith(b"host")).partition(b": ")[2]
        body = card.replace(b"OWN", base)
        writer.write(response(gzip.compress(body) if "gzip" in headers else body, headers=headers))

    return answer


CARD = b"""{ "name": "a", "supportedInterfaces": [{"url":"http://OWN/rpc", "protocolBinding": "JSONRPC"}],
  "url": "http:\\/\\/OWN\\/v03",  "signatures": [{"protected": "x", "signature": "y"}], "caf\xc3\xa9": 1.0 }"""


@pytest.mark.parametrize("headers", ["Content-Type: application/json\r\n", "Content-Encoding: gzip\r\n"])
def test_the_agents_address_in_a_card_becomes_the_recorders_and_nothing_else_changes(headers: str) -> None:
    async def life() -> None:
        async with recorded(card_server(CARD, headers)) as (proxy, base):
            async with httpx.AsyncClient(trust_env=False) as client:
                got = await client.get(proxy.url + "/.well-known/agent-card.json")
            here, there = proxy.url.partition("://")[2].encode(), base.partition("://")[2].encode()
            assert got.content == CARD.replace(b"OWN", here)
            assert int(got.headers["content-length"]) == len(got.content)
            assert "content-encoding" not in got.headers
            (exchange,) = proxy.recorder.exchanges
            assert exchange.body == CARD.replace(b"OWN", there) and exchange.purpose == "card"
            (finding,) = proxy.findings
            assert finding.slug == "card-rewritten" and "no longer verify" in finding.detail

    asyncio.run(life())


def test_a_card_that_leads_to_the_recorder_anyway_is_not_touched() -> None:
    """A relative or foreign address is none of the recorder's business; that it leads past it is said."""
    card = b'{"name":"a","supportedInterfaces":[{"url":"https://elsewhere.example/rpc"},{"url":"127.0.0.1:5"}]}'

    async def life() -> None:
        async with recorded(card_server(card)) as (proxy, _):
            async with httpx.AsyncClient(trust_env=False) as client:
                got = await client.get(proxy.url + "/.well-known/agent-card.json")
            assert got.content == card
            assert [one.slug for one in proxy.findings] == ["past-the-recorder"]
            assert proxy.findings[0].values["found"] == ["https://elsewhere.example/rpc", "127.0.0.1:5"]

    asyncio.run(life())


def test_a_redirect_at_the_agent_leads_to_the_recorder_and_is_kept_as_it_came() -> None:
    """A client that follows it would else bypass the recorder."""
    where: list[str] = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        location = where[0] if request.startswith(b"POST /rpc ") else ""
        headers = f"Location: {location}/rpc/?a=b\r\n" if location else ""
        writer.write(response(b"", status="307 Temporary Redirect" if location else "200 OK", headers=headers))

    async def life() -> None:
        async with recorded(answer) as (proxy, base), httpx.AsyncClient(trust_env=False) as client:
            for own in (base, base.replace("127.0.0.1", "localhost")):
                where[:] = [own]
                got = await client.post(f"{proxy.url}/rpc", follow_redirects=True)
                assert str(got.url) == f"{proxy.url}/rpc/?a=b"
                first, second = proxy.recorder.exchanges[-2:]
                assert first.header("location") == f"{own}/rpc/?a=b" and second.url == f"{base}/rpc/?a=b"
            assert {one.slug for one in proxy.findings} == {"redirect-rewritten"}

    asyncio.run(life())


def test_a_card_is_offered_under_another_path_where_the_matrix_says_so() -> None:
    asked_for: list[bytes] = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        asked_for.append(request.split(b" ")[1])
        writer.write(response(b"{}"))

    async def life() -> None:
        async with recorded(answer, aliases={"/a/new": "/a/old"}) as (proxy, base):
            for target in ("/a/new", "/a/new?x=1", "/a/old", "/a/new/more"):
                await raw(proxy.url, asked(target, method="GET"))
            assert [one.url for one in proxy.recorder.exchanges][:2] == [f"{base}/a/new", f"{base}/a/new?x=1"]
            (said,) = proxy.findings
            assert said.slug == "card-offered-elsewhere" and (said.values, said.at) == ({"found": "/a/old"}, "/a/new")

    asyncio.run(life())
    assert asked_for == [b"/a/old", b"/a/old?x=1", b"/a/old", b"/a/new/more"]


def test_a_redirect_elsewhere_passes_as_it_is_and_is_noted() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"", status="307 Temporary Redirect", headers="Location: http://127.0.0.1:1/rpc/\r\n"))

    async def life() -> None:
        async with recorded(answer) as (proxy, _):
            got = await raw(proxy.url, asked("/rpc"))
            assert b"Location: http://127.0.0.1:1/rpc/" in got
            assert [one.slug for one in proxy.findings] == ["past-the-recorder"]

    asyncio.run(life())


def test_the_path_that_a_user_would_give_is_kept() -> None:
    async def life() -> None:
        for path in ("", "/", "/a2a/one", "/a2a/one/", "/x?tenant=acme"):
            async with RecordingProxy("http://127.0.0.1:1" + path, Recorder()) as proxy:
                assert proxy.url.partition("://")[2].partition(":")[2].lstrip("0123456789") == path

    asyncio.run(life())


def test_an_address_that_is_none_is_the_callers_mistake() -> None:
    with pytest.raises(Misuse, match="expected the address of an agent"):
        RecordingProxy("agent.example", Recorder())


# -- bounds


def test_a_bound_ends_the_copy_and_not_the_traffic() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"x" * 3000) + chunk(b"y" * 3000) + chunk(b""))

    async def life() -> tuple[bytes, Any]:
        async with recorded(answer, bounds=Bounds(stream_bytes=4000)) as (proxy, _):
            got = await raw(proxy.url, asked("/"))
        return got, proxy.recorder.exchanges[0]

    got, exchange = asyncio.run(life())
    assert b"x" * 3000 in got and b"y" * 3000 in got
    assert len(exchange.body) == 4000 and exchange.fault == "limit: stream_bytes 4000"


def test_an_upload_beyond_the_bound_still_passes() -> None:
    seen: list[int] = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(len(request.partition(b"\r\n\r\n")[2]))
        writer.write(response(b"{}"))

    async def life() -> Any:
        async with recorded(answer, bounds=Bounds(body_bytes=1000)) as (proxy, _):
            await raw(proxy.url, asked("/", body=b"z" * 500_000))
            return proxy.recorder.exchanges[0]

    exchange = asyncio.run(life())
    assert seen == [500_000]
    assert len(exchange.request_body) < 500_000 and exchange.fault == "limit: body_bytes 1000"


def test_a_recording_that_is_full_says_so() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"12345678"))

    async def life() -> None:
        async with recorded(answer) as (proxy, _):
            proxy._budget.bytes = 10
            for _ in range(2):
                assert (await raw(proxy.url, asked("/"))).endswith(b"12345678")
        first, second = proxy.recorder.exchanges
        assert (first.body, second.body, second.cut_by) == (b"12345678", b"12", "not-recorded")
        assert [one.slug for one in proxy.findings] == ["recording-full"]

    asyncio.run(life())


def test_many_consumers_at_once() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        writer.write(response(json.dumps({"path": request.split(b" ")[1].decode()}).encode()))

    async def life() -> None:
        async with recorded(answer) as (proxy, base), httpx.AsyncClient(trust_env=False) as client:
            got = await asyncio.gather(*(client.post(f"{proxy.url}/{n}") for n in range(20)))
            assert [one.json()["path"] for one in got] == [f"/{n}" for n in range(20)]
        assert {one.url: json.loads(one.body)["path"] for one in proxy.recorder.exchanges} == {
            f"{base}/{n}": f"/{n}" for n in range(20)
        }

    asyncio.run(life())

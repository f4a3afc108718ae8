"""DESIGN 9: every byte from a peer is hostile; reading is bounded, and a transport fault is a word in the evidence."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator

import pytest

from a2a_lab.core.policy import Bounds
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.evidence import Recorder
from tests.net.peers import STREAM_HEAD, Answer, chunk, peer, response

CONTEXT = tls_context(Reach(trust_env=False))


@contextlib.asynccontextmanager
async def talking_to(
    answer: Answer, *, reach: Reach | None = None, **options: object
) -> AsyncIterator[tuple[Http, str]]:
    async with peer(answer) as base, new_client(reach or Reach(trust_env=False), CONTEXT) as client:
        options.setdefault("bounds", Bounds())
        yield Http(client, Recorder(), **options), base  # type: ignore[arg-type]


async def honest(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(response(b'{"ok":true}'))
    await writer.drain()


def test_exchange_holds_what_was_sent_and_what_came() -> None:
    async def run() -> None:
        async with talking_to(honest) as (http, base):
            exchange = await http.send("POST", f"{base}/rpc", {"A2A-Version": "1.0"}, b"{}", purpose="probe")
        assert (exchange.status, exchange.body, exchange.fault, exchange.ending) == (200, b'{"ok":true}', None, "close")
        assert ("A2A-Version", "1.0") in exchange.request_headers
        assert 0 <= exchange.started_ms <= exchange.ended_ms
        assert http.recorder.exchanges == [exchange]

    asyncio.run(run())


def test_body_bound_is_named() -> None:
    async def big(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"x" * 5000))
        await writer.drain()

    async def run() -> None:
        async with talking_to(big, bounds=Bounds(body_bytes=1000)) as (http, base):
            exchange = await http.send("GET", base, {}, purpose="card")
        assert exchange.fault == "limit: body_bytes 1000"
        assert len(exchange.body) == 1000

    asyncio.run(run())


def test_compressed_bomb_costs_no_more_than_the_bound() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)

    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(response(bomb, headers="Content-Encoding: gzip\r\n"))
        await writer.drain()

    async def run() -> None:
        async with talking_to(serve, bounds=Bounds(body_bytes=10_000)) as (http, base):
            exchange = await http.send("GET", base, {}, purpose="card")
        assert exchange.fault == "limit: body_bytes 10000" and len(exchange.body) == 10_000

    asyncio.run(run())


def test_endless_header_is_a_limit_not_a_crash() -> None:
    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 400_000)
        await writer.drain()

    async def run() -> None:
        async with talking_to(serve) as (http, base):
            exchange = await http.send("GET", base, {}, purpose="card", total_s=5)
        assert exchange.fault == "limit: header_bytes" and exchange.status is None

    asyncio.run(run())


@pytest.mark.parametrize(
    ("says", "fault"),
    [
        (b"", "reset-after-request"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", "reset-after-request"),
        (b"HTTP/1.1 200 OK\r\nno header\r\n\r\n", "malformed: illegal header line: bytearray(b'no header')"),
    ],
)
def test_cut_connection_is_a_reset(says: bytes, fault: str) -> None:
    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(says)
        await writer.drain()

    async def run() -> None:
        async with talking_to(serve) as (http, base):
            exchange = await http.send("GET", base, {}, purpose="card")
        assert exchange.fault == fault

    asyncio.run(run())


def test_nothing_listening_is_connect_refused() -> None:
    async def run() -> None:
        async with peer(honest) as base:
            pass
        async with new_client(Reach(trust_env=False), CONTEXT) as client:
            exchange = await Http(client, Recorder(), bounds=Bounds()).send("GET", base, {}, purpose="card")
        assert (exchange.fault, exchange.status) == ("connect-refused", None)

    asyncio.run(run())


async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("options", "total_s", "cut_by"),
    [
        ({"transport_timeout_s": 0.05}, None, "transport-timeout"),
        ({}, 0.05, "total-limit"),
        ({"cap_s": 0.05}, None, "cap"),
    ],
)
def test_who_ended_a_wait_is_written_down(options: dict[str, float], total_s: float | None, cut_by: str) -> None:
    async def run() -> None:
        async with talking_to(silent, **options) as (http, base):
            exchange = await http.send("GET", base, {}, purpose="card", total_s=total_s)
        assert (exchange.fault, exchange.cut_by, exchange.ending) == ("read-timeout", cut_by, "open")

    asyncio.run(run())


def test_redirect_is_reported_not_followed() -> None:
    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        assert b"/elsewhere" not in request
        writer.write(response(b"", status="302 Found", headers="Location: /elsewhere\r\n"))
        await writer.drain()

    async def run() -> None:
        async with talking_to(serve) as (http, base):
            exchange = await http.send("GET", base, {}, purpose="card")
        assert (exchange.status, exchange.header("location")) == (302, "/elsewhere")

    asyncio.run(run())


def test_connect_to_keeps_the_name_that_was_asked_for() -> None:
    """R43: a case's hosts map to the local replay, as curl's connect-to does."""
    seen: list[bytes] = []

    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        writer.write(response(b"{}"))
        await writer.drain()

    async def run() -> None:
        async with peer(serve) as base, new_client(Reach(trust_env=False), CONTEXT) as client:
            there = base.removeprefix("http://")
            http = Http(client, Recorder(), bounds=Bounds(), connect_to={"agent.example.test:80": there})
            exchange = await http.send("GET", "http://agent.example.test/card", {}, purpose="card")
        assert exchange.status == 200 and exchange.url == "http://agent.example.test/card"
        assert b"\r\nhost: agent.example.test\r\n" in seen[0].lower()

    asyncio.run(run())


def test_connect_to_may_speak_plain_http_where_https_is_asked_for() -> None:
    """R43: the origin that is judged stays https; only the wire to the replay is plain."""

    async def run() -> None:
        async with peer(honest) as base, new_client(Reach(trust_env=False), CONTEXT) as client:
            http = Http(client, Recorder(), bounds=Bounds(), connect_to={"agent.example.test:443": base})
            exchange = await http.send("GET", "https://agent.example.test/card?x=1", {}, purpose="card")
        assert (exchange.status, exchange.url) == (200, "https://agent.example.test/card?x=1")

    asyncio.run(run())


def test_stream_chunks_keep_their_bytes_and_times() -> None:
    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: 1\n\n"))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(chunk(b"data: 2\n\n") + b"0\r\n\r\n")
        await writer.drain()

    async def run() -> None:
        async with talking_to(serve) as (http, base), http.stream("POST", base, {}, purpose="commit", open_s=5) as live:
            got = [await live.next(5), await live.next(5), await live.next(5)]
            assert got == [b"data: 1\n\n", b"data: 2\n\n", None]
        first, second = live.exchange.chunks
        assert second.offset_ms - first.offset_ms >= 40
        assert live.exchange.ending == "close" and live.exchange.body == b"data: 1\n\ndata: 2\n\n"

    asyncio.run(run())


def test_deadline_loses_no_byte_of_a_stream() -> None:
    """A6, R30: the lab asks at the silence limit and keeps watching the same stream."""

    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD)
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.write(chunk(b"data: late\n\n"))
        await writer.drain()
        await asyncio.Event().wait()

    async def run() -> None:
        async with talking_to(serve) as (http, base), http.stream("POST", base, {}, purpose="commit", open_s=5) as live:
            with pytest.raises(TimeoutError):
                await live.next(0.02)
            assert await live.next(5) == b"data: late\n\n"
        assert live.exchange.ending == "open"

    asyncio.run(run())


def test_stream_that_never_opens_ends_at_the_limit() -> None:
    async def run() -> None:
        async with (
            talking_to(silent) as (http, base),
            http.stream("POST", base, {}, purpose="probe", open_s=0.05) as live,
        ):
            assert live.exchange.status is None
            assert (live.exchange.fault, live.exchange.cut_by) == ("read-timeout", "hang-limit")

    asyncio.run(run())


def test_reset_stream_is_told_from_a_closed_one() -> None:
    async def serve(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: 1\n\n"))
        await writer.drain()
        writer.transport.abort()

    async def run() -> None:
        async with talking_to(serve) as (http, base), http.stream("POST", base, {}, purpose="probe", open_s=5) as live:
            while await live.next(5) is not None:
                pass
        assert (live.exchange.ending, live.exchange.fault) == ("reset", "reset-after-request")

    asyncio.run(run())


def test_no_cookie_is_kept_not_even_while_a_stream_is_open() -> None:
    """R33: what one answer set went along with calls beside an open stream, and stood in no evidence."""
    heard: list[bytes] = []
    second = asyncio.Event()

    async def sets(request: bytes, writer: asyncio.StreamWriter) -> None:
        heard.append(request)
        writer.write(STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nSet-Cookie: sid=abc; Path=/\r\n\r\n"))
        await writer.drain()
        if len(heard) == 2:
            second.set()
        await second.wait()

    async def run() -> None:
        async with talking_to(sets) as (http, base), http.stream("POST", base, {}, purpose="", open_s=5.0):
            await http.send("POST", base, {}, purpose="poll")
        assert len(heard) == 2 and b"cookie" not in heard[1].lower()

    asyncio.run(run())

"""R43: any recording as a vendor on a port, over real sockets: answers, pauses, faults, and the log of what matched."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from a2a_lab.core.policy import Bounds, Clocks
from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.lab.replay import Replay, Served
from a2a_lab.lab.scripted import play
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.evidence import Recorder
from a2a_lab.wire.exchange import Chunk, Exchange

CONTEXT = tls_context(Reach(trust_env=False))
RPC = "https://agent.example.test/rpc"
CARD = "https://agent.example.test/.well-known/agent-card.json"
CLOCKS = Clocks(silence_s=0.1, hang_s=0.2, total_s=1.0, close_s=0.1)


def recorded(method: str = "POST", url: str = RPC, **members: Any) -> Exchange:
    usual = {"status": 200, "response_headers": [("Content-Type", "application/json")]}
    return Exchange(method=method, url=url, **(usual | members))


def call(rpc_id: Any = "r1") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": rpc_id, "method": "SendMessage", "params": {}}).encode()


Talk = Callable[[Http, Replay], Awaitable[None]]


def served(exchanges: list[Exchange], talk: Talk, **options: Any) -> list[Served]:
    """Run a replay, let `talk` be its consumer, and give what was served."""

    async def run() -> list[Served]:
        async with Replay(exchanges, **options) as replay, new_client(Reach(trust_env=False), CONTEXT) as client:
            await talk(Http(client, Recorder(), bounds=Bounds(), connect_to=replay.connect_to), replay)
            return replay.served

    return asyncio.run(run())


def got(recording: list[Exchange], method: str = "POST", url: str = RPC, body: bytes = b"", **limits: Any) -> Exchange:
    """One request to a replay, answered."""
    answers: list[Exchange] = []

    async def talk(http: Http, replay: Replay) -> None:
        answers.append(await http.send(method, url, {}, body, purpose="", **({"total_s": 5.0} | limits)))

    served(recording, talk)
    return answers[0]


def test_https_origin_is_answered_over_plain_http() -> None:
    answer = got([recorded("GET", CARD, body=b'{"name":"x"}', response_headers=[("ETag", '"1"')])], "GET", CARD)
    assert (answer.status, answer.body, answer.header("etag"), answer.url) == (200, b'{"name":"x"}', '"1"', CARD)


def test_live_id_takes_the_place_of_the_recorded_one() -> None:
    recording = [recorded(request_body=call(), body=b'{"jsonrpc":"2.0","id":"r1","result":{}}')]
    assert got(recording, body=call(42)).body == b'{"jsonrpc":"2.0","id":42,"result":{}}'


def test_what_matches_nothing_is_refused_and_named() -> None:
    told: list[Served] = []

    async def talk(http: Http, replay: Replay) -> None:
        assert (await http.send("GET", f"{replay.url}/nowhere", {}, purpose="")).status == 404
        assert (await http.send("GET", RPC, {}, purpose="")).status == 405

    served([recorded(request_body=call())], talk, told=told.append)
    assert [(one.matched, one.told) for one in told] == [
        (False, "404: nothing was recorded at /nowhere"),
        (False, "405: /rpc was recorded with POST only"),
    ]


def test_head_has_no_body_and_the_connection_lives_on() -> None:
    async def talk(http: Http, replay: Replay) -> None:
        for _ in range(2):
            assert (await http.send("HEAD", CARD, {}, purpose="")).body == b""
        assert (await http.send("GET", CARD, {}, purpose="")).body == b"{}"

    log = served([recorded("HEAD", CARD, status=405, body=b"no"), recorded("GET", CARD, body=b"{}")], talk)
    assert [one.told for one in log] == ["405", "405", "200"]


@pytest.mark.parametrize(
    ("members", "fault", "status"),
    [
        ({"status": None, "fault": "reset-after-request"}, "reset-after-request", None),
        ({"status": None, "fault": "connect-refused"}, "connect-refused", None),
        ({"status": None, "fault": "read-timeout"}, "read-timeout", None),
        ({"body": b"{", "ending": "reset"}, "reset-after-request", 200),
        ({"body": b"{", "ending": "open"}, "read-timeout", 200),
    ],
)
def test_transport_faults_come_again(members: dict[str, Any], fault: str, status: int | None) -> None:
    answer = got([recorded(**members)], total_s=0.3)
    assert (answer.fault, answer.status) == (fault, status)


def test_an_origin_that_also_answered_cannot_refuse_connections() -> None:
    async def talk(http: Http, replay: Replay) -> None:
        assert (await http.send("POST", RPC, {}, purpose="")).fault == "reset-after-request"
        assert replay.shortcomings == [
            f"POST {RPC}: recorded connect-refused; the connection is made before it is refused"
        ]

    served([recorded(status=None, fault="connect-refused"), recorded("GET", CARD)], talk)


def streamed(*pieces: tuple[float, bytes], **members: Any) -> Exchange:
    chunks = [Chunk(offset_ms=at, data=data) for at, data in pieces]
    return recorded(chunks=chunks, body=b"".join(data for _, data in pieces), **members)


async def read(http: Http) -> Exchange:
    async with http.stream("POST", RPC, {}, purpose="", open_s=5) as live:
        while True:
            try:
                if await live.next(0.4) is None:
                    break
            except TimeoutError:
                break
        return live.exchange


@pytest.mark.parametrize("ending", ["close", "open", "reset"])
def test_stream_comes_in_its_writes_with_its_pauses_and_its_end(ending: str) -> None:
    async def talk(http: Http, replay: Replay) -> None:
        live = await read(http)
        assert [chunk.data for chunk in live.chunks] == [b"data: 1\n\n", "data: é\n\n".encode()[:7], b"\xa9\n\n"]
        assert live.chunks[1].offset_ms - live.chunks[0].offset_ms >= 90
        assert live.ending == ending

    whole = "data: é\n\n".encode()
    served([streamed((0, b"data: 1\n\n"), (100, whole[:7]), (150, whole[7:]), ending=ending)], talk)


def test_pace_shortens_every_pause() -> None:
    async def talk(http: Http, replay: Replay) -> None:
        began = asyncio.get_running_loop().time()
        await read(http)
        assert asyncio.get_running_loop().time() - began < 5

    served([streamed((0, b"1"), (60_000, b"2"))], talk, pace=0)


def test_large_body_arrives_whole_before_a_reset() -> None:
    async def talk(http: Http, replay: Replay) -> None:
        live = await read(http)
        assert (len(live.body), live.ending) == (3_000_000, "reset")

    served([streamed((0, b"x" * 3_000_000), ending="reset")], talk)


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"POST /rpc HTTP/1.1\r\nContent-Length: many\r\n\r\n", b"400"),
        (b"POST /rpc HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", b"400"),
        (b"GET https://agent.example.test/rpc HTTP/1.1\r\n\r\n", b"405"),
        (b"POST /rpc HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", b"404"),
        (b"POST /rpc HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n", b"100 Continue"),
        (b"X" * 200_000, b"400"),
    ],
)
def test_any_bytes_on_the_port_are_answered(sent: bytes, says: bytes) -> None:
    async def talk(http: Http, replay: Replay) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", replay.port)
        writer.write(sent)
        assert says in await asyncio.wait_for(reader.readline(), 5)
        writer.close()

    served([recorded(request_body=call())], talk)


def test_what_cannot_be_served_is_said() -> None:
    async def twice() -> None:
        async with Replay([recorded()]) as one, Replay([recorded()], port=one.port):
            pass

    with pytest.raises(Misuse, match="cannot be had"):
        asyncio.run(twice())
    with pytest.raises(RecordFault, match="no HTTP exchange"):
        Replay([])
    with pytest.raises(Misuse, match="pace"):
        Replay([recorded()], pace=-1)


def test_scripted_consumer_asks_under_ids_of_its_own() -> None:
    send = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m"}}})
    answer = b'{"id":1,"result":{"messageId":"m","contextId":"c"}}'
    played = asyncio.run(play([recorded(request_body=send.encode(), body=answer)], clocks=CLOCKS, bounds=Bounds()))
    assert json.loads(played.exchanges[0].request_body)["id"] == 7000
    assert played.exchanges[0].body == b'{"id":7000,"result":{"messageId":"live-m","contextId":"c"}}'
    assert played.unmatched == []


def test_scripted_consumer_asks_side_by_side_what_overlapped() -> None:
    """A task that is asked for while its stream is silent, as at the silence limit (R30)."""
    stream = streamed((0, b"data: 1\n\n"), (300, b"data: 2\n\n"), ended_ms=300)
    look = recorded("GET", CARD, started_ms=100, ended_ms=110)
    after = recorded("GET", RPC, started_ms=400, ended_ms=401)
    played = asyncio.run(play([stream, look, after], clocks=CLOCKS, bounds=Bounds()))
    first, second, third = played.exchanges
    assert first.started_ms + 90 <= second.started_ms < first.ended_ms <= third.started_ms


def test_scripted_consumer_leaves_when_the_recorded_one_left() -> None:
    """How long to wait was its decision, and so is the word for it."""
    left = streamed((0, b"data: 1\n\n"), ending="open", ended_ms=150, cut_by="hang-limit")
    kept = asyncio.run(play([left], clocks=Clocks(hang_s=60, total_s=600), bounds=Bounds())).exchanges[0]
    assert (kept.ending, kept.cut_by) == ("open", "hang-limit")
    assert 140 <= kept.ended_ms - kept.started_ms < 2000

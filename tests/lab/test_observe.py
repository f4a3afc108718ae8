"""`observe`: a recorder stands in front of an agent, and both ends are judged from what passed (issue 4, item 4)."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.observe import NOTHING_CAME, Observation, ObserveOptions, Observing
from a2a_lab.net.evidence import read_har
from a2a_lab.net.keeping import Passing
from a2a_lab.report.live import LiveLines
from a2a_lab.report.observed import observed_page
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import WHOLE_STREAM, card_1_0, message, task
from tests.net.peers import STREAM_HEAD, chunk, peer, response

Talk = Callable[[httpx.AsyncClient, str], Any]


async def agent(request: bytes, writer: asyncio.StreamWriter) -> None:
    """An agent of 1.0: a card, an answer, a stream; each request has a task of its own."""
    head, _, body = request.partition(b"\r\n\r\n")
    host = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"host")).partition(b": ")[2].decode()
    if request.startswith(b"GET /.well-known/agent-card.json "):
        writer.write(response(json.dumps(card_1_0(url=f"http://{host}/rpc")).encode()))
    elif b"SendStreamingMessage" in body:
        frames = [json.dumps({"jsonrpc": "2.0", "id": 1, "result": one}) for one in WHOLE_STREAM]
        frames = [one.replace('"t1"', '"t-streamed"') for one in frames]
        writer.write(STREAM_HEAD + b"".join(chunk(f"data: {one}\n\n".encode()) for one in frames) + chunk(b""))
    elif request.startswith(b"POST /rpc "):
        number = json.loads(body)["id"]
        answer = {"jsonrpc": "2.0", "id": number, "result": {"task": task(id=f"t{number}")}}
        writer.write(response(json.dumps(answer).encode()))
    else:
        writer.write(response(b"", status="404 Not Found"))


def observed(talk: Talk, out: Path, **how: Any) -> Observation:
    """Let a client talk through the recorder, and conclude."""

    async def life() -> Observation:
        ready = asyncio.Event()
        where: list[str] = []

        def opened(address: str) -> None:
            where.append(address)
            ready.set()

        async with peer(agent) as base:
            options = ObserveOptions(out=str(out), trust_env=False)
            observing = Observing(base, options, opened=opened, **how)
            watching = asyncio.create_task(observing.watch())
            await ready.wait()
            async with httpx.AsyncClient(trust_env=False, headers={"A2A-Version": "1.0"}) as client:
                await talk(client, where[0])
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            return observing.conclude()

    return asyncio.run(life())


def call(method: str = "SendMessage") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message(messageId=method)}}


async def honest(client: httpx.AsyncClient, url: str) -> None:
    card = (await client.get(f"{url}/.well-known/agent-card.json")).json()
    there = card["supportedInterfaces"][0]["url"]
    assert there.startswith(url), "the card leads to the recorder"
    await client.post(there, json=call())
    await client.post(there, json=call("SendStreamingMessage"))


def test_an_honest_pair_is_judged_from_both_ends(tmp_path: Path) -> None:
    seen = observed(honest, tmp_path)
    assert seen.verdict.value == "accept"
    assert [one.slug for one in seen.consumer_findings] == ["committed-unprobed"]
    assert {one.slug for one in seen.agent_findings} == {"unsigned"}
    assert [one.slug for one in seen.noted] == ["card-rewritten"]
    assert all(one.url.startswith(seen.to) for one in seen.exchanges), "the evidence is in the agent's terms"


def test_an_id_that_is_used_up_is_told_on_the_consumers_side_and_its_orphan_in_plain_words(tmp_path: Path) -> None:
    """R35: the agent may start a task for each send; who repeats an id leaves the first one."""

    async def repeats(client: httpx.AsyncClient, url: str) -> None:
        there = (await client.get(f"{url}/.well-known/agent-card.json")).json()["supportedInterfaces"][0]["url"]
        for number in (1, 2):
            await client.post(there, json=call() | {"id": number})

    seen = observed(repeats, tmp_path)
    (used,) = [one for one in seen.consumer_findings if one.slug == "message-id-reused"]
    assert used.detail == (
        "messageId 'SendMessage' had been answered with task 't1' when it was sent again, which got task 't2'"
    )
    (left, *_) = [one for one in seen.agent_findings if one.slug.startswith("orphaned-")]
    assert "(second-task: the same message, sent again, was answered with another task" in left.detail


def test_several_clients_are_judged_as_one_and_the_page_says_so(tmp_path: Path) -> None:
    """Nothing tells two clients apart for certain: a program may have two HTTP libraries, each with a name."""

    async def two(client: httpx.AsyncClient, url: str) -> None:
        await honest(client, url)
        await client.get(f"{url}/.well-known/agent-card.json", headers={"User-Agent": "other/1"})

    seen = observed(two, tmp_path)
    (said,) = [one for one in seen.noted if one.slug == "several-clients"]
    assert said.verdict.value == "accept" and "other/1" in said.detail and "2 names of clients" in said.detail
    page = observed_page(seen, tmp_path / "page.html", now=datetime(2026, 1, 1, tzinfo=UTC)).read_text()
    assert "2 names of clients" in page


def test_what_the_consumer_does_wrong_is_not_held_against_the_agent(tmp_path: Path) -> None:
    async def guessing(client: httpx.AsyncClient, url: str) -> None:
        await client.get(f"{url}/.well-known/agent.json")
        await client.post(f"{url}/rpc", json=call(), headers={"A2A-Version": ""})

    seen = observed(guessing, tmp_path)
    assert {one.slug for one in seen.consumer_findings} >= {
        "card-invented",
        "legacy-path-only",
        "version-header-missing",
    }
    assert not [one for one in seen.agent_findings if one.verdict.severity > 1], "a card that was not asked for"
    document = seen.as_json()
    assert document["verdict"] == "conformance-error"
    assert {one["values"]["whose"] for one in document["consumer"]} == {"consumer"}


def test_the_evidence_is_there_to_be_judged_again(tmp_path: Path) -> None:
    seen = observed(honest, tmp_path)
    assert [(one.method, one.status) for one in read_har(seen.evidence)] == [("GET", 200), ("POST", 200), ("POST", 200)]
    assert oct(seen.evidence.stat().st_mode)[-3:] == "600"


def test_every_event_is_told_when_it_passes(tmp_path: Path) -> None:
    lines, told = LiveLines(), []
    observed(honest, tmp_path, listener=lambda passing: told.extend(lines(passing)))
    assert [line.who for line in told[:2]] == ["consumer", "agent"]
    words = [line.what for line in told if line.call == 3]
    assert words[1] == "200 a stream begins" and words[-1] == "the agent closed the stream"
    assert [word.rpartition(" ")[2] for word in words[2:4]] == ["submitted", "working"]
    assert not any("hello" in line.what for line in told), "contents stay out"


def test_what_is_told_while_it_passes_holds_no_secret_of_the_client() -> None:
    """R38: measured, an error that echoed the client's token stood on the terminal, and nowhere else."""
    asked = Exchange(
        method="POST",
        url="http://agent.example.test/rpc",
        status=200,
        request_headers=[("Authorization", "Bearer opaque-token-77")],
        body=b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no user for opaque-token-77"}}',
    )
    lines, told = LiveLines(), []
    for what in ("request", "head", "end"):
        told += lines(Passing(what=what, number=1, exchange=asked, at_ms=0.0))  # type: ignore[arg-type]
    assert "no user for REDACTED" in told[-1].what and not any("opaque" in line.what for line in told)


def test_the_page_shows_both_and_the_timeline(tmp_path: Path) -> None:
    seen = observed(honest, tmp_path)
    page = observed_page(seen, tmp_path / "page.html", now=datetime.now(UTC)).read_text()
    for word in (
        "committed-unprobed",
        "unsigned",
        "card-rewritten",
        "SendStreamingMessage",
        "Before the first message",
    ):
        assert word in page
    assert "echo: hello" not in page
    inside = observed_page(seen, tmp_path / "inside.html", now=datetime.now(UTC), bodies=True).read_text()
    assert "echo: hello" in inside


def test_nobody_coming_is_said(tmp_path: Path) -> None:
    async def nobody(client: httpx.AsyncClient, url: str) -> None:
        return None

    seen = observed(nobody, tmp_path)
    assert (seen.said, seen.verdict.value, seen.judged) == (NOTHING_CAME, "harness-error", None)
    observed_page(seen, tmp_path / "page.html", now=datetime.now(UTC))


def test_it_ends_by_itself_where_that_was_asked(tmp_path: Path) -> None:
    ended = Observing("http://127.0.0.1:1", ObserveOptions(out=str(tmp_path), for_s=0.2)).run()
    assert ended.exchanges == () and ended.evidence.is_file()
    assert threading.active_count() < 10


def test_an_address_that_is_none_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="expected the address of an agent"):
        Observing("agent.example", ObserveOptions(out=str(tmp_path)))


def test_a_key_in_the_typed_url_and_a_clients_token_stay_off_the_page(tmp_path: Path) -> None:
    """R38, measured: `observe --to 'https://…?api_key=…'` showed the key on the page that is handed out."""

    async def echo(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(
            response(b'{"error":"unknown token opaque-token-77 and key-in-the-url"}', status="401 Unauthorized")
        )

    async def life() -> Observation:
        ready, where = asyncio.Event(), []

        def opened(address: str) -> None:
            where.append(address)
            ready.set()

        async with peer(echo) as base:
            options, lines = ObserveOptions(out=str(tmp_path), trust_env=False), LiveLines()
            observing = Observing(
                f"{base}/?api_key=key-in-the-url",
                options,
                opened=opened,
                listener=lambda passing: told.extend(lines(passing)),
            )
            watching = asyncio.create_task(observing.watch())
            await ready.wait()
            async with httpx.AsyncClient(
                trust_env=False, headers={"Authorization": "Bearer opaque-token-77"}
            ) as client:
                await client.get(where[0])
                await client.post(where[0], json=call())
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            return observing.conclude()

    told: list[Any] = []
    seen = asyncio.run(life())
    page = observed_page(seen, tmp_path / "page.html", now=datetime.now(UTC), bodies=True)
    assert "GET /?api_key=REDACTED" in told[0].what and "POST /?api_key=REDACTED" in "".join(one.what for one in told)
    for text in (page.read_text(), json.dumps(seen.as_json()), seen.evidence.read_text()):
        assert "key-in-the-url" not in text and "opaque-token" not in text and "REDACTED" in text

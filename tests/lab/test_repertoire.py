"""R43: a request that deviates from the recorded one in ids only still matches; repeats get the answers in turn."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from a2a_lab.lab.repertoire import Asked, Hit, Match, Miss, Repertoire, normalised, origins
from a2a_lab.wire.exchange import Exchange

RPC = "https://agent.example.test/rpc"


def call(method: str = "SendMessage", *, rpc_id: Any = "r1", **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}).encode()


def said(text: str, *, message_id: str = "m1", **more: Any) -> dict[str, Any]:
    return {"messageId": message_id, "parts": [{"text": text}], **more}


def recorded(request: bytes = b"", *, method: str = "POST", url: str = RPC, **more: Any) -> Exchange:
    return Exchange(method=method, url=url, request_body=request, status=200, **more)


def asked(
    body: bytes = b"",
    *,
    method: str = "POST",
    place: str = "agent.example.test",
    target: str = "/rpc",
    headers: tuple[tuple[str, str], ...] = (),
) -> Asked:
    return Asked(method=method, place=place, target=target, headers=headers, body=body)


def found(exchanges: list[Exchange], request: Asked, *, match: Match = "ids") -> Hit | Miss:
    return Repertoire(exchanges, match=match).find(request)


def hit(exchanges: list[Exchange], request: Asked, *, match: Match = "ids") -> Hit:
    got = found(exchanges, request, match=match)
    assert isinstance(got, Hit), got
    return got


def miss(exchanges: list[Exchange], request: Asked) -> Miss:
    got = found(exchanges, request)
    assert isinstance(got, Miss), got
    return got


def test_ids_may_differ_and_are_handed_on() -> None:
    got = hit(
        [recorded(call(message=said("hi", contextId="c1")))],
        asked(call(rpc_id=9, message=said("hi", message_id="x", contextId="mine"))),
    )
    assert got.renames.rpc == ("r1", 9)
    assert got.renames.ids == {("message", "m1"): "x", ("context", "c1"): "mine"}


@pytest.mark.parametrize("live", [{}, {"contextId": None}, {"contextId": "c9"}])
def test_an_id_may_be_missing_on_one_side(live: dict[str, Any]) -> None:
    assert hit([recorded(call(message=said("hi", contextId="c1")))], asked(call(message=said("hi", **live))))


@pytest.mark.parametrize(
    ("live", "says"),
    [
        (call(message=said("ho")), "/params/message/parts/0/text"),
        (call(message=said("hi"), metadata={}), "/params/metadata"),
        (call("GetTask", message=said("hi")), "'SendMessage', not with 'GetTask'"),
        (b"{", "not with None"),
    ],
)
def test_anything_else_that_differs_is_named(live: bytes, says: str) -> None:
    refused = miss([recorded(call(message=said("hi")))], asked(live))
    assert refused.status == 404 and says in refused.why


def test_true_is_not_one() -> None:
    assert miss([recorded(call(blocking=True))], asked(call(blocking=1)))


def test_repeated_requests_get_the_answers_in_turn_and_then_the_last() -> None:
    card = [recorded(method="GET", url="https://a.test/card", body=name.encode()) for name in ("one", "two")]
    repertoire = Repertoire(card)
    got = [repertoire.find(asked(method="GET", place="a.test", target="/card")) for _ in range(3)]
    assert [(one.exchange.body, one.turn, one.again) for one in got if isinstance(one, Hit)] == [
        (b"one", 1, False),
        (b"two", 2, False),
        (b"two", 2, True),
    ]


def test_turns_are_those_of_the_same_request() -> None:
    repertoire = Repertoire([recorded(call("SendMessage")), recorded(call("GetTask")), recorded(call("SendMessage"))])
    got = [repertoire.find(asked(call(method))) for method in ("GetTask", "SendMessage", "SendMessage")]
    assert [one.number for one in got if isinstance(one, Hit)] == [1, 0, 2]


@pytest.mark.parametrize(
    ("method", "target", "status"), [("PUT", "/rpc", 405), ("GET", "/rpc", 405), ("POST", "/other", 404)]
)
def test_what_was_not_recorded_is_404_or_405(method: str, target: str, status: int) -> None:
    assert miss([recorded(call())], asked(method=method, target=target)).status == status


@pytest.mark.parametrize("place", ["agent.example.test:443", "Agent.Example.TEST", "agent.example.test:80"])
def test_hosts_compare_without_default_port_and_case(place: str) -> None:
    assert hit([recorded(call())], asked(call(), place=place))


def test_a_name_that_was_never_recorded_is_the_replay_itself() -> None:
    assert hit([recorded(call())], asked(call(), place="127.0.0.1:50000"))


def test_hosts_with_one_path_are_told_apart() -> None:
    two = [recorded(call(), url="https://a.test/rpc"), recorded(call(), url="https://b.test/rpc")]
    assert hit(two, asked(call(), place="b.test")).number == 1


def test_query_compares_in_any_order() -> None:
    card = [recorded(method="GET", url="https://a.test/card?x=1&y=2")]
    assert hit(card, asked(method="GET", target="/card?y=2&x=1"))
    assert "'x=1&y=2'" in miss(card, asked(method="GET", target="/card?x=1")).why


def test_what_was_blanked_matches_anything_in_its_place() -> None:
    blanked = [recorded(call(token="REDACTED", url="https://x.test/?sig=REDACTED&v=1"), url=f"{RPC}?key=REDACTED")]
    live = call(token="s3cret", url="https://x.test/?sig=abc&v=1")
    assert hit(blanked, asked(live, target="/rpc?key=k"))


def test_a_header_tells_requests_apart_where_its_recorded_values_differ() -> None:
    """Cards behind a forwarded prefix or a tenant header: one URL, two answers (case disc-33)."""
    two = [recorded(method="GET", request_headers=[("X-Tenant", name)]) for name in ("a", "b")]
    assert hit(two, asked(method="GET", headers=(("x-tenant", "b"),))).number == 1
    assert hit(two, asked(method="GET", headers=(("x-tenant", "c"),))).number == 0


def test_ids_that_a_consumer_chose_hold_for_what_it_asks_later() -> None:
    repertoire = Repertoire(
        [recorded(call("tasks/send", id="t1")), recorded(method="GET", url="https://agent.example.test/v1/tasks/t1")]
    )
    assert isinstance(repertoire.find(asked(call("tasks/send", id="own"))), Hit)
    later = repertoire.find(asked(method="GET", target="/v1/tasks/own"))
    assert isinstance(later, Hit) and later.renames.ids == {("task", "t1"): "own"}


def test_operation_alone_may_match() -> None:
    got = hit([recorded(call(message=said("hi")))], asked(call(message=said("other words"))), match="operation")
    assert got.number == 0
    assert isinstance(found([recorded(call())], asked(call("GetTask")), match="operation"), Miss)


def test_hostile_nesting_is_no_match_and_no_error() -> None:
    assert isinstance(found([recorded(call())], asked(b"[" * 100_000)), Miss)
    deep = call(x=json.loads("[" * 500 + "]" * 500))
    assert isinstance(found([recorded(deep)], asked(call(x=1))), Miss)


@pytest.mark.parametrize("body", [b'{"method":[]}', b'{"method":{}}', b"[1]", b"1e999", b'{"id":{}}', b"\xff"])
def test_any_body_is_looked_up(body: bytes) -> None:
    assert isinstance(found([recorded(call()), recorded(body)], asked(body)), Hit)
    assert isinstance(found([recorded(call())], asked(body)), Miss)


def test_time_follows_the_number_of_entries() -> None:
    """A day of polling: thousands of requests alike, each with its own answer in turn."""
    many = [recorded(call("GetTask", rpc_id=number, id="t1")) for number in range(4000)]
    repertoire, began = Repertoire(many), time.perf_counter()
    numbers = [one.number for _ in many if isinstance(one := repertoire.find(asked(call("GetTask", id="t1"))), Hit)]
    assert numbers == list(range(4000)) and time.perf_counter() - began < 10


def test_origins_are_named_as_connect_to_names_them() -> None:
    urls = ["https://a.test/x", "http://a.test/y", "https://b.test:8443/", "http://[::1]:9/"]
    assert list(origins([recorded(url=url) for url in urls])) == ["a.test:443", "a.test:80", "b.test:8443", "[::1]:9"]
    assert normalised("user@A.test:80") == "a.test"

"""A recorder's address in a card (issue 4, item 4): byte-wise, both spellings of a slash, and nothing else."""

from __future__ import annotations

import json

import pytest

from a2a_lab.wire.rewriting import grpc_places, rewrite_card

OWN, RECORDER = "http://127.0.0.1:8001", "http://127.0.0.1:50000"


def rewritten(card: bytes, own: str = OWN) -> bytes:
    found = rewrite_card(card, own=own, recorder=RECORDER)
    assert found is not None
    return found.body


def test_every_byte_but_the_address_stays() -> None:
    """Blanks, order, numbers, doubled members and unknown ones are evidence, also where strict JSON refuses them."""
    card = b'{ "name":"a","x":1.50,"x":NaN,\n"url":"http://127.0.0.1:8001/rpc" , "n":9007199254740993}'
    assert rewritten(card) == card.replace(b"127.0.0.1:8001", b"127.0.0.1:50000")


def test_an_escaped_slash_stays_escaped() -> None:
    card = b'{"name":"a","supportedInterfaces":[{"url":"http:\\/\\/127.0.0.1:8001\\/rpc"}]}'
    assert rewritten(card) == b'{"name":"a","supportedInterfaces":[{"url":"http:\\/\\/127.0.0.1:50000\\/rpc"}]}'


@pytest.mark.parametrize("name", ["localhost:8001", "0.0.0.0:8001", "[::1]:8001", "LOCALHOST:8001"])
def test_each_name_of_this_machine_is_the_agents(name: str) -> None:
    card = f'{{"name":"a","url":"http://{name}/rpc"}}'.encode()
    assert rewritten(card) == b'{"name":"a","url":"http://127.0.0.1:50000/rpc"}'


@pytest.mark.parametrize("url", ["http://127.0.0.1:80012/x", "http://127.0.0.1:8001.example/x", "http://127.0.0.1/x"])
def test_another_port_or_host_is_not_the_agents(url: str) -> None:
    card = f'{{"name":"a","url":"{url}"}}'.encode()
    found = rewrite_card(card, own=OWN, recorder=RECORDER)
    assert found is not None
    assert (found.body, found.interfaces, found.beyond) == (card, (), (url,))


def test_a_remote_agent_is_known_by_its_origin_alone() -> None:
    card = b'{"name":"a","url":"https://agent.example/rpc","iconUrl":"https://agent.example.org/i"}'
    expected = b'{"name":"a","url":"http://127.0.0.1:50000/rpc","iconUrl":"https://agent.example.org/i"}'
    assert rewritten(card, "https://agent.example") == expected
    local = b'{"name":"a","url":"http://127.0.0.1:443/rpc"}'
    assert rewritten(local, "https://agent.example") == local


def test_what_leads_past_the_recorder_is_listed() -> None:
    """gRPC, another port of the same agent, and the members that only older clients read."""
    card = b"""{"name":"a","supportedInterfaces":[{"url":"http://127.0.0.1:8001/"},{"url":"127.0.0.1:8102"}],
    "additionalInterfaces":[{"url":"http://127.0.0.1:8003/v1"}],"url":"http://127.0.0.1:8001/v03"}"""
    found = rewrite_card(card, own=OWN, recorder=RECORDER)
    assert found is not None
    assert found.interfaces == ("http://127.0.0.1:8001/v03", "http://127.0.0.1:8001/")
    assert found.beyond == ("127.0.0.1:8102", "http://127.0.0.1:8003/v1")


def test_the_extended_card_in_an_rpc_result_is_a_card_too() -> None:
    card = b'{"jsonrpc":"2.0","id":1,"result":{"name":"a","url":"http://127.0.0.1:8001/"}}'
    assert rewritten(card) == card.replace(b"8001", b"50000")


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"x":1}', b'{"jsonrpc":"2.0","result":{"id":"t"}}', b"[" * 9999]
)
def test_what_is_no_card_is_let_alone(body: bytes) -> None:
    assert rewrite_card(body, own=OWN, recorder=RECORDER) is None


# ---- places over gRPC


def over_grpc(url: str, **more: object) -> dict[str, object]:
    return {"url": url, "protocolBinding": "GRPC", "protocolVersion": "1.0", **more}


@pytest.mark.parametrize(
    ("url", "there"),
    [
        ("127.0.0.1:5001", "127.0.0.1:7"),
        ("localhost:5001", "127.0.0.1:7"),
        ("http://127.0.0.1:5001", "http://127.0.0.1:7"),
        ("https://localhost:5001", "http://127.0.0.1:7"),
        ("0.0.0.0:5001", "127.0.0.1:7"),
    ],
)
def test_a_place_over_grpc_is_moved_to_who_stands_there(url: str, there: str) -> None:
    body = json.dumps({"name": "a", "supportedInterfaces": [over_grpc(url)]}, indent=1).encode()
    assert grpc_places(body, own="http://127.0.0.1:8000") == [url]
    card = rewrite_card(body, own="http://127.0.0.1:8000", recorder="http://127.0.0.1:9", fronts={url: "127.0.0.1:7"})
    assert card is not None and (card.interfaces, card.beyond) == ((url,), ())
    assert card.body == body.replace(url.encode(), there.encode())


def test_two_bindings_at_one_url_are_moved_apart() -> None:
    """A server may speak both on one port: by its text alone the URL would not say which of the two is meant."""
    own = "http://127.0.0.1:8000"
    entries = [{"url": own, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}, over_grpc(own)]
    body = json.dumps({"name": "a", "supportedInterfaces": entries}).encode()
    card = rewrite_card(body, own=own, recorder="http://127.0.0.1:9", fronts={own: "127.0.0.1:7"})
    assert card is not None
    moved = [entry["url"] for entry in json.loads(card.body)["supportedInterfaces"]]
    assert moved == ["http://127.0.0.1:9", "http://127.0.0.1:7"] and card.beyond == ()


def test_a_card_of_0_3_names_grpc_at_its_top_or_beside_it() -> None:
    top = json.dumps({"name": "a", "url": "127.0.0.1:5", "preferredTransport": "GRPC", "protocolVersion": "0.3.0"})
    beside = json.dumps(
        {
            "name": "a",
            "url": "http://127.0.0.1:1",
            "additionalInterfaces": [{"url": "127.0.0.1:5", "transport": "GRPC"}],
        }
    )
    for text in (top, beside):
        assert grpc_places(text.encode(), own="http://127.0.0.1:1") == ["127.0.0.1:5"]
        fronts = {"127.0.0.1:5": "127.0.0.1:7"}
        card = rewrite_card(text.encode(), own="http://127.0.0.1:1", recorder="http://127.0.0.1:9", fronts=fronts)
        assert card is not None and b"127.0.0.1:7" in card.body and b"127.0.0.1:5" not in card.body


def test_a_place_on_another_host_is_left_to_its_owner() -> None:
    body = json.dumps(
        {"name": "a", "supportedInterfaces": [over_grpc("grpc.example.test:443"), over_grpc("x:")]}
    ).encode()
    assert grpc_places(body, own="http://127.0.0.1:8000") == []
    card = rewrite_card(body, own="http://127.0.0.1:8000", recorder="http://127.0.0.1:9")
    assert card is not None and card.body == body and card.beyond == ("grpc.example.test:443", "x:")
    assert grpc_places(b"no card", own="http://127.0.0.1:8000") == []

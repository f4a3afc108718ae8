"""R36: two runs of one agent on two ports have one portable digest, and two agents never do."""

from __future__ import annotations

import pytest

from a2a_lab.core.canonical import portable_digest
from a2a_lab.errors import Misuse


def card(url: str, **more: str) -> dict[str, object]:
    return {"name": "A", "supportedInterfaces": [{"url": url}], **more}


def test_another_port_is_the_same_agent() -> None:
    one = portable_digest(card("http://127.0.0.1:4001/rpc"), "http://127.0.0.1:4001")
    assert one == portable_digest(card("http://127.0.0.1:52222/rpc"), "http://127.0.0.1:52222")
    assert one != portable_digest(card("http://127.0.0.1:4001/other"), "http://127.0.0.1:4001")


def test_signatures_do_not_count() -> None:
    bare = card("http://h:1/rpc")
    assert portable_digest({**bare, "signatures": [1]}, "http://h:1") == portable_digest(bare, "http://h:1")


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("http://127.0.0.1:4001", "http://127.0.0.1:4001"),
        ("http://127.0.0.1:4001/rpc?a=1", "http://127.0.0.1:4001"),
        ("127.0.0.1:4001", "http://127.0.0.1:4001"),
        ("HTTP://Agent.Example:4001/x", "http://agent.example:4001"),
        ("https://agent.example/x", "https://agent.example"),
        ("https://agent.example:443/x", "https://agent.example"),
        ("https://agent.example/x", "https://agent.example:443/"),
        ("agent.example:443", "https://agent.example"),
        ("http://[::1]:4001/rpc", "http://[::1]:4001"),
        ("see http://127.0.0.1:4001/docs, or http://127.0.0.1:4001.", "http://127.0.0.1:4001"),
    ],
)
def test_the_own_origin_is_replaced_however_it_is_spelt(text: str, own: str) -> None:
    assert portable_digest({"a": [{"b": text}]}, own) != portable_digest({"a": [{"b": text}]}, "http://elsewhere:9")


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:40011/rpc",
        "http://127.0.0.1/rpc",
        "https://127.0.0.1:4001/rpc",
        "http://127.0.0.1:4001@evil.example/",
        "http://127.0.0.1:4001.evil.example/",
        "http://user@127.0.0.1:4001/",
        "http://evil-127.0.0.1:4001/",
        "2127.0.0.1:4001",
        "127.0.0.1",
    ],
)
def test_a_place_that_only_looks_like_it_stays(text: str) -> None:
    own, other = "http://127.0.0.1:4001", "http://elsewhere:9"
    assert portable_digest({"a": text}, own) == portable_digest({"a": text}, other)


def test_member_names_stay() -> None:
    document = {"http://h:1": 1}
    assert portable_digest(document, "http://h:1") == portable_digest(document, "http://elsewhere:9")


def test_an_origin_that_is_none_is_the_callers_mistake() -> None:
    with pytest.raises(Misuse, match="own_origin"):
        portable_digest({}, "h:1")

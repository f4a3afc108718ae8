"""D6, R33: under which key a card is kept; two requests that may get two cards have two keys."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.cardkey import CardKey, card_key, validators
from a2a_lab.core.resolution import ResolvedTarget
from tests.core.cards import AGENT

TARGET = ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version="1.0")


def key(url: str = f"{AGENT}/card", target: ResolvedTarget = TARGET, **more: Any) -> CardKey | None:
    return card_key(url, target, **{"request_headers": {}, "answer_headers": {}, **more})


def test_one_place_has_one_key() -> None:
    same = ResolvedTarget(dispatch_url="https://Agent.example.test:443/rpc", version="1.0")
    assert key() == key("https://AGENT.example.test:443/card", same)
    assert key(target=ResolvedTarget(dispatch_url="a.test:1", binding="GRPC")) is not None


@pytest.mark.parametrize(
    "other",
    [
        {"url": f"{AGENT}/card?tenant=acme"},
        {"target": ResolvedTarget(dispatch_url=f"{AGENT}/rpc/", version="1.0")},
        {"target": ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version=1.0)},
        {"target": ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version="1.0", tenant_id="acme")},
        {"target": ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version="1.0", headers={"X-Tenant": "acme"})},
        {"credential": "TOKEN"},
    ],
)
def test_what_may_select_another_card_makes_another_key(other: dict[str, Any]) -> None:
    one, two = key(), key(**other)
    assert one and two and one != two and one.digest != two.digest and len(two.digest) == 64


def test_the_headers_that_vary_names_belong_to_the_key() -> None:
    def varied(version: str) -> CardKey | None:
        return key(request_headers={"a2a-version": version}, answer_headers={"Vary": "A2A-Version, Accept"})

    assert varied("1.0") != varied("0.3") and varied("1.0") == varied("1.0")
    assert key(answer_headers={"Vary": ""}) == key()


def test_a_card_that_varies_by_everything_has_no_key() -> None:
    assert key(answer_headers={"VARY": "Accept, *"}) is None


def test_validators_are_those_that_the_server_gave() -> None:
    assert validators({"ETag": 'W/"x"'}) == {"If-None-Match": 'W/"x"'}
    assert validators({"last-modified": "Mon"}) == {"If-Modified-Since": "Mon"} and validators({}) == {}

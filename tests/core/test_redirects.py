"""R10: where a card's redirect may lead, and when a call is sent again."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.policy import Policy
from a2a_lab.core.redirects import Hop, judge_card_redirect, judge_post_redirect
from tests.core.cards import AGENT, slugs

CARD = f"{AGENT}/.well-known/agent-card.json"
RPC = f"{AGENT}/a2a/app"


def card_hop(location: str | None, *, url: str = CARD, hops: int = 0, status: int = 302, **policy: Any) -> Hop:
    return judge_card_redirect(url=url, status=status, location=location, hops=hops, policy=Policy(**policy))


@pytest.mark.parametrize(
    ("location", "keeps"),
    [
        ("/card.json", True),
        (f"{AGENT}:443/card.json", True),
        ("https://www.agent.example.test/card.json", False),
        ("https://example.test/card.json", False),
        (f"{AGENT}:8443/card.json", False),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_card_may_move_within_its_site_and_credentials_stay_with_the_origin(
    location: str, keeps: bool, status: int
) -> None:
    hop = card_hop(location, status=status)
    assert hop.url is not None and hop.keeps_credentials is keeps
    assert slugs(hop.findings) == ["card-redirected"]


@pytest.mark.parametrize(
    "location",
    [
        "https://other.example.org/card.json",
        "https://sibling.example.test/card.json",
        "http://agent.example.test/card.json",
        "https://user@agent.example.test/card.json",
        "ftp://agent.example.test/card.json",
    ],
)
def test_elsewhere_is_refused(location: str | None) -> None:
    hop = card_hop(location)
    assert hop.url is None and not hop.keeps_credentials
    assert slugs(hop.findings) == ["card-redirect-refused"]


NOWHERE = ["https://[broken", "http://ÿþ[/", "https://agent.example.test:port/", "", "  ", None]


@pytest.mark.parametrize("location", NOWHERE)
def test_a_redirect_that_says_in_no_readable_way_where_to_is_a_fault_of_its_server(location: str | None) -> None:
    """RFC 9110 §10.2.2: the server was reached and spoke HTTP, so that this is no matter of reaching it (R2)."""
    for hop, stage in (
        (card_hop(location), "fetch"),
        (judge_post_redirect(url=RPC, status=307, location=location, hops=0), "rpc"),
        (judge_post_redirect(url=RPC, status=302, location=location, hops=0), "rpc"),
    ):
        assert hop.url is None and not hop.keeps_credentials
        (one,) = hop.findings
        assert (one.slug, one.verdict.value, one.stage.value) == ("redirect-nowhere", "conformance-error", stage)


def test_three_hops_and_no_more() -> None:
    assert card_hop("/x", hops=2).url is not None
    assert slugs(card_hop("/x", hops=3).findings) == ["card-redirect-limit"]


@pytest.mark.parametrize("name", ["https://other.example.org", "other.example.org"])
def test_an_origin_allowed_by_name_may_be_followed_without_credentials(name: str) -> None:
    hop = card_hop("https://other.example.org/card.json", allow_origins=frozenset({name}))
    assert hop.url == "https://other.example.org/card.json" and not hop.keeps_credentials


def test_plain_http_stays_on_this_machine_or_is_allowed_by_name() -> None:
    local = "http://127.0.0.1:8000/.well-known/agent-card.json"
    assert card_hop("/card.json", url=local).url == "http://127.0.0.1:8000/card.json"
    assert card_hop("http://localhost:8000/card.json", url=local).url == "http://localhost:8000/card.json"
    mesh = "http://mesh.example.test/a"
    assert card_hop("/b", url=mesh).url is None
    assert card_hop("/b", url=mesh, allow_http=frozenset({"mesh.example.test"})).url == "http://mesh.example.test/b"


@pytest.mark.parametrize("status", [307, 308])
def test_a_call_is_sent_again_once_to_the_same_origin(status: int) -> None:
    hop = judge_post_redirect(url=RPC, status=status, location=f"{RPC}/", hops=0)
    assert hop.url == f"{RPC}/" and hop.keeps_credentials
    assert slugs(hop.findings) == ["post-redirected"]


@pytest.mark.parametrize(
    ("status", "location", "hops"),
    [
        (301, "/a2a/app/", 0),
        (302, "/a2a/app/", 0),
        (303, "/a2a/app/", 0),
        (307, "/a2a/app/", 1),
        (307, "https://www.agent.example.test/a2a/app/", 0),
        (308, "http://agent.example.test/a2a/app/", 0),
        (307, "https://me@agent.example.test/a2a/app/", 0),
        (307, RPC, 0),
        (307, "ftp://agent.example.test/", 0),
    ],
)
def test_no_other_redirect_of_a_call_is_followed(status: int, location: str | None, hops: int) -> None:
    hop = judge_post_redirect(url=RPC, status=status, location=location, hops=hops)
    assert hop.url is None and slugs(hop.findings) == ["post-redirect-refused"]

"""R2, R6, R10: what each HTTP answer to a card GET means, one patient retry, redirects hop by hop."""

from __future__ import annotations

import pytest

from a2a_lab.core.cardfetch import CardAnswer, CardRequest, Fetched, ask
from a2a_lab.core.policy import Policy
from a2a_lab.verdicts import NotGradeable
from tests.core.cards import AGENT, Served, one_zero, slugs

CARD = f"{AGENT}/.well-known/agent-card.json"


def asked(*answers: CardAnswer | int, with_credentials: bool = False, **more: CardAnswer) -> tuple[Fetched, Served]:
    served = Served({CARD: list(answers), **more})
    request = CardRequest(url=CARD, headers={"A2A-Version": "1.0"}, reason="hint", with_credentials=with_credentials)
    return served.drive(ask(request, Policy())), served


def status(code: int, **headers: str) -> CardAnswer:
    return CardAnswer(status=code, headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_a_card_comes_with_its_headers_and_findings() -> None:
    found, _ = asked(CardAnswer(status=200, headers={"ETag": "x"}, card=one_zero()))
    assert found.card is not None and found.headers == {"ETag": "x"} and found.stop == found.rejected == ()


@pytest.mark.parametrize("code", [400, 404, 405, 410])
def test_not_here_goes_on(code: int) -> None:
    assert asked(code)[0] == Fetched(url=CARD)


def test_what_evidence_does_not_have_counts_as_404() -> None:
    assert asked()[0] == Fetched(url=CARD)


def test_a_body_that_is_no_card_goes_on_and_says_why() -> None:
    why = asked(CardAnswer(fault="dns"))[0].stop
    found, _ = asked(CardAnswer(status=200, findings=why))
    assert found.card is None and found.stop == () and found.rejected == why


@pytest.mark.parametrize("code", [401, 403])
def test_a_protected_card_stops_and_quotes_the_challenge(code: int) -> None:
    found, _ = asked(status(code, WWW_Authenticate='Bearer realm="agents"'))
    assert found.not_gradeable is NotGradeable.AUTH_NEEDED and slugs(found.stop) == ["card-needs-credentials"]
    assert 'Bearer realm="agents"' in found.stop[0].detail
    assert "does not say which" in asked(code)[0].stop[0].detail


@pytest.mark.parametrize("fault", ["connect-refused", "connect-timeout", "dns", "tls: no", "proxy: no", "no-answer"])
def test_who_cannot_be_reached_is_unreachable(fault: str) -> None:
    """R2. A recording that does not say why no answer came blames nobody either."""
    found, _ = asked(CardAnswer(fault=fault))
    assert found.not_gradeable is NotGradeable.UNREACHABLE and slugs(found.stop) == ["card-unreachable"]


@pytest.mark.parametrize(
    ("fault", "slug", "verdict"),
    [
        ("reset-after-request", "card-not-answered", "conformance-error"),
        ("malformed: illegal status line", "card-not-http", "conformance-error"),
        ("read-timeout", "card-not-answered", "hang"),
        ("limit: header_bytes", "card-limit", "refuse"),
    ],
)
def test_who_was_reached_and_did_not_keep_to_http_is_judged_by_name(fault: str, slug: str, verdict: str) -> None:
    found, _ = asked(CardAnswer(fault=fault))
    assert found.not_gradeable is None and slugs(found.stop) == [slug]
    assert found.stop[0].verdict.value == verdict


def test_a_place_that_somebody_typed_and_that_speaks_no_http_1_is_not_graded() -> None:
    """R2: no card has promised HTTP there; h11 says so of an answer that begins with a control byte."""
    found, _ = asked(CardAnswer(fault="malformed: illegal request line"))
    assert found.not_gradeable is NotGradeable.UNREACHABLE and slugs(found.stop) == ["card-unreachable"]
    assert "if it is gRPC" in found.stop[0].detail and "--card-url" in found.stop[0].detail


@pytest.mark.parametrize("code", [500, 501, 418, 304, 300])
def test_any_other_status_stops(code: int) -> None:
    found, _ = asked(code)
    assert slugs(found.stop) == ["card-http-status"] and found.not_gradeable is None


@pytest.mark.parametrize("code", [429, 502, 503, 504])
def test_one_retry_after_a_while(code: int) -> None:
    found, served = asked(status(code, Retry_After="2"), CardAnswer(status=200, card=one_zero()))
    assert found.card is not None and [request.wait_s for request in served.asked] == [0.0, 2.0]


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({}, 1.0),
        ({"Retry_After": "0"}, 0.0),
        ({"Retry_After": " 5 "}, 5.0),
        ({"Retry_After": "6"}, None),
        ({"Retry_After": "9" * 500}, None),
        ({"Retry_After": "soon"}, 1.0),
        ({"Retry_After": "-1"}, 1.0),
        ({"Retry_After": "Mon, 30 Nov 2026 12:00:03 GMT", "Date": "Mon, 30 Nov 2026 12:00:00 GMT"}, 3.0),
        ({"Retry_After": "Mon, 30 Nov 2026 11:00:00 GMT", "Date": "Mon, 30 Nov 2026 12:00:00 GMT"}, 0.0),
        ({"Retry_After": "Mon, 30 Nov 2026 12:00:03 -0000", "Date": "Mon, 30 Nov 2026 12:00:00 GMT"}, 1.0),
        ({"Retry_After": "Mon, 30 Nov 2026 12:00:03 GMT"}, 1.0),
        ({"Retry_After": "Mon, 30 Nov 2026 13:00:00 GMT", "Date": "Mon, 30 Nov 2026 12:00:00 GMT"}, None),
    ],
)
def test_how_long_the_retry_waits(headers: dict[str, str], waits: float | None) -> None:
    _, served = asked(status(503, **headers), 200)
    assert [request.wait_s for request in served.asked[1:]] == ([] if waits is None else [waits])


def test_patience_asked_for_twice_is_throttling() -> None:
    found, served = asked(status(503, Retry_After="1"), status(503, Retry_After="1"))
    assert found.not_gradeable is NotGradeable.THROTTLED and slugs(found.stop) == ["card-throttled"]
    assert len(served.asked) == 2
    assert asked(429, 429)[0].not_gradeable is NotGradeable.THROTTLED
    assert asked(status(429, Retry_After="60"))[0].not_gradeable is NotGradeable.THROTTLED


@pytest.mark.parametrize("code", [502, 503, 504])
def test_a_server_that_stays_down_without_a_word_is_refused(code: int) -> None:
    found, _ = asked(code, code)
    assert slugs(found.stop) == ["card-http-status"] and found.not_gradeable is None


def test_a_retry_that_the_evidence_does_not_have_leaves_the_first_answer() -> None:
    assert slugs(asked(503)[0].stop) == ["card-http-status"]
    assert slugs(asked(503, CardAnswer(fault="reset-after-request"))[0].stop) == ["card-not-answered"]


def test_a_redirect_is_followed_hop_by_hop_and_drops_credentials_with_the_origin() -> None:
    www = "https://www.agent.example.test/card.json"
    found, served = asked(
        status(308, Location=www),
        with_credentials=True,
        **{www: [status(302, location="/final.json")], "https://www.agent.example.test/final.json": one_zero()},
    )
    assert found.card is not None and found.url == "https://www.agent.example.test/final.json"
    assert slugs(found.notes) == ["card-redirected", "card-redirected"]
    assert [request.with_credentials for request in served.asked] == [True, False, False]


def test_a_redirect_that_may_not_be_followed_is_not_asked() -> None:
    found, served = asked(status(302, Location="https://other.example.org/card.json"))
    assert slugs(found.stop) == ["card-redirect-refused"] and served.urls == [CARD]


def test_a_loop_of_redirects_ends() -> None:
    found, served = asked(*[status(302, Location=CARD)] * 9)
    assert slugs(found.stop) == ["card-redirect-limit"] and len(served.asked) == 4


def test_a_fault_after_a_redirect_status_is_a_fault() -> None:
    assert slugs(asked(CardAnswer(status=302, fault="limit: body_bytes 9"))[0].stop) == ["card-limit"]

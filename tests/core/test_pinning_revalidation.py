"""R34, P3: what each answer at the card's URL means before a dependent transition, and what the cases expect."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.keys import KeySet
from a2a_lab.core.pinning import Next, Refetch, Revalidation, Transition, judge_revalidation, pin_card
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Verdict, worst
from tests.core.cards import card_of, one_zero
from tests.core.signing import NOW, cases
from tests.core.test_pinning import pinned

CARD = one_zero()
OTHER = one_zero(capabilities={"streaming": False})
THIRD = one_zero(description="third")


def answer(status: int | None = 200, **more: Any) -> Refetch:
    return Refetch(status=status, **more)


def judged(got: Refetch, *, policy: Policy | None = None, pin: Any = None, **more: Any) -> Revalidation:
    return judge_revalidation(
        pin or pinned(CARD),
        got,
        transition=more.pop("transition", "commit"),
        policy=policy or Policy(),
        now=NOW,
        **more,
    )


def slugs(result: Revalidation) -> list[str]:
    return [finding.slug for finding in result.findings]


@pytest.mark.parametrize(
    "outage", [answer(None, fault="connect-refused"), *(answer(s) for s in (429, 500, 502, 503, 504))]
)
def test_an_outage_is_asked_once_more_and_then_stops(outage: Refetch) -> None:
    first = judged(outage)
    assert (first.next, first.findings) == (Next.RETRY, ())
    second = judged(outage, attempt=2)
    assert (second.next, slugs(second)) == (Next.STOP, ["card-unavailable"])
    assert (outage.fault or f"HTTP {outage.status}") in second.findings[0].detail
    assert second.findings[0].values["status"] == outage.status
    assert judged(answer(card=CARD), attempt=2).next is Next.GO_ON


def test_no_answer_without_a_name_is_still_an_outage() -> None:
    assert "no answer" in judged(answer(None), attempt=2).findings[0].detail


@pytest.mark.parametrize("attempt", [0, 3])
def test_there_is_one_retry(attempt: int) -> None:
    with pytest.raises(Misuse, match="one retry is all there is"):
        judged(answer(500), attempt=attempt)


@pytest.mark.parametrize("status", [204, 301, 302, 308, 400, 404, 405, 410, 418])
def test_a_card_that_is_gone_stops_at_once(status: int) -> None:
    result = judged(answer(status))
    assert (result.next, slugs(result)) == (Next.STOP, ["card-gone"])
    assert f"HTTP {status}" in result.findings[0].detail and "discovery" in result.findings[0].detail


def test_a_body_that_is_no_card_is_no_card() -> None:
    assert "no card" in judged(answer(200)).findings[0].detail
    assert slugs(judged(answer(200))) == ["card-gone"]


def test_a_card_on_an_error_status_does_not_count() -> None:
    assert slugs(judged(answer(404, card=CARD))) == ["card-gone"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_card_behind_credentials_now_is_named_so(status: int) -> None:
    result = judged(answer(status))
    assert (result.next, slugs(result)) == (Next.STOP, ["card-needs-auth"])


def test_not_modified_counts_only_where_validators_were_sent() -> None:
    asked = judged(answer(304, conditional=True), policy=Policy(revalidate="conditional"))
    assert (asked.next, slugs(asked)) == (Next.GO_ON, ["card-not-modified"])
    assert asked.findings[0].verdict is Verdict.ACCEPT
    assert slugs(judged(answer(304))) == ["card-not-modified"], "recorded evidence may not tell what was sent"
    unasked = judged(answer(304, conditional=False))
    assert (unasked.next, slugs(unasked)) == (Next.STOP, ["not-modified-unasked"])


def test_the_body_beats_the_etag() -> None:
    pin = pinned(CARD, etag='"1.0.0"')
    same = judged(answer(card=OTHER, etag='"1.0.0"'), pin=pin)
    assert (same.next, slugs(same)) == (Next.STOP, ["card-drift", "etag-unchanged"])
    assert slugs(judged(answer(card=OTHER, etag='"2"'), pin=pin)) == ["card-drift"]
    assert slugs(judged(answer(card=CARD, etag='"2"'), pin=pin)) == []
    assert slugs(judged(answer(card=OTHER), pin=pinned(CARD))) == ["card-drift"]


def test_a_card_that_lost_its_digest_stops() -> None:
    result = judged(answer(card=one_zero(x=2**60)))
    assert (result.next, slugs(result)) == (Next.STOP, ["card-gone"])
    assert "2^53-1" in result.findings[0].detail


def test_an_extended_card_has_a_pin_of_its_own() -> None:
    extended = one_zero(skills=[*CARD.document["skills"], {"id": "extra"}])
    result = judged(answer(card=extended, extended=True))
    assert (result.next, slugs(result)) == (Next.GO_ON, ["extended-card"])
    own = pinned(extended, extended=True)
    assert judged(answer(card=extended, extended=True), pin=own).findings == ()
    assert slugs(judged(answer(card=CARD, extended=True), pin=own)) == ["card-drift"]


@pytest.mark.parametrize("status", [404, 401, 500, None, 304])
def test_settling_is_allowed_whatever_the_card_says(status: int | None) -> None:
    for transition in (Transition.GET, Transition.CANCEL):
        result = judged(answer(status), transition=transition)
        assert (result.next, result.findings) == (Next.GO_ON, ())


@pytest.mark.parametrize("status", [404, 500, None])
def test_once_never_looks(status: int | None) -> None:
    assert judged(answer(status), policy=Policy(drift="once")).next is Next.GO_ON


# --- two cards that take turns --------------------------------------------------------------------------------------


def walk(*found: Any, policy: Policy | None = None) -> list[Revalidation]:
    """Revalidate with each card in turn, carrying what was seen, and go on as nobody should."""
    seen: tuple[str, ...] = ()
    results = []
    for card in found:
        results.append(judged(answer(card=card), policy=policy, seen=seen))
        seen = results[-1].seen
    return results


@pytest.mark.parametrize("drift", ["fail-closed", "renegotiate"])
def test_going_back_does_not_heal_a_drift(drift: Any) -> None:
    first, second = walk(OTHER, CARD, policy=Policy(drift=drift))
    assert first.next is Next.STOP
    assert (second.next, slugs(second)) == (Next.STOP, ["card-flapping"])
    assert second.findings[0].verdict is Verdict.REFUSE and "2 variants" in second.findings[0].detail
    assert second.changed == () and second.depends == ()


def test_a_third_card_is_drift_and_a_return_of_the_second_flaps() -> None:
    results = walk(OTHER, THIRD, OTHER)
    assert [slugs(result) for result in results] == [["card-drift"], ["card-drift"], ["card-flapping"]]
    assert "3 variants" in results[-1].findings[0].detail
    assert results[-1].depends == ("/capabilities/streaming",)


def test_a_card_that_stays_changed_does_not_flap() -> None:
    assert [slugs(result) for result in walk(CARD, CARD, OTHER, OTHER)] == [[], [], ["card-drift"], ["card-drift"]]


def test_a_new_pin_remembers_what_came_before_it() -> None:
    before = pinned(CARD)
    pin = pinned(THIRD, seen=(before.content_digest,))
    assert judged(answer(card=THIRD), pin=pin).next is Next.GO_ON
    assert slugs(judged(answer(card=CARD), pin=pin)) == ["card-flapping"]


def test_what_is_remembered_is_bounded() -> None:
    long = judged(answer(card=CARD), seen=(pinned(CARD).content_digest,) * 500)
    assert len(long.seen) == 64


# --- the case book --------------------------------------------------------------------------------------------------


def played(case: dict[str, Any], policy: Policy | None = None) -> list[Revalidation]:
    """The first card is pinned, every later GET is a revalidation; an extended card comes by POST."""
    given = case["given"]
    client = given["client"]
    first, *later = given["exchanges"]
    card = card_of(first["response"]["json"])
    require = client.get("require", {})
    pin = pin_card(
        card,
        interface=card.interfaces[0],
        intent=Intent(requires=tuple(name for name, wanted in require.items() if wanted)),
        at=NOW,
        etag=first["response"]["headers"].get("ETag"),
    )
    results: list[Revalidation] = []
    attempt, seen = 1, ()
    for exchange in later:
        response = exchange["response"]
        extended = exchange["request"]["method"] == "POST"
        body = response.get("json")
        document = body["result"] if extended else body
        got = Refetch(
            status=response["status"],
            card=card_of(document) if document else None,
            etag=response["headers"].get("ETag"),
            extended=extended,
        )
        results.append(
            judge_revalidation(
                pin,
                got,
                transition="stream",
                policy=policy or Policy(),
                now=NOW,
                attempt=attempt,
                seen=seen,
                keys=KeySet.from_jwks(client.get("trusted_keys", {"keys": []})),
            )
        )
        attempt = 2 if results[-1].next is Next.RETRY else 1
        seen = results[-1].seen
    return results


@pytest.mark.parametrize("case", cases("drift-*.json"), ids=lambda case: case["id"])
def test_drift_cases(case: dict[str, Any]) -> None:
    results = played(case)
    assert case["expect"]["stage"] == "ledger"
    verdict = worst(finding.verdict for result in results for finding in result.findings)
    assert verdict == case["expect"]["verdict"]
    assert (results[-1].next is Next.STOP) is (case["expect"]["verdict"] == "refuse")


@pytest.mark.parametrize(
    ("case", "last"),
    [
        ("drift-01*", "card-drift"),
        ("drift-03*", "signature-verified"),
        ("drift-05*", "card-flapping"),
        ("drift-07*", "etag-unchanged"),
        ("drift-10*", "card-gone"),
        ("drift-12*", "card-drift"),
        ("drift-14*", "extended-card"),
    ],
)
def test_drift_cases_name_what_happened(case: str, last: str) -> None:
    (one,) = cases(f"{case}.json")
    assert played(one)[-1].findings[-1].slug == last


def test_under_renegotiate_only_a_description_is_no_reason_to_stop() -> None:
    renegotiate = Policy(drift="renegotiate")
    (text,) = cases("drift-04*.json")
    assert played(text, renegotiate)[-1].next is Next.REDISCOVER
    for name in ("drift-01*.json", "drift-12*.json"):
        (case,) = cases(name)
        assert played(case, renegotiate)[-1].next is Next.STOP

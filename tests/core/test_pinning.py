"""P1-P4: a card is pinned with what the plan depends on, and another card before a dependent transition stops it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.canonical import content_digest, full_digest
from a2a_lab.core.members import plan_pointers
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.pinning import (
    DEPENDENT,
    Next,
    PinKey,
    PinnedCard,
    Revalidation,
    Transition,
    changed_members,
    pin_card,
    revalidate_before_transition,
)
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.errors import AgentCardDriftError, MalformedJson, Misuse, PeerFault
from a2a_lab.verdicts import Kind, Stage, Verdict
from tests.core.cards import AGENT, SUM, card_of, interface, one_zero, zero_three
from tests.core.signing import NOW, Signer, edited, keys, with_signatures
from tests.core.test_canonical import cards, values

K1, K2 = Signer("k1"), Signer("k2")
STREAMING = Intent(requires=("streaming",), skill="sum")


def pinned(card: Card, intent: Intent = STREAMING, **more: Any) -> PinnedCard:
    return pin_card(card, interface=card.interfaces[0], intent=intent, at=NOW, **more)


def look_again(
    pin: PinnedCard,
    card: Card | None,
    drift: Literal["fail-closed", "renegotiate", "once"] = "fail-closed",
    transition: str = "commit",
    **more: Any,
) -> Revalidation:
    return revalidate_before_transition(pin, card, transition=transition, policy=Policy(drift=drift), now=NOW, **more)


def drift_of(pin: PinnedCard, card: Card | None, **how: Any) -> AgentCardDriftError:
    with pytest.raises(AgentCardDriftError) as caught:
        look_again(pin, card, **how)
    return caught.value


def test_a_pin_holds_both_digests_and_both_versions_apart() -> None:
    card = K1.signed(one_zero(version="7.2.0"))
    pin = pinned(card)
    assert (pin.content_digest, pin.full_digest) == (content_digest(card.document), full_digest(card.document))
    assert pin.content_digest != pin.full_digest
    assert (pin.protocol_version, pin.card_version, pin.at) == ("1.0", "7.2.0", NOW)


def test_a_card_without_a_digest_cannot_be_pinned() -> None:
    with pytest.raises(MalformedJson):
        pinned(one_zero(x=2**53))


def test_the_same_card_goes_on_whatever_the_transition() -> None:
    for transition in Transition:
        assert look_again(pinned(one_zero()), one_zero(), transition=transition).next is Next.GO_ON


@pytest.mark.parametrize("transition", sorted(DEPENDENT))
def test_a_changed_card_stops_what_depends_on_it(transition: str) -> None:
    error = drift_of(pinned(one_zero()), one_zero(capabilities={"streaming": False}), transition=transition)
    assert isinstance(error, PeerFault) and error.name == "card-drift"
    assert error.finding is not None
    assert (error.finding.stage, error.finding.verdict, error.finding.kind) == (
        Stage.LEDGER,
        Verdict.REFUSE,
        Kind.CONFORMANCE,
    )
    assert error.fields["changed"] == error.fields["depends"] == ("/capabilities/streaming",)
    for part in (
        f"before {transition}",
        "/capabilities/streaming",
        "start from discovery",
        error.fields["pinned"][:12],
    ):
        assert part in error.message


@pytest.mark.parametrize("transition", ["get", "cancel"])
@pytest.mark.parametrize("card", [None, one_zero(capabilities={})])
def test_reading_and_cancelling_a_task_never_depend_on_the_card(transition: str, card: Card | None) -> None:
    judged = look_again(pinned(one_zero()), card, transition=transition)
    assert (judged.next, judged.findings) == (Next.GO_ON, ())


def test_the_dependent_transitions_are_those_of_the_ruling() -> None:
    assert {str(step) for step in DEPENDENT} == {"commit", "stream", "resubscribe", "renegotiated-send"}


def test_an_unknown_transition_is_the_callers_mistake() -> None:
    with pytest.raises(Misuse, match="'tasks/send' is no transition; expected one of commit, "):
        look_again(pinned(one_zero()), one_zero(), transition="tasks/send")


def test_a_card_that_is_gone_stops() -> None:
    error = drift_of(pinned(one_zero()), None)
    assert error.name == "card-gone" and error.fields["changed"] == ()


@pytest.mark.parametrize(
    "change",
    [
        {"description": "better"},
        {"version": "1.0.1"},
        {"x-unknown": 1},
        {"iconUrl": None},
        {"skills": [{**SUM, "tags": ["text", "new"]}]},
        {"skills": [SUM, {**SUM, "id": "other"}]},
        {"skills": [{**SUM, "id": "other"}, SUM]},
        {"capabilities": {"streaming": True, "pushNotifications": True}},
        {"supportedInterfaces": [interface(), interface(f"{AGENT}/two")]},
        {"supportedInterfaces": [interface(f"{AGENT}/two"), interface()]},
    ],
    ids=str,
)
def test_renegotiate_goes_back_to_discovery_where_the_plan_still_holds(change: dict[str, Any]) -> None:
    pin, card = pinned(one_zero()), one_zero(**change)
    judged = look_again(pin, card, "renegotiate")
    assert (judged.next, judged.depends) == (Next.REDISCOVER, ())
    assert judged.changed and judged.findings[0].slug == "card-renegotiated"
    assert judged.findings[0].verdict is Verdict.ACCEPT
    error = drift_of(pin, card)
    assert error.finding is not None and error.finding.values["what"] == "descriptive"
    assert "depends on none of it" in error.message


@pytest.mark.parametrize(
    ("change", "depends"),
    [
        ({"capabilities": {}}, "/capabilities/streaming"),
        ({"capabilities": {"streaming": True, "extensions": [{"uri": "u"}]}}, "/capabilities/extensions"),
        ({"defaultInputModes": ["image/png"]}, "/defaultInputModes"),
        ({"defaultOutputModes": ["text/plain", "image/png"]}, "/defaultOutputModes"),
        ({"skills": []}, "/skills/0/id"),
        ({"skills": [{**SUM, "inputModes": ["image/png"]}]}, "/skills/0/inputModes"),
        ({"skills": [{**SUM, "outputModes": []}]}, "/skills/0/outputModes"),
        ({"securitySchemes": {"m": {"mtlsSecurityScheme": {}}}}, "/securitySchemes"),
        ({"securityRequirements": [{"schemes": {"m": {}}}]}, "/securityRequirements"),
        ({"supportedInterfaces": [interface(tenant="acme")]}, "/supportedInterfaces/0/tenant"),
        ({"supportedInterfaces": [interface(version="1.1")]}, "/supportedInterfaces/0/protocolVersion"),
    ],
    ids=str,
)
def test_renegotiate_stops_where_the_plan_depends_on_the_change(change: dict[str, Any], depends: str) -> None:
    error = drift_of(pinned(one_zero()), one_zero(**change), drift="renegotiate")
    assert depends in error.fields["depends"]


def test_a_moved_interface_is_an_identity_change_and_never_followed() -> None:
    moved = one_zero(interface("https://agent2.example.test/rpc"))
    for drift in ("fail-closed", "renegotiate"):
        error = drift_of(pinned(one_zero()), moved, drift=drift)
        assert error.finding is not None and error.finding.values["what"] == "identity"
        assert error.fields["depends"] == ("/supportedInterfaces/0/url",)
        assert "do not follow it" in error.message and f"{AGENT}/rpc" in error.message


def test_an_interface_that_vanished_takes_all_its_members_with_it() -> None:
    pin = pin_card(
        one_zero(interface(f"{AGENT}/grpc", binding="GRPC"), interface()),
        interface=one_zero(interface(f"{AGENT}/grpc", binding="GRPC"), interface()).interfaces[1],
        intent=Intent(),
        at=NOW,
    )
    error = drift_of(pin, one_zero(interface(f"{AGENT}/grpc", binding="GRPC")))
    assert {f"/supportedInterfaces/1/{name}" for name in ("url", "protocolBinding", "protocolVersion")} <= set(
        error.fields["depends"]
    )


def test_a_plan_that_names_no_skill_depends_on_all_of_them() -> None:
    two = one_zero(skills=[SUM, {**SUM, "id": "other"}])
    error = drift_of(pinned(two, Intent()), one_zero(), drift="renegotiate")
    assert "/skills/1/id" in error.fields["depends"]
    assert look_again(pinned(two), one_zero(), "renegotiate").next is Next.REDISCOVER


def test_a_plan_that_streams_depends_on_streaming_though_it_does_not_require_it() -> None:
    silent = one_zero(capabilities={})
    assert drift_of(pinned(one_zero(), Intent(stream=True)), silent, drift="renegotiate").fields["depends"]
    assert look_again(pinned(one_zero(), Intent()), silent, "renegotiate").next is Next.REDISCOVER


def test_a_0_3_card_depends_on_its_own_members() -> None:
    pin = pinned(zero_three())
    for change in ({"url": f"{AGENT}/two"}, {"preferredTransport": "GRPC"}, {"protocolVersion": "0.3.1"}):
        assert drift_of(pin, zero_three(**change), drift="renegotiate").fields["depends"] == (f"/{next(iter(change))}",)
    assert drift_of(pin, zero_three(security=[{"a": []}]), drift="renegotiate").fields["depends"] == ("/security",)
    assert look_again(pin, zero_three(securityRequirements=[1]), "renegotiate").next is Next.REDISCOVER


def test_null_empty_and_absent_mean_the_same_to_a_plan() -> None:
    # R8, R14: the digest changes, so it is drift, and nothing that the plan depends on has another meaning.
    pin = pinned(one_zero(capabilities={"streaming": True, "extensions": None}))
    for card in (one_zero(), one_zero(supportedInterfaces=[interface(tenant="")]), one_zero(securitySchemes=None)):
        judged = look_again(pin, card, "renegotiate")
        assert (judged.next, judged.depends) == (Next.REDISCOVER, ())


@pytest.mark.parametrize(
    ("form", "member"),
    [("1.0", "/securityRequirements"), ("0.3", "/security"), ("0.2", "/security"), ("0.1", "/authentication")],
)
def test_security_is_declared_under_the_name_of_its_generation(form: str, member: str) -> None:
    card = replace(zero_three(), form=form)
    assert plan_pointers(card, None, Intent()).count(member) == 1


def test_an_additional_interface_of_a_0_3_card_depends_on_its_entry() -> None:
    extra = {"url": f"{AGENT}/extra", "transport": "JSONRPC"}
    card = zero_three(additionalInterfaces=[extra])
    chosen = Interface(url=extra["url"], binding="JSONRPC", version="0.3.0", pointer="/additionalInterfaces/0")
    pin = pin_card(card, interface=chosen, intent=Intent(), at=NOW)
    assert "/url" not in [member.pointer for member in pin.plan.values()]
    changed = zero_three(additionalInterfaces=[{**extra, "transport": "GRPC"}])
    there = replace(changed, interfaces=(changed.interfaces[0], replace(chosen, binding="GRPC")))
    assert drift_of(pin, there).fields["depends"] == ("/additionalInterfaces/0/transport",)
    gone = zero_three(url=extra["url"])
    assert drift_of(pin, gone).fields["changed"] == ("/url", "/additionalInterfaces")


def test_once_goes_on_and_notes_what_nobody_looked_at() -> None:
    changed = one_zero(interface("https://agent2.example.test/rpc"), description="x")
    judged = look_again(pinned(one_zero()), changed, "once")
    assert (judged.next, [finding.slug for finding in judged.findings]) == (Next.GO_ON, ["drift-unseen"])
    assert judged.findings[0].verdict is Verdict.ACCEPT and judged.depends == ("/supportedInterfaces/0/url",)
    for card in (None, one_zero()):
        same = look_again(pinned(one_zero()), card, "once")
        assert (same.next, same.findings) == (Next.GO_ON, ())


def test_hostile_cards_do_not_make_endless_messages() -> None:
    many = one_zero(**{f"x{'y' * 500}{place}": place for place in range(500)})
    error = drift_of(pinned(one_zero()), many)
    assert len(error.fields["changed"]) == 500 and len(error.message) < 1500 and "and 492 more" in error.message


# --- changed members ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "pointers"),
    [
        ({}, {}, ()),
        ({"a": 1}, {}, ("/a",)),
        ({}, {"a": None}, ("/a",)),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 2, "c": 2}}, ("/a/b",)),
        ({"a": [1, 2]}, {"a": [1]}, ("/a/1",)),
        ({"a": [1]}, {"a": [2, 3]}, ("/a/0", "/a/1")),
        ({"a": [1]}, {"a": {"0": 1}}, ("/a",)),
        ({"a/b": {"c~d": 1}}, {"a/b": {"c~d": 2}}, ("/a~1b/c~0d",)),
        ({"a": True}, {"a": 1}, ("/a",)),
        ({"a": 0}, {"a": False}, ("/a",)),
        ({"a": 1}, {"a": 1.0}, ()),
        ({"a": 0.0}, {"a": -0.0}, ()),
        ({"signatures": [1]}, {}, ()),
        ({"a": {"signatures": 1}}, {"a": {}}, ("/a/signatures",)),
    ],
    ids=str,
)
def test_changed_members_are_pointers(old: Any, new: Any, pointers: tuple[str, ...]) -> None:
    assert changed_members(old, new) == pointers


@given(cards, cards)
def test_nothing_changed_exactly_where_the_digests_are_equal(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert (not changed_members(old, new)) is (content_digest(old) == content_digest(new))
    assert changed_members(old, old) == ()


@given(cards, st.text(min_size=1, max_size=5), values, values)
def test_one_changed_member_is_named_alone(card: dict[str, Any], name: str, old: Any, new: Any) -> None:
    pointers = changed_members({**card, name: old}, {**card, name: new})
    token = name.replace("~", "~0").replace("/", "~1")
    assert all(pointer == f"/{token}" or pointer.startswith(f"/{token}/") for pointer in pointers)


# --- rotation -------------------------------------------------------------------------------------------------------


def rotated(pin: PinnedCard, card: Card, *trusted: Signer, require: bool = False) -> Revalidation:
    policy = Policy(signature_policy="require" if require else "prefer")
    known = keys(*(signer.public() for signer in trusted))
    return revalidate_before_transition(pin, card, transition="commit", policy=policy, now=NOW, keys=known)


def test_a_rotated_signature_is_verified_again_and_is_no_drift() -> None:
    pin = pinned(K1.signed(one_zero()), authoritative=True)
    judged = rotated(pin, K2.signed(one_zero()), K1, K2, require=True)
    assert (judged.next, judged.rotated, judged.changed) == (Next.GO_ON, True, ())
    assert [finding.slug for finding in judged.findings] == ["signature-rotated", "signature-verified"]
    assert judged.signature is not None and judged.signature.kid == "k2"


@pytest.mark.parametrize("signatures", [None, [], [K2.entry(one_zero().document)]], ids=["null", "none", "unknown"])
def test_authority_is_lost_with_the_signature_that_gave_it(signatures: Any) -> None:
    pin = pinned(K1.signed(one_zero()), authoritative=True)
    card = with_signatures(one_zero(), signatures)
    judged = rotated(pin, card, K1)
    assert judged.next is Next.GO_ON and judged.rotated
    lost = judged.findings[1]
    assert (lost.slug, lost.verdict, lost.kind) == ("authority-lost", Verdict.HINT, Kind.AUTHORITY)
    with pytest.raises(AgentCardDriftError) as caught:
        rotated(pin, card, K1, require=True)
    assert caught.value.name == "rotation-refused"


def test_a_rotation_to_a_signature_that_fails_stops_under_both_policies() -> None:
    pin = pinned(K1.signed(one_zero()), authoritative=True)
    forged = with_signatures(one_zero(), [K1.entry(one_zero(name="Other").document)])
    with pytest.raises(AgentCardDriftError) as caught:
        rotated(pin, forged, K1)
    assert caught.value.name == "rotation-refused"


def test_an_unsigned_card_that_gets_a_signature_has_lost_nothing() -> None:
    judged = rotated(pinned(one_zero()), K1.signed(one_zero()))
    assert [finding.slug for finding in judged.findings] == ["signature-rotated", "untrusted-key"]


def test_without_keys_the_operators_are_used() -> None:
    policy = Policy(trusted_keys=keys(K1.public()))
    pin = pinned(one_zero())
    judged = revalidate_before_transition(pin, K1.signed(one_zero()), transition="stream", policy=policy, now=NOW)
    assert judged.signature is not None and judged.signature.authoritative
    bare = look_again(pin, K1.signed(one_zero()))
    assert bare.signature is not None and not bare.signature.authoritative


def test_a_rotation_may_want_keys_from_an_allowed_place() -> None:
    jku = "https://keys.example.test/k"
    policy = Policy(jku_allow=frozenset({"keys.example.test"}))
    card = K1.signed(one_zero(), jku=jku)
    judged = revalidate_before_transition(pinned(one_zero()), card, transition="commit", policy=policy, now=NOW)
    assert judged.signature is not None and judged.signature.wanted_jku == (jku,)
    judged = revalidate_before_transition(
        pinned(one_zero()),
        card,
        transition="commit",
        policy=policy,
        now=NOW,
        served_from=AGENT,
        jku_keys={jku: keys(K1.public())},
    )
    assert judged.signature is not None and judged.signature.authoritative


@given(st.permutations(["k1", "k2", "k3"]), st.integers(0, 3))
def test_no_rotation_is_ever_drift(order: list[str], kept: int) -> None:
    entries = [Signer(kid).entry(one_zero().document) for kid in order[:kept]]
    judged = look_again(pinned(K1.signed(one_zero())), with_signatures(one_zero(), entries))
    assert judged.next is Next.GO_ON and judged.changed == ()


# --- the key of a pin -----------------------------------------------------------------------------------------------


def key(**changes: Any) -> PinKey:
    usual: dict[str, Any] = {
        "card_url": f"{AGENT}/.well-known/agent-card.json",
        "interface": one_zero().interfaces[0],
        "sent": {"A2A-Version": "1.0", "Authorization": "Bearer secret", "X-Tenant": "acme"},
    }
    return PinKey.of(**(usual | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"card_url": f"{AGENT}/.well-known/agent-card.json?assistant_id=1"},
        {"interface": one_zero(interface(f"{AGENT}/two")).interfaces[0]},
        {"interface": one_zero(interface(binding="GRPC")).interfaces[0]},
        {"interface": one_zero(interface(version="1.1")).interfaces[0]},
        {"interface": one_zero(interface(tenant="acme")).interfaces[0]},
        {"selectors": {"X-Tenant": "acme"}},
        {"selectors": {"X-Tenant": "globex"}},
        {"credential": "acme-token"},
        {"vary": "A2A-Version"},
        {"vary": "X-Tenant"},
        {"vary": "X-Absent"},
        {"extended": True},
    ],
    ids=str,
)
def test_whatever_selects_a_card_is_in_its_key(change: dict[str, Any]) -> None:
    assert key(**change).text != key().text


@pytest.mark.parametrize(
    "change",
    [
        {"interface": one_zero(interface(tenant="")).interfaces[0]},
        {"sent": {}},
        {"vary": ""},
        {"vary": " , "},
        {"vary": "Authorization, Cookie"},
        {"selectors": {}},
    ],
    ids=str,
)
def test_what_selects_nothing_is_not(change: dict[str, Any]) -> None:
    assert key(**change).text == key().text


def test_vary_star_stands_for_all_headers_and_secrets_never_enter() -> None:
    starred = key(vary="*")
    assert starred.vary == (("a2a-version", "1.0"), ("x-tenant", "acme"))
    assert "secret" not in repr(starred)


def test_header_names_are_compared_in_lower_case() -> None:
    one = key(vary="a2a-version", selectors={"x-tenant": "acme"})
    assert one.text == key(vary="A2A-VERSION", selectors={"X-Tenant": "acme"}).text


def test_a_pin_survives_a_reader_of_plain_documents() -> None:
    card = card_of(dict(one_zero().document))
    assert pinned(card).content_digest == pinned(edited(card)).content_digest

"""A1, R18, R19: what the signatures of a card are worth, alone and together, under both policies."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card
from a2a_lab.core.policy import Intent
from a2a_lab.core.signatures import verify_card
from a2a_lab.verdicts import Findings, Kind, Verdict
from tests.core.cards import SUM, card_of, interface, one_zero, zero_three
from tests.core.signing import DATA, Signer, edited, judge, keys, vectors, verdict, with_signatures

K1, K2, STRANGER = Signer("k1"), Signer("k2"), Signer("stranger")
HINT, REFUSE, ACCEPT = Verdict.HINT, Verdict.REFUSE, Verdict.ACCEPT


def slugs(card: Card, *trusted: Any, **how: Any) -> list[str]:
    return [finding.slug for finding in judge(card, *trusted, **how).findings]


def test_a_good_signature_gives_authority_and_colours_nothing() -> None:
    report = judge(K1.signed(one_zero()), K1, require=True)
    assert (report.authoritative, report.verified_by, report.kid) == (True, "spec", "k1")
    assert (report.uncovered, report.wanted_jku, report.refuses) == ((), (), False)
    findings = Findings()
    findings.add(*report.findings)
    assert (findings.verdict, findings.authority().status) == (ACCEPT, "authoritative")


def test_an_unsigned_agent_that_is_right_is_accept_advisory() -> None:
    # R2: an authority finding never makes the cell worse, and a refusal by the operator's policy does.
    for require, expected in ((False, ACCEPT), (True, REFUSE)):
        findings = Findings()
        findings.add(*judge(one_zero(), require=require).findings)
        assert findings.verdict is expected
        assert findings.authority().because == ("unsigned",)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Other"},
        {"description": "Agent under test. "},
        {"capabilities": {"streaming": False}},
        {"capabilities": {}},
        {"supportedInterfaces": [interface("https://gw.example.test/agents/one")]},
        {"supportedInterfaces": [interface(tenant="acme")]},
        {"supportedInterfaces": [interface(), interface("https://evil.example/rpc")]},
        {"skills": []},
        {"skills": [{**SUM, "inputModes": ["text/plain"]}]},
        {"securityRequirements": [{"schemes": {"m": {"list": ["scope"]}}}]},
        {"iconUrl": "https://evil.example/icon.png"},
        {"version": "1.0.1"},
    ],
    ids=str,
)
@pytest.mark.parametrize("require", [False, True])
def test_a_changed_card_under_a_trusted_kid_refuses_under_both_policies(change: dict[str, Any], require: bool) -> None:
    report = judge(edited(K1.signed(one_zero()), **change), K1, require=require)
    assert (verdict(report), report.refuses, report.authoritative) == (REFUSE, True, False)
    assert report.findings[-1].slug == "signature-fails" and report.findings[-1].kind is Kind.CONFORMANCE
    assert "passes no profile" in report.findings[-1].detail


@pytest.mark.parametrize(
    ("change", "depended"),
    [
        ({"securityRequirements": [{"schemes": {"m": {"list": []}}}]}, ("/securityRequirements",)),
        ({"securitySchemes": {"m": {"mtlsSecurityScheme": {}}}}, ("/securitySchemes",)),
        ({"iconUrl": ""}, None),
        ({"provider": {}}, None),
        ({"skills": [{**SUM, "examples": [""]}]}, None),
    ],
    ids=str,
)
def test_what_the_sdk_form_lets_through_is_a_hint_at_best(change: dict[str, Any], depended: tuple[str, ...]) -> None:
    # SDKs 1.0.3 to 1.3.0 call these changed cards verified.
    card = edited(K1.signed(one_zero()), **change)
    report = judge(card, K1)
    assert (report.verified_by, verdict(report)) == ("sdk-1", HINT)
    named = [finding.values["uncovered"] for finding in report.findings if finding.slug == "plan-not-covered"]
    assert named == ([depended] if depended else [])
    assert verdict(judge(card, K1, require=True)) is REFUSE


@pytest.mark.parametrize(
    "change",
    [
        {"securitySchemes": {}},
        {"securityRequirements": []},
        {"provider": None},
        {"documentationUrl": None},
        {"capabilities": {"streaming": True, "extensions": []}},
        {"supportedInterfaces": [interface(tenant="")]},
        {"supportedInterfaces": [interface(tenant=None)]},
        {"skills": [{**SUM, "examples": [], "inputModes": None}]},
    ],
    ids=str,
)
def test_defaults_that_a_framework_adds_change_nothing(change: dict[str, Any]) -> None:
    report = judge(edited(K1.signed(one_zero()), **change), K1)
    assert (report.authoritative, report.verified_by, report.uncovered) == (True, "spec", ())


def test_required_empties_may_be_left_out_on_the_way() -> None:
    card = K1.signed(one_zero(description="", skills=[]))
    assert judge(edited(card, description=..., skills=...), K1).authoritative


def test_an_explicit_false_is_signed() -> None:
    card = K1.signed(one_zero(capabilities={"streaming": False}))
    assert judge(card, K1).authoritative
    assert verdict(judge(edited(card, capabilities={}), K1)) is REFUSE


@pytest.mark.parametrize("profile", ["spec+unknown", "raw"])
def test_unknown_members_may_be_signed(profile: str) -> None:
    report = judge(K1.signed(one_zero(xVendor={"a": 1}), profile=profile), K1, require=True)
    assert (report.authoritative, report.verified_by, report.uncovered) == (True, "spec+unknown", ())


def test_unknown_members_beside_the_signature_are_named() -> None:
    skill = {**SUM, "x/cost": "low"}
    report = judge(K1.signed(one_zero(xVendor={"a": 1}, skills=[skill])), K1, require=True)
    assert (report.authoritative, report.verified_by) == (True, "spec")
    assert report.uncovered == ("/skills/0/x~1cost", "/xVendor")
    assert [finding.slug for finding in report.findings] == ["signature-verified", "members-not-covered"]
    assert report.findings[-1].verdict is ACCEPT


def test_legacy_members_of_a_hybrid_card_are_outside_the_signature() -> None:
    # R8: they are never mixed in, so the plan does not depend on them, and they are listed.
    card = edited(K1.signed(one_zero()), url="https://evil.example", preferredTransport="JSONRPC", security=[{"m": []}])
    report = judge(card, K1, require=True)
    assert report.authoritative and set(report.uncovered) == {"/url", "/preferredTransport", "/security"}


COMPATIBLE = [
    (one_zero(description="", skills=[]), "sdk-1"),
    (one_zero(name="Café"), "sdk-1-ascii"),
    (one_zero(capabilities={"streaming": False}), "spec-8.4.3-literal"),
    (one_zero(supportedInterfaces=[interface(tenant="")]), "raw"),
    (zero_three(), "sdk-0.3"),
    (zero_three(name="écho"), "crewai-ascii"),
    (zero_three(), "spec"),
]


@pytest.mark.parametrize(("card", "profile"), COMPATIBLE, ids=lambda value: value if isinstance(value, str) else "")
def test_another_form_is_a_hint_under_prefer_and_refused_under_require(card: Card, profile: str) -> None:
    signed = K1.signed(card, profile=profile)
    report = judge(signed, K1)
    assert (report.verified_by, report.authoritative, verdict(report)) == (profile, False, HINT)
    assert "compatibility-form" in slugs(signed, K1)
    assert verdict(judge(signed, K1, require=True)) is REFUSE


def test_a_0_3_card_speaks_with_authority_under_raw_alone() -> None:
    card = K1.signed(zero_three(), profile="raw")
    report = judge(card, K1, require=True)
    assert (report.authoritative, report.verified_by, report.uncovered) == (True, "raw", ())
    assert verdict(judge(edited(card, url="https://evil.example"), K1)) is REFUSE
    # CrewAI's form reads the card into a schema first, so for it these are the card that was signed.
    for change in ({"x": 1}, {"iconUrl": None}, {"protocolVersion": ...}):
        changed = judge(edited(card, **change), K1)
        assert (changed.verified_by, verdict(changed)) == ("crewai-ascii", HINT)


def test_what_sdk_0_3_leaves_out_is_what_the_plan_needs() -> None:
    report = judge(K1.signed(zero_three(iconUrl=None), profile="sdk-0.3"), K1)
    assert report.uncovered == ("/protocolVersion", "/preferredTransport")
    finding = next(finding for finding in report.findings if finding.slug == "plan-not-covered")
    assert finding.values["uncovered"] == report.uncovered and finding.kind is Kind.AUTHORITY


def test_a_list_that_lost_an_element_is_named_as_a_whole() -> None:
    card = one_zero(skills=[{**SUM, "examples": ["", "x"]}])
    report = judge(K1.signed(card, profile="sdk-1"), K1)
    assert (report.verified_by, report.uncovered) == ("sdk-1", ("/skills/0/examples",))


@pytest.mark.parametrize("name", ["strip_sdk_form_on_whole", "strip_spec_form_on_stripped"])
def test_the_strip_hole_shows_in_the_sdk_form_only(name: str) -> None:
    """v08 needs mTLS and v09 is v08 without it: the SDK form of both is one, so its signature covers neither."""
    vector = json.loads((DATA / "vectors" / f"{name}.json").read_text())
    report = judge(card_of(vector["card"]), vector["public_jwk"])
    expect = vector["expect"]
    assert (verdict(report), report.verified_by, list(report.uncovered)) == (
        expect["verdict"],
        expect["verified_by"],
        expect["uncovered"],
    )
    assert ("plan-not-covered" in [finding.slug for finding in report.findings]) is bool(expect["uncovered"])


def test_stripping_under_an_sdk_signature_is_found_by_a_second_one() -> None:
    schemes = {"securitySchemes": {"m": {"mtlsSecurityScheme": {}}}, "securityRequirements": [{"schemes": {"m": {}}}]}
    card = one_zero(description="", **schemes)
    both = K2.signed(K1.signed(card), profile="sdk-1")
    stripped = edited(both, securitySchemes=..., securityRequirements=...)
    assert judge(both, K1, K2).authoritative
    # K2 still passes its form; K1 proves that the card was changed, and a form without authority does not outweigh it.
    assert verdict(judge(stripped, K1, K2)) is REFUSE
    assert verdict(judge(stripped, K2)) is HINT


def test_a_capability_that_only_the_intent_names_must_be_covered() -> None:
    # stateTransitionHistory is unknown to 1.0, so `spec` leaves it out; a plan that asks for it depends on it.
    card = K1.signed(one_zero(capabilities={"streaming": True, "stateTransitionHistory": True}))
    assert judge(card, K1).authoritative
    for require, expected in ((False, HINT), (True, REFUSE)):
        report = judge(card, K1, intent=Intent(requires=("stateTransitionHistory",)), require=require)
        assert (report.authoritative, verdict(report)) == (False, expected)
        assert report.findings[-1].slug == "plan-not-covered"


def test_members_unknown_inside_what_the_plan_needs_have_no_meaning() -> None:
    # An SDK server adds `type` inside schemes for 0.3 readers; a 1.0 plan does not read it.
    scheme = {"httpAuthSecurityScheme": {"scheme": "bearer"}}
    card = K1.signed(one_zero(securitySchemes={"h": scheme}))
    served = edited(card, securitySchemes={"h": {**scheme, "type": "http"}})
    report = judge(served, K1, require=True)
    assert (report.authoritative, report.uncovered) == (True, ("/securitySchemes/h/type",))


# --- two signatures -------------------------------------------------------------------------------------------------

CARD = one_zero(description="")
OTHER = one_zero(description="before")
PADDED = {**STRANGER.entry(CARD.document), "signature": "AAA="}
KINDS: dict[str, dict[str, Any]] = {
    "good": K1.entry(CARD.document),
    "tampered": K2.entry(OTHER.document),
    "algorithm": K2.entry(CARD.document, alg="HS256"),
    "compatible": K2.entry(CARD.document, profile="sdk-1"),
    "repeated": K2.entry(CARD.document, unprotected={"kid": "k2"}),
    "unknown": STRANGER.entry(CARD.document),
    "malformed": PADDED,
    "no kid": K2.entry(CARD.document, kid=...),
    "expired": Signer("old", owner="k2").entry(CARD.document),
    "elsewhere": Signer("far", owner="k2").entry(CARD.document),
}
TRUSTED = (
    K1,
    K2,
    Signer("old", owner="k2").public(exp=0),
    Signer("far", owner="k2").public(origins=["https://far.example"]),
)
ALWAYS_REFUSED = {"tampered", "algorithm"}


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"good"}))
def test_each_kind_alone(kind: str) -> None:
    card = with_signatures(CARD, [KINDS[kind]])
    assert verdict(judge(card, *TRUSTED)) is (REFUSE if kind in ALWAYS_REFUSED else HINT)
    assert verdict(judge(card, *TRUSTED, require=True)) is REFUSE


@pytest.mark.parametrize(("one", "two"), [pair for pair in itertools.product(KINDS, KINDS) if pair[0] != pair[1]])
def test_two_signatures_in_all_combinations(one: str, two: str) -> None:
    """R19: one good trusted signature is enough, in any order; else a trusted kid that passes nothing refuses."""
    card = with_signatures(CARD, [KINDS[one], KINDS[two]])
    if "good" in (one, two):
        advisory = strict = ACCEPT
    else:
        advisory, strict = (REFUSE if {one, two} & ALWAYS_REFUSED else HINT), REFUSE
    assert verdict(judge(card, *TRUSTED)) is advisory
    assert verdict(judge(card, *TRUSTED, require=True)) is strict
    assert judge(card, *TRUSTED).authoritative is ("good" in (one, two))


def test_a_failing_signature_beside_a_good_one_is_reported_as_a_note() -> None:
    report = judge(with_signatures(CARD, [KINDS["tampered"], KINDS["good"]]), *TRUSTED, require=True)
    failing = next(finding for finding in report.findings if finding.slug == "signature-fails")
    assert (failing.verdict, failing.kind, failing.at) == (ACCEPT, Kind.NOTE, "/signatures/0")


def test_of_two_good_signatures_the_one_that_covers_more_is_named() -> None:
    card = one_zero(x=1)
    entries = [K1.entry(card.document), K2.entry(card.document, profile="raw")]
    report = judge(with_signatures(card, entries), K1, K2)
    assert (report.kid, report.verified_by, report.uncovered) == ("k2", "spec+unknown", ())


def test_more_signatures_than_anybody_needs_are_not_read() -> None:
    entries = [STRANGER.entry(CARD.document)] * 32 + [KINDS["good"]]
    report = judge(with_signatures(CARD, entries), K1)
    assert not report.authoritative and report.findings[-1].slug == "signatures-not-read"
    assert judge(with_signatures(CARD, entries[1:]), K1).authoritative


# --- where the key is -----------------------------------------------------------------------------------------------

JKU = "https://keys.example.test/jwks.json"


def test_a_jku_of_the_signers_choice_is_never_asked() -> None:
    for require, expected in ((False, HINT), (True, REFUSE)):
        report = judge(K1.signed(CARD, jku=JKU), K2, require=require)
        assert (verdict(report), report.wanted_jku) == (expected, ())
        assert report.findings[-1].slug == "jku-not-allowed"


def test_an_allowed_jku_is_wanted_until_its_keys_are_handed_back() -> None:
    card, allow = K1.signed(CARD, jku=JKU), ["keys.example.test"]
    first = judge(card, jku_allow=allow, require=True)
    assert (first.wanted_jku, verdict(first), first.authoritative) == ((JKU,), REFUSE, False)
    assert verdict(judge(card, jku_allow=allow)) is HINT
    second = judge(card, jku_allow=allow, require=True, jku_keys={JKU: keys(K1.public())})
    assert (second.wanted_jku, verdict(second), second.authoritative) == ((), ACCEPT, True)


def test_a_fetched_set_without_the_key_leaves_it_unknown() -> None:
    fetched = KeySet.from_fetched({"keys": [{**K1.public(), "use": "enc"}]})
    report = judge(K1.signed(CARD, jku=JKU), jku_allow=["keys.example.test"], jku_keys={JKU: fetched})
    assert (report.findings[-1].slug, report.wanted_jku) == ("untrusted-key", ())
    assert "left out: key 'k1' is not for signatures" in report.findings[-1].detail
    empty = judge(K1.signed(CARD, jku=JKU), jku_allow=["keys.example.test"], jku_keys={JKU: keys()})
    assert "has no usable key 'k1'" in empty.findings[-1].detail


def test_a_place_that_could_not_be_fetched_is_not_wanted_again() -> None:
    fetched = {JKU: KeySet(left_out=("HTTP 404",))}
    report = judge(K1.signed(CARD, jku=JKU), jku_allow=["keys.example.test"], jku_keys=fetched)
    assert report.wanted_jku == () and "left out: HTTP 404" in report.findings[-1].detail


def test_a_key_from_an_allowed_jku_is_trusted_so_a_bad_signature_refuses() -> None:
    card = edited(K1.signed(CARD, jku=JKU), name="Other")
    report = judge(card, jku_allow=["keys.example.test"], jku_keys={JKU: keys(K1.public())})
    assert verdict(report) is REFUSE


def test_a_fetched_key_is_held_to_its_state_and_its_origins() -> None:
    for state in ({"exp": 0}, {"origins": ["https://far.example"]}):
        fetched = {JKU: keys(K1.public(**state))}
        report = judge(K1.signed(CARD, jku=JKU), jku_allow=["keys.example.test"], jku_keys=fetched)
        assert verdict(report) is HINT


def test_an_enrolled_key_wins_over_any_jku() -> None:
    other = {JKU: keys(Signer("k1", owner="attacker").public())}
    report = judge(K1.signed(CARD, jku=JKU), K1, jku_allow=["keys.example.test"], jku_keys=other)
    assert report.authoritative and report.wanted_jku == ()


def test_keys_of_a_place_that_is_not_allowed_are_not_used_either() -> None:
    report = judge(K1.signed(CARD, jku=JKU), jku_keys={JKU: keys(K1.public())})
    assert report.findings[-1].slug == "jku-not-allowed"


@pytest.mark.parametrize(
    ("jku", "allow", "wanted"),
    [
        (JKU, "keys.example.test", True),
        (JKU, "KEYS.example.test", True),
        (JKU, "keys.example.test:443", True),
        (JKU, JKU, True),
        (f"{JKU}?other", JKU, False),
        (JKU, "https://keys.example.test", True),
        (JKU, "https://keys.example.test/", True),
        ("https://keys.example.test:8443/k", "keys.example.test", True),
        ("https://keys.example.test:8443/k", "keys.example.test:443", False),
        ("https://keys.example.test:8443/k", "https://keys.example.test", False),
        (JKU, "example.test", False),
        ("https://evil.keys.example.test/k", "keys.example.test", False),
        ("https://keys.example.test.evil.example/k", "keys.example.test", False),
        ("http://keys.example.test/k", "keys.example.test", False),
        ("http://127.0.0.1:4001/k", "127.0.0.1", True),
        ("http://127.0.0.1:4001/k", "127.0.0.1:4001", True),
        ("http://127.0.0.1:4001/k", "127.0.0.1:4002", False),
        ("http://192.168.0.7/k", "192.168.0.7", False),
        ("https://keys.example.test@evil.example/k", "keys.example.test", False),
        ("https://user@keys.example.test/k", "keys.example.test", False),
        ("file:///etc/keys", "", False),
        ("/jwks.json", "", False),
        ("", "", False),
        ("https://keys.example.test\\@evil.example/k", "keys.example.test", False),
    ],
)
def test_only_allowed_places_are_wanted(jku: str, allow: str, wanted: bool) -> None:
    report = judge(STRANGER.signed(CARD, jku=jku), jku_allow=[allow])
    assert report.wanted_jku == ((jku,) if wanted else ())


def test_each_wanted_place_is_named_once_and_none_when_the_card_is_good_anyway() -> None:
    entries = [STRANGER.entry(CARD.document, jku=JKU), Signer("k9").entry(CARD.document, jku=JKU)]
    assert judge(with_signatures(CARD, entries), jku_allow=["keys.example.test"]).wanted_jku == (JKU,)
    good = with_signatures(CARD, [*entries, K1.entry(CARD.document)])
    assert judge(good, K1, jku_allow=["keys.example.test"]).wanted_jku == ()


# --- cards that are odd themselves ----------------------------------------------------------------------------------


def test_a_card_without_a_canonical_form_is_refused_and_raises_nothing() -> None:
    card = K1.signed(one_zero())
    odd = edited(card, capabilities={"extensions": [{"params": {"n": 2**60}}]})
    report = judge(odd, K1)
    assert verdict(report) is REFUSE and "2^53-1" in report.findings[-1].detail


def test_a_bad_number_in_an_unknown_member_leaves_the_spec_form_whole() -> None:
    report = judge(edited(K1.signed(one_zero()), x=2**60), K1)
    assert (report.authoritative, report.uncovered) == (True, ("/x",))


def test_snake_case_names_are_no_members_of_the_form() -> None:
    camel = one_zero()
    snake = edited(K1.signed(camel), defaultInputModes=..., default_input_modes=["text/plain"])
    report = judge(snake, K1)
    assert (report.verified_by, verdict(report)) == ("sdk-1", HINT)
    again = K1.signed(edited(camel, defaultInputModes=..., default_input_modes=["text/plain"]), profile="raw")
    assert judge(again, K1).verified_by == "raw"


def test_nulls_are_unset_for_the_spec_form_and_signed_by_raw() -> None:
    card = one_zero(iconUrl=None, provider=None)
    assert judge(K1.signed(card), K1).authoritative
    assert judge(K1.signed(card, profile="raw"), K1).verified_by == "raw"


@pytest.mark.parametrize("params", [{"n": 1.0}, {"n": 1e-06, "big": 1e21, "neg": -0.0, "ten": 10.0}], ids=str)
def test_numbers_are_signed_by_value_and_not_by_spelling(params: dict[str, Any]) -> None:
    card = one_zero(capabilities={"extensions": [{"uri": "u", "params": params}]})
    whole = {
        name: int(value) if value == int(value) and abs(value) < 2**53 else value for name, value in params.items()
    }
    respelt = edited(K1.signed(card), capabilities={"extensions": [{"uri": "u", "params": whole}]})
    assert judge(respelt, K1).authoritative


def test_the_order_of_members_and_the_white_space_of_the_wire_do_not_matter() -> None:
    card = K1.signed(one_zero())
    turned = dict(reversed(json.loads(json.dumps(card.document, indent=3)).items()))
    assert judge(card_of(turned), K1).authoritative


def test_without_an_intent_the_plain_plan_counts() -> None:
    card = K1.signed(one_zero())
    from a2a_lab.core.policy import Policy

    report = verify_card(card, keys(K1.public()), policy=Policy(), now=0, served_from=None, interface=None)
    assert report.authoritative


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
def test_verdicts_on_the_handed_vectors(vector: dict[str, Any]) -> None:
    """Each profile that jwcrypto verified passes here too, unless the header disqualifies the entry before."""
    recorded = {
        {"spec": "spec", "spec_u": "spec+unknown", "raw": "raw", "sdk": "sdk-1"}[name]
        for name, row in vector["profiles"].items()
        if True in row["jwcrypto_verifies"]
    }
    report = judge(card_of(vector["card"]), vector["public_jwk"])
    if vector["name"] == "v14_no_kid":
        assert (verdict(report), report.verified_by) == (HINT, None)
    elif vector["name"] == "v21_v03_default_stripped":
        assert (verdict(report), report.verified_by) == (HINT, "sdk-0.3")
    elif recorded:
        assert report.verified_by in recorded and report.authoritative
    else:
        assert verdict(report) is REFUSE


def test_the_vectors_have_not_lost_any() -> None:
    assert len(vectors()) == 16 and len(list((DATA / "vectors" / "field").glob("*.json"))) == 8

"""R20, A1: every fault that an entry of `signatures` can have, each under both policies."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from a2a_lab.core.model import Card
from a2a_lab.verdicts import Judge, Kind, Verdict
from tests.core.cards import one_zero
from tests.core.signing import Signer, b64, judge, verdict, with_signatures

K1 = Signer()
CARD = one_zero()
ENTRY = K1.entry(CARD.document)


def malformed(card: Card, slug: str) -> str:
    """Assert that the card counts as unsigned, under both policies, and return what the finding says."""
    advisory, refused = judge(card, K1), judge(card, K1, require=True)
    assert not advisory.authoritative
    finding = next(finding for finding in advisory.findings if finding.slug == slug)
    assert (finding.verdict, finding.kind) == (Verdict.HINT, Kind.AUTHORITY)
    assert (verdict(advisory), verdict(refused)) == (Verdict.HINT, Verdict.REFUSE)
    again = next(finding for finding in refused.findings if finding.slug == slug)
    assert again.kind is Kind.CONFORMANCE and again.judge is finding.judge
    return finding.detail


def test_the_entry_that_all_others_are_made_of_is_good() -> None:
    report = judge(with_signatures(CARD, [ENTRY]), K1)
    assert report.authoritative and [finding.slug for finding in report.findings] == ["signature-verified"]


@pytest.mark.parametrize("nothing", [None, []])
def test_no_signature_is_advisory_and_no_defect(nothing: Any) -> None:
    detail = malformed(with_signatures(CARD, nothing), "unsigned")
    assert detail == malformed(CARD, "unsigned")
    assert judge(CARD).findings[0].judge is Judge.POLICY


@pytest.mark.parametrize("odd", [{}, {"protected": "x"}, "eyJ9..AA", 7, False, ""], ids=str)
def test_signatures_that_are_no_list_count_as_unsigned(odd: Any) -> None:
    assert "expected a list" in malformed(with_signatures(CARD, odd), "signature-shape")


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        "eyJhbGciOiJFUzI1NiJ9..AAAA",
        [],
        {},
        {"jws": "eyJhbGciOiJFUzI1NiJ9..AAAA"},
        {"protected": ENTRY["protected"]},
        {"signature": ENTRY["signature"]},
        {**ENTRY, "protected": ""},
        {**ENTRY, "protected": None},
        {**ENTRY, "protected": {"alg": "ES256", "kid": "k1"}},
        {**ENTRY, "signature": 7},
        {**ENTRY, "header": []},
        {**ENTRY, "header": "kid"},
    ],
    ids=str,
)
def test_an_entry_of_another_shape_counts_as_unsigned(odd: Any) -> None:
    malformed(with_signatures(CARD, [odd]), "signature-shape")


def spare_bits(text: str) -> str:
    """The same bytes in base64url with a bit set that no encoder sets."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


STANDARD = base64.b64encode(base64.urlsafe_b64decode(ENTRY["signature"] + "==")).decode()


@pytest.mark.parametrize("member", ["protected", "signature"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text + "==", "is padded"),
        (lambda text: text + "=", "is padded"),
        (lambda text: text[:8] + "\n" + text[8:], r"holds '\n'"),
        (lambda text: " " + text, "holds ' '"),
        (lambda text: text[:-1] + "+", "holds '+'"),
        (lambda text: text[:-1] + "/", "holds '/'"),
        (lambda text: text[:-1] + "é", "holds 'é'"),
        (lambda text: text[:-1] + "\u0661", "holds"),
        (lambda text: text[: len(text) // 4 * 4 + 1 - 4], "cut or has spare bits"),
    ],
)
def test_base64_is_that_of_jws_and_no_other(member: str, change: Any, says: str) -> None:
    entry = {**ENTRY, member: change(ENTRY[member])}
    assert says in malformed(with_signatures(CARD, [entry]), "signature-encoding")


def test_spare_bits_would_make_two_texts_of_one_signature() -> None:
    entry = {**ENTRY, "signature": spare_bits(ENTRY["signature"])}
    assert "spare bits" in malformed(with_signatures(CARD, [entry]), "signature-encoding")


@pytest.mark.parametrize(
    "protected",
    [
        b"",
        b"\xff\xfe",
        b"not json",
        b'{"alg":"ES256","kid":"k1"',
        b'["ES256"]',
        b'"ES256"',
        b"null",
        b'{"alg":"ES256","kid":"k1","alg":"none"}',
        b'{"alg":"ES256","kid":"k1","n":NaN}',
        b'{"alg":"ES256","kid":"k1","n":' + b"9" * 5000 + b"}",
        b'\xef\xbb\xbf{"alg":"ES256","kid":"k1"}',
        b"[" * 100_000,
    ],
    ids=lambda protected: repr(protected[:30]),
)
def test_a_header_is_one_strict_json_object(protected: bytes) -> None:
    entry = {**ENTRY, "protected": b64(protected)}
    malformed(with_signatures(CARD, [entry]), "signature-encoding" if protected else "signature-shape")


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ({"kid": ...}, "kid null"),
        ({"kid": None}, "kid null"),
        ({"kid": ""}, "kid ''"),
        ({"kid": 1}, "kid 1"),
        ({"kid": ["k1"]}, "kid a list of 1"),
        ({"alg": ...}, "alg null"),
        ({"alg": None}, "alg null"),
        ({"alg": ["ES256"]}, "alg a list of 1"),
        ({"crit": ["x-lab"], "x-lab": True}, "crit x-lab"),
        ({"crit": ["exp"], "exp": 1}, "crit exp"),
        ({"crit": ["b64"], "b64": True}, "crit b64"),
        ({"crit": []}, "crit a list of 0"),
        ({"crit": None}, "crit null"),
        ({"crit": "x-lab"}, "crit 'x-lab'"),
        ({"crit": [1, {}]}, "crit 1, {}"),
        ({"b64": False}, "b64 false"),
        ({"b64": False, "crit": ["b64"]}, "crit b64"),
        ({"b64": None}, "b64 null"),
        ({"b64": 1}, "b64 1"),
        ({"jku": 7}, "jku 7"),
        ({"jku": ["https://keys.example"]}, "jku a list of 1"),
    ],
    ids=str,
)
def test_headers_that_nobody_may_act_on(header: dict[str, Any], says: str) -> None:
    assert says in malformed(K1.signed(CARD, **header), "signature-header")


@pytest.mark.parametrize("header", [{"b64": True}, {"jku": None}, {"cty": "x"}, {"x-vendor": [1]}], ids=str)
def test_headers_that_change_nothing(header: dict[str, Any]) -> None:
    assert judge(K1.signed(CARD, **header), K1).authoritative


@pytest.mark.parametrize("typ", [..., None, "JWT", "JWS", "jose", 7, ["JOSE"]], ids=str)
def test_another_typ_is_noted_for_the_specification_only_asks(typ: Any) -> None:
    report = judge(K1.signed(CARD, typ=typ), K1, require=True)
    assert report.authoritative and verdict(report) is Verdict.ACCEPT
    assert report.findings[0].slug == "signature-type" and report.findings[0].kind is Kind.NOTE


@pytest.mark.parametrize("name", ["jwk", "x5c", "x5u"])
def test_a_key_that_the_signature_brings_along_is_never_used(name: str) -> None:
    stranger = Signer("stranger")
    card = stranger.signed(CARD, **{name: stranger.public()})
    report = judge(card, K1)
    assert [finding.slug for finding in report.findings] == ["signature-brings-key", "untrusted-key"]
    assert verdict(report) is Verdict.HINT


@pytest.mark.parametrize("unprotected", [{}, None, {"x-note": 1}, {"jku": "https://attacker.example.org/jwks.json"}])
def test_an_unprotected_header_of_other_names_decides_nothing(unprotected: Any) -> None:
    report = judge(K1.signed(CARD, unprotected=unprotected), K1, jku_allow=["attacker.example.org"])
    assert report.authoritative and report.wanted_jku == ()


@pytest.mark.parametrize(
    "unprotected",
    [{"kid": "k1"}, {"kid": "k2", "alg": "none", "jku": "https://attacker.example.org/jwks.json"}, {"typ": "JOSE"}],
    ids=str,
)
def test_a_name_in_both_headers_disqualifies_and_the_form_is_still_named(unprotected: dict[str, Any]) -> None:
    card = K1.signed(CARD, unprotected=unprotected)
    assert "in both headers" in malformed(card, "signature-header")
    report = judge(card, K1)
    assert (report.verified_by, report.kid, report.authoritative) == ("spec", "k1", False)


@pytest.mark.parametrize("unprotected", [{"crit": ["x"]}, {"b64": False}, {"b64": True}], ids=str)
def test_what_has_to_be_protected_must_not_stand_open(unprotected: dict[str, Any]) -> None:
    assert "nobody signed it" in malformed(K1.signed(CARD, unprotected=unprotected), "signature-header")


def test_alg_and_kid_in_the_unprotected_header_are_not_read() -> None:
    bare = K1.signed(CARD, alg=..., kid=..., unprotected={"alg": "ES256", "kid": "k1"})
    malformed(bare, "signature-header")


@pytest.mark.parametrize(
    "algorithm", ["none", "None", "HS256", "HS512", "ES256K", "RS1", "dir", "ES384", "RS256", "es256", ""]
)
@pytest.mark.parametrize("require", [False, True])
def test_another_algorithm_under_a_trusted_kid_refuses_under_both_policies(algorithm: str, require: bool) -> None:
    # The signature itself is good ES256: an algorithm that the signer chose must not be tried.
    report = judge(K1.signed(CARD, alg=algorithm), K1, require=require)
    assert verdict(report) is Verdict.REFUSE and report.verified_by is None
    assert report.findings[-1].slug == "signature-algorithm"


def test_hmac_with_the_public_key_is_refused() -> None:
    import hashlib
    import hmac

    from a2a_lab.core.profiles import PROFILES

    header = b64(json.dumps({"alg": "HS256", "kid": "k1", "typ": "JOSE"}).encode())
    public = K1.key.export_to_pem()
    mac = hmac.new(public, f"{header}.{b64(PROFILES['spec'](CARD.document))}".encode(), hashlib.sha256).digest()
    report = judge(with_signatures(CARD, [{"protected": header, "signature": b64(mac)}]), K1)
    assert (verdict(report), report.findings[-1].slug) == (Verdict.REFUSE, "signature-algorithm")


def test_an_algorithm_under_an_unknown_kid_is_an_unknown_key() -> None:
    report = judge(Signer("stranger").signed(CARD, alg="none"), K1)
    assert (verdict(report), report.findings[-1].slug) == (Verdict.HINT, "untrusted-key")


def test_rsa_keys_that_name_no_algorithm_are_not_confused_with_others() -> None:
    signer = Signer("r", "RS256", owner="rsa")
    assert judge(signer.signed(CARD), signer.public(alg=...)).authoritative
    assert verdict(judge(signer.signed(CARD), signer.public(alg="PS256"))) is Verdict.REFUSE
    assert verdict(judge(signer.signed(CARD, alg="PS256"), signer.public(alg=...))) is Verdict.REFUSE
    assert verdict(judge(signer.signed(CARD, alg="ES256"), signer.public(alg=...))) is Verdict.REFUSE


def test_hostile_values_stay_on_one_short_line() -> None:
    report = judge(K1.signed(CARD, kid="\x1b[31m\n" + "x" * 10_000 + "\ud800"), K1)
    detail = report.findings[-1].detail
    assert len(detail) < 300 and detail.isprintable()

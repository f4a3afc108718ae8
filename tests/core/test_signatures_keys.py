"""R20: what a set of trusted keys may hold, when and where a key may speak, and that it is parsed once."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from jwcrypto.jwk import JWK

from a2a_lab.core.keys import ALGORITHMS, KeySet
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Verdict
from tests.core.cards import AGENT, interface, one_zero
from tests.core.signing import KINDS, NOW, Signer, judge, keys, verdict

K1 = Signer()
GOOD = K1.public()


def slug(*jwks: dict[str, Any], **how: Any) -> tuple[Verdict, str]:
    """Verdict and last finding for a card that K1 signed well, under other keys."""
    report = judge(K1.signed(one_zero()), *jwks, **how)
    return verdict(report), report.findings[-1].slug


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (None, "no JWK set"),
        ([GOOD], "no JWK set"),
        ({}, "no JWK set"),
        ({"keys": GOOD}, "no JWK set"),
        ({"keys": [7]}, "key 0 is 7"),
        ({"keys": [GOOD, {**GOOD, "kid": ""}]}, "key 1 has kid ''"),
        ({"keys": [{**GOOD, "kid": 7}]}, "key 0 has kid 7"),
        ({"keys": [GOOD, GOOD]}, "two keys are called 'k1'"),
        ({"keys": [{"kty": "oct", "kid": "s", "k": "AAAA"}]}, "'s' is symmetric"),
        ({"keys": [{"kid": "s", "k": "AAAA"}]}, "kty null"),
        ({"keys": [{**GOOD, "kty": ["EC"]}]}, "kty a list of 1"),
        ({"keys": [{**GOOD, "kty": "AKP"}]}, "kty 'AKP'"),
        ({"keys": [{**GOOD, "d": "AAAA"}]}, r"private material \(d\)"),
        ({"keys": [{**GOOD, "use": "enc"}]}, "not for signatures"),
        ({"keys": [{**GOOD, "key_ops": ["sign"]}]}, "not for signatures"),
        ({"keys": [{**GOOD, "key_ops": "verify"}]}, "not for signatures"),
        ({"keys": [{**GOOD, "crv": "secp256k1"}]}, "curve 'secp256k1'"),
        ({"keys": [{**GOOD, "crv": None}]}, "curve null"),
        ({"keys": [{**GOOD, "alg": "ES384"}]}, "alg 'ES384'; a key of this type can do ES256"),
        ({"keys": [{**GOOD, "alg": "HS256"}]}, "alg 'HS256'"),
        ({"keys": [{**GOOD, "alg": ["ES256"]}]}, "alg a list of 1"),
        ({"keys": [{**GOOD, "x": GOOD["y"]}]}, "no public key"),
        ({"keys": [{**GOOD, "x": 7}]}, "no public key"),
        ({"keys": [{name: value for name, value in GOOD.items() if name != "x"}]}, "no public key"),
        ({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "e", "x": "AAAA"}]}, "no public key"),
        ({"keys": [{**GOOD, "exp": "soon"}]}, "exp is 'soon'; expected Unix seconds"),
        ({"keys": [{**GOOD, "exp": True}]}, "exp is true"),
        ({"keys": [{**GOOD, "exp": [1]}]}, "exp is a list of 1"),
        ({"keys": [{**GOOD, "nbf": "2026-11-30T00:00:00"}]}, "nbf is '2026-11-30T00:00:00'"),
        ({"keys": [{**GOOD, "nbf": math.nan}]}, "nbf is nan"),
        ({"keys": [{**GOOD, "exp": 1_796_000_000_000}]}, "exp is 1796000000000"),
        ({"keys": [{**GOOD, "revoked_at": "yesterday"}]}, "revoked_at is 'yesterday'"),
        ({"keys": [{**GOOD, "revoked": "yes"}]}, "revoked is 'yes'"),
        ({"keys": [{**GOOD, "revoked": 1}]}, "revoked is 1"),
        ({"keys": [{**GOOD, "origins": "https://a.example"}]}, "origins is 'https://a.example'"),
        ({"keys": [{**GOOD, "origins": []}]}, "origins is a list of 0"),
        ({"keys": [{**GOOD, "origins": [7]}]}, "origins: 7 is no URL"),
        ({"keys": [{**GOOD, "origins": ["a.example"]}]}, "origins: 'a.example'"),
        ({"keys": [{**GOOD, "origins": ["https://a.example/rpc"]}]}, "an origin ends with its host or port"),
    ],
)
def test_a_wrong_set_is_the_operators_mistake_and_says_which(document: Any, says: str) -> None:
    with pytest.raises(Misuse, match=says):
        KeySet.from_jwks(document)


def test_short_rsa_keys_are_refused() -> None:
    short = JWK.generate(kty="RSA", size=1024, kid="r").export_public(as_dict=True)
    with pytest.raises(Misuse, match="1024 bits; RSA needs 2048"):
        keys(short)


def test_a_set_is_asked_by_kid() -> None:
    two = keys(GOOD, Signer("k2").public())
    assert len(two) == 2 and [key.kid for key in two] == ["k1", "k2"]
    assert two.get("k3") is None
    assert len(KeySet.from_jwks({"keys": []})) == 0


def test_a_key_is_parsed_once() -> None:
    key = keys(GOOD).get("k1")
    assert key is not None
    assert key.jwk.get_op_key("verify", "P-256") is key.jwk.get_op_key("verify", "P-256")


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_every_allowed_algorithm_verifies_and_notices_a_change(algorithm: str) -> None:
    signer = Signer("k", algorithm, owner=algorithm[:2])
    card = signer.signed(one_zero())
    assert verdict(judge(card, signer)) is Verdict.ACCEPT
    assert judge(card, signer).authoritative
    without_alg = signer.public(alg=...)
    assert judge(card, without_alg).authoritative, "a key that names no algorithm does those of its type"
    other = Signer("k", algorithm, owner=f"other {algorithm[:2]}")
    assert verdict(judge(card, other)) is Verdict.REFUSE


def test_the_algorithms_are_those_the_tests_know() -> None:
    assert set(ALGORITHMS) == set(KINDS)


@pytest.mark.parametrize("length", [0, 1, 63, 65, 128])
def test_a_signature_of_another_length_verifies_nothing(length: int) -> None:
    key = keys(GOOD).get("k1")
    assert key is not None and not key.verifies("ES256", b"input", bytes(length))


@pytest.mark.parametrize(
    ("state", "usable"),
    [
        ({"exp": NOW + 1}, True),
        ({"exp": NOW}, False),
        ({"exp": "2026-11-29T23:59:59Z"}, False),
        ({"exp": "2026-11-30T02:00:00+01:00"}, True),
        ({"exp": "2026-11-30T00:30:00+01:00"}, False),
        ({"exp": 0}, False),
        ({"exp": None, "nbf": None, "revoked_at": None}, True),
        ({"nbf": NOW}, True),
        ({"nbf": NOW + 0.5}, False),
        ({"nbf": "2027-01-01T00:00:00Z"}, False),
        ({"revoked_at": NOW}, False),
        ({"revoked_at": "2020-01-01T00:00:00Z"}, False),
        ({"revoked_at": NOW + 1}, True),
        ({"revoked": True}, False),
        ({"revoked": True, "revoked_at": NOW - 1}, False),
        ({"revoked": False}, True),
        ({"revoked": False, "revoked_at": NOW - 1}, False),
        ({"revoked": {}}, False),
        ({"revoked": {"revoked_at": None}}, False),
        ({"revoked": {"revoked_at": NOW - 1, "reason": "compromised"}}, False),
        ({"revoked": {"revoked_at": NOW + 1}}, True),
        ({"exp": NOW + 1, "nbf": NOW - 1, "revoked_at": NOW - 1}, False),
    ],
    ids=str,
)
def test_expired_revoked_and_future_keys_never_verify(state: dict[str, Any], usable: bool) -> None:
    key = K1.public(**state)
    if usable:
        assert slug(key) == (Verdict.ACCEPT, "signature-verified")
    else:
        # R19: unverifiable is as good as unsigned, and `require` does not let that pass.
        assert slug(key) == (Verdict.HINT, "key-not-usable")
        assert slug(key, require=True) == (Verdict.REFUSE, "key-not-usable")


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"exp": NOW}, "expired at 2026-11-30T00:00:00"),
        ({"nbf": "2027-01-01T00:00:00Z"}, "not valid before 2027-01-01"),
        ({"revoked_at": 0}, "revoked at 1970-01-01"),
        ({"revoked": True}, "revoked at some time"),
    ],
)
def test_the_finding_says_when(state: dict[str, Any], says: str) -> None:
    report = judge(K1.signed(one_zero()), K1.public(**state))
    assert says in report.findings[-1].detail


def test_time_is_an_argument() -> None:
    key = K1.public(nbf=100, exp=200)
    verdicts = [slug(key, now=now)[0] for now in (99.9, 100, 199.9, 200)]
    assert verdicts == [Verdict.HINT, Verdict.ACCEPT, Verdict.ACCEPT, Verdict.HINT]


@pytest.mark.parametrize(
    ("origins", "served_from", "fits"),
    [
        ([AGENT], f"{AGENT}/.well-known/agent-card.json", True),
        ([f"{AGENT}/"], AGENT, True),
        (["HTTPS://Agent.Example.Test:443"], AGENT, True),
        ([AGENT], None, True),
        ([AGENT], "https://mirror.example.org", False),
        ([AGENT], "http://agent.example.test", False),
        ([AGENT], f"{AGENT}:8443", False),
        ([AGENT], "no url", False),
        (["https://mirror.example.org"], "https://mirror.example.org", False),
        ([AGENT, "https://mirror.example.org"], "https://mirror.example.org", True),
        (["https://example.test"], AGENT, False),
    ],
)
def test_a_key_bound_to_origins_speaks_there_only(origins: list[str], served_from: str | None, fits: bool) -> None:
    key = K1.public(origins=origins)
    expected = (Verdict.ACCEPT, "signature-verified") if fits else (Verdict.HINT, "key-elsewhere")
    assert slug(key, served_from=served_from) == expected
    if not fits:
        assert slug(key, served_from=served_from, require=True) == (Verdict.REFUSE, "key-elsewhere")


def test_without_a_chosen_interface_every_place_of_the_card_counts() -> None:
    elsewhere = interface("https://other.example/rpc")
    here, both = one_zero(), one_zero(interface(), elsewhere)
    for card, expected in ((here, Verdict.ACCEPT), (both, Verdict.HINT)):
        report = judge(K1.signed(card), K1.public(origins=[AGENT]), interface=None)
        assert verdict(report) is expected
    nowhere = replace(K1.signed(here), interfaces=())
    assert "names no place at all" in judge(nowhere, K1.public(origins=[AGENT])).findings[-1].detail
    report = judge(K1.signed(both), K1.public(origins=[AGENT]), interface=None, served_from=AGENT)
    assert verdict(report) is Verdict.ACCEPT, "a place that is known is enough"


def test_a_grpc_interface_names_host_and_port() -> None:
    card = K1.signed(one_zero(interface("agent.example.test:443", binding="GRPC")))
    assert judge(card, K1.public(origins=[AGENT])).authoritative
    assert not judge(card, K1.public(origins=[f"{AGENT}:8443"])).authoritative


def test_a_fetched_set_leaves_out_what_cannot_be_used_and_names_it() -> None:
    fetched = KeySet.from_fetched(
        {
            "keys": [
                GOOD,
                7,
                {**GOOD, "kid": "enc", "use": "enc"},
                {**GOOD, "kid": "twice"},
                {**GOOD, "kid": "twice"},
                {"kty": "unknown", "kid": "new"},
            ]
        }
    )
    assert [key.kid for key in fetched] == ["k1"]
    assert len(fetched.left_out) == 4 and "two keys are called 'twice'" in fetched.left_out[-1]
    assert KeySet.from_fetched({"error": "not found"}).left_out == (
        'an object of 1 is no JWK set; expected an object {"keys": [...]} (RFC 7517 5)',
    )

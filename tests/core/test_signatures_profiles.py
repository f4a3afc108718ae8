"""R18: the forms that are signed in the field, by name, each held against what real signers and verifiers did."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from jwcrypto.jwk import JWK

from a2a_lab.core.canonical import canonical_bytes
from a2a_lab.core.keys import KeySet
from a2a_lab.core.profiles import PROFILES, authority_profiles, profiles_for
from a2a_lab.core.signatures import passing_profiles
from a2a_lab.errors import MalformedJson
from tests.core.cards import card_of, one_zero, zero_three
from tests.core.signing import DATA, judge, vectors

RECORDED = {"spec": "spec", "spec_u": "spec+unknown", "raw": "raw", "sdk": "sdk-1"}
BY_SDK = {
    "a2a-sdk 1.0.3": "sdk-1-ascii",
    "a2a-sdk 1.1.0": "sdk-1-ascii",
    "a2a-sdk 1.2.3": "sdk-1",
    "a2a-sdk 1.3.0": "sdk-1",
    "a2a-sdk 0.3.26": "sdk-0.3",
}
PUBLIC = JWK.from_pem(
    b"-----BEGIN PUBLIC KEY-----\n"
    b"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEhfsoYsK8f/+dOlWpGMfVpsGEe8lF\n"
    b"tcDF/5CdUaNWu2PP4yHgLhkQxSmtwqP3Tjh3GQqsAuf2KxQzFsJYXhq6wA==\n"
    b"-----END PUBLIC KEY-----\n"
).export_public(as_dict=True) | {"kid": "k1"}


def of(name: str, document: dict[str, Any]) -> Any:
    return json.loads(PROFILES[name](document))


def sha256(name: str, document: dict[str, Any]) -> str:
    return hashlib.sha256(PROFILES[name](document)).hexdigest()


def test_the_names_are_those_of_the_ruling() -> None:
    assert set(PROFILES) == {
        "spec",
        "spec+unknown",
        "raw",
        "sdk-1",
        "sdk-1-ascii",
        "sdk-0.3",
        "crewai-ascii",
        "spec-8.4.3-literal",
    }


def test_authority_depends_on_the_generation_of_the_card() -> None:
    assert authority_profiles("1.0") == ("spec", "spec+unknown")
    assert [authority_profiles(form) for form in ("0.3", "0.2", "0.1")] == [("raw",)] * 3
    assert [profile.name for profile in profiles_for("1.0")][:3] == ["spec", "spec+unknown", "raw"]
    assert profiles_for("0.3")[0].name == "raw"
    assert all(len(profiles_for(form)) == len(PROFILES) for form in ("1.0", "0.3"))


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
@pytest.mark.parametrize("recorded", sorted(RECORDED))
def test_the_recorded_bytes_of_the_handed_vectors(vector: dict[str, Any], recorded: str) -> None:
    expected = vector["profiles"][recorded]
    written = PROFILES[RECORDED[recorded]](vector["card"])
    assert (hashlib.sha256(written).hexdigest(), len(written)) == (expected["sha256"], expected["length"])
    assert (written == bytes.fromhex(vector["signed_payload_hex"])) is expected["equals_signed_payload"]


@pytest.mark.parametrize(
    ("sdk", "vector"),
    [
        pytest.param(sdk, vector, id=f"{vector['name']}-{sdk}")
        for vector in vectors()
        for sdk in BY_SDK
        if "canonical_sha256" in vector["sdk"].get(sdk, {})
        # The 1.x SDKs first rewrite a 0.3 card into a 1.0 one; the profile judges the card as it is.
        and not (vector["name"] == "v21_v03_default_stripped" and not sdk.endswith("0.3.26"))
    ],
)
def test_the_sdk_forms_are_those_that_the_sdks_computed(sdk: str, vector: dict[str, Any]) -> None:
    assert sha256(BY_SDK[sdk], vector["card"]) == vector["sdk"][sdk]["canonical_sha256"]


@pytest.mark.parametrize(
    ("name", "first", "uncovered"),
    [
        ("js1.json", "spec", ()),
        ("js1-full.json", "spec", ()),
        ("py1.json", "spec", ()),
        ("py1-ascii.json", "spec", ()),
        ("py1-compat.json", "spec", ("/preferredTransport", "/protocolVersion", "/url")),
        ("py03.json", "sdk-0.3", ("/preferredTransport", "/protocolVersion")),
        ("crewai.json", "raw", ()),
        ("crewai-nonascii.json", "crewai-ascii", ()),
    ],
)
def test_cards_that_real_signers_signed(name: str, first: str, uncovered: tuple[str, ...]) -> None:
    card = card_of(json.loads((DATA / "vectors" / "field" / name).read_text()))
    report = judge(card, PUBLIC)
    assert (report.verified_by, report.uncovered) == (first, uncovered)
    # CrewAI repeats kid in the unprotected header, and 0.3 signers have no form that everybody reads alike.
    assert report.authoritative is name.startswith(("js", "py1"))


def test_all_forms_that_a_signature_passes_are_told_to_who_compares_signers() -> None:
    def passes(name: str) -> tuple[str, ...]:
        card = card_of(json.loads((DATA / "vectors" / "field" / name).read_text()))
        return passing_profiles(card, KeySet.from_jwks({"keys": [PUBLIC]}))

    assert passes("crewai.json")[:2] == ("raw", "crewai-ascii") and passes("crewai-nonascii.json") == ("crewai-ascii",)
    assert passes("py1-compat.json") == ("spec", "sdk-1", "sdk-1-ascii")
    assert passing_profiles(card_of({"name": "x", "signatures": ["odd", {"protected": "?"}]}), KeySet()) == ()


@pytest.mark.parametrize(("sdk", "form"), [("1.0.3", "sdk-1-ascii"), ("1.1.0", "sdk-1-ascii"), ("1.3.0", "sdk-1")])
def test_hybrid_cards_as_the_sdk_serves_them_pass_only_the_sdk_form(sdk: str, form: str) -> None:
    card = card_of(json.loads((DATA / "vectors" / f"sdk_served_hybrid_{sdk}.json").read_text()))
    report = judge(card, vectors()[0]["public_jwk"])
    assert (report.verified_by, report.authoritative) == (form, False)
    assert {"/url", "/protocolVersion", "/securitySchemes", "/securityRequirements"} <= set(report.uncovered)


def test_sdk_1_drops_empties_at_every_depth_and_what_the_proto_does_not_know() -> None:
    document = {
        "name": "",
        "url": "https://legacy.example",
        "capabilities": {"streaming": False, "extensions": [{"required": False, "params": {"a": [{}, ""], "n": 1}}]},
        "securitySchemes": {"m": {"mtlsSecurityScheme": {}}},
        "securityRequirements": [{"schemes": {"m": {"list": []}}}],
        "skills": [{"id": "e", "examples": ["", "x"]}],
    }
    assert of("sdk-1", document) == {
        "capabilities": {"streaming": False, "extensions": [{"params": {"n": 1}}]},
        "skills": [{"id": "e", "examples": ["x"]}],
    }
    assert of("sdk-1", {}) == of("sdk-1-ascii", {}) == of("sdk-0.3", {}) == {}


def test_a_protobuf_reader_also_takes_names_in_snake_case() -> None:
    document = {
        "supported_interfaces": [{"protocol_binding": "JSONRPC", "x": 1}, "odd"],
        "default_input_modes": ["text/plain"],
        "security_schemes": {"s": {"api_key_security_scheme": {"location": "header"}}},
        "capabilities": {"push_notifications": True},
        "skills": "odd",
        "provider": 1,
    }
    assert of("sdk-1", document) == {
        "supportedInterfaces": [{"protocolBinding": "JSONRPC"}, "odd"],
        "defaultInputModes": ["text/plain"],
        "securitySchemes": {"s": {"apiKeySecurityScheme": {"location": "header"}}},
        "capabilities": {"pushNotifications": True},
        "skills": "odd",
        "provider": 1,
    }
    assert of("spec", document)["supportedInterfaces"] == []


def test_early_sdks_wrote_doubles_and_ascii() -> None:
    params = {"n": 10, "half": 0.5, "flag": True, "list": [1, "é"], "none": None}
    document = {"name": "é\u2028😀", "capabilities": {"extensions": [{"params": params}]}}
    written = PROFILES["sdk-1-ascii"](document).decode()
    assert '"flag":true,"half":0.5,"list":[1.0,"\\u00e9"],"n":10.0' in written
    assert '"name":"\\u00e9\\u2028\\ud83d\\ude00"' in written


def test_the_literal_reading_of_8_4_3_drops_every_default() -> None:
    document = {
        "description": "",
        "capabilities": {"streaming": False, "extensions": []},
        "skills": [{"id": "e", "examples": []}, {}],
        "x": {"zero": 0, "null": None, "deep": {"empty": {}}, "kept": 1},
        "signatures": [],
    }
    assert of("spec-8.4.3-literal", document) == {"skills": [{"id": "e"}, {}], "x": {"kept": 1}}


def test_sdk_0_3_drops_schema_defaults_and_empties() -> None:
    card = zero_three(
        additionalInterfaces=[{"url": "u", "transport": "JSONRPC", "x": 1}],
        supportsAuthenticatedExtendedCard=False,
        iconUrl=None,
        security=[{"a": []}],
        provider={"organization": "", "url": "p", "x": 1},
        securitySchemes={
            "a": {"type": "apiKey", "in": "header", "name": "k", "scheme": "not of this type"},
            "h": {"scheme": "bearer"},
            "k": {"in": "query", "name": "n"},
            "c": {"flows": {"implicit": {"scopes": {}, "authorizationUrl": "u", "x": 1}}},
            "d": {"openIdConnectUrl": "u", "type": ["odd"]},
            "m": {"type": "mutualTLS"},
            "n": {"description": "d", "type": "AgentCard"},
            "odd": 1,
        },
        x=1,
    )
    assert of("sdk-0.3", dict(card.document)) == {
        "name": "Test Agent",
        "description": "Agent under test.",
        "version": "1.0.0",
        "url": "https://agent.example.test/rpc",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "sum", "name": "Summarise", "description": "Shortens a text.", "tags": ["text"]}],
        "additionalInterfaces": [{"url": "u", "transport": "JSONRPC"}],
        "supportsAuthenticatedExtendedCard": False,
        "provider": {"url": "p"},
        "securitySchemes": {
            "a": {"in": "header", "name": "k"},
            "h": {"scheme": "bearer"},
            "k": {"in": "query", "name": "n"},
            "c": {"flows": {"implicit": {"authorizationUrl": "u"}}},
            "d": {"openIdConnectUrl": "u", "type": ["odd"]},
            "n": {"description": "d", "type": "AgentCard"},
            "odd": 1,
        },
    }


def test_other_versions_and_transports_are_no_defaults() -> None:
    card = zero_three(protocolVersion="0.3", preferredTransport="GRPC")
    assert of("sdk-0.3", dict(card.document)) | {"protocolVersion": "0.3", "preferredTransport": "GRPC"} == of(
        "sdk-0.3", dict(card.document)
    )


def test_crewai_writes_defaults_and_keeps_empties() -> None:
    card = zero_three(
        protocolVersion=...,
        preferredTransport=None,
        security=[],
        securitySchemes={"h": {"scheme": "bearer", "bearerFormat": None}},
        name="écho",
        x=1,
    )
    written = of("crewai-ascii", dict(card.document))
    assert written["protocolVersion"] == "0.3.0"
    assert "preferredTransport" not in written and "x" not in written
    assert written["security"] == []
    assert written["securitySchemes"] == {"h": {"type": "http", "scheme": "bearer"}}
    assert b"\\u00e9cho" in PROFILES["crewai-ascii"](dict(card.document))


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_no_profile_writes_what_json_cannot_say(name: str) -> None:
    extension = {"uri": "u", "params": {"n": float("inf")}}
    document = {**one_zero().document, "url": "u", "capabilities": {"extensions": [extension]}}
    with pytest.raises(MalformedJson):
        PROFILES[name](document)


def test_a_card_nested_beyond_reason_is_refused_and_not_a_crash() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    document = {"capabilities": {"extensions": [{"params": {"deep": deep}}]}}
    with pytest.raises(MalformedJson, match="nested too deeply for a signature"):
        PROFILES["sdk-1"](document)


def test_ascii_profiles_equal_the_canonical_form_where_nothing_has_to_be_escaped() -> None:
    document = dict(zero_three().document)
    assert PROFILES["crewai-ascii"](document) == canonical_bytes(document)

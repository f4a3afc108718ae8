"""Cards of every generation: read for meaning, kept as they came, and reported where they are odd (R8, R13, R14)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.core.model import Card, Skill
from a2a_lab.wire.cards import CardReading, read_card
from tests.wire.talk import said, slugs

RECORDED = sorted((Path(__file__).parent / "recorded" / "cards").glob("*.json"))

V1: dict[str, Any] = {
    "name": "Test Agent",
    "description": "Agent under test.",
    "version": "1.2.3",
    "supportedInterfaces": [
        {"url": "https://agent.example.test/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    ],
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "sum", "name": "Summarise", "description": "Shortens.", "tags": ["text"]}],
}
V03: dict[str, Any] = {k: v for k, v in V1.items() if k != "supportedInterfaces"} | {
    "protocolVersion": "0.3.0",
    "url": "https://agent.example.test/rpc",
    "preferredTransport": "JSONRPC",
}


def read(base: dict[str, Any], **members: Any) -> CardReading:
    """The card with other members; a member that is ... is left out."""
    document = {name: value for name, value in (base | members).items() if value is not ...}
    return read_card(json.dumps(document).encode())


def card(base: dict[str, Any], **members: Any) -> Card:
    found = read(base, **members).card
    assert found is not None
    return found


@pytest.mark.parametrize("base", [V1, V03], ids=["1.0", "0.3"])
def test_a_good_card_has_no_findings(base: dict[str, Any]) -> None:
    reading = read(base)
    assert reading.findings == ()
    assert reading.card is not None
    assert (reading.card.name, reading.card.version, reading.card.capabilities) == (
        "Test Agent",
        "1.2.3",
        {"streaming": True},
    )
    assert reading.card.skills == (Skill(id="sum"),)


def test_bytes_and_document_are_kept_as_they_came() -> None:
    raw = json.dumps(V1 | {"x-unknown": [1.0], "iconUrl": None}, indent=3).encode()
    found = read_card(raw).card
    assert found is not None
    assert (found.raw, found.document) == (raw, json.loads(raw))


# -- no card (R13)


@pytest.mark.parametrize(
    ("raw", "slug"),
    [
        (b"<html><body>Sign in</body></html>", "not-a-card"),
        (b"", "not-a-card"),
        (b"[]", "not-a-card"),
        (b'"card"', "not-a-card"),
        (b"{}", "not-a-card"),
        (b'{"error": "not found"}', "not-a-card"),
        (b'{"name": null, "error": "x"}', "not-a-card"),
        (b'{"name": "a", "name": "b"}', "duplicate-key"),
        (b'{"name": NaN}', "nan"),
        (b'{"name": "\\ud800"}', "lone-surrogate"),
        (b'{"name": "\xff"}', "bad-utf8"),
        (b'{"version": 9007199254740993}', "big-integer"),
        (b'{"skills": ' + b"[" * 200, "too-deep"),
    ],
)
def test_what_is_no_card_is_refused_whatever_its_content_type_says(raw: bytes, slug: str) -> None:
    reading = read_card(raw)
    assert reading.card is None
    assert said(reading.findings) == [(slug, "refuse", "fetch")]


def test_one_required_member_makes_it_a_card_with_gaps() -> None:
    reading = read_card(b'{"name": "x"}')
    assert reading.card is not None
    assert said(reading.findings) == [
        ("card-member-missing", "hint", "fetch"),
        ("interface-incomplete", "conformance-error", "fetch"),
    ]


def test_a_byte_order_mark_is_no_fault() -> None:
    assert read_card(b"\xef\xbb\xbf" + json.dumps(V1).encode()).findings == ()


# -- forms (R8)


@pytest.mark.parametrize(
    ("document", "form"),
    [
        (V1, "1.0"),
        (V03, "0.3"),
        (V03 | {"protocolVersion": "0.2.6"}, "0.2"),
        (V03 | {"protocolVersion": None}, "0.3"),
        (V03 | {"protocolVersion": "1.0"}, "0.3"),
        (V03 | {"protocolVersion": 0.3}, "0.3"),
        (V03 | {"protocolVersion": None, "authentication": {"schemes": ["Bearer"]}}, "0.1"),
        (V03 | {"supportedInterfaces": []}, "0.3"),
        (V03 | V1, "1.0"),
        (V1 | {"supportedInterfaces": []}, "1.0"),
        (V1 | {"supportedInterfaces": {}}, "1.0"),
    ],
)
def test_the_form_is_told_by_members(document: dict[str, Any], form: str) -> None:
    assert card(document).form == form


def test_a_0_3_card_has_its_main_interface_first_all_in_the_cards_version() -> None:
    found = card(
        V03,
        preferredTransport=...,
        additionalInterfaces=[
            {"url": "https://agent.example.test/rpc", "transport": "JSONRPC"},
            {"url": "https://agent.example.test/v1", "transport": "HTTP+JSON"},
        ],
    )
    assert [(i.url, i.binding, i.version, i.pointer) for i in found.interfaces] == [
        ("https://agent.example.test/rpc", "JSONRPC", "0.3.0", ""),
        ("https://agent.example.test/v1", "HTTP+JSON", "0.3.0", "/additionalInterfaces/1"),
    ]


def test_a_1_0_card_lists_its_interfaces_with_tenant_and_pointer() -> None:
    entry = V1["supportedInterfaces"][0]
    found = card(V1, supportedInterfaces=[entry | {"tenant": "acme"}, entry | {"tenant": "", "protocolVersion": 1.0}])
    assert [(i.tenant, i.version, i.pointer) for i in found.interfaces] == [
        ("acme", "1.0", "/supportedInterfaces/0"),
        (None, 1.0, "/supportedInterfaces/1"),
    ]


def test_legacy_members_of_a_1_0_card_are_named_and_never_mixed_in() -> None:
    reading = read(V1, url="https://elsewhere.example.test/", protocolVersion="0.3", preferredTransport="JSONRPC")
    assert reading.card is not None
    assert [interface.url for interface in reading.card.interfaces] == ["https://agent.example.test/rpc"]
    (finding,) = reading.findings
    assert (finding.slug, finding.values["found"]) == ("hybrid-card", ["url", "preferredTransport", "protocolVersion"])


@pytest.mark.parametrize(
    ("base", "members"),
    [
        (V03, {"url": ...}),
        (V03, {"url": ""}),
        (V03, {"additionalInterfaces": [{"url": "https://x"}]}),
        (V1, {"supportedInterfaces": [{"protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}),
        (V1, {"supportedInterfaces": [{"url": "https://x", "protocolVersion": "1.0"}]}),
    ],
)
def test_an_interface_that_cannot_be_called_does_not_conform(base: dict[str, Any], members: dict[str, Any]) -> None:
    assert said(read(base, **members).findings) == [("interface-incomplete", "conformance-error", "fetch")]


# -- shapes (R14)


def test_null_is_unset_for_meaning() -> None:
    reading = read(
        V03,
        capabilities={"streaming": True, "pushNotifications": None, "extensions": None},
        iconUrl=None,
        signatures=None,
        securitySchemes=None,
        additionalInterfaces=None,
    )
    assert reading.findings == ()
    assert reading.card is not None
    assert (reading.card.capabilities, reading.card.signatures) == ({"streaming": True}, None)


@pytest.mark.parametrize("member", ["name", "description", "version", "capabilities", "defaultInputModes", "skills"])
def test_a_missing_member_that_decides_nothing_is_a_hint(member: str) -> None:
    for base in (V1, V03):
        for missing in (..., None):
            assert said(read(base, **{member: missing}).findings) == [("card-member-missing", "hint", "fetch")]


def test_snake_case_is_understood_and_does_not_conform() -> None:
    document = {k: v for k, v in V1.items() if k not in ("supportedInterfaces", "defaultInputModes")}
    document["supported_interfaces"] = [{"url": "https://x", "protocol_binding": "JSONRPC", "protocol_version": "1.0"}]
    document["default_input_modes"] = ["a/b"]
    document["skills"] = [{"id": "s", "input_modes": ["c/d"]}]
    document["capabilities"] = {"push_notifications": True}
    reading = read_card(json.dumps(document).encode())
    assert reading.card is not None
    assert said(reading.findings) == [("card-snake-case", "conformance-error", "fetch")]
    assert (reading.card.form, reading.card.interfaces[0].binding) == ("1.0", "JSONRPC")
    assert (reading.card.default_input_modes, reading.card.skills[0].input_modes) == (("a/b",), ("c/d",))
    assert reading.card.capabilities["pushNotifications"] is True


def test_camel_case_wins_over_its_double() -> None:
    assert card(V1, default_input_modes=["x/y"]).default_input_modes == ("text/plain",)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"capabilities": {"streaming": "true"}}, 1),
        ({"capabilities": {"streaming": 1}}, 1),
        ({"capabilities": []}, 1),
        ({"capabilities": {"extensions": {}}}, 1),
        ({"capabilities": {"extensions": ["x"]}}, 1),
        ({"capabilities": {"extensions": [{"uri": "u", "required": "yes"}]}}, 1),
        ({"defaultInputModes": "text/plain"}, 1),
        ({"defaultOutputModes": ["text/plain", 5]}, 1),
        ({"skills": {}}, 1),
        ({"skills": ["x", 5]}, 2),
        ({"skills": [{"id": 5}]}, 1),
        ({"name": 5}, 1),
        ({"supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "tenant": 5}]}, 1),
        ({"supportedInterfaces": ["x"]}, 1),
    ],
)
def test_a_member_of_another_type_does_not_conform_and_counts_as_not_there(
    members: dict[str, Any], expected: int
) -> None:
    found = slugs(read(V1, **members).findings)
    assert found.count("card-wrong-type") == expected


def test_a_capability_that_is_no_boolean_is_not_offered() -> None:
    assert card(V1, capabilities={"streaming": "true", "x-own": True}).capabilities == {"x-own": True}


def test_the_old_flag_for_the_extended_card_is_a_capability() -> None:
    assert card(V03, supportsAuthenticatedExtendedCard=True).capabilities["extendedAgentCard"] is True
    assert "extendedAgentCard" not in card(V1, supportsAuthenticatedExtendedCard=True).capabilities


def test_modes_that_are_not_stated_differ_from_empty_ones() -> None:
    assert card(V1, defaultInputModes=...).default_input_modes is None
    assert card(V1, defaultInputModes=[]).default_input_modes == ()
    found = card(V1, skills=[{"id": "a", "inputModes": ["x/y"], "outputModes": []}, {"id": "b"}])
    assert found.skill("a") == Skill(id="a", input_modes=("x/y",), output_modes=())
    assert found.skill("b") == Skill(id="b")


def test_required_extensions_are_listed() -> None:
    extensions = [{"uri": "https://e/a", "required": True}, {"uri": "https://e/b"}, {"required": True}]
    assert card(V1, capabilities={"extensions": extensions}).required_extensions == ("https://e/a", "")


def test_skills_without_id_or_with_the_same_id() -> None:
    reading = read(V1, skills=[{"name": "x"}, {"id": "a", "inputModes": ["x/y"]}, {"id": "a"}])
    assert reading.card is not None
    assert said(reading.findings) == [("card-member-missing", "hint", "fetch"), ("duplicate-skill", "hint", "fetch")]
    assert reading.card.skill("a") == Skill(id="a", input_modes=("x/y",))


def test_a_hostile_card_does_not_multiply_its_findings() -> None:
    assert len(read(V1, skills=[5] * 10_000).findings) == 20


# -- cards that vendors served


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_recorded_card_is_read_without_a_fault(path: Path) -> None:
    reading = read_card(path.read_bytes())
    assert reading.card is not None
    assert {finding.verdict.value for finding in reading.findings} <= {"accept"}
    assert reading.card.interfaces[0].url.startswith("http://127.0.0.1:")
    expected = {"a2a02": "0.2", "a2a03": "0.3", "crewai": "0.3", "js03": "0.3", "pythona2a": "0.3"}
    assert reading.card.form == expected.get(path.stem, "1.0")

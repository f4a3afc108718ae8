"""A2A 1.0.1 8.4.1: which members of a card are signed, after the proto and not after what an SDK does."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.canonical import canonical_bytes
from a2a_lab.core.presence import MESSAGES, spec_form
from tests.core.cards import one_zero
from tests.core.signing import DATA, vectors

CARD: dict[str, Any] = dict(one_zero().document)


def form(**changes: Any) -> dict[str, Any]:
    """The 8.4.1 form of a sound card with changes, without what stays as it was."""
    signed = spec_form({**CARD, **changes}, keep_unknown=False)
    return {name: signed[name] for name in changes if name in signed}


def test_the_table_is_that_of_the_proto_descriptors() -> None:
    described = json.loads((DATA / "vectors" / "presence_table.json").read_text())
    del described["AgentCardSignature"]
    del described["AgentCard"]["signatures"]
    shown: dict[str, Any] = {
        message: {
            name: {
                "required": member.presence == "required",
                "optional_keyword": member.presence == "optional",
                "repeated": member.shape == "list",
                "map": member.shape == "map",
            }
            for name, member in members.items()
        }
        for message, members in MESSAGES.items()
    }
    kept = ("required", "optional_keyword", "repeated", "map")
    assert shown == {
        message: {name: {key: row[key] for key in kept} for name, row in rows.items()}
        for message, rows in described.items()
    }


def test_the_worked_example_of_the_specification() -> None:
    example = json.loads((DATA / "vectors" / "spec_8_4_1_fragment.json").read_text())
    written = canonical_bytes(spec_form(example["input"], keep_unknown=False, fill=False))
    assert written.decode() == example["canonical_expected_by_spec"]
    assert hashlib.sha256(written).hexdigest() == example["sha256"]


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
@pytest.mark.parametrize(("profile", "keep_unknown"), [("spec", False), ("spec_u", True)])
def test_the_handed_vectors(vector: dict[str, Any], profile: str, keep_unknown: bool) -> None:
    written = canonical_bytes(spec_form(vector["card"], keep_unknown=keep_unknown))
    assert hashlib.sha256(written).hexdigest() == vector["profiles"][profile]["sha256"]


@pytest.mark.parametrize("empty", ["name", "description", "version"])
def test_required_text_stays_when_empty_and_is_written_when_absent_or_null(empty: str) -> None:
    bare = {name: value for name, value in CARD.items() if name != empty}
    for card in ({**CARD, empty: ""}, bare, {**CARD, empty: None}):
        assert spec_form(card, keep_unknown=False)[empty] == ""


def test_required_lists_and_messages_stay_when_empty_and_are_written_when_absent() -> None:
    assert spec_form({}, keep_unknown=False) == {
        "name": "",
        "description": "",
        "supportedInterfaces": [],
        "version": "",
        "capabilities": {},
        "defaultInputModes": [],
        "defaultOutputModes": [],
        "skills": [],
    }
    assert spec_form({}, keep_unknown=False, fill=False) == {}


def test_required_members_of_inner_messages_are_written_too() -> None:
    assert form(supportedInterfaces=[{"url": "u"}]) == {
        "supportedInterfaces": [{"url": "u", "protocolBinding": "", "protocolVersion": ""}]
    }
    scheme = {"o": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"refreshUrl": ""}}}}}
    flow = {"tokenUrl": "", "scopes": {}}
    assert form(securitySchemes=scheme) == {
        "securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {"clientCredentials": flow}}}}
    }


@pytest.mark.parametrize("name", ["streaming", "pushNotifications", "extendedAgentCard"])
@pytest.mark.parametrize("flag", [True, False])
def test_an_explicit_flag_stays_whatever_it_says(name: str, flag: bool) -> None:
    assert form(capabilities={name: flag}) == {"capabilities": {name: flag}}


@pytest.mark.parametrize("name", ["documentationUrl", "iconUrl"])
def test_an_optional_text_stays_when_it_was_set_to_nothing(name: str) -> None:
    assert form(**{name: ""}) == {name: ""}
    assert form(**{name: None}) == {}


@pytest.mark.parametrize(
    "default",
    [
        {"securitySchemes": {}},
        {"securityRequirements": []},
        {"provider": None},
        {"capabilities": {"extensions": []}},
        {"supportedInterfaces": [{**CARD["supportedInterfaces"][0], "tenant": ""}]},
        {"skills": [{**CARD["skills"][0], "examples": [], "inputModes": [], "securityRequirements": []}]},
    ],
    ids=lambda default: next(iter(default)),
)
def test_plain_members_with_their_default_vanish(default: dict[str, Any]) -> None:
    plain = {"capabilities": {}, "supportedInterfaces": CARD["supportedInterfaces"], "skills": CARD["skills"]}
    name = next(iter(default))
    assert form(**default) == ({name: plain[name]} if name in plain else {})


def test_messages_and_free_json_have_presence_and_stay_when_empty() -> None:
    assert form(provider={}) == {"provider": {"url": "", "organization": ""}}
    schemes = {"m": {"mtlsSecurityScheme": {}}}
    assert form(securitySchemes=schemes) == {"securitySchemes": schemes}
    # 8.4.1 looks at defaults, not at meaning: the empty list of scopes goes, the requirement itself stays.
    assert form(securityRequirements=[{"schemes": {"m": {"list": []}}}, {}]) == {
        "securityRequirements": [{"schemes": {"m": {}}}, {}]
    }
    extension = {"uri": "u", "params": {"empty": "", "none": None, "list": [], "flag": False}, "required": False}
    kept = {"uri": "u", "params": extension["params"]}
    assert form(capabilities={"extensions": [extension, {"params": {}}]}) == {
        "capabilities": {"extensions": [kept, {"params": {}}]}
    }


def test_an_empty_element_of_a_list_stays() -> None:
    skill = {**CARD["skills"][0], "examples": [""], "tags": [""]}
    assert form(skills=[skill]) == {"skills": [skill]}


@pytest.mark.parametrize(
    "odd",
    [
        {"skills": "echo"},
        {"skills": ["echo", 1, None]},
        {"skills": {"id": "echo"}},
        {"capabilities": []},
        {"capabilities": {"extensions": {"uri": "u"}, "streaming": "yes"}},
        {"supportedInterfaces": [[]]},
        {"securitySchemes": ["m"]},
        {"securitySchemes": {"m": 1}},
        {"provider": "Lab"},
        {"version": 1.0},
        {"defaultInputModes": False},
        {"iconUrl": 0},
    ],
    ids=str,
)
def test_values_of_the_wrong_type_are_kept_and_not_mended(odd: dict[str, Any]) -> None:
    assert form(**odd) == odd


def test_unknown_members_go_or_stay_whole() -> None:
    card = {
        **CARD,
        "x-vendor": {"a": None, "b": []},
        "url": "https://old.example",
        "skills": [{**CARD["skills"][0], "x-cost": ""}],
        "supported_interfaces": [],
    }
    kept = spec_form(card, keep_unknown=True)
    assert kept == card
    assert spec_form(card, keep_unknown=False) == CARD


def test_signatures_are_never_part_of_what_is_signed() -> None:
    assert "signatures" not in spec_form({**CARD, "signatures": [1]}, keep_unknown=True)


@given(st.sampled_from(sorted(CARD)), st.booleans())
def test_the_form_of_the_form_is_the_form(missing: str, keep_unknown: bool) -> None:
    card = {name: value for name, value in CARD.items() if name != missing}
    once = spec_form(card, keep_unknown=keep_unknown)
    assert spec_form(once, keep_unknown=keep_unknown) == once

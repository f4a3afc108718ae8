"""D7, R15, R17: the bound card against the intent; absent means not offered."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.match import match_card
from a2a_lab.core.model import Card
from a2a_lab.core.policy import Intent
from a2a_lab.verdicts import Finding, Kind, Stage, Verdict
from tests.core.cards import SUM, one_zero, slugs, zero_three


def match(card: Card, **intent: Any) -> list[Finding]:
    return match_card(card, card.interfaces[0], Intent(**intent))


def test_a_card_that_fits_has_nothing_to_say() -> None:
    assert match(one_zero(), skill="sum", requires=("streaming",), accepts=("text/plain",)) == []


@pytest.mark.parametrize(
    "capabilities",
    [{"streaming": False}, {"streaming": None}, {"streaming": "true"}, {"streaming": 1}, {}, None, ..., []],
)
def test_anything_but_true_is_not_offered(capabilities: Any) -> None:
    found = match(one_zero(capabilities=capabilities), requires=("streaming",))
    assert slugs(found) == ["capability-missing"] and found[0].verdict is Verdict.REFUSE
    assert found[0].stage is Stage.MATCH


def test_the_refusal_says_what_the_card_states() -> None:
    assert "the card states false" in match(one_zero(capabilities={"streaming": False}), stream=True)[0].detail
    assert "nothing about it" in match(one_zero(capabilities={}), stream=True)[0].detail
    assert "no capabilities at all" in match(one_zero(capabilities=...), stream=True)[0].detail


def test_a_plan_that_streams_requires_streaming_once() -> None:
    assert slugs(match(one_zero(capabilities={}), stream=True, requires=("streaming",))) == ["capability-missing"]


def test_a_removed_capability_cannot_be_promised_by_a_1_0_card() -> None:
    claims = {"stateTransitionHistory": True}
    wanted = {"requires": ("stateTransitionHistory",)}
    assert slugs(match(one_zero(capabilities=claims), **wanted)) == ["capability-not-expressible"]
    assert match(zero_three(capabilities=claims), **wanted) == []
    assert slugs(match(zero_three(), **wanted)) == ["capability-missing"]


def test_the_extended_card_was_declared_elsewhere_before_1_0() -> None:
    wanted = {"requires": ("extendedAgentCard",)}
    assert match(zero_three(supportsAuthenticatedExtendedCard=True), **wanted) == []
    assert match(one_zero(capabilities={"extendedAgentCard": True}), **wanted) == []
    assert slugs(match(one_zero(supportsAuthenticatedExtendedCard=True), **wanted)) == ["capability-missing"]
    assert slugs(match(zero_three(), **wanted)) == ["capability-missing"]


def test_a_skill_that_is_not_on_the_card() -> None:
    found = match(one_zero(), skill="translate")
    assert slugs(found) == ["skill-missing"] and "which has sum" in found[0].detail
    assert "which has none" in match(one_zero(skills=[]), skill="sum")[0].detail


def test_a_required_extension_must_be_spoken() -> None:
    card = one_zero(capabilities={"extensions": [{"uri": "x:a", "required": True}, {"uri": "x:b"}]})
    assert slugs(match(card)) == ["extension-required"] and match(card, extensions=("x:a",)) == []


def test_a_mode_outside_the_union_is_refused() -> None:
    found = match(one_zero(), mode="application/json")
    assert slugs(found) == ["mode-not-declared"] and "takes text/plain" in found[0].detail


def test_the_nearest_declaration_is_named() -> None:
    assert "differs in its parameters" in match(one_zero(defaultInputModes=["text/plain; v=1"]))[0].detail
    assert "; json is no media type" in match(one_zero(defaultInputModes=["json"]), mode="application/json")[0].detail


def test_a_mode_of_the_named_skill_is_in_the_union() -> None:
    skills = [{**SUM, "inputModes": ["application/json"]}]
    assert match(one_zero(skills=skills), skill="sum", mode="application/json") == []
    assert slugs(match(one_zero(skills=[*skills, {"id": "b"}]), skill="b", mode="application/json")) == [
        "mode-not-declared"
    ]


def test_a_default_mode_that_the_skill_does_not_list_is_a_hint() -> None:
    found = match(one_zero(skills=[{**SUM, "inputModes": ["application/json"]}]), skill="sum")
    assert slugs(found) == ["mode-outside-skill"] and found[0].kind is Kind.AUTHORITY and found[0].other


@pytest.mark.parametrize(("declared", "slug"), [("text", "mode-alias"), ("text/*", "mode-wildcard")])
def test_an_inexact_declaration_is_a_hint(declared: str, slug: str) -> None:
    found = match(one_zero(defaultInputModes=[declared]))
    assert slugs(found) == [slug] and found[0].verdict is Verdict.HINT


@pytest.mark.parametrize("side", ["Input", "Output"])
def test_an_empty_required_list_refuses(side: str) -> None:
    skills = [{**SUM, "inputModes": ["text/plain"], "outputModes": ["text/plain"]}]
    found = match(one_zero(skills=skills, **{f"default{side}Modes": []}), skill="sum")
    assert slugs(found) == ["modes-empty"] and f"default{side}Modes is empty" in found[0].detail


def test_a_missing_list_refuses_where_nothing_else_declares_a_mode() -> None:
    found = match(one_zero(defaultInputModes=..., defaultOutputModes=...))
    assert slugs(found) == ["modes-empty"] and "is missing" in found[0].detail
    skills = [{**SUM, "inputModes": ["text/plain"]}]
    assert match(one_zero(defaultInputModes=..., skills=skills), skill="sum") == []


def test_an_agent_that_gives_nothing_the_consumer_accepts() -> None:
    assert slugs(match(one_zero(), accepts=("image/png",))) == ["output-not-declared"]
    assert match(one_zero(), accepts=("image/png", "text/plain")) == []
    assert match(one_zero(), accepts=("text/*",)) == []
    assert match(one_zero(defaultOutputModes=["image/*"]), accepts=("image/png",)) == []
    assert match(one_zero(defaultOutputModes=...), accepts=("image/png",)) == []


def test_everything_is_evaluated() -> None:
    card = one_zero(capabilities={"extensions": [{"uri": "x:a", "required": True}]}, defaultOutputModes=[])
    found = match(card, skill="none", mode="a/b", stream=True)
    assert slugs(found) == [
        "capability-missing",
        "skill-missing",
        "mode-not-declared",
        "modes-empty",
        "extension-required",
    ]

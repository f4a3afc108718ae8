"""R15 and R16: media types compared, and what a card declares about modes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.media import best_match, essence, matches, parse_media_type
from a2a_lab.core.modes import declared_modes
from tests.core.cards import card_of, one_zero


@pytest.mark.parametrize(
    ("declared", "got", "covered", "why"),
    [
        ("text/plain", "text/plain", True, "exact"),
        ("Text/PLAIN", "tEXT/plain", True, "exact"),
        ("application/json", "application/json; charset=utf-8", True, "exact"),
        ("application/json", 'application/json;profile="x;y"', True, "exact"),
        ('application/json; profile="s"', "application/json", False, "parameters"),
        ('application/json; profile="s"', "application/json;PROFILE=s", True, "exact"),
        ('application/json; profile="s"', "application/json; profile=S", False, "parameters"),
        ('application/json; profile="a\\"b"', 'application/json; profile="a\\"b"; v=1', True, "exact"),
        ("text/plain; charset=utf-8", "text/plain", True, "exact"),
        ("text/plain; charset=utf-8; format=flowed", "text/plain", False, "parameters"),
        ("image/*", "image/png", True, "wildcard"),
        ("IMAGE/*", "Image/PNG", True, "wildcard"),
        ("*/*", "image/png", True, "wildcard"),
        ("image/*", "text/plain", False, "type"),
        ("image/*; q=1", "image/png", False, "parameters"),
        ("image/png", "image/*", False, "malformed"),
        ("*/*", "*/*", False, "malformed"),
        ("text", "text/plain", True, "alias"),
        (" TEXT ", "text/plain; charset=utf-8", True, "alias"),
        ("text", "text/html", False, "type"),
        ("json", "application/json", False, "malformed"),
        ("application/json", "application/vnd.geo+json", False, "type"),
        ("application/vnd.geo+json", "application/json", False, "type"),
        ("application/json", "text", False, "malformed"),
        ("", "text/plain", False, "malformed"),
    ],
)
def test_a_declaration_covers(declared: str, got: str, covered: bool, why: str) -> None:
    assert matches(declared, got) == (covered, why)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "text/",
        "/plain",
        "text/plain/x",
        "text plain",
        "text/pl ain",
        "text/plain; charset",
        "text/plain, a/b",
        "text/plain; a=1; a=2",
        'text/plain; a="open',
        "text/plain; a=\x00",
        "text/plain; =x",
        "téxt/plain",
    ],
)
def test_what_is_no_media_type(text: str) -> None:
    assert parse_media_type(text) is None and essence(text) == text


@pytest.mark.parametrize("text", ["text/plain;", "text/plain ; ; a=b", "\ttext/plain \t;\ta=b "])
def test_empty_parameters_and_white_space_are_allowed(text: str) -> None:
    parsed = parse_media_type(text)
    assert parsed is not None and parsed.essence == "text/plain"


def test_the_suffix_is_what_follows_the_last_plus() -> None:
    found = [parse_media_type(text) for text in ("a/b+c+json", "a/b")]
    assert [one.suffix for one in found if one] == ["json", ""]


def test_the_plainest_declaration_is_named() -> None:
    assert best_match(["text/*", "text", "text/plain"], "text/plain") == (True, "exact", "text/plain")
    assert best_match(["text/*", "text"], "text/plain") == (True, "alias", "text")
    assert best_match(["text/plain; v=1", "image/png"], "text/plain") == (False, "parameters", "text/plain; v=1")
    assert best_match(["image/png"], "text/plain") == (False, "type", None)
    assert best_match([], "text/plain") == (False, "type", None)


@given(st.sampled_from(["text/plain", "application/json", "image/png"]), st.text(max_size=20))
def test_a_parameter_never_makes_a_bare_declaration_fail(mode: str, value: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    parsed = parse_media_type(f'{mode}; note="{quoted}"')
    assert parsed is None or (
        matches(mode, f'{mode}; note="{quoted}"') == (True, "exact") and parsed.parameters["note"] == value
    )


SKILLS = [
    {"id": "a", "inputModes": ["application/json"], "outputModes": ["text/csv"]},
    {"id": "b", "inputModes": [], "outputModes": None},
]


def test_the_union_joins_a_named_skill_to_the_defaults_and_the_spec_set_is_its_own() -> None:
    card = one_zero(skills=SKILLS)
    modes = declared_modes(card, card.skill("a"), "input")
    assert modes.union == ("text/plain", "application/json") and modes.spec == ("application/json",)
    assert modes.covers("text/plain")[0] and not modes.is_in_spec_set("text/plain")
    assert declared_modes(card, card.skill("a"), "output").union == ("text/plain", "text/csv")


def test_a_skill_with_an_empty_or_unset_list_uses_the_defaults() -> None:
    card = one_zero(skills=SKILLS)
    for side in ("input", "output"):
        modes = declared_modes(card, card.skill("b"), side)  # type: ignore[arg-type]
        assert modes.union == modes.spec == ("text/plain",)


def test_without_a_skill_the_union_is_over_all_of_them() -> None:
    modes = declared_modes(one_zero(skills=SKILLS), None, "input")
    assert modes.union == modes.spec == ("text/plain", "application/json")


def test_a_card_that_states_no_defaults() -> None:
    modes = declared_modes(one_zero(defaultInputModes=...), None, "input")
    assert modes.union == modes.spec == () and modes.defaults is None
    draft = card_of({"url": "https://a.test"})
    object.__setattr__(draft, "form", "0.1")
    assert declared_modes(draft, None, "input").union == ("text/plain",)

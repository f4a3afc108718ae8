"""P2, P5: one byte form for one document, a digest that only meaning changes, and nothing repaired."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.canonical import (
    NOT_CANONICAL,
    canonical_bytes,
    canonical_digest,
    content_digest,
    full_digest,
)
from a2a_lab.core.pinning import canonical_digest as of_the_record
from a2a_lab.errors import MalformedJson
from tests.core.signing import vectors

SAFE = 2**53 - 1
numbers = st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(codec="utf-8"), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)
cards = st.dictionaries(text, values, max_size=6)


def shuffled(value: Any, order: Any) -> Any:
    """The same document with its members written in another order at every depth."""
    if isinstance(value, dict):
        names = order.draw(st.permutations(list(value)))
        return {name: shuffled(value[name], order) for name in names}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


# RFC 8785 appendix B: what ECMAScript writes for a double.
@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.33333329, "333333333.3333333"),
        (1424953923781206.2, "1424953923781206.2"),
        (1.0, "1"),
        (4.5, "4.5"),
        (SAFE, "9007199254740991"),
        (-SAFE, "-9007199254740991"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(number: float, written: str) -> None:
    assert canonical_bytes({"n": number}) == f'{{"n":{written}}}'.encode()


def test_members_are_sorted_by_utf16_units() -> None:
    # RFC 8785 3.2.3: an emoji is a surrogate pair and sorts before U+E000, though its code point is larger.
    document = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7, "\ue000": 8}
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ue000", "\ufb33"]
    assert list(json.loads(canonical_bytes(document))) == order


def test_text_is_literal_utf8_and_only_what_must_be_escaped_is() -> None:
    assert (
        canonical_bytes('\u20ac$\x0f\nA\'B"\\\\"/\u2028\x7f')
        == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u2028\x7f"'.encode()
    )


@given(values)
def test_the_fast_way_writes_what_rfc8785_writes(document: Any) -> None:
    assert canonical_bytes(document) == rfc8785.dumps(document)


@pytest.mark.parametrize(
    ("document", "at", "reason"),
    [
        ({"a": [1, math.nan]}, "/a/1", "not-a-number"),
        ({"a": {"b": -math.inf}}, "/a/b", "not-a-number"),
        ({"n": SAFE + 1}, "/n", "integer"),
        ({"n": -SAFE - 1}, "/n", "integer"),
        ({"n": 10**5000}, "/n", "integer"),
        ({"x/y": {"a~b": "\ud800"}}, "/x~1y/a~0b", "lone-surrogate"),
        ({"a": {"\udfff": 1}}, "/a", "lone-surrogate"),
        ({"a": [b"bytes"]}, "/a/0", "type"),
        ("\ud83d", "", "lone-surrogate"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_place(document: Any, at: str, reason: str) -> None:
    with pytest.raises(MalformedJson) as caught:
        canonical_bytes(document)
    finding = caught.value.finding
    assert finding is not None
    assert (finding.slug, finding.at, finding.values["reason"]) == (NOT_CANONICAL.slug, at, reason)
    assert "the vendor sends it otherwise" in finding.detail


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(MalformedJson, match="member name"):
        canonical_bytes({1: 2})


def test_the_first_fault_in_document_order_is_named() -> None:
    with pytest.raises(MalformedJson, match="at /b "):
        canonical_bytes({"a": 1.5, "b": math.nan, "c": 2**60})


@pytest.mark.parametrize("innermost", [1, 1.5])
def test_endless_nesting_is_refused_and_not_a_crash(innermost: float) -> None:
    document: Any = innermost
    for _ in range(100_000):
        document = [document]
    with pytest.raises(MalformedJson, match="nested too deeply"):
        canonical_bytes(document)


@given(cards, st.data())
def test_member_order_never_changes_a_digest(card: dict[str, Any], order: Any) -> None:
    assert content_digest(card) == content_digest(shuffled(card, order))


@given(cards, st.booleans(), st.sampled_from([None, 1, 4]))
def test_white_space_and_escapes_never_change_a_digest(card: dict[str, Any], ascii_only: bool, indent: int) -> None:
    # Strict readers accept no text twice under one name, so a round trip is the same document in other bytes.
    again = json.loads(json.dumps(card, ensure_ascii=ascii_only, indent=indent))
    assert content_digest(card) == content_digest(again)


@given(cards, values)
def test_a_rotated_signature_changes_only_the_full_digest(card: dict[str, Any], signatures: Any) -> None:
    bare = {name: value for name, value in card.items() if name != "signatures"}
    assert content_digest({**bare, "signatures": signatures}) == content_digest(bare)
    assert full_digest({**bare, "signatures": signatures}) != full_digest(bare)


@given(cards, text, values)
def test_an_unknown_member_changes_the_digest(card: dict[str, Any], name: str, value: Any) -> None:
    bare = {key: item for key, item in card.items() if key not in (name, "signatures")}
    if name != "signatures":
        assert content_digest({**bare, name: value}) != content_digest(bare)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": None}, {}),
        ({"a": True}, {"a": 1}),
        ({"a": ""}, {}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": "1"}, {"a": 1}),
    ],
)
def test_what_looks_alike_is_another_document(one: dict[str, Any], other: dict[str, Any]) -> None:
    # R14: null is unset for meaning and stays in the digest.
    assert content_digest(one) != content_digest(other)


def test_one_and_one_point_zero_are_the_same_number() -> None:
    assert content_digest({"n": 1}) == content_digest({"n": 1.0})


def test_the_records_name_is_the_content_digest() -> None:
    assert canonical_digest is of_the_record is content_digest
    assert content_digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
def test_content_digest_of_the_handed_vectors(vector: dict[str, Any]) -> None:
    assert content_digest(vector["card"]) == vector["profiles"]["raw"]["sha256"]

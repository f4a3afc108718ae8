"""P5 over the wire: from bytes to a digest, nothing is coerced on the way and nothing ambiguous gets a digest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.canonical import content_digest
from a2a_lab.errors import MalformedJson
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.strict_json import parse
from tests.core.signing import cases
from tests.core.test_canonical import cards, values


@given(cards, st.booleans(), st.sampled_from([None, 0, 3]), st.booleans())
def test_the_spelling_on_the_wire_never_changes_the_digest(
    card: dict[str, Any], ascii_only: bool, indent: int | None, bom: bool
) -> None:
    spelt = json.dumps(card, ensure_ascii=ascii_only, indent=indent).encode()
    assert content_digest(parse((b"\xef\xbb\xbf" if bom else b"") + spelt)) == content_digest(card)


@given(cards, st.text(st.characters(codec="utf-8"), max_size=5), values, values, st.integers(0, 5))
def test_a_duplicate_member_never_gets_a_digest(
    card: dict[str, Any], name: str, one: Any, two: Any, depth: int
) -> None:
    twice = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for value in (one, two))
    rest = "".join(f",{json.dumps(key)}:{json.dumps(value)}" for key, value in card.items() if key != name)
    text = "[" * depth + "{" + twice + rest + "}" + "]" * depth
    with pytest.raises(MalformedJson):
        parse(text.encode())


def test_the_case_of_a_card_with_a_member_twice() -> None:
    (case,) = cases("rpc-19*.json")
    reading = read_card(case["given"]["exchanges"][0]["response"]["text"].encode())
    assert reading.card is None and reading.findings[0].verdict == case["expect"]["verdict"]

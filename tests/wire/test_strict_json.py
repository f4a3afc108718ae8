"""P5, R32: JSON that every parser reads alike is read; the rest is refused, and nothing is repaired."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.policy import Bounds
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import Stage, Verdict
from a2a_lab.wire.strict_json import SAFE_INTEGER, parse, parse_noting

FAULTS = [
    (b"", "not-json", 0),
    (b" \n", "not-json", 2),
    (b"<html>", "not-json", 0),
    (b"[1,]", "not-json", 3),
    (b"{'a': 1}", "not-json", 1),
    (b'{"a":1} {}', "not-json", 7),
    (b'"tab\there"', "not-json", 4),
    (b"01", "not-json", 1),
    (b'"\xff"', "bad-utf8", 1),
    (b'\xef\xbb\xbf"\xff"', "bad-utf8", 4),
    (b'"\xed\xa0\x80"', "bad-utf8", 1),
    (b'{"a":1,"b":{"c":1,"c":2}}', "duplicate-key", 18),
    (b'{"a":1,"\\u0061":2}', "duplicate-key", 7),
    (b'\xef\xbb\xbf{"\xc3\xa9":[{}],"\xc3\xa9":2}', "duplicate-key", 14),
    (b'{"note":"NaN","n":NaN}', "nan", 18),
    (b"[-Infinity]", "nan", 1),
    (b'["1e999",1e999]', "number-range", 9),
    (b"[-1e999]", "number-range", 1),
    (b"9007199254740992", "big-integer", 0),
    (b'["9007199254740992", -9007199254740992]', "big-integer", 21),
    (b"1" * 5000, "big-integer", 0),
    (b'"\\ud800"', "lone-surrogate", 1),
    (b'"\\udc00\\ud800"', "lone-surrogate", 1),
    (b'"\\ud83d \\ude00"', "lone-surrogate", 1),
    (b'"\\ud83d\\ud83d\\ude00"', "lone-surrogate", 1),
    (b'"\\ud83d\\n"', "lone-surrogate", 1),
]


@pytest.mark.parametrize(("text", "slug", "at"), FAULTS, ids=[f"{slug}-{text[:20]!r}" for text, slug, _ in FAULTS])
def test_malformed_json_is_refused_by_name_and_place(text: bytes, slug: str, at: int) -> None:
    with pytest.raises(MalformedJson) as caught:
        parse(text)
    assert caught.value.name == slug
    assert caught.value.fields["at"] == at
    assert str(at) in str(caught.value)


def test_a_fault_is_a_conformance_error_of_the_call_unless_the_caller_says_otherwise() -> None:
    with pytest.raises(MalformedJson) as caught:
        parse(b"{")
    assert caught.value.finding is not None
    assert (caught.value.finding.stage, caught.value.finding.verdict) == (Stage.RPC, Verdict.CONFORMANCE_ERROR)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'\xef\xbb\xbf{"a": null}', {"a": None}),
        (b' \t\r\n[1, 2.5, true, "x"]\n', [1, 2.5, True, "x"]),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'"\\u0041\\ud83d\\ude00\\u0042"', "A\U0001f600B"),
        (b"9007199254740991", SAFE_INTEGER),
        (b"-9007199254740991", -SAFE_INTEGER),
        (b"1E5", 1e5),
        (b'{"":{"":1}}', {"": {"": 1}}),
    ],
)
def test_what_is_unambiguous_is_read(text: bytes, value: Any) -> None:
    assert parse(text) == value


def test_big_integers_of_an_answer_are_kept_and_noted() -> None:
    value, notes = parse_noting(b'{"a":[9007199254740993, 1, 99999999999999999999]}')
    assert value == {"a": [9007199254740993, 1, 99999999999999999999]}
    assert notes == ("'9007199254740993'", "'99999999999999999999'")


def test_an_answer_without_big_integers_has_no_notes() -> None:
    assert parse_noting('{"a":900719925474099}') == ({"a": 900719925474099}, ())


@pytest.mark.parametrize(
    ("text", "slug"),
    [(b"[9007199254740993,NaN]", "nan"), (b"[9007199254740993,1e999]", "number-range"), (b"1" * 5000, "number-range")],
)
def test_noting_big_integers_forgives_nothing_else(text: bytes, slug: str) -> None:
    with pytest.raises(MalformedJson) as caught:
        parse_noting(text)
    assert caught.value.name == slug


def test_nesting_is_bounded_before_the_recursive_parser_sees_it() -> None:
    assert parse(b"[" * 128 + b"]" * 128) is not None
    with pytest.raises(MalformedJson) as caught:
        parse(b"[" * 1_000_000)
    assert (caught.value.name, caught.value.fields["at"]) == ("too-deep", 128)
    assert "json_depth = 128" in str(caught.value)


def test_brackets_in_strings_and_side_by_side_are_no_nesting() -> None:
    assert parse(b'["' + b"[{" * 500 + b'\\"[",' + b"[]," * 500 + b"1]") is not None


def test_an_unfinished_string_does_not_hide_a_deep_text() -> None:
    with pytest.raises(MalformedJson) as caught:
        parse(b'["' + b'\\"[' * 300)
    assert caught.value.name == "not-json"


def test_a_bound_beyond_the_interpreter_is_still_no_crash() -> None:
    with pytest.raises(MalformedJson) as caught:
        parse(b"[" * 100_000, bounds=Bounds(json_depth=1_000_000))
    assert caught.value.name == "too-deep"


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-SAFE_INTEGER, max_value=SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_strict_json_reads_what_json_writes(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse(text.encode("utf-8", "surrogatepass") if "\\ud" in text else text.encode()) == value


@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:\\u0deDaNI1.-e \n', max_size=40).map(str.encode))
def test_any_bytes_give_a_value_that_json_gives_too_or_a_named_fault(data: bytes) -> None:
    try:
        value = parse(data)
    except MalformedJson as fault:
        assert fault.finding is not None
        return
    assert value == json.loads(data)
    assert not isinstance(value, float) or math.isfinite(value)

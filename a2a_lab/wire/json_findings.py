"""The findings of the strict JSON reader: what makes a text one that parsers read differently, or not at all (P5, R32).

As they stand they belong to a call; who reads something else moves them to its own stage and verdict.
"""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict

_RFC8259 = "RFC 8259"
_I_JSON = "RFC 7493 (I-JSON)"


def _kind(slug: str, means: str, clause: str) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RPC,
        verdict=Verdict.CONFORMANCE_ERROR,
        kind=Kind.CONFORMANCE,
        judge=Judge.SPEC,
        rule="P5, R32",
        clause=clause,
        means=means,
    )


NOT_JSON = _kind("not-json", "the body is not JSON", f"{_RFC8259} §2")
BAD_UTF8 = _kind("bad-utf8", "the text is not UTF-8", f"{_RFC8259} §8.1")
DUPLICATE_KEY = _kind(
    "duplicate-key", "one object names a member twice; parsers differ in which counts", f"{_I_JSON} §2.3"
)
NOT_A_NUMBER = _kind("nan", "NaN and Infinity are no JSON numbers", f"{_RFC8259} §6")
NUMBER_RANGE = _kind("number-range", "a number has no finite double", f"{_I_JSON} §2.2")
BIG_INTEGER = _kind(
    "big-integer", "an integer beyond 2^53-1 is read differently by different parsers", f"{_I_JSON} §2.2"
)
LONE_SURROGATE = _kind("lone-surrogate", "a string holds half of a surrogate pair", f"{_RFC8259} §8.2; {_I_JSON} §2.1")
TOO_DEEP = FindingKind(
    slug="too-deep",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="DESIGN 9",
    means="the JSON is nested deeper than the reader allows",
)

"""Names what a peer did wrong in HTTP itself, where it was reached and no whole answer came of it.

Only who was never reached is unreachable (R2): no name, no connection, no TLS. A peer that takes a request and closes
the connection, says something that is no HTTP, breaks off inside its answer or packs it so that nobody can unpack it
has spoken, and spoken wrongly. What was not seen, as in recordings that only say "no answer", blames nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _fault(slug: str, means: str, *, clause: str | None, rule: str = "R1, R2") -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RPC,
        verdict=Verdict.CONFORMANCE_ERROR,
        kind=Kind.CONFORMANCE,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule=rule,
        clause=clause,
        means=means,
    )


NOT_ANSWERED = _fault(
    "call-not-answered",
    "the request was taken and the connection closed without an HTTP answer",
    clause="RFC 9110 §3.4 (a request is answered by a response)",
)
ANSWER_CUT = _fault(
    "answer-cut",
    "the connection broke off before the answer was whole, so that it is not read",
    clause="RFC 9112 §8 (an incomplete message)",
)
NOT_HTTP = _fault("call-not-http", "what came back is no HTTP", clause="RFC 9112 §2.1, §4 (the form of a message)")
UNDECODABLE = _fault(
    "answer-undecodable",
    "the body is not in the content coding that it is labelled with, or in one that nobody asked for",
    clause="RFC 9110 §8.4, §12.5.3",
)
ANSWER_LIMIT = _fault(
    "answer-limit", "the answer passed a bound of the reader, so that it is not read", clause=None, rule="DESIGN 9"
)

_KINDS: Final[Mapping[str, FindingKind]] = {
    "malformed": NOT_HTTP,
    "undecodable": UNDECODABLE,
    "limit": ANSWER_LIMIT,
}


def judge_fault(fault: str | None, *, status: int | None, url: str) -> Finding | None:
    """What a transport fault says about the peer; None where there is none, or where it says nothing about it."""
    if fault is None:
        return None
    if fault.startswith("reset"):
        kind = NOT_ANSWERED if status is None else ANSWER_CUT
        return kind(f"{quoted(url)}: {fault}" + ("" if status is None else f" after HTTP {status}"), found=fault)
    kind_or_none = next((kind for word, kind in _KINDS.items() if fault.startswith(word)), None)
    return None if kind_or_none is None else kind_or_none(f"{quoted(url)}: {quoted(fault, 200)}", found=fault)

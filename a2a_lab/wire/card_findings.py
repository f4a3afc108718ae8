"""The findings of the card reader, all of stage `fetch`: what can be wrong with the shape of a card (R13, R14)."""

from __future__ import annotations

from typing import Final

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict

CAPABILITIES: Final = ("streaming", "pushNotifications", "stateTransitionHistory", "extendedAgentCard")
"""The members of `capabilities` that some version defines as true or false."""


def _finding(
    slug: str,
    means: str,
    verdict: Verdict,
    *,
    clause: str,
    rule: str = "R14",
    kind: Kind = Kind.CONFORMANCE,
    judge: Judge = Judge.SPEC,
) -> FindingKind:
    return FindingKind(
        slug=slug, stage=Stage.FETCH, verdict=verdict, kind=kind, judge=judge, rule=rule, clause=clause, means=means
    )


NOT_A_CARD = _finding(
    "not-a-card",
    "what was served is no card: no JSON object, or one without any member that a card must have",
    Verdict.REFUSE,
    clause="A2A 1.0.1 §8.2, §14.3",
    rule="R13",
)
CARD_SNAKE_CASE = _finding(
    "card-snake-case",
    "the card's members are written in snake_case",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §5.5",
)
CARD_WRONG_TYPE = _finding(
    "card-wrong-type",
    "a member of the card has another JSON type than its version says, and counts as not there",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §4.4; 0.3.0 §5.5",
)
CARD_MEMBER_MISSING = _finding(
    "card-member-missing",
    "the card lacks required members that decide nothing by themselves",
    Verdict.HINT,
    clause="A2A 1.0.1 §4.4.1, §5.7 REQUIRED; 0.3.0 §5.5",
)
INTERFACE_INCOMPLETE = _finding(
    "interface-incomplete",
    "an interface lacks the members without which it cannot be called",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §4.4.6 REQUIRED; 0.3.0 §5.5.5",
)
DUPLICATE_SKILL = _finding(
    "duplicate-skill",
    "two skills of the card have the same id",
    Verdict.HINT,
    clause="A2A 1.0.1 §4.4.5 (unique id)",
)
HYBRID_CARD = _finding(
    "hybrid-card",
    "the card also carries members of an older version, which a 1.0 client ignores and a signature may not cover",
    Verdict.ACCEPT,
    clause="A2A 1.0.1 §5.7, §8.3.2",
    rule="R8",
    kind=Kind.NOTE,
)

"""Puts into findings what the walk saw of cards: none bound, a union, two paths that disagree, bodies that are none.

Compares documents and counts what one card claims beyond another; decides nothing about where to go on (`walk`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from a2a_lab.core.model import Card
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _sighting(slug: str, verdict: Verdict, rule: str, means: str, clause: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.FETCH,
        verdict=verdict,
        kind=Kind.NOTE if verdict is Verdict.ACCEPT else Kind.CONFORMANCE,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule=rule,
        means=means,
        clause=clause,
    )


NO_CARD = _sighting(
    "no-card", Verdict.REFUSE, "D5", "no card was found, so the agent has no declared capabilities and is not called"
)
NO_CARD_AT_TARGET = _sighting(
    "no-card-at-target",
    Verdict.REFUSE,
    "D1, D3, D5",
    "the target named by the routing hint has no card of its own; the hint is not used in its place",
)
CARD_NAMES_OTHER_TARGET = _sighting(
    "card-names-other-target",
    Verdict.REFUSE,
    "D4, R8",
    "the card that was found speaks for another target than the one it was asked for",
)
LEGACY_PATH = _sighting(
    "legacy-path",
    Verdict.HINT,
    "R6",
    "the card lies only at the path from before A2A 0.3.0",
    "A2A 0.3.0 §5.3 and 1.0.1 §8.2 name agent-card.json only",
)
UNION_CARD = _sighting(
    "union-card",
    Verdict.ACCEPT,
    "D3, R6",
    "a less specific card differs from the target's own; whoever matches that one matches a union",
)
TWO_PATHS_TWO_CARDS = _sighting(
    "two-paths-two-cards",
    Verdict.ACCEPT,
    "R6",
    "the current and the legacy path serve different cards; the current one counts and the two are never merged",
)
BODY_IS_NO_CARD = _sighting(
    "body-is-no-card", Verdict.ACCEPT, "R6", "a place where a card may lie answers with something else"
)


def no_bound_card(
    *,
    asked: Sequence[str],
    target: ResolvedTarget | None = None,
    hint_url: str | None = None,
    misses: Sequence[str] = (),
    rejected: Sequence[tuple[str, Sequence[Finding]]] = (),
) -> list[Finding]:
    """Why nothing is bound: what was asked, and how what was found there misses the target.

    `misses` are sentences about cards that name something else, `rejected` the bodies that were no card, by URL.
    """
    reasons = [finding for _, findings in rejected for finding in findings]
    places = f"asked: {listed(list(dict.fromkeys(asked)), most=12)}"
    shown = {"asked": list(asked)}
    if target is None:
        return [*reasons, NO_CARD(f"no card was found; {places}. Give --card-url if it lies elsewhere", found=shown)]
    url = target.named_url or target.dispatch_url
    if misses:
        detail = f"no card names {quoted(url)}: {'; '.join(misses)}. {places}"
        return [*reasons, CARD_NAMES_OTHER_TARGET(detail, found=list(misses), expected=url)]
    signpost = f" the card at {quoted(hint_url)} is only a signpost;" if hint_url else ""
    detail = f"{quoted(url)} has no card of its own:{signpost} {places}. Give --card-url if it lies elsewhere"
    return [*reasons, NO_CARD_AT_TARGET(detail, found=shown, expected=url)]


def name_other_bodies(rejected: Sequence[tuple[str, Sequence[Finding]]]) -> list[Finding]:
    """Notes on places that answered with something that is no card, where a card was found all the same."""
    return [
        BODY_IS_NO_CARD(f"{quoted(url)} answers, but not with a card: {_said(why)}", found=url) for url, why in rejected
    ]


def compare_union(own: Card, own_url: str, other: Card, other_url: str) -> list[Finding]:
    """A note where a less specific card differs, with what it claims beyond the target's own."""
    if is_same_document(own, other):
        return []
    claims = claimed_beyond(own, other)
    more = f" and claims more: {listed(claims)}" if claims else ""
    detail = f"the card at {quoted(other_url)} differs from the target's own at {quoted(own_url)}{more}"
    return [UNION_CARD(detail, found=other_url, expected=own_url, claims=claims)]


def compare_paths(current: Card, legacy: Card, legacy_url: str) -> list[Finding]:
    """A note where the two well-known paths of one place serve different cards."""
    if is_same_document(current, legacy):
        return []
    claims = claimed_beyond(current, legacy)
    more = f"; the legacy one also claims {listed(claims)}" if claims else ""
    detail = f"{quoted(legacy_url)} serves another card than the current path{more}"
    return [TWO_PATHS_TWO_CARDS(detail, found=legacy_url, claims=claims)]


def is_same_document(one: Card, other: Card) -> bool:
    """Whether two cards say the same; signatures and the order of members do not count."""
    return _content(one) == _content(other)


def claimed_beyond(own: Card, other: Card) -> list[str]:
    """Capabilities and skills that the other card claims and the target's own does not."""
    held = {name for name, offered in own.capabilities.items() if offered}
    more = [name for name, offered in other.capabilities.items() if offered and name not in held]
    skills = {skill.id for skill in own.skills}
    return more + [f"skill {skill.id}" for skill in other.skills if skill.id not in skills]


def _content(card: Card) -> str:
    document = {name: value for name, value in card.document.items() if name != "signatures"}
    return json.dumps(document, sort_keys=True)


def _said(why: Sequence[Finding]) -> str:
    return why[0].detail if why else "it holds no JSON object that could be one"

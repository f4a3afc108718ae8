"""Matches what the consumer intends against the bound card alone: capabilities, skill, modes, extensions (D7).

Absent means not offered. Nothing is tried all the same, since a capability that works undeclared is no promise. Knows
nothing of how the card was found; a routing hint must never reach this module.
"""

from __future__ import annotations

from collections.abc import Iterable

from a2a_lab.core.media import ALIASES, best_match, parse_media_type
from a2a_lab.core.model import Card, Interface, Json
from a2a_lab.core.modes import Modes, Side, declared_modes
from a2a_lab.core.policy import Intent
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _refusal(
    slug: str,
    rule: str,
    means: str,
    clause: str | None = None,
    other: str | None = None,
    judge: Judge = Judge.POLICY,  # what an agent does not offer is no defect of it, whatever clause says so
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.MATCH,
        verdict=Verdict.REFUSE,
        kind=Kind.CONFORMANCE,
        judge=judge,
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


def _doubt(slug: str, means: str, clause: str | None = None, other: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.MATCH,
        verdict=Verdict.HINT,
        kind=Kind.AUTHORITY,
        judge=Judge.POLICY,
        rule="R15, R16",
        means=means,
        clause=clause,
        other=other,
    )


CAPABILITY_MISSING = _refusal(
    "capability-missing",
    "D7",
    "a required capability is not declared",
    "A2A 1.0.1 §3.3.4 (absent means not supported)",
)
CAPABILITY_NOT_EXPRESSIBLE = _refusal(
    "capability-not-expressible", "D7", "a required capability cannot be declared in the version of this card"
)
SKILL_MISSING = _refusal("skill-missing", "D7", "the intended skill is not on the bound card")
MODE_NOT_DECLARED = _refusal("mode-not-declared", "R15", "the intended mode is neither a default nor one of the skill")
MODES_EMPTY = _refusal(
    "modes-empty",
    "R15",
    "a required list of modes is empty or missing, so nothing is declared",
    "A2A 1.0.1 §5.7 (required arrays MUST hold an element)",
    "§8.4.1's own example signs a card whose skills are empty",
    Judge.SPEC,
)
OUTPUT_NOT_DECLARED = _refusal(
    "output-not-declared", "R15", "the agent declares none of the output modes that the consumer accepts"
)
EXTENSION_REQUIRED = _refusal(
    "extension-required",
    "R17",
    "the card requires an extension that the client does not speak",
    "A2A 1.0.1 §3.3.4 and §4.6 (MUST answer ExtensionSupportRequired)",
)
MODE_OUTSIDE_SKILL = _doubt(
    "mode-outside-skill",
    "the mode is a default, but not one of the named skill's own",
    "A2A 1.0.1 §4.4.5 AgentSkill.input_modes (override the defaults)",
    "by the specification the skill's own list replaces the defaults, and the mode is not offered",
)
MODE_ALIAS = _doubt("mode-alias", "the card writes a short name where a media type belongs")
MODE_WILDCARD = _doubt("mode-wildcard", "the card declares a range where a media type belongs")

# Members of `capabilities` that exist only before 1.0 (A2A#1396 removed the one that the records still name).
ONLY_BEFORE_1_0 = frozenset({"stateTransitionHistory"})
EXTENDED_CARD = "extendedAgentCard"


def match_card(card: Card, interface: Interface, intent: Intent) -> list[Finding]:
    """Everything that keeps the bound card from fitting the intent, and what is in doubt; empty where it fits (D7).

    All of it is evaluated, so that a report names every reason and not only the first (R4).
    """
    skill = card.skill(intent.skill)
    findings = match_capabilities(card, [*intent.requires, *(["streaming"] if intent.stream else [])])
    if intent.skill is not None and skill is None:
        offered = listed([one.id for one in card.skills]) or "none"
        detail = f"skill {quoted(intent.skill)} is not on the card of {quoted(interface.url)}, which has {offered}"
        findings.append(SKILL_MISSING(detail, found=[one.id for one in card.skills], expected=intent.skill))
    findings += _input_mode(declared_modes(card, skill, "input"), intent)
    findings += _output_modes(declared_modes(card, skill, "output"), intent)
    missing = [uri for uri in card.required_extensions if uri not in intent.extensions]
    if missing:
        detail = f"the card requires {listed(missing)}; the client speaks {listed(intent.extensions) or 'no extension'}"
        findings.append(EXTENSION_REQUIRED(detail, found=missing, expected=list(intent.extensions)))
    return findings


def match_capabilities(card: Card, required: Iterable[str]) -> list[Finding]:
    """The required capabilities that the card does not declare, or cannot (D7)."""
    findings = []
    for name in dict.fromkeys(required):
        if name in ONLY_BEFORE_1_0 and card.form == "1.0":
            detail = f"{name} does not exist in A2A 1.0, so a 1.0 card cannot promise it; do not require it"
            findings.append(CAPABILITY_NOT_EXPRESSIBLE(detail, expected=name))
        elif not offers(card, name):
            claimed = _claimed(card, name)
            detail = f"{name} is required, the card states {claimed}; require less or ask the vendor to declare it"
            findings.append(CAPABILITY_MISSING(detail, found=claimed, expected=True, at=f"/capabilities/{name}"))
    return findings


def offers(card: Card, capability: str) -> bool:
    """Whether the card declares a capability; absent, null and anything but true mean no (D7)."""
    if capability == EXTENDED_CARD and card.form != "1.0":
        return card.document.get("supportsAuthenticatedExtendedCard") is True
    return card.capabilities.get(capability, False)


def _claimed(card: Card, name: str) -> str:
    held: Json = card.document.get("capabilities")
    if not isinstance(held, dict):
        return "no capabilities at all"
    return quoted(held[name]) if name in held else "nothing about it"


def _input_mode(modes: Modes, intent: Intent) -> list[Finding]:
    if modes.defaults == () or not modes.union:
        return [_empty(modes, "input")]
    covered, why, declared = modes.covers(intent.mode)
    if not covered:
        near = f"; nearest is {quoted(declared)}, which differs in its {why}" if declared else _short_names(modes)
        detail = f"the consumer sends {quoted(intent.mode)}, the card takes {listed(modes.union)}{near}"
        return [MODE_NOT_DECLARED(detail, found=list(modes.union), expected=intent.mode)]
    findings = []
    if why in ("alias", "wildcard"):
        kind = MODE_ALIAS if why == "alias" else MODE_WILDCARD
        detail = f"the card declares {quoted(declared)}, which covers {quoted(intent.mode)} only by guess"
        findings.append(kind(detail, found=declared, expected=intent.mode))
    if not modes.is_in_spec_set(intent.mode):
        detail = (
            f"{quoted(intent.mode)} is a default mode; skill {quoted(intent.skill)} lists only {listed(modes.spec)}"
        )
        findings.append(MODE_OUTSIDE_SKILL(detail, found=list(modes.spec), expected=intent.mode))
    return findings


def _output_modes(modes: Modes, intent: Intent) -> list[Finding]:
    if modes.defaults == ():
        return [_empty(modes, "output")]
    if not intent.accepts or not modes.union:
        return []
    gives = any(modes.covers(mode)[0] for mode in intent.accepts)
    takes = any(best_match(intent.accepts, mode)[0] for mode in modes.union)  # a consumer may accept a range
    if gives or takes:
        return []
    detail = f"the consumer accepts {listed(intent.accepts)}, the card gives {listed(modes.union)}"
    return [OUTPUT_NOT_DECLARED(detail, found=list(modes.union), expected=list(intent.accepts))]


def _empty(modes: Modes, side: Side) -> Finding:
    state = "missing" if modes.defaults is None else "empty"
    at = f"/default{side.capitalize()}Modes"
    return MODES_EMPTY(f"{at[1:]} is {state}; the vendor has to declare at least one media type", at=at)


def _short_names(modes: Modes) -> str:
    """A word about entries that are no media types, which is the usual reason why nothing fits."""
    short = [mode for mode in modes.union if parse_media_type(mode) is None and mode.lower() not in ALIASES]
    return f"; {listed(short)} is no media type" if short else ""

"""Decides what a card is worth once the agent was probed: the table of the authority record (A4, R25).

A card is a declaration, the first task is its enforcement. Both have to agree before a payload may leave under the card
alone; in all other cases the runtime governs, or nothing is sent. The table lists every combination.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from a2a_lab.core.media import best_match
from a2a_lab.core.model import Card, Interface, State
from a2a_lab.core.modes import declared_modes
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.version import gate_version
from a2a_lab.errors import AgentCardConformanceError
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


class Standing(StrEnum):
    """What the static gates made of a card, before anything was sent."""

    AUTHORITATIVE = "authoritative"
    HINT = "hint"
    VOID = "void"


class Outcome(StrEnum):
    """What a probe showed (R22, R25). `hung` and `broken` are probes without a usable answer."""

    ACCEPTED = "accepted"
    NARROWED = "narrowed"
    INTERRUPTED = "interrupted"
    REFUSED = "refused"
    INCONCLUSIVE = "inconclusive"
    HUNG = "hung"
    BROKEN = "broken"


class Action(StrEnum):
    """What to do next. Renegotiating means another mode, never the original payload again."""

    COMMIT = "commit"
    COMMIT_AS_HINT = "commit-as-hint"
    RENEGOTIATE = "renegotiate"
    REFUSE = "refuse"


DECISIONS: Mapping[Standing, Mapping[Outcome, Action]] = {
    Standing.AUTHORITATIVE: {
        Outcome.ACCEPTED: Action.COMMIT,
        Outcome.NARROWED: Action.RENEGOTIATE,
        Outcome.INTERRUPTED: Action.REFUSE,
        Outcome.REFUSED: Action.REFUSE,
        Outcome.INCONCLUSIVE: Action.COMMIT_AS_HINT,
        Outcome.HUNG: Action.REFUSE,
        Outcome.BROKEN: Action.REFUSE,
    },
    Standing.HINT: {
        Outcome.ACCEPTED: Action.COMMIT_AS_HINT,
        Outcome.NARROWED: Action.RENEGOTIATE,
        Outcome.INTERRUPTED: Action.REFUSE,
        Outcome.REFUSED: Action.REFUSE,
        Outcome.INCONCLUSIVE: Action.COMMIT_AS_HINT,
        Outcome.HUNG: Action.REFUSE,
        Outcome.BROKEN: Action.REFUSE,
    },
    Standing.VOID: dict.fromkeys(Outcome, Action.REFUSE),
}

_STATIC = frozenset({Stage.RESOLVE, Stage.FETCH, Stage.MATCH, Stage.SIGNATURE, Stage.VERSION})

ADVISORY = FindingKind(
    slug="card-advisory",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.POLICY,
    rule="A2, A3, A4",
    means="the card does not bind, so no artifact is committed on its word",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTransition:
    """What the first task of a probe showed: the record's four facts.

    `effective_modes` are the modes that the runtime was seen to take, `stream_final_seen` whether a stream, where the
    card declares streaming, ended by the proof of its dialect.
    """

    state: State
    effective_modes: tuple[str, ...] = ()
    skill_id_echoed: str | None = None
    stream_final_seen: bool = False


def decide(standing: Standing, outcome: Outcome) -> Action:
    """What to do with a card of this standing after a probe with this outcome."""
    return DECISIONS[standing][outcome]


def standing_of(findings: Iterable[Finding]) -> Standing:
    """The standing that the findings of the static gates leave a card (A1, A2, R2).

    Anything worse than a hint voids it, any hint makes it advisory. Notes and later stages do not count.
    """
    heard = [finding for finding in findings if finding.stage in _STATIC and finding.kind is not Kind.NOTE]
    if any(finding.verdict.severity >= Verdict.REFUSE.severity for finding in heard):
        return Standing.VOID
    is_doubted = any(finding.verdict is not Verdict.ACCEPT for finding in heard)
    return Standing.HINT if is_doubted else Standing.AUTHORITATIVE


def assert_card_authoritative(
    *,
    card: Card,
    interface: Interface,
    policy: Policy,
    signature_verified: bool,
    probe: TaskTransition,
    intended_mime: str,
    skill: str | None = None,
) -> None:
    """Raise `AgentCardConformanceError` unless the card binds: the record's gate, all of it, in the record's order.

    `signature_verified` is the outcome of `verify_card` with a profile that gives authority; that the card has
    signatures proves nothing. The version is that of the interface to be called, never the card's own.
    """
    named = card.skill(skill)
    for holds, why, values in (
        (
            gate_version(card, interface, policy).is_exact,
            f"the interface states version {quoted(interface.version)}, exact would be {listed(policy.supports)}",
            {"found": interface.version, "expected": list(policy.supports)},
        ),
        (signature_verified, "no signature of the card verifies with a trusted key", {}),
        (
            declared_modes(card, named, "input").covers(intended_mime)[0],
            f"{quoted(intended_mime)} is not among the declared {listed(declared_modes(card, named, 'input').union)}",
            {"expected": intended_mime},
        ),
        (
            best_match(probe.effective_modes, intended_mime)[0],
            f"the runtime takes {listed(probe.effective_modes) or 'nothing it named'}, not {quoted(intended_mime)}",
            {"found": list(probe.effective_modes), "expected": intended_mime},
        ),
        (
            probe.state in (State.WORKING, State.COMPLETED),
            f"the probe's task is {probe.state.value}, not working or completed",
            {"found": probe.state.value},
        ),
        (
            probe.stream_final_seen or not card.capabilities.get("streaming", False),
            "the card declares streaming, but no stream of the probe was seen to end",
            {},
        ),
    ):
        if not holds:
            detail = f"{why}; the card is advisory, renegotiate or refuse"
            raise AgentCardConformanceError(detail, finding=ADVISORY(detail), **values)

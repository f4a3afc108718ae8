"""The pinning record's functions under the record's names: pin a card, and look again before what depends on it.

`canonical_digest`, `PinnedCard`, `pin_card` and `revalidate_before_transition` mean here what the record says. The
judgement behind the last one is `judge_revalidation`, which returns what this one raises.
"""

from __future__ import annotations

from collections.abc import Mapping

from a2a_lab.core.canonical import canonical_digest
from a2a_lab.core.drift_findings import EXTENDED_DROPPED
from a2a_lab.core.keys import KeySet
from a2a_lab.core.members import changed_members
from a2a_lab.core.model import Card
from a2a_lab.core.pins import PinKey, PinnedCard, pin_card
from a2a_lab.core.policy import Policy
from a2a_lab.core.refetch import DEPENDENT, Next, Refetch, Revalidation, Transition
from a2a_lab.core.revalidation import judge_revalidation
from a2a_lab.core.signatures import SignatureReport
from a2a_lab.errors import AgentCardDriftError
from a2a_lab.verdicts import Finding, Verdict

__all__ = [
    "DEPENDENT",
    "Next",
    "PinKey",
    "PinnedCard",
    "Refetch",
    "Revalidation",
    "Transition",
    "canonical_digest",
    "changed_members",
    "choose_card",
    "drift_error",
    "judge_revalidation",
    "pin_card",
    "revalidate_before_transition",
]


def revalidate_before_transition(
    pin: PinnedCard,
    card: Card | None,
    *,
    transition: Transition | str,
    policy: Policy,
    now: float,
    seen: tuple[str, ...] = (),
    keys: KeySet | None = None,
    served_from: str | None = None,
    jku_keys: Mapping[str, KeySet] | None = None,
) -> Revalidation:
    """Compare the card that was fetched again with its pin (P3). `card` is None where there is none any more.

    Returns what to do next: go on, or under `renegotiate` discover anew. Raises `AgentCardDriftError` with the pointers
    that changed and those the plan depends on (P4), `Misuse` for an unknown transition. `now` is Unix seconds.
    """
    answer = Refetch(status=200 if card is not None else 404, card=card, extended=pin.extended)
    judged = judge_revalidation(
        pin,
        answer,
        transition=transition,
        policy=policy,
        now=now,
        seen=seen,
        keys=keys,
        served_from=served_from,
        jku_keys=jku_keys,
    )
    if judged.next is Next.STOP:
        raise drift_error(pin, judged)
    return judged


def drift_error(pin: PinnedCard, judged: Revalidation) -> AgentCardDriftError:
    """The typed error for a revalidation that stops; its finding is the one that decided."""
    finding = next(found for found in judged.findings if found.verdict is Verdict.REFUSE)
    return AgentCardDriftError(
        finding.detail,
        finding=finding,
        changed=judged.changed,
        depends=judged.depends,
        pinned=pin.content_digest,
        found=judged.digest,
    )


def choose_card(public: Card, extended: Card, report: SignatureReport) -> tuple[Card, tuple[Finding, ...]]:
    """Which card governs after the extended one was fetched: that one, unless its signatures are refused (R12).

    The caller verifies first and replaces afterwards, so that a refused card never stands in a cache or a pin.
    """
    if report.refuses:
        return public, (*report.findings, EXTENDED_DROPPED())
    return extended, report.findings

"""Judges a pinned card against what its URL answers now, before a transition that depends on it (P3-P4, R34).

Fails closed: no answer, no card and another card all stop the transition, and each has its own name. Reading and
cancelling a task never depend on the card, so that what was begun can always be settled. Fetches nothing and knows no
clock: the caller brings the answer, and is told whether to go on, ask again, discover anew, or stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from a2a_lab.core.canonical import content_digest, full_digest
from a2a_lab.core.drift import Drift, compare, flaps
from a2a_lab.core.drift_findings import (
    AUTHORITY_LOST,
    DRIFT,
    ETAG_UNCHANGED,
    EXTENDED,
    FLAPPING,
    GONE,
    NEEDS_AUTH,
    NOT_MODIFIED,
    NOT_MODIFIED_UNASKED,
    REDISCOVER,
    ROTATED,
    ROTATION_REFUSED,
    UNAVAILABLE,
    UNSEEN,
)
from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card
from a2a_lab.core.pins import PinnedCard
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.refetch import DEPENDENT, Next, Refetch, Revalidation, Transition
from a2a_lab.core.signatures import SignatureReport, verify_card
from a2a_lab.errors import MalformedJson, Misuse
from a2a_lab.verdicts import FindingKind

SEEN_KEPT = 64  # digests remembered per target; two that take turns show within three


def judge_revalidation(
    pin: PinnedCard,
    answer: Refetch,
    *,
    transition: Transition | str,
    policy: Policy,
    now: float,
    attempt: int = 1,
    seen: tuple[str, ...] = (),
    keys: KeySet | None = None,
    served_from: str | None = None,
    jku_keys: Mapping[str, KeySet] | None = None,
) -> Revalidation:
    """Judge one answer; `attempt` is 1 for the first GET and 2 for its one retry, `seen` what earlier ones found.

    `now` is Unix seconds. Raises `Misuse` for an unknown transition and for a third attempt, nothing on account of the
    peer: `revalidate_before_transition` is the raising form.
    """
    step = _transition(transition)
    if attempt not in (1, 2):
        raise Misuse(f"attempt {attempt} of a revalidation; one retry is all there is (R34)")
    if step not in DEPENDENT:
        return Revalidation(next=Next.GO_ON, seen=seen)
    if answer.extended != pin.extended:
        return Revalidation(next=Next.GO_ON, findings=(EXTENDED(),), seen=seen)
    card = answer.card if answer.status == 200 else None
    if policy.drift == "once":
        return _unjudged(pin, card, seen)
    if card is None:
        return _without_card(answer, step, attempt, seen)
    try:
        found, whole = content_digest(card.document), full_digest(card.document)
    except MalformedJson as fault:
        return _stop(GONE, f"the card before {step} has no digest any more: {fault.message}", step, seen)
    history = (*pin.seen, pin.content_digest, *seen, found)
    seen = (*seen, found)[-SEEN_KEPT:]
    if flaps(history):
        return _flapping(pin, card, history, step, seen)
    if found != pin.content_digest:
        same_etag = answer.etag is not None and answer.etag == pin.etag
        drifted = _drifted(pin, card, found, step, policy, seen)
        return replace(drifted, findings=(*drifted.findings, ETAG_UNCHANGED())) if same_etag else drifted
    if whole == pin.full_digest:
        return Revalidation(next=Next.GO_ON, digest=found, seen=seen)
    report = verify_card(
        card,
        keys if keys is not None else policy.trusted_keys or KeySet(),
        policy=policy,
        now=now,
        served_from=served_from,
        interface=pin.interface,
        jku_keys=jku_keys,
        intent=pin.intent,
    )
    return _rotated(pin, report, found, seen)


def _transition(name: Transition | str) -> Transition:
    try:
        return Transition(name)
    except ValueError as fault:
        raise Misuse(f"{quoted(name)} is no transition; expected one of {', '.join(Transition)}") from fault


def _without_card(answer: Refetch, step: Transition, attempt: int, seen: tuple[str, ...]) -> Revalidation:
    """No card came: an outage is asked once more, everything else stops (R34)."""
    status = answer.status
    said = answer.fault or "no answer" if status is None else f"HTTP {status}"
    if status is None or status == 429 or status >= 500:
        if attempt == 1:
            return Revalidation(next=Next.RETRY, seen=seen)
        return _stop(UNAVAILABLE, f"the card could not be fetched before {step}: {said}, twice", step, seen, status)
    if status == 304:
        if answer.conditional is not False:
            return Revalidation(next=Next.GO_ON, findings=(NOT_MODIFIED(),), seen=seen)
        detail = f"the card's server answered HTTP 304 before {step} although no validator was sent"
        return _stop(NOT_MODIFIED_UNASKED, detail, step, seen, status)
    if status in (401, 403):
        return _stop(
            NEEDS_AUTH, f"the card that was public asks for credentials before {step}: {said}", step, seen, status
        )
    what = "answers with something that is no card" if status == 200 else f"answers {said}"
    detail = f"the card's URL {what} before {step}; read or cancel what is open, or book it, and start from discovery"
    return _stop(GONE, detail, step, seen, status)


def _stop(
    kind: FindingKind, detail: str, step: Transition, seen: tuple[str, ...], status: int | None = None
) -> Revalidation:
    return Revalidation(next=Next.STOP, findings=(kind(detail, transition=step.value, status=status),), seen=seen)


def _flapping(
    pin: PinnedCard, card: Card, history: tuple[str, ...], step: Transition, seen: tuple[str, ...]
) -> Revalidation:
    variants = tuple(dict.fromkeys(history))
    drift = compare(pin, card)
    detail = (
        f"the card takes turns between {len(variants)} variants ({', '.join(digest[:12] for digest in variants[:4])}) "
        f"before {step}; behind one URL are servers that disagree, and no pin can hold"
    )
    return Revalidation(
        next=Next.STOP,
        findings=(FLAPPING(detail, transition=step.value, digests=variants),),
        changed=drift.changed,
        depends=drift.depends,
        digest=history[-1],
        seen=seen,
    )


def _drifted(
    pin: PinnedCard, card: Card, found: str, step: Transition, policy: Policy, seen: tuple[str, ...]
) -> Revalidation:
    """The content changed: stop, unless the operator renegotiates and the plan does not depend on what changed (P3)."""
    drift = compare(pin, card)
    goes_on = policy.drift == "renegotiate" and drift.what == "descriptive"
    parts = (
        f"the card changed before {step}: pinned {pin.content_digest[:12]}, found {found[:12]}",
        f"changed: {listed(drift.changed)}",
        f"the plan depends on {listed(drift.depends)}" if drift.depends else "the plan depends on none of it",
        "the plan is discovered anew under a new pin" if goes_on else _advice(pin, drift),
    )
    finding = (REDISCOVER if goes_on else DRIFT)(
        "; ".join(parts), what=drift.what, changed=drift.changed, depends=drift.depends, transition=step.value
    )
    return Revalidation(
        next=Next.REDISCOVER if goes_on else Next.STOP,
        findings=(finding,),
        changed=drift.changed,
        depends=drift.depends,
        digest=found,
        seen=seen,
    )


def _advice(pin: PinnedCard, drift: Drift) -> str:
    settle = "read or cancel what is open, or book it, and start from discovery"
    if drift.what != "identity":
        return f"stop here, {settle}"
    return f"do not follow it, for credentials and task ids belong to {quoted(pin.interface.url)}; {settle}"


def _unjudged(pin: PinnedCard, card: Card | None, seen: tuple[str, ...]) -> Revalidation:
    """Negotiate once, what most clients do: a change is noted for whoever measures, and nothing follows from it."""
    drift = compare(pin, card) if card is not None else Drift()
    if not drift.changed:
        return Revalidation(next=Next.GO_ON, seen=seen)
    detail = f"the card changed and nobody looks: {listed(drift.changed)}"
    finding = UNSEEN(detail, what=drift.what, changed=drift.changed, depends=drift.depends)
    return Revalidation(next=Next.GO_ON, findings=(finding,), changed=drift.changed, depends=drift.depends, seen=seen)


def _rotated(pin: PinnedCard, report: SignatureReport, found: str, seen: tuple[str, ...]) -> Revalidation:
    """Only the signatures changed, which is no drift; what they are worth now is judged anew (P3)."""
    findings = [ROTATED(f"the signatures changed and the content {found[:12]} did not", digest=found)]
    if report.refuses:
        findings.append(ROTATION_REFUSED())
    elif pin.authoritative and not report.authoritative:
        findings.append(AUTHORITY_LOST())
    return Revalidation(
        next=Next.STOP if report.refuses else Next.GO_ON,
        findings=(*findings, *report.findings),
        rotated=True,
        signature=report,
        digest=found,
        seen=seen,
    )

"""The findings about a pinned card and what its URL answers later (P2-P4, R12, R34), all of stage ledger."""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict

_CACHING = "A2A 1.0.1 8.6 lets cards be cached and changed; a changed card breaks no rule of the specification"


def _stops(slug: str, rule: str, means: str, *, clause: str | None = None, other: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.LEDGER,
        verdict=Verdict.REFUSE,
        kind=Kind.CONFORMANCE,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


def _notes(slug: str, rule: str, means: str, *, clause: str | None = None, other: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.LEDGER,
        verdict=Verdict.ACCEPT,
        kind=Kind.NOTE,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


DRIFT = _stops("card-drift", "P3, P4", "the card is not the one that was pinned", other=_CACHING)
FLAPPING = _stops("card-flapping", "R34", "two cards take turns at one URL", other=_CACHING)
GONE = _stops("card-gone", "P3, D5", "there is no card at the pinned URL any more", other=_CACHING)
UNAVAILABLE = _stops("card-unavailable", "R34", "the card could not be fetched again, also not a second time")
NEEDS_AUTH = _stops("card-needs-auth", "R13, P3", "the card that was public asks for credentials now")
NOT_MODIFIED_UNASKED = _stops(
    "not-modified-unasked",
    "P3",
    "the server says that nothing changed although it was not told since when",
    clause="RFC 9110 15.4.5 (MUST): 304 answers a conditional request",
)
ROTATION_REFUSED = _stops("rotation-refused", "P3, R19", "the card was signed anew, and the new signatures are refused")
AUTHORITY_LOST = FindingKind(
    slug="authority-lost",
    stage=Stage.LEDGER,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.POLICY,
    rule="P3, R19",
    means="the content is as pinned, but its new signatures no longer give authority",
    other="A2A 1.0.1 8.4 (MAY): a card need not be signed",
)
ROTATED = _notes("signature-rotated", "P3", "only the signatures changed, which is no drift")
REDISCOVER = _notes("card-renegotiated", "P3", "the card changed where the plan does not depend on it", other=_CACHING)
UNSEEN = _notes("drift-unseen", "P3", "the card changed after the only look at it")
NOT_MODIFIED = _notes(
    "card-not-modified",
    "R34",
    "the server says that the card did not change; a rotated signature, or a lying server, stays unseen",
    other="A2A 1.0.1 8.6.2 (SHOULD): clients revalidate with If-None-Match",
)
ETAG_UNCHANGED = _notes(
    "etag-unchanged",
    "R34",
    "the body changed and its ETag did not, so validators of this server hide changes",
    clause="RFC 9110 8.8.3 (MUST for strong validators), A2A 1.0.1 8.6.1 (SHOULD)",
)
EXTENDED = _notes(
    "extended-card",
    "R12",
    "the extended card has a pin of its own; that it differs from the public card is no drift",
    clause="A2A 1.0.1 3.1.11",
)
EXTENDED_DROPPED = _notes(
    "extended-card-dropped",
    "R12, A1",
    "the extended card was refused, so the public card and its pin stay",
    other="A2A 1.0.1 3.1.11 lets the extended card replace the public one",
)

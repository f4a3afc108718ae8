"""The findings about a card's signatures, apart from those about the form of one entry, which `jws` names.

Each stands here with its default under `signature_policy = prefer`: most say no more than "as good as unsigned". What
refuses there too is evidence that somebody changed the card or tried to pass for a trusted key (R19).
"""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _advisory(slug: str, rule: str, means: str, *, clause: str | None = None, other: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.SIGNATURE,
        verdict=Verdict.HINT,
        kind=Kind.AUTHORITY,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


def _refused(slug: str, rule: str, means: str, clause: str) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.SIGNATURE,
        verdict=Verdict.REFUSE,
        kind=Kind.CONFORMANCE,
        judge=Judge.SPEC,
        rule=rule,
        means=means,
        clause=clause,
    )


def _note(slug: str, rule: str, means: str, *, other: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.SIGNATURE,
        verdict=Verdict.ACCEPT,
        kind=Kind.NOTE,
        judge=Judge.POLICY,
        rule=rule,
        means=means,
        other=other,
    )


UNSIGNED = _advisory(
    "unsigned",
    "A1, R19",
    "the card carries no signature, so what it declares is advisory",
    other="A2A 1.0.1 8.4 (MAY): a card need not be signed",
)
UNKNOWN_KEY = _advisory(
    "untrusted-key",
    "A1, R19",
    "the signature names a key that nobody enrolled",
    other="A2A 1.0.1 8.4.3 leaves trust to the client",
)
JKU_NOT_ALLOWED = _advisory(
    "jku-not-allowed",
    "A1, R20",
    "the signer says where its key is, at a place the operator did not allow",
    other="A2A 1.0.1 8.4.3 step 2 permits to fetch the key from there",
)
JKU_NOT_FETCHED = _advisory("jku-not-fetched", "A1", "the key is at an allowed place that was not asked yet")
KEY_UNUSABLE = _advisory(
    "key-not-usable",
    "A1, R20",
    "the key is expired, revoked or not valid yet",
    clause="A2A 1.0.1 8.4.3 (MUST NOT use expired or revoked keys)",
)
KEY_ELSEWHERE = _advisory(
    "key-elsewhere",
    "R20",
    "the key speaks for other origins: a signature proves the author and not the place",
    other="A2A 1.0.1 8.4.3 binds no key to an origin; registries serve cards of others",
)
COMPATIBILITY = _advisory(
    "compatibility-form",
    "R18",
    "the signature passes only a form that programs in the field use",
    other="A2A 1.0.1 8.4.1 knows one form only, by which the signature fails; the SDK of the signer accepts it",
)
UNCOVERED = _advisory(
    "plan-not-covered",
    "A1, R18",
    "the signature leaves out a member that the plan depends on, so anybody may have written it",
    other="A2A 1.0.1 8.4.3 asks only that the signature verifies",
)
ALGORITHM = _refused(
    "signature-algorithm",
    "R20",
    "the algorithm is not allowed, or not that of the trusted key",
    "RFC 8725 3.1 and 3.2 (MUST), RFC 7515 5.2",
)
TAMPERED = _refused(
    "signature-fails",
    "A1, R19",
    "the signature of a trusted key passes no profile, so the card is not what was signed",
    "A2A 1.0.1 8.4.3 (MUST verify before trusting), RFC 7515 5.2",
)
VERIFIED = _note("signature-verified", "A1, R18", "a trusted key signed the card")
LEFT_OUT = _note(
    "members-not-covered",
    "R8, R18",
    "the signature leaves out members that the plan does not depend on",
)
TOO_MANY = _note("signatures-not-read", "R19", "the card carries more signatures than the lab reads")

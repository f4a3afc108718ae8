"""The findings about a consumer: what its own traffic shows, and what it told its caller of it.

A recorder in front of the agent sees what a client that nobody can change asks, in which order, and what it leaves out.
Where the specification binds clients the finding names the clause; the rest is measured against this lab's policy.
"""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _of_consumer(
    slug: str,
    means: str,
    *,
    stage: Stage,
    verdict: Verdict,
    rule: str,
    kind: Kind = Kind.CONFORMANCE,
    clause: str | None = None,
    judge: Judge | None = None,
    other: str | None = None,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=stage,
        verdict=verdict,
        kind=kind,
        judge=judge or (Judge.SPEC if clause else Judge.POLICY),
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


# -- what the recorder itself changed or could not see

CARD_REWRITTEN = _of_consumer(
    "card-rewritten",
    "the recorder put its own address into the card, since the consumer would else have walked past it; a consumer "
    "that verifies signatures sees a card that its signer did not sign",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="R5",
)
PAST_THE_RECORDER = _of_consumer(
    "past-the-recorder",
    "an address that the recorder does not stand in front of was handed to the consumer; what it does there is unseen",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="R5",
)
RECORDING_FULL = _of_consumer(
    "recording-full",
    "the recording reached its bound: later traffic was passed on and not kept, so nothing is known of it",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="DESIGN 9",
)

"""The findings of reassembly: what chunks and snapshots of artifacts can do to each other (R29)."""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _finding(slug: str, means: str, verdict: Verdict, *, clause: str, judge: Judge, other: str) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.STREAM,
        verdict=verdict,
        kind=Kind.CONFORMANCE,
        judge=judge,
        rule="R29",
        clause=clause,
        means=means,
        other=other,
    )


APPEND_TO_UNKNOWN = _finding(
    "append-to-unknown",
    "a chunk is to be appended to an artifact that was never sent",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 TaskArtifactUpdateEvent.append ('previously sent artifact')",
    judge=Judge.SPEC,
    other="a draft would let append create the artifact",
)
UPDATE_AFTER_LAST_CHUNK = _finding(
    "update-after-last-chunk",
    "an artifact changed after its last chunk; what was complete is kept",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 TaskArtifactUpdateEvent.last_chunk, §4.1.7 (unique id)",
    judge=Judge.POLICY,
    other="some would let append:false replace it",
)
ARTIFACT_REPLACED = _finding(
    "artifact-replaced",
    "a chunk without append replaced what had been sent: probably content was lost",
    Verdict.HINT,
    clause="A2A 1.0.1 TaskArtifactUpdateEvent.append",
    judge=Judge.SPEC,
    other="by the letter that is what append:false means",
)
ARTIFACT_RENAMED = _finding(
    "artifact-renamed",
    "chunks give one artifact several names; the first is kept",
    Verdict.HINT,
    clause="A2A 1.0.1 §4.1.7",
    judge=Judge.POLICY,
    other="the last name could count as well",
)
ARTIFACT_UNSEALED = _finding(
    "artifact-unsealed",
    "the task completed before the last chunk of an artifact was announced",
    Verdict.HINT,
    clause="A2A 1.0.1 TaskArtifactUpdateEvent.last_chunk",
    judge=Judge.POLICY,
    other="the terminal state closes what is open",
)
SNAPSHOT_DISAGREES = _finding(
    "snapshot-disagrees",
    "the final snapshot of the task does not hold what was streamed",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §11.7, §3.5.2",
    judge=Judge.SPEC,
    other="the snapshot alone could count",
)
SNAPSHOT_DROPS = _finding(
    "snapshot-drops-artifact",
    "a snapshot in the middle of a stream lacks artifacts that were streamed before",
    Verdict.HINT,
    clause="A2A 1.0.1 §3.1.6, §4.1.1",
    judge=Judge.SPEC,
    other="the snapshot replaces what is known",
)

"""The findings of the object readers: what can be wrong with a task, a message, an artifact or a part on the wire.

Two stages share them (R1): a wrong JSON type, member name or enum form is a matter of the call (`rpc`), a state or id
that is missing or wrong one of the answer (`probe`). Inside a stream all of them belong to `stream`.
"""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _fault(
    slug: str,
    means: str,
    *,
    clause: str,
    stage: Stage = Stage.RPC,
    verdict: Verdict = Verdict.CONFORMANCE_ERROR,
    kind: Kind = Kind.CONFORMANCE,
    judge: Judge = Judge.SPEC,
    rule: str = "R1, R32",
    other: str | None = None,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=stage,
        verdict=verdict,
        kind=kind,
        judge=judge,
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


WRONG_TYPE = _fault(
    "wrong-type",
    "a member has another JSON type than its dialect says",
    clause="A2A 1.0.1 §4, §5.6 MUST; 0.3.0 §6",
)
SNAKE_CASE = _fault(
    "snake-case",
    "member names are written in snake_case; the wire wants camelCase",
    clause="A2A 1.0.1 §5.5 MUST",
    rule="R14, R32",
)
ENUM_NUMBER = _fault(
    "enum-number",
    "an enum is sent as its number; names are required",
    clause="A2A 1.0.1 §5.5 MUST",
    rule="R32",
    other="a lenient ProtoJSON reader takes the number",
)
STATE_MISSPELT = _fault(
    "state-misspelt",
    "the state is no value of the dialect, though what is meant is clear",
    clause="A2A 1.0.1 §4.1.3, §5.5; 0.3.0 §6.3",
    rule="R32",
    other="settled as the state that is meant",
)
UNKNOWN_STATE = _fault(
    "unknown-state",
    "the state is no value of the dialect; it counts as neither working nor complete",
    clause="A2A 1.0.1 §4.1.3, §5.5 MUST; 0.3.0 §6.3",
    stage=Stage.PROBE,
)
INDETERMINATE_STATE = _fault(
    "indeterminate-state",
    "the state says that the state is unknown",
    clause="A2A 0.3.0 §6.3",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
)
STATE_MISSING = _fault(
    "state-missing",
    "the status has no state: neither running nor finished",
    clause="A2A 1.0.1 §4.1.2, §5.7 REQUIRED; 0.3.0 §6.2",
    stage=Stage.PROBE,
    rule="R14",
)
ID_MISSING = _fault(
    "id-missing",
    "an identifier that everything else hangs on is missing or empty",
    clause="A2A 1.0.1 §4.1, §5.7 REQUIRED; 0.3.0 §6",
    stage=Stage.PROBE,
    rule="R14",
)
MEMBER_MISSING = _fault(
    "member-missing",
    "a required member is missing that decides nothing",
    clause="A2A 1.0.1 §5.7 REQUIRED; 0.3.0 §6.4",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
    rule="R14",
    other="a strict validator throws the whole answer away",
)
VERSION_NOT_HONOURED = _fault(
    "version-not-honoured",
    "the answer is written in another dialect than the one that was called",
    clause="A2A 1.0.1 §3.6.2, §8.3.1 MUST, App. A.2.1",
    stage=Stage.PROBE,
    rule="A2, R1",
)
RESULT_SHAPE = _fault(
    "result-shape",
    "the result is none of the shapes that the operation may return",
    clause="A2A 1.0.1 §3.2.3, §9.4.1 oneof; 0.3.0 §7",
)
PART_SHAPE = _fault(
    "part-shape",
    "a part holds no content, or more than one kind of it",
    clause="A2A 1.0.1 §4.1.6 oneof; 0.3.0 §6.5",
)
EMPTY_PARTS = _fault(
    "empty-parts",
    "a list of parts that must not be empty is empty or missing",
    clause="A2A 1.0.1 §5.7 (required arrays); 0.3.0 §6.7",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
    rule="R14",
)
ID_REPEATED = _fault(
    "id-repeated",
    "two artifacts of one task have the same id",
    clause="A2A 1.0.1 §4.1.7 (unique within the task)",
    stage=Stage.PROBE,
)
UNKNOWN_ROLE = _fault(
    "unknown-role",
    "the role is no value of the dialect",
    clause="A2A 1.0.1 §4.1.5, §5.5 MUST; 0.3.0 §6.4",
    stage=Stage.PROBE,
)
LEGACY_MEMBER = _fault(
    "legacy-member",
    "a member of an older dialect stands beside the current ones, and is ignored",
    clause="A2A 1.0.1 §5.7 SHOULD ignore",
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
)
TIMESTAMP_FORM = _fault(
    "timestamp-form",
    "a timestamp is not in UTC with a final Z",
    clause="A2A 1.0.1 §5.6.1 MUST",
    other="clients built on protobuf refuse a timestamp without a zone",
)
WRONG_ROLE = _fault(
    "wrong-role",
    "a message of the agent does not carry the agent's role",
    clause="A2A 1.0.1 §4.1.5; 0.3.0 §6.4",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
)

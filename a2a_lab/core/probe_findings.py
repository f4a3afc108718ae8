"""The findings about probes and their answers, all of stage `probe` (A3, R22-R27)."""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _seen(
    slug: str,
    verdict: Verdict,
    rule: str,
    means: str,
    *,
    kind: Kind = Kind.CONFORMANCE,
    clause: str | None = None,
    judge: Judge = Judge.POLICY,
    other: str | None = None,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.PROBE,
        verdict=verdict,
        kind=kind,
        judge=judge,
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


MODE_NARROWED = _seen(
    "mode-narrowed",
    Verdict.HINT,
    "A3, R22",
    "the runtime takes fewer modes than the card declares; from here on its own word counts",
    other="no version of A2A binds the runtime to the declared modes",
)
PROBE_MODE_REFUSED = _seen(
    "probe-mode-refused",
    Verdict.HINT,
    "A3, R22",
    "the runtime declines the mode of the probe, which the card declares, but names the one that is meant to follow",
    kind=Kind.AUTHORITY,
)
PROBE_INTERRUPTED = _seen(
    "probe-interrupted",
    Verdict.HINT,
    "R22",
    "the task waits for something that a probe cannot give; it is neither done nor failed",
    clause="A2A 1.0.1 §4.1.3 and §7.6 (interrupted states)",
)
PROBE_REFUSED = _seen("probe-refused", Verdict.REFUSE, "R22", "the agent did not carry out the probe")
PROBE_INCONCLUSIVE = _seen(
    "probe-inconclusive",
    Verdict.HINT,
    "R22",
    "the answer proves nothing about what the runtime takes",
    kind=Kind.AUTHORITY,
    clause="A2A 1.0.1 §3.1.1 (a Message instead of a Task is legal)",
)
PROBE_HANG = _seen("probe-hang", Verdict.HANG, "R25, R30", "the probe was not answered within the limit")
SKILL_NOT_ECHOED = _seen(
    "skill-not-echoed",
    Verdict.HINT,
    "A4, R26",
    "the task does not echo the skill: a generic executor is assumed, and the skill's own modes are ignored",
    kind=Kind.AUTHORITY,
    other="no version of A2A knows a skill selector or an echo of it",
)
CONTEXT_REPLACED = _seen(
    "context-replaced",
    Verdict.CONFORMANCE_ERROR,
    "R1",
    "the answer carries another context than the one that was asked for",
    clause="A2A 1.0.1 §3.4.1 (MUST reject rather than invent another)",
    judge=Judge.SPEC,
)
TASK_REPLACED = _seen(
    "task-replaced",
    Verdict.CONFORMANCE_ERROR,
    "R1",
    "the answer carries another task than the one that was named",
    clause="A2A 1.0.1 §3.4.2 (MUST)",
    judge=Judge.SPEC,
)
TASK_REUSED = _seen(
    "task-reused",
    Verdict.CONFORMANCE_ERROR,
    "R24",
    "a message that names no task was answered with one that had ended before it: its result is not this message's",
    clause="A2A 1.0.1 §3.1.1, §3.4.2 (a new task; terminal is immutable); 0.3.0 life of a task",
    judge=Judge.SPEC,
)
UNKNOWN_TASK_ACCEPTED = _seen(
    "unknown-task-accepted",
    Verdict.CONFORMANCE_ERROR,
    "R1",
    "the agent took up a task id that it never handed out",
    clause="A2A 1.0.1 §3.4.2 (MUST answer TaskNotFound)",
    judge=Judge.SPEC,
)
BLOCKING_CUT_SHORT = _seen(
    "blocking-cut-short",
    Verdict.HINT,
    "R22",
    "a call that was not asked to return at once came back before its task had ended",
    clause="A2A 1.0.1 §3.2.2 (MUST wait for a terminal or interrupted state)",
    judge=Judge.SPEC,
)
RENEGOTIATION_LIMIT = _seen(
    "renegotiation-limit",
    Verdict.REFUSE,
    "R24",
    "the agent goes on asking for input; the consumer stops, and the task has to be canceled",
)

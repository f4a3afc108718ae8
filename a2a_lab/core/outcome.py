"""Judges what became of a committed payload: delivered, declined after all, or asked about again (A4, A7, R24).

A probe was accepted before, so a refusal now comes after the side effect. That the agent declines is its right; that
it asks for another mode than the one it had just taken is a broken promise. What is left behind is for the books.
"""

from __future__ import annotations

from a2a_lab.core.media import best_match
from a2a_lab.core.model import Message, RpcError, State, Task
from a2a_lab.core.named_modes import named_modes
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.refusals import CONTENT_TYPE
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _outcome(
    slug: str,
    verdict: Verdict,
    means: str,
    *,
    rule: str = "A7",
    kind: Kind = Kind.CONFORMANCE,
    clause: str | None = None,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.LEDGER,
        verdict=verdict,
        kind=kind,
        judge=Judge.POLICY,
        rule=rule,
        clause=clause,
        means=means,
    )


NARROWED_AFTER_COMMIT = _outcome(
    "narrowed-after-commit",
    Verdict.CONFORMANCE_ERROR,
    "the runtime took a probe in this mode and refused the payload in it; the payload is not sent again",
    rule="A4, R24",
)
PAYLOAD_REFUSED = _outcome(
    "payload-refused", Verdict.REFUSE, "the payload was declined although its probe was accepted"
)
PAYLOAD_INTERRUPTED = _outcome(
    "payload-interrupted", Verdict.HINT, "the task waits for input or authorisation that the plan does not have"
)
PAYLOAD_UNFINISHED = _outcome(
    "payload-unfinished", Verdict.HANG, "the payload's task did not end within the limits", rule="A6, R30"
)
PAYLOAD_OUTCOME_UNKNOWN = _outcome(
    "payload-outcome-unknown",
    Verdict.ORPHAN,
    "no usable answer came to the payload, so a task may be running that nobody can name",
    rule="R35, R37",
    clause="A2A 1.0.1 §3.3.1",
)
ANSWERED_BY_MESSAGE = _outcome(
    "answered-by-message",
    Verdict.ACCEPT,
    "the payload was answered with a message, so there is no task to govern and no artifact",
    kind=Kind.NOTE,
    clause="A2A 1.0.1 §3.1.1",
)
WITHOUT_RESULT = _outcome(
    "completed-without-artifact",
    Verdict.ACCEPT,
    "the task completed without an artifact; the result may be in its status message",
    kind=Kind.NOTE,
    clause="A2A 1.0.1 §3.7 (results SHOULD be artifacts)",
)


def judge_commit(
    answer: Task | Message | RpcError | None, *, mode: str, is_stream: bool = False, timed_out: bool = False
) -> list[Finding]:
    """What the last word about a committed payload means. `answer` is None where none came that could be read.

    `is_stream`: the stream watch has judged hangs and missing artifacts already (A6). `timed_out`: a limit of ours
    ended the wait.
    """
    match answer:
        case None:
            return [PAYLOAD_OUTCOME_UNKNOWN()]
        case RpcError(name=name) if name == CONTENT_TYPE:
            return [_narrowed(answer, mode)]
        case RpcError():
            said = f"error {quoted(answer.code)}: {quoted(answer.message, 200)}"
            return [PAYLOAD_REFUSED(f"the payload in {quoted(mode)} was answered with {said}", found=answer.code)]
        case Message():
            return [ANSWERED_BY_MESSAGE()]
        case Task(state=State.COMPLETED):
            has_result = any(artifact.parts for artifact in answer.artifacts)
            return [] if has_result or is_stream else [WITHOUT_RESULT()]
        case Task(state=State.INPUT_REQUIRED) if _excludes(answer, mode):
            return [_narrowed(answer, mode)]
        case Task(state=State.INPUT_REQUIRED | State.AUTH_REQUIRED as state):
            return [PAYLOAD_INTERRUPTED(f"task {quoted(answer.id)} is {state.value}", found=state.value)]
        case Task(state=State.FAILED | State.REJECTED | State.CANCELED as state):
            detail = f"task {quoted(answer.id)} with the payload in {quoted(mode)} is {state.value}"
            return [PAYLOAD_REFUSED(detail, found=state.value)]
        case Task(state=state) if timed_out and not is_stream:
            return [PAYLOAD_UNFINISHED(f"task {quoted(answer.id)} is still {state.value}", found=state.value)]
        case Task():
            return []


def _excludes(task: Task, mode: str) -> bool:
    named = named_modes(task)
    return bool(named) and not best_match(named.modes, mode)[0]


def _narrowed(answer: Task | RpcError, mode: str) -> Finding:
    named = named_modes(answer)
    takes = listed(named.modes) or "no other mode"
    detail = f"the payload in {quoted(mode)} was refused after its probe was taken; the runtime names {takes}"
    return NARROWED_AFTER_COMMIT(detail, found=list(named.modes), expected=mode)

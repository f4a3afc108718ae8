"""Reads the answer to a probe: what the runtime takes, as against what its card says (A3, R22, R26).

A probe is a minimal part without a payload. It says in metadata what is meant to follow, so that an agent which reads
that can narrow at once; what an agent does with the part itself is proof for that mode alone (see `rehearsal`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.asked import SENDS, Asked
from a2a_lab.core.authority import Outcome, TaskTransition
from a2a_lab.core.media import best_match, essence
from a2a_lab.core.model import Json, Message, RpcError, State, Task
from a2a_lab.core.named_modes import NAMES_NOTHING, NamedModes, named_modes
from a2a_lab.core.policy import Intent
from a2a_lab.core.probe_findings import (
    BLOCKING_CUT_SHORT,
    CONTEXT_REPLACED,
    MODE_NARROWED,
    PROBE_HANG,
    PROBE_INCONCLUSIVE,
    PROBE_INTERRUPTED,
    PROBE_MODE_REFUSED,
    PROBE_REFUSED,
    RENEGOTIATION_LIMIT,
    SKILL_NOT_ECHOED,
    TASK_REPLACED,
    TASK_REUSED,
    UNKNOWN_TASK_ACCEPTED,
)
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.refusals import CONTENT_TYPE, judge_acceptance, judge_error
from a2a_lab.verdicts import Finding, Verdict

Ending = Literal["answered", "hang", "fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReading:
    """What a probe showed. `runtime_modes` are those seen or said to be taken; empty where the answer names none.

    `wants_output`: the agent declines the output modes asked for, not the mode of the part. `is_generic`: the intent
    names a skill and the agent does not echo it.
    """

    asked: Asked
    outcome: Outcome
    runtime_modes: tuple[str, ...] = ()
    named: NamedModes = NAMES_NOTHING
    task: Task | None = None
    skill_echoed: str | None = None
    is_generic: bool = False
    wants_output: bool = False
    findings: tuple[Finding, ...] = ()

    def transition(self, *, stream_final_seen: bool) -> TaskTransition:
        """The record's four facts of this probe."""
        return TaskTransition(
            state=self.task.state if self.task else State.UNKNOWN,
            effective_modes=self.runtime_modes,
            skill_id_echoed=self.skill_echoed,
            stream_final_seen=stream_final_seen,
        )


def probe_message_metadata(intent: Intent, mode: str | None = None) -> dict[str, Json]:
    """The metadata of a probe: what is meant to follow. `mode` replaces the intended one after a renegotiation."""
    return {
        "intendedInputModes": [mode or intent.mode],
        "intendedOutputModes": list(intent.accepts),
        **({"skillId": intent.skill} if intent.skill is not None else {}),
    }


def read_probe(
    answer: Task | Message | RpcError | None,
    asked: Asked,
    *,
    ending: Ending = "answered",
    seen: Sequence[Finding] = (),
    is_live: bool = False,
) -> ProbeReading:
    """What an answer shows; of a live probe, which was followed to its end or to the limit, the last snapshot (R22).

    `seen` are the findings of the wire, of the stream and of the parts received: one that is a conformance error or
    worse leaves nothing to decide on. `ending` says whether an answer came at all.
    """
    worst = max((finding.verdict.severity for finding in seen), default=0)
    findings = judge_ids(answer, asked)
    findings += judge_acceptance(asked) if isinstance(answer, (Task, Message)) else []
    was_named = any(finding.verdict is Verdict.HANG for finding in seen)
    if ending == "hang" or was_named:
        findings += [] if was_named else [PROBE_HANG()]
        return ProbeReading(asked=asked, outcome=Outcome.HUNG, task=_task(answer), findings=tuple(findings))
    is_broken = worst >= Verdict.CONFORMANCE_ERROR.severity or any(
        finding.verdict is Verdict.CONFORMANCE_ERROR for finding in findings
    )
    if is_broken or answer is None:
        return ProbeReading(asked=asked, outcome=Outcome.BROKEN, task=_task(answer), findings=tuple(findings))
    named = named_modes(answer)
    outcome, more = _outcome(answer, asked, named, is_live)
    if any(finding.verdict is Verdict.CONFORMANCE_ERROR for finding in more):
        outcome = Outcome.BROKEN
    elif asked.purpose == "control":
        more = []  # whatever it answers to a mode that nobody declared, it is right
    elif asked.purpose == "rehearsal" and outcome is Outcome.REFUSED:
        outcome, more = Outcome.NARROWED, [_refused_there(asked, named, more[0])]
    echoed, is_generic, echo = _echo(answer, asked)
    modes = {Outcome.ACCEPTED: (essence(asked.mode),), Outcome.NARROWED: named.modes}.get(outcome, ())
    return ProbeReading(
        asked=asked,
        outcome=outcome,
        runtime_modes=modes,
        named=named,
        task=_task(answer),
        skill_echoed=echoed,
        is_generic=is_generic,
        wants_output=outcome is Outcome.NARROWED and not _is_reason(asked, named),
        findings=(*findings, *more, *echo),
    )


def judge_ids(answer: Task | Message | RpcError | None, asked: Asked) -> list[Finding]:
    """Whether an answer belongs to the context and the task that the request named (R1)."""
    if not isinstance(answer, (Task, Message)):
        return []
    softer = None if asked.dialect == "1.0" else Verdict.HINT  # 0.3 leaves both to the server
    findings = []
    if asked.context_id and answer.context_id and answer.context_id != asked.context_id:
        detail = f"context {quoted(asked.context_id)} was asked for, {quoted(answer.context_id)} came"
        findings.append(CONTEXT_REPLACED(detail, found=answer.context_id, expected=asked.context_id, verdict=softer))
    if not isinstance(answer, Task):
        return findings
    if asked.task_id is None:
        if asked.had_ended and asked.op in SENDS:
            detail = f"task {quoted(answer.id)} had ended before this message left, and answers it"
            findings.append(TASK_REUSED(detail, found=answer.id))
        return findings
    if answer.id != asked.task_id:
        detail = f"task {quoted(asked.task_id)} was named, {quoted(answer.id)} came"
        is_clients = asked.dialect == "0.1"  # whose clients make the ids, and whose servers must use them
        verdict = None if is_clients else softer
        findings.append(TASK_REPLACED(detail, found=answer.id, expected=asked.task_id, verdict=verdict))
    # A task that asks again may have been paused before the evidence begins; one that just works was made up.
    elif _is_made_up(asked) and answer.state is not State.INPUT_REQUIRED:
        detail = f"task {quoted(asked.task_id)} was never handed out, and is {answer.state.value} now"
        findings.append(UNKNOWN_TASK_ACCEPTED(detail, found=asked.task_id, verdict=softer))
    return findings


def _is_made_up(asked: Asked) -> bool:
    """Whether a message continues a task that the agent never handed out."""
    return not asked.task_is_known and asked.op in SENDS and not asked.opens_task


def judge_renegotiations(asked_again: int, limit: int) -> list[Finding]:
    """Whether a consumer should have stopped: `asked_again` answers to its inputs were input-required again (R24)."""
    if asked_again <= limit:
        return []
    detail = f"{asked_again} answers asked for input again, at most {limit} renegotiations are made; cancel the task"
    return [RENEGOTIATION_LIMIT(detail, found=asked_again, expected=limit)]


def _outcome(
    answer: Task | Message | RpcError, asked: Asked, named: NamedModes, is_live: bool
) -> tuple[Outcome, list[Finding]]:
    match answer:
        case RpcError(name=name) if name == CONTENT_TYPE and asked.op in SENDS:
            return Outcome.NARROWED, [_narrowed(asked, named)]
        case RpcError():
            return Outcome.REFUSED, judge_error(answer, asked)
        case Message():
            return Outcome.INCONCLUSIVE, [
                PROBE_INCONCLUSIVE("a Message came and no Task, so no transition to judge by")
            ]
        case Task(state=State.INPUT_REQUIRED) if named and _is_reason(asked, named):
            return Outcome.NARROWED, [_narrowed(asked, named)]
        case Task(state=State.INPUT_REQUIRED | State.AUTH_REQUIRED as state):
            waits = "input" if state is State.INPUT_REQUIRED else "authorisation"
            detail = f"task {quoted(answer.id)} waits for {waits} and names no other mode; cancel it or answer it"
            return Outcome.INTERRUPTED, [PROBE_INTERRUPTED(detail, found=state.value)]
        case Task(state=State.REJECTED | State.FAILED | State.CANCELED as state):
            return Outcome.REFUSED, [PROBE_REFUSED(f"task {quoted(answer.id)} is {state.value}", found=state.value)]
        case Task(state=State.UNKNOWN):
            detail = f"task {quoted(answer.id)} is {quoted(answer.wire_state)}, which is neither running nor done"
            return Outcome.INCONCLUSIVE, [PROBE_INCONCLUSIVE(detail, found=answer.wire_state)]
        case Task(state=State.SUBMITTED) if is_live:
            detail = f"task {quoted(answer.id)} never left submitted while it was followed"
            return Outcome.INCONCLUSIVE, [PROBE_INCONCLUSIVE(detail, found=answer.state.value)]
        case _:
            return Outcome.ACCEPTED, _cut_short(answer, asked)


def _is_reason(asked: Asked, named: NamedModes) -> bool:
    """Whether the modes named are a reason to change the mode: one that was sent or is meant is missing among them."""
    return not (_is_named(asked.mode, named) and _is_named(asked.intended_mode, named))


def _narrowed(asked: Asked, named: NamedModes) -> Finding:
    if named and not _is_reason(asked, named):
        detail = f"the output modes asked for are declined; the agent wants {listed(named.modes)} among them"
        return MODE_NARROWED(detail, found=list(named.modes), expected=asked.mode, evidence=named.evidence)
    takes = f"the runtime takes {listed(named.modes)} (named in its {named.evidence})" if named else "it names no other"
    if named and _is_named(asked.intended_mode, named) and not _is_named(asked.mode, named):
        detail = f"the probe was {quoted(asked.mode)}; {takes}, which is what is meant to follow"
        return PROBE_MODE_REFUSED(detail, found=list(named.modes), expected=asked.intended_mode)
    detail = f"{quoted(asked.intended_mode)} is meant to follow; {takes}"
    return MODE_NARROWED(detail, found=list(named.modes), expected=asked.intended_mode, evidence=named.evidence)


def _refused_there(asked: Asked, named: NamedModes, refusal: Finding) -> Finding:
    """A rehearsal that is refused says no more than that its mode is not taken (R23)."""
    detail = f"{quoted(asked.mode)} is declared and was refused when it was rehearsed: {refusal.detail}"
    return MODE_NARROWED(detail, found=list(named.modes), expected=asked.mode, evidence=named.evidence)


def _cut_short(task: Task, asked: Asked) -> list[Finding]:
    is_blocking = asked.op == "send" and asked.dialect == "1.0" and not asked.return_immediately
    # A server that had just asked for patience gave what it could; its first answer was the one that counts.
    if not is_blocking or asked.is_retry or task.state is State.COMPLETED:
        return []
    return [BLOCKING_CUT_SHORT(f"task {quoted(task.id)} is still {task.state.value}", found=task.state.value)]


def _echo(answer: Task | Message | RpcError, asked: Asked) -> tuple[str | None, bool, list[Finding]]:
    """The skill that the answer echoes, whether the executor is generic, and what to say about it (R26)."""
    if asked.skill is None or not isinstance(answer, Task):
        return None, False, []
    echoed = answer.metadata.get("skillId")
    if echoed == asked.skill:
        return asked.skill, False, []
    detail = f"skill {quoted(asked.skill)} was named, the task's metadata has skillId {quoted(echoed)}"
    held = echoed if isinstance(echoed, str) else None
    return held, True, [SKILL_NOT_ECHOED(detail, found=echoed, expected=asked.skill)]


def _is_named(mode: str, named: NamedModes) -> bool:
    return best_match(named.modes, mode)[0]


def _task(answer: Task | Message | RpcError | None) -> Task | None:
    return answer if isinstance(answer, Task) else None

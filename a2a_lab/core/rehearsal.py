"""Plans the probes of one plan and decides by them: the enforcing flow up to the commit, without a wire (R22-R26).

Whoever drives it sends what `next_probe` says, follows and cancels each probe, reads it with `read_probe`, and asks
again until a `Decision` comes. Two probes at most: an accepted text/plain probe proves text/plain only, so a payload in
another mode is rehearsed in that mode and with the operation of the plan before it leaves. Everything is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from a2a_lab.core.asked import Asked, Purpose
from a2a_lab.core.authority import Action, Outcome, Standing, decide, standing_of
from a2a_lab.core.media import TEXT, best_match
from a2a_lab.core.minimal import minimal_part
from a2a_lab.core.model import Card, Json, Part
from a2a_lab.core.modes import Modes, declared_modes
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.probe import ProbeReading, probe_message_metadata
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _decided(slug: str, verdict: Verdict, rule: str, means: str, kind: Kind = Kind.CONFORMANCE) -> FindingKind:
    return FindingKind(
        slug=slug, stage=Stage.PROBE, verdict=verdict, kind=kind, judge=Judge.POLICY, rule=rule, means=means
    )


MODE_UNPROVEN = _decided(
    "mode-unproven", Verdict.REFUSE, "R23", "no probe proved the mode or the stream that the plan needs"
)
NO_COMMON_MODE = _decided(
    "no-common-mode", Verdict.REFUSE, "R22, R25", "the runtime takes no mode that the consumer can send"
)
NOT_COMMITTED = _decided(
    "not-committed", Verdict.REFUSE, "A4, R25", "after such a probe no payload is sent, whatever the card says"
)
NOT_DISCRIMINATING = _decided(
    "not-discriminating",
    Verdict.HINT,
    "R23",
    "the agent also accepts a mode that nobody declared, so that its acceptance proves nothing",
    Kind.AUTHORITY,
)

MOST_PROBES = 2  # the text/plain probe and one rehearsal; more would be a negotiation of its own
_UNDECLARED = ("application/x-a2a-lab-control", "model/x-a2a-lab-control")

SendOp = Literal["send", "stream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """One probe to send: a new task with one part, asked to return at once. `purpose` names it in the evidence."""

    purpose: Purpose
    mode: str
    part: Part
    op: SendOp
    accepts: tuple[str, ...]
    metadata: dict[str, Json] = field(default_factory=dict)
    intended: str = TEXT
    skill: str | None = None
    return_immediately: bool = True

    def asked(self, *, dialect: str, **facts: Json) -> Asked:
        """What its answer is read against; `facts` are those of `declared_by` and `version_sent`."""
        return Asked(
            op=self.op,
            dialect=dialect,
            mode=self.mode,
            intended=self.intended,
            skill=self.skill,
            return_immediately=self.return_immediately,
            purpose=self.purpose,
            **facts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now. A payload is sent only where `commits`, in `mode`, as a new task in `context_id`.

    `findings` are about the decision itself; those of the probes are in their readings. `because` says in slugs what
    keeps the commit from being authoritative. `is_generic`: ignore the skill's own modes.
    """

    action: Action
    mode: str | None = None
    op: SendOp = "send"
    accepts: tuple[str, ...] = ()
    context_id: str | None = None
    is_generic: bool = False
    because: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def commits(self) -> bool:
        return self.action is not Action.REFUSE

    @property
    def is_authoritative(self) -> bool:
        return self.action is Action.COMMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """The state between two probes: the plan, the standing of the card, and what was sent and read so far."""

    intent: Intent
    policy: Policy
    inputs: Modes
    standing: Standing
    doubts: tuple[str, ...] = ()
    done: tuple[tuple[ProbePlan, ProbeReading], ...] = ()

    def after(self, plan: ProbePlan, reading: ProbeReading) -> Rehearsal:
        """The state once a probe was sent and read. Raises Misuse for a probe that is not the next one."""
        if next_probe(self) != plan:
            raise Misuse(f"the {plan.purpose} in {plan.mode} is not the next probe; ask next_probe first")
        return replace(self, done=(*self.done, (plan, reading)))

    @property
    def can_send(self) -> tuple[str, ...]:
        """The modes that the consumer has a payload for, the intended one first, then in its order of preference."""
        return tuple(dict.fromkeys((self.intent.mode, *self.intent.payloads)))


@dataclass(slots=True)
class _Known:
    """What the probes so far add up to."""

    proven: list[str]
    untold: list[str]  # tried, and the answer proved nothing
    refused: list[str]
    accepts: tuple[str, ...]
    is_narrowed: bool = False
    is_streamed: bool = False
    is_blind: bool = False
    last: Outcome = Outcome.ACCEPTED


def rehearse(card: Card, intent: Intent, policy: Policy, findings: Iterable[Finding]) -> Rehearsal:
    """The state before the first probe. `findings` are those of resolve, fetch, match, signature and version."""
    heard = tuple(findings)
    return Rehearsal(
        intent=intent,
        policy=policy,
        inputs=declared_modes(card, card.skill(intent.skill), "input"),
        standing=standing_of(heard),
        doubts=tuple(
            dict.fromkeys(one.slug for one in heard if one.verdict is not Verdict.ACCEPT and one.kind is not Kind.NOTE)
        ),
    )


def next_probe(state: Rehearsal) -> ProbePlan | Decision:
    """The probe to send now, or what to do now that no further one is needed or allowed."""
    if state.standing is Standing.VOID:
        return _refused(state, "the card is refused by its own gates", state.doubts)
    if not state.done:
        is_text = state.inputs.covers(TEXT)[0]
        return _plan(state, TEXT if is_text else state.can_send[0], state.intent.accepts, state.can_send[0])
    known = _known(state)
    if decide(state.standing, known.last) is Action.REFUSE:
        return _refused(state, f"the probe was {known.last.value}", (f"probe-{known.last.value}",))
    target = _target(state, known)
    if target is None:
        takes = listed(known.proven) or f"none of {listed(known.refused)}"
        detail = f"the runtime takes {takes}, the consumer can send {listed(state.can_send)}; nothing is sent"
        return Decision(action=Action.REFUSE, because=("no-common-mode",), findings=(NO_COMMON_MODE(detail),))
    op = _op(state.intent)
    is_proven = _covers(known.proven, target) and (known.is_streamed or op == "send")
    is_untold = target in known.untold
    if not is_proven and not is_untold and len(_probes(state)) < MOST_PROBES:
        return _plan(state, target, known.accepts, target)
    if not is_proven and not is_untold and state.policy.probe == "strict":
        return _unproven(state, known, target)
    if (control := _control(state)) is not None:
        return _plan(state, control, known.accepts, control, purpose="control")
    return _commit(state, known, target, is_proven=is_proven, is_untold=is_untold)


def _plan(
    state: Rehearsal, mode: str, accepts: tuple[str, ...], intended: str, purpose: Purpose | None = None
) -> ProbePlan:
    return ProbePlan(
        purpose=purpose or ("rehearsal" if state.done else "probe"),
        mode=mode,
        part=minimal_part(mode),
        op=_op(state.intent),
        accepts=accepts,
        metadata=probe_message_metadata(replace(state.intent, accepts=accepts), intended),
        intended=intended,
        skill=state.intent.skill,
    )


def _known(state: Rehearsal) -> _Known:
    known = _Known(proven=[], untold=[], refused=[], accepts=state.intent.accepts)
    for plan, reading in _probes(state):
        known.last = reading.outcome
        match reading.outcome:
            case Outcome.ACCEPTED:
                known.proven.append(plan.mode)
                known.is_streamed |= plan.op == "stream"
            case Outcome.NARROWED if reading.wants_output:
                known.accepts = tuple(dict.fromkeys((*known.accepts, *reading.named.modes)))
            case Outcome.NARROWED if reading.named:
                known.proven = list(reading.named.modes)  # the runtime's own word replaces the card's
                known.is_narrowed |= not _covers(known.proven, state.can_send[0])
            case Outcome.NARROWED:
                known.refused.append(plan.mode)
                known.is_narrowed |= plan.mode == state.can_send[0]
            case Outcome.INCONCLUSIVE:
                known.untold.append(plan.mode)
    known.is_blind = any(
        plan.purpose == "control" and reading.outcome in (Outcome.ACCEPTED, Outcome.INCONCLUSIVE)
        for plan, reading in state.done
    )
    return known


def _target(state: Rehearsal, known: _Known) -> str | None:
    """The mode to send the payload in: the intended one, else the consumer's first that the runtime takes."""
    left = [mode for mode in state.can_send if mode not in known.refused]
    if not known.is_narrowed:
        return left[0]
    proven = (mode for mode in left if _covers(known.proven, mode))
    # An agent that refused without naming anything is asked about the consumer's next mode, while probes are left.
    unknown = None if known.proven else next(iter(left), None)
    return next(proven, unknown)


def _unproven(state: Rehearsal, known: _Known, target: str) -> Decision:
    lacks = "a stream in it" if _covers(known.proven, target) else "it"
    detail = f"the payload would be {quoted(target)} and no probe proved {lacks}; --probe lenient sends it as a hint"
    finding = MODE_UNPROVEN(detail, found=known.proven, expected=target)
    return Decision(action=Action.REFUSE, because=(finding.slug,), findings=(finding,))


def _commit(state: Rehearsal, known: _Known, target: str, *, is_proven: bool, is_untold: bool) -> Decision:
    findings = []
    if known.is_blind:
        findings.append(NOT_DISCRIMINATING(expected=list(state.inputs.union)))
    if not is_proven and not is_untold:
        detail = f"the payload goes out as {quoted(target)}, which no probe proved"
        findings.append(MODE_UNPROVEN(detail, verdict=Verdict.HINT, kind=Kind.AUTHORITY, expected=target))
    readings = [reading for _, reading in _probes(state)]
    heard = [one for reading in readings for one in reading.findings if one.verdict is not Verdict.ACCEPT]
    because = [*state.doubts, *(one.slug for one in (*heard, *findings))]
    outcome = Outcome.ACCEPTED if is_proven and not known.is_blind else Outcome.INCONCLUSIVE
    action = decide(state.standing, outcome)
    if target != state.can_send[0]:
        action = decide(state.standing, Outcome.NARROWED)
    elif action is Action.COMMIT and because:
        action = Action.COMMIT_AS_HINT
    return Decision(
        action=action,
        mode=target,
        op=_op(state.intent),
        accepts=known.accepts,
        context_id=next((one.task.context_id for one in reversed(readings) if one.task), None),
        is_generic=any(reading.is_generic for reading in readings),
        because=tuple(dict.fromkeys(because)),
        findings=tuple(findings),
    )


def _refused(state: Rehearsal, why: str, because: tuple[str, ...]) -> Decision:
    """A refusal; a finding of its own only where nothing heard so far is as severe."""
    heard = [one for _, reading in state.done for one in reading.findings]
    is_said = state.standing is Standing.VOID or any(one.verdict.severity >= Verdict.REFUSE.severity for one in heard)
    findings = () if is_said else (NOT_COMMITTED(f"{why}; no payload is sent"),)
    return Decision(action=Action.REFUSE, because=because, findings=findings)


def _control(state: Rehearsal) -> str | None:
    """A mode that nobody declared, where the operator wants the control and it was not sent yet (R23)."""
    if not state.policy.probe_control or any(plan.purpose == "control" for plan, _ in state.done):
        return None
    return next((mode for mode in _UNDECLARED if not state.inputs.covers(mode)[0]), None)


def _probes(state: Rehearsal) -> list[tuple[ProbePlan, ProbeReading]]:
    return [(plan, reading) for plan, reading in state.done if plan.purpose != "control"]


def _covers(modes: list[str], mode: str) -> bool:
    return best_match(modes, mode)[0]


def _op(intent: Intent) -> SendOp:
    return "stream" if intent.stream else "send"

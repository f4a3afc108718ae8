"""Which task state may follow which, as a table (wire-facts 6).

No version of A2A prints a full matrix. Binding is only that a terminal state is final; the rest of the table is this
lab's reading of the state descriptions, so that breaking it is a hint. The path through the states is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from a2a_lab.core.model import TERMINAL, State
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict

StateClass = Literal["active", "interrupted", "terminal", "indeterminate"]

STATE_AFTER_END = FindingKind(
    slug="state-after-end",
    stage=Stage.PROBE,
    verdict=Verdict.CONFORMANCE_ERROR,
    kind=Kind.CONFORMANCE,
    judge=Judge.SPEC,
    rule="A6",
    clause="A2A 1.0.1 §3.1.1, §3.1.2 MUST; 0.3.0 (task immutability)",
    means="a task changed its state after it had ended",
)
STATE_WENT_BACK = FindingKind(
    slug="state-went-back",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="A6",
    clause="A2A 1.0.1 §4.1.3",
    means="a task went from a later state back to an earlier one",
    other="the specification prescribes no path",
)
RESUMED_UNASKED = FindingKind(
    slug="resumed-unasked",
    stage=Stage.PROBE,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="A6",
    clause="A2A 1.0.1 §3.4.3",
    means="a task that asked for input went on without a message of ours",
)

_ENDS: Final = frozenset(TERMINAL)
_ASKS: Final = frozenset({State.INPUT_REQUIRED, State.AUTH_REQUIRED})

NEXT: Final[Mapping[State, frozenset[State]]] = {
    State.SUBMITTED: frozenset({State.SUBMITTED, State.WORKING}) | _ASKS | _ENDS,
    State.WORKING: frozenset({State.WORKING}) | _ASKS | _ENDS,
    State.INPUT_REQUIRED: frozenset({State.SUBMITTED, State.WORKING}) | _ASKS | _ENDS,  # after a message of ours
    State.AUTH_REQUIRED: frozenset({State.WORKING}) | _ASKS | _ENDS,  # may go on by itself (§7.6.1)
    State.COMPLETED: frozenset({State.COMPLETED}),
    State.FAILED: frozenset({State.FAILED}),
    State.CANCELED: frozenset({State.CANCELED}),
    State.REJECTED: frozenset({State.REJECTED}),
}
"""From each state to those that may follow. Any state may come first; `unknown` is judged where it is read."""


def state_class(state: State) -> StateClass:
    """What a state means for who waits on it."""
    if state.is_terminal:
        return "terminal"
    if state.is_interrupted:
        return "interrupted"
    return "indeterminate" if state is State.UNKNOWN else "active"


def check_transition(
    before: State | None, after: State, *, stage: Stage = Stage.PROBE, answered: bool = False
) -> Finding | None:
    """What is odd about going from `before` to `after`; `answered` where a message of ours came between."""
    if before is None or State.UNKNOWN in (before, after):
        return None
    if after not in NEXT[before]:
        kind = STATE_AFTER_END if before.is_terminal else STATE_WENT_BACK
        detail = f"the task was {before.value} and is now {after.value}"
        return kind(detail, stage=stage, found=after.value, before=before.value)
    if before is State.INPUT_REQUIRED and after in (State.SUBMITTED, State.WORKING) and not answered:
        detail = f"the task was {before.value} and is now {after.value}, though nothing was sent to it"
        return RESUMED_UNASKED(detail, stage=stage)
    return None

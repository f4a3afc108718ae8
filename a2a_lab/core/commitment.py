"""The staged commitment: which step may follow which, as a table, so that no side effect leaves early (A4, A7, R24).

Up to the commit a divergence is cheap; after it the cell is a recovery problem. A skipped stage is the caller's mistake
and raises; what the peer did wrong is a fact that leads to a step. Knows no reasons and no wire: gates and readings of
other modules say which fact holds, this one says what may come next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeVar

from a2a_lab.core.authority import TaskTransition, assert_card_authoritative
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Policy
from a2a_lab.errors import Misuse

Sent = TypeVar("Sent")


class Step(StrEnum):
    """Where a cell stands. `refused`, `settled` and `orphaned` are ends."""

    START = "start"
    RESOLVED = "resolved"
    BOUND = "bound"
    GATED = "gated"
    PINNED = "pinned"
    PROBING = "probing"
    PROBED = "probed"
    READY = "ready"
    COMMITTED = "committed"
    RECEIVED = "received"
    RECOVERING = "recovering"
    SETTLED = "settled"
    REFUSED = "refused"
    ORPHANED = "orphaned"


class Fact(StrEnum):
    """What happened. `drifted` is a content change that touches the plan, `gone on` one that does not."""

    TARGET_RESOLVED = "target resolved"
    TARGET_REFUSED = "target refused"
    CARD_BOUND = "card bound"
    CARD_MISSING = "card missing"
    GATES_PASSED = "gates passed"
    GATES_REFUSED = "gates refused"
    CARD_PINNED = "card pinned"
    PROBE_SENT = "probe sent"
    PROBE_READ = "probe read"
    DECIDED_COMMIT = "decided to commit"
    DECIDED_REFUSE = "decided to refuse"
    CARD_DRIFTED = "card drifted"
    CARD_UNCHANGED = "card unchanged"
    PAYLOAD_SENT = "payload sent"
    RESULT_RECEIVED = "result received"
    ASKED_AGAIN = "asked again"
    FAULTED = "faulted"
    OUTCOME_UNKNOWN = "outcome unknown"
    TASK_SETTLED = "task settled"
    TASK_LEFT = "task left behind"


NEXT: Mapping[Step, Mapping[Fact, Step]] = {
    Step.START: {Fact.TARGET_RESOLVED: Step.RESOLVED, Fact.TARGET_REFUSED: Step.REFUSED},
    Step.RESOLVED: {Fact.CARD_BOUND: Step.BOUND, Fact.CARD_MISSING: Step.REFUSED},
    Step.BOUND: {Fact.GATES_PASSED: Step.GATED, Fact.GATES_REFUSED: Step.REFUSED},
    Step.GATED: {Fact.CARD_PINNED: Step.PINNED},
    Step.PINNED: {Fact.PROBE_SENT: Step.PROBING, Fact.DECIDED_REFUSE: Step.REFUSED},
    Step.PROBING: {Fact.PROBE_READ: Step.PROBED},
    Step.PROBED: {
        Fact.PROBE_SENT: Step.PROBING,  # the rehearsal
        Fact.DECIDED_COMMIT: Step.READY,
        Fact.DECIDED_REFUSE: Step.REFUSED,
    },
    Step.READY: {
        Fact.CARD_UNCHANGED: Step.READY,
        Fact.CARD_DRIFTED: Step.START,  # a new pin, from discovery (P3)
        Fact.DECIDED_REFUSE: Step.REFUSED,  # the same under fail-closed
        Fact.PAYLOAD_SENT: Step.COMMITTED,
    },
    Step.COMMITTED: {
        Fact.RESULT_RECEIVED: Step.RECEIVED,
        Fact.ASKED_AGAIN: Step.RECOVERING,  # the original payload is never sent again
        Fact.FAULTED: Step.RECOVERING,
        Fact.OUTCOME_UNKNOWN: Step.RECOVERING,
    },
    Step.RECEIVED: {Fact.TASK_SETTLED: Step.SETTLED, Fact.FAULTED: Step.RECOVERING},
    Step.RECOVERING: {Fact.TASK_SETTLED: Step.SETTLED, Fact.TASK_LEFT: Step.ORPHANED},
    Step.SETTLED: {},
    Step.REFUSED: {},
    Step.ORPHANED: {},
}


class Commitment:
    """One cell's way through the table. Tell it every fact as it happens; one that comes too early raises Misuse."""

    def __init__(self) -> None:
        self.step = Step.START
        self.history: list[tuple[Fact, Step]] = []

    def note(self, fact: Fact) -> Step:
        """Take a fact and return the step it leads to. Raises Misuse for one that the present step does not know."""
        following = NEXT[self.step].get(fact)
        if following is None:
            may = ", ".join(NEXT[self.step]) or "nothing, the cell has ended"
            raise Misuse(f"{fact.value!r} after {self.step.value!r}: a stage was skipped; what may come is {may}")
        self.step = following
        self.history.append((fact, following))
        return following

    @property
    def has_side_effect(self) -> bool:
        """Whether a payload left, so that a failure is a matter of recovery and no longer of refusal (A7)."""
        return any(fact is Fact.PAYLOAD_SENT for fact, _ in self.history)

    @property
    def is_over(self) -> bool:
        return not NEXT[self.step]


def commit_artifact(
    send: Callable[[], Sent],
    *,
    card: Card,
    interface: Interface,
    policy: Policy,
    signature_verified: bool,
    probe: TaskTransition,
    intended_mime: str,
    skill: str | None = None,
) -> Sent:
    """Call `send`, which lets the artifact leave, only where the card binds; the record's last gate.

    Raises `AgentCardConformanceError` before anything was sent. To commit under a card that is only a hint is another
    decision, see `rehearsal`.
    """
    assert_card_authoritative(
        card=card,
        interface=interface,
        policy=policy,
        signature_verified=signature_verified,
        probe=probe,
        intended_mime=intended_mime,
        skill=skill,
    )
    return send()

"""A4, A7, R24: the staged commitment; every fact that the table does not list at a step is the caller's mistake."""

from __future__ import annotations

from itertools import product

import pytest

from a2a_lab.core.commitment import NEXT, Commitment, Fact, Step
from a2a_lab.errors import Misuse

TO_THE_COMMIT = [
    Fact.TARGET_RESOLVED,
    Fact.CARD_BOUND,
    Fact.GATES_PASSED,
    Fact.CARD_PINNED,
    Fact.PROBE_SENT,
    Fact.PROBE_READ,
    Fact.DECIDED_COMMIT,
    Fact.CARD_UNCHANGED,
    Fact.PAYLOAD_SENT,
]


def after(*facts: Fact) -> Commitment:
    commitment = Commitment()
    for fact in facts:
        commitment.note(fact)
    return commitment


def way_to(step: Step) -> list[Fact]:
    """The shortest list of facts that leads to a step."""
    ways: dict[Step, list[Fact]] = {Step.START: []}
    waiting = [Step.START]
    for here in waiting:
        for fact, there in NEXT[here].items():
            if there not in ways:
                ways[there] = [*ways[here], fact]
                waiting.append(there)
    return ways[step]


def test_the_straight_way() -> None:
    commitment = after(*TO_THE_COMMIT)
    assert commitment.step is Step.COMMITTED and commitment.has_side_effect and not commitment.is_over
    assert commitment.note(Fact.RESULT_RECEIVED) is Step.RECEIVED
    assert commitment.note(Fact.TASK_SETTLED) is Step.SETTLED and commitment.is_over
    assert commitment.history[-1] == (Fact.TASK_SETTLED, Step.SETTLED)


def test_every_step_is_in_the_table_and_can_be_reached() -> None:
    assert set(NEXT) == set(Step) and all(way_to(step) is not None for step in Step)
    assert {fact for facts in NEXT.values() for fact in facts} == set(Fact)


@pytest.mark.parametrize(("step", "fact"), [pair for pair in product(Step, Fact) if pair[1] not in NEXT[pair[0]]])
def test_a_fact_that_comes_too_early_raises(step: Step, fact: Fact) -> None:
    commitment = after(*way_to(step))
    with pytest.raises(Misuse, match="a stage was skipped"):
        commitment.note(fact)
    assert commitment.step is step


@pytest.mark.parametrize(("step", "fact"), [(step, fact) for step in Step for fact in NEXT[step]])
def test_a_fact_in_its_place_leads_on(step: Step, fact: Fact) -> None:
    assert after(*way_to(step)).note(fact) is NEXT[step][fact]


def test_no_payload_leaves_before_target_card_gates_pin_probe_and_decision() -> None:
    assert [step for step in Step if Fact.PAYLOAD_SENT in NEXT[step]] == [Step.READY]
    before = set(way_to(Step.READY))
    assert before == set(TO_THE_COMMIT[:-2])


def test_a_card_that_drifted_goes_back_to_discovery() -> None:
    commitment = after(*TO_THE_COMMIT[:-2], Fact.CARD_DRIFTED)
    assert commitment.step is Step.START and not commitment.has_side_effect


def test_after_a_payload_there_is_no_refusal_only_recovery() -> None:
    later = {Step.COMMITTED, Step.RECEIVED, Step.RECOVERING, Step.SETTLED, Step.ORPHANED}
    assert all(there in later for step in later for there in NEXT[step].values())
    assert after(*TO_THE_COMMIT, Fact.ASKED_AGAIN, Fact.TASK_LEFT).step is Step.ORPHANED
    assert after(*TO_THE_COMMIT, Fact.OUTCOME_UNKNOWN).step is Step.RECOVERING


def test_the_mistake_says_what_may_come() -> None:
    with pytest.raises(Misuse, match=r"'payload sent' after 'start'.*target resolved, target refused"):
        after(Fact.PAYLOAD_SENT)
    with pytest.raises(Misuse, match="nothing, the cell has ended"):
        after(Fact.TARGET_REFUSED, Fact.TARGET_RESOLVED)

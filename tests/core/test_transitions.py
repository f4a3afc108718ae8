"""Which state may follow which: the table, and everything that is not in it (wire-facts 6)."""

from __future__ import annotations

from itertools import product

import pytest

from a2a_lab.core.model import INTERRUPTED, TERMINAL, State
from a2a_lab.core.transitions import NEXT, check_transition, state_class
from a2a_lab.verdicts import Stage, Verdict

KNOWN = [state for state in State if state is not State.UNKNOWN]


def test_the_table_knows_every_state() -> None:
    assert set(NEXT) == set(KNOWN)


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_class(state: State) -> None:
    expected = "terminal" if state in TERMINAL else "interrupted" if state in INTERRUPTED else "active"
    assert state_class(state) == ("indeterminate" if state is State.UNKNOWN else expected)


@pytest.mark.parametrize("state", State)
def test_any_state_may_come_first_and_an_unknown_one_says_nothing(state: State) -> None:
    assert check_transition(None, state) is None
    assert check_transition(state, State.UNKNOWN) is None
    assert check_transition(State.UNKNOWN, state) is None


@pytest.mark.parametrize(("before", "after"), list(product(KNOWN, KNOWN)), ids=lambda state: state.value)
def test_what_the_table_does_not_allow_is_a_finding(before: State, after: State) -> None:
    finding = check_transition(before, after, answered=True)
    if after in NEXT[before]:
        assert finding is None
    elif before.is_terminal:
        assert finding is not None
        assert (finding.slug, finding.verdict) == ("state-after-end", Verdict.CONFORMANCE_ERROR)
    else:
        assert finding is not None
        assert (finding.slug, finding.verdict) == ("state-went-back", Verdict.HINT)


@pytest.mark.parametrize("state", TERMINAL)
def test_a_terminal_state_is_final_but_may_be_said_again(state: State) -> None:
    assert NEXT[state] == {state}


def test_nobody_is_made_to_go_through_working() -> None:
    assert check_transition(State.SUBMITTED, State.COMPLETED) is None


@pytest.mark.parametrize("after", [State.WORKING, State.SUBMITTED])
def test_going_on_without_the_input_asked_for_is_noted(after: State) -> None:
    finding = check_transition(State.INPUT_REQUIRED, after)
    assert finding is not None
    assert (finding.slug, finding.verdict) == ("resumed-unasked", Verdict.ACCEPT)
    assert check_transition(State.INPUT_REQUIRED, after, answered=True) is None
    assert check_transition(State.INPUT_REQUIRED, State.COMPLETED) is None


def test_an_authorisation_may_come_from_elsewhere() -> None:
    assert check_transition(State.AUTH_REQUIRED, State.WORKING) is None


def test_the_stage_is_the_callers() -> None:
    for stage in (Stage.PROBE, Stage.STREAM):
        finding = check_transition(State.COMPLETED, State.WORKING, stage=stage)
        assert finding is not None
        assert finding.stage is stage

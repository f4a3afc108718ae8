"""A4, A7, R24: what the last word about a committed payload means, after its probe had been accepted."""

from __future__ import annotations

import pytest

from a2a_lab.core.model import Artifact, Message, Part, RpcError, State, Task
from a2a_lab.core.outcome import judge_commit
from a2a_lab.verdicts import Stage, Verdict

MODE = "application/json"


def task(state: State, *, says: str = "", artifacts: int = 0) -> Task:
    message = Message(id="m", role="agent", parts=(Part(kind="text", text=says),)) if says else None
    held = tuple(Artifact(id=f"a{n}", parts=(Part(kind="text", text="x"),)) for n in range(artifacts))
    return Task(id="t1", context_id="c1", state=state, wire_state=state.value, message=message, artifacts=held)


def slugs(answer: Task | Message | RpcError | None, **told: bool) -> list[str]:
    return [finding.slug for finding in judge_commit(answer, mode=MODE, **told)]


def test_a_delivered_payload_needs_no_word() -> None:
    assert slugs(task(State.COMPLETED, artifacts=1)) == []


def test_completed_without_an_artifact_is_a_note_for_a_unary_call() -> None:
    assert slugs(task(State.COMPLETED)) == ["completed-without-artifact"]
    assert slugs(task(State.COMPLETED), is_stream=True) == []  # the watch has judged that already (A6)


@pytest.mark.parametrize(
    "answer",
    [
        task(State.INPUT_REQUIRED, says="application/json is not supported; please send text/plain"),
        RpcError(code=-32005, name="ContentTypeNotSupported", message="send text/plain"),
    ],
    ids=["asked again", "error"],
)
def test_a_mode_refused_after_its_probe_was_taken_is_a_broken_promise(answer: Task | RpcError) -> None:
    (finding,) = judge_commit(answer, mode=MODE)
    assert (finding.slug, finding.verdict) == ("narrowed-after-commit", Verdict.CONFORMANCE_ERROR)
    assert "text/plain" in finding.detail and finding.values["expected"] == MODE


def test_a_question_that_names_no_other_mode_only_waits() -> None:
    for state in (State.INPUT_REQUIRED, State.AUTH_REQUIRED):
        (finding,) = judge_commit(task(state, says="which year?"), mode=MODE)
        assert (finding.slug, finding.verdict) == ("payload-interrupted", Verdict.HINT)
    named = task(State.INPUT_REQUIRED, says="please send application/json, with a year")
    assert slugs(named) == ["payload-interrupted"]


@pytest.mark.parametrize("state", [State.FAILED, State.REJECTED, State.CANCELED])
def test_declining_after_the_side_effect_is_the_agents_right(state: State) -> None:
    (finding,) = judge_commit(task(state), mode=MODE)
    assert (finding.slug, finding.verdict, finding.stage) == ("payload-refused", Verdict.REFUSE, Stage.LEDGER)


def test_an_error_declines_the_payload() -> None:
    assert slugs(RpcError(code=-32603, name="InternalError", message="no")) == ["payload-refused"]


def test_a_message_leaves_no_task_to_govern() -> None:
    (finding,) = judge_commit(Message(id="m", role="agent", parts=()), mode=MODE)
    assert (finding.slug, finding.verdict) == ("answered-by-message", Verdict.ACCEPT)


def test_no_answer_leaves_a_task_that_nobody_can_name() -> None:
    """R35, R37: it is never sent again, and stands in the ledger."""
    (finding,) = judge_commit(None, mode=MODE)
    assert (finding.slug, finding.verdict) == ("payload-outcome-unknown", Verdict.ORPHAN)


@pytest.mark.parametrize("state", [State.SUBMITTED, State.WORKING])
def test_a_task_that_does_not_end_within_the_limits_hangs(state: State) -> None:
    assert slugs(task(state), timed_out=True) == ["payload-unfinished"]
    assert slugs(task(state), timed_out=True, is_stream=True) == []
    assert slugs(task(state)) == []

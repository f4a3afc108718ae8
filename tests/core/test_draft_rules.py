"""What the draft (0.1) has otherwise in the judging of answers: ids made by clients, and two errors of its own."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.asked import Asked
from a2a_lab.core.model import RpcError, State, Task
from a2a_lab.core.probe import judge_ids
from a2a_lab.core.refusals import expected_error, judge_error
from a2a_lab.verdicts import Verdict
from tests.core.cards import slugs

NEW_TASK: dict[str, Any] = {"dialect": "0.1", "task_id": "t1", "task_is_known": False}


def task(identifier: str = "t1", state: State = State.WORKING) -> Task:
    return Task(id=identifier, context_id=None, state=state, wire_state=state.value)


def judged(name: str, **asked: Any) -> list[str]:
    return slugs(judge_error(RpcError(code=-32000, message="no", name=name), Asked(dialect="0.1", **asked)))


@pytest.mark.parametrize(
    ("dialect", "op", "known", "opens"),
    [
        ("0.1", "send", False, True),
        ("0.1", "stream", False, True),
        ("0.1", "send", True, False),
        ("0.1", "get", False, False),
        ("0.2", "send", False, False),
        ("0.3", "send", False, False),
        ("1.0", "stream", False, False),
    ],
)
def test_only_a_send_of_the_draft_opens_a_task_by_its_id(dialect: str, op: Any, known: bool, opens: bool) -> None:
    assert Asked(dialect=dialect, op=op, task_id="t1", task_is_known=known).opens_task is opens
    assert not Asked(dialect=dialect, op=op, task_is_known=known).opens_task


def test_a_task_under_the_clients_id_is_what_was_asked_for() -> None:
    """Elsewhere a task that was never handed out, and works all the same, was made up."""
    assert judge_ids(task(), Asked(**NEW_TASK)) == []
    assert slugs(judge_ids(task(), Asked(**NEW_TASK | {"dialect": "0.3"}))) == ["unknown-task-accepted"]


@pytest.mark.parametrize(
    ("dialect", "verdict"),
    [("0.1", Verdict.CONFORMANCE_ERROR), ("0.3", Verdict.HINT), ("1.0", Verdict.CONFORMANCE_ERROR)],
)
def test_the_agent_must_use_the_clients_id(dialect: str, verdict: Verdict) -> None:
    """0.1.0 §6.1 MUST; 0.2 and 0.3 leave ids to the server."""
    found = judge_ids(task("t2"), Asked(dialect=dialect, task_id="t1"))
    assert [(one.slug, one.verdict) for one in found] == [("task-replaced", verdict)]


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ({"op": "stream", "declares_streaming": False}, "StreamingNotSupported"),
        ({"op": "subscribe", "task_id": "t1", "declares_streaming": False}, "StreamingNotSupported"),
        ({"task_id": "t1", "task_state": State.COMPLETED}, "InvalidTaskState"),
        ({"op": "cancel", "task_id": "t1", "task_state": State.FAILED}, "TaskNotCancelable"),
        ({"op": "get", "task_id": "t1", "task_is_known": False}, "TaskNotFound"),
        ({"task_id": "t1", "task_is_known": False}, None),
        ({"op": "extended-card", "declares_extended_card": False}, None),
    ],
)
def test_the_error_that_the_draft_has_for_it(asked: dict[str, Any], right: str | None) -> None:
    assert expected_error(Asked(dialect="0.1", **asked)) == right


@pytest.mark.parametrize(
    ("name", "asked", "found"),
    [
        ("StreamingNotSupported", {"op": "stream", "declares_streaming": False}, "call-refused"),
        ("UnsupportedOperation", {"op": "stream", "declares_streaming": False}, "call-refused"),
        ("TaskNotFound", {"op": "stream", "declares_streaming": False}, "misinforming-error"),
        ("StreamingNotSupported", {"op": "send"}, "misinforming-error"),
        ("InvalidTaskState", {"task_id": "t1", "task_state": State.COMPLETED}, "call-refused"),
        ("UnsupportedOperation", {"task_id": "t1", "task_state": State.COMPLETED}, "call-refused"),
        ("AuthenticationRequired", {}, "call-refused"),
        ("TaskNotFound", NEW_TASK | {}, "misinforming-error"),
        ("TaskNotFound", {"op": "get", "task_id": "t1"}, "call-refused"),
    ],
)
def test_an_error_of_the_draft_is_a_no_or_misinforms(name: str, asked: dict[str, Any], found: str) -> None:
    """Its OperationNotSupported is broader than the rest, so true beside them; a new task cannot be missing."""
    assert judged(name, **{key: value for key, value in asked.items() if key != "dialect"}) == [found]

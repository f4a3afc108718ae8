"""What the events of a stream say: whose they are, in which order they may come, what ends them (A6, R28, R29)."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.model import State, StreamEvent
from a2a_lab.verdicts import Kind, Stage, Verdict
from tests.core.happenings import (
    COMPLETED,
    NOISE,
    SUBMITTED,
    WORKING,
    art,
    chunk,
    failure,
    message,
    slugs,
    snapshot,
    status,
    texts,
    watched,
)

START = snapshot(SUBMITTED)
DONE = status(COMPLETED)
DONE_0_3 = status(COMPLETED, final=True)
A1 = chunk(art("a1", "ok"), last=True)


# -- what a good stream is


@pytest.mark.parametrize(
    ("version", "events"),
    [
        ("1.0", [START, status(WORKING), A1, DONE]),
        ("1.0", [START, A1, DONE]),
        ("1.0", [snapshot(COMPLETED, art("a1", "ok"))]),
        ("1.0", [START, A1, snapshot(COMPLETED, art("a1", "ok"))]),
        ("1.0", [START, A1, DONE, snapshot(COMPLETED, art("a1", "ok"))]),
        ("1.0", [START, status(State.FAILED)]),
        ("0.3", [START, status(WORKING, final=False), A1, DONE_0_3]),
        ("0.3", [status(WORKING, final=False), A1, DONE_0_3]),
        ("0.3", [snapshot(COMPLETED, art("a1", "ok"))]),
        ("0.3", [START, A1, DONE_0_3, snapshot(COMPLETED, art("a1", "ok"))]),
    ],
)
def test_a_good_stream_is_proved_and_has_no_findings(version: str, events: list[StreamEvent]) -> None:
    result = watched(version, *events, declared_streaming=True)
    assert (result.closure, result.findings) == ("final-proved", ())
    assert result.is_complete is (result.state is COMPLETED)
    result.raise_for_fault()


# -- the first event


@pytest.mark.parametrize(
    ("version", "op", "first", "expected"),
    [
        ("1.0", "stream", status(WORKING), ["first-event"]),
        ("1.0", "stream", A1, ["first-event"]),
        ("1.0", "subscribe", status(WORKING), ["first-event"]),
        ("1.0", "subscribe", START, []),
        ("0.3", "stream", status(WORKING, final=False), []),
        ("0.3", "subscribe", A1, []),
    ],
)
def test_1_0_begins_with_the_task(version: str, op: Any, first: StreamEvent, expected: list[str]) -> None:
    result = watched(version, first, DONE if version == "1.0" else DONE_0_3, op=op)
    assert slugs(result.findings) == expected
    assert (result.task_id, result.state) == ("t1", COMPLETED)


def test_a_subscription_never_begins_with_a_message() -> None:
    assert "first-event" in slugs(watched("1.0", message(), op="subscribe").findings)


# -- messages


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_one_message_is_a_whole_stream_and_needs_no_artifact(version: str) -> None:
    result = watched(version, message("done"), declared_streaming=True)
    assert (result.closure, result.findings, result.is_complete) == ("message-only", (), False)
    assert result.message.parts[0].text == "done"


@pytest.mark.parametrize(("version", "verdict"), [("1.0", Verdict.CONFORMANCE_ERROR), ("0.3", Verdict.HINT)])
@pytest.mark.parametrize(
    "events", [[START, message("halfway"), A1, DONE_0_3], [message(), START, A1, DONE_0_3]], ids=["among", "before"]
)
def test_a_message_among_task_events(version: str, verdict: Verdict, events: list[StreamEvent]) -> None:
    """Forbidden by 1.0 and not ruled on by 0.3; the task is watched either way."""
    result = watched(version, *events)
    assert [finding.slug for finding in result.findings if finding.verdict is verdict] == ["message-mixed"]
    assert (result.state, texts(result.artifacts)) == (COMPLETED, {"a1": ["ok"]})


def test_two_messages_are_one_too_many() -> None:
    result = watched("1.0", message("a"), message("b"))
    assert (result.closure, slugs(result.findings)) == ("overrun", ["message-mixed"])
    assert watched("0.3", message("a"), message("b")).closure == "message-only"


# -- whose events


def test_an_event_of_another_task_is_not_used() -> None:
    result = watched("1.0", START, status(COMPLETED, id="t2"), A1, DONE)
    assert slugs(result.findings) == ["foreign-task"]
    assert (result.task_id, result.state, result.closure) == ("t1", COMPLETED, "final-proved")


def test_the_task_must_be_the_one_that_was_asked_about() -> None:
    result = watched("1.0", snapshot(COMPLETED, id="t2"), op="subscribe", task_id="t1")
    assert slugs(result.findings) == ["foreign-task", "eof-nonterminal"]
    assert (result.task_id, result.state) == ("t1", None)


@pytest.mark.parametrize(
    ("version", "given", "verdict"),
    [
        ("1.0", "c9", Verdict.CONFORMANCE_ERROR),
        ("0.3", "c9", Verdict.HINT),
        ("1.0", "c1", None),
        ("1.0", None, None),
    ],
)
def test_a_given_context_is_kept_or_refused_never_replaced(version: str, given: str | None, verdict: Any) -> None:
    result = watched(version, START, A1, DONE_0_3, context_id=given)
    assert [finding.verdict for finding in result.findings] == ([verdict] if verdict else [])
    assert slugs(result.findings) == (["foreign-context"] if verdict else [])


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_a_context_does_not_change_on_the_way(version: str) -> None:
    (finding,) = watched(version, START, status(COMPLETED, final=True, context="c2")).findings
    assert (finding.slug, finding.verdict) == ("foreign-context", Verdict.CONFORMANCE_ERROR)


def test_events_without_ids_belong_to_the_task_of_the_stream() -> None:
    result = watched("1.0", START, chunk(art("a1", "x"), id=None), status(COMPLETED, id=None, context=None))
    assert (result.state, result.task_id, result.findings) == (COMPLETED, "t1", ())


# -- states


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([WORKING, SUBMITTED], ["state-went-back"]),
        ([WORKING, WORKING], []),
        ([State.UNKNOWN], []),
        ([State.AUTH_REQUIRED, WORKING], []),
        ([State.INPUT_REQUIRED, WORKING], ["resumed-unasked"]),
    ],
)
def test_states_on_the_way(states: list[State], expected: list[str]) -> None:
    result = watched("1.0", START, *map(status, states), A1, DONE)
    assert slugs(result.findings) == expected
    assert all(finding.stage is Stage.STREAM for finding in result.findings)


def test_a_task_snapshot_in_the_middle_replaces_and_is_a_hint_in_1_0() -> None:
    events = [START, chunk(art("a1", "x")), snapshot(WORKING, art("a1", "x", "y")), DONE_0_3]
    result = watched("1.0", *events)
    assert slugs(result.findings) == ["task-repeated"]
    assert texts(result.artifacts) == {"a1": ["x", "y"]}
    assert result.task.state is WORKING
    assert slugs(watched("0.3", *events).findings) == []


# -- after the end


@pytest.mark.parametrize(
    "late",
    [status(WORKING), status(State.FAILED), A1, snapshot(State.FAILED), message(), failure()],
    ids=lambda e: e.kind,
)
def test_what_comes_after_the_end_is_too_late_and_changes_nothing(late: StreamEvent) -> None:
    result = watched("1.0", START, chunk(art("a0", "x"), last=True), DONE, late)
    assert result.closure == "overrun"
    assert "conformance-error" in {finding.verdict.value for finding in result.findings}
    assert (result.state, texts(result.artifacts), result.error) == (COMPLETED, {"a0": ["x"]}, None)


def test_the_same_end_may_be_said_again() -> None:
    result = watched("1.0", START, A1, DONE, DONE)
    assert [(f.slug, f.verdict, f.kind) for f in result.findings] == [("end-repeated", Verdict.ACCEPT, Kind.NOTE)]
    assert result.closure == "final-proved"


def test_final_may_follow_the_terminal_state_in_0_3() -> None:
    result = watched("0.3", START, A1, status(COMPLETED, final=False), DONE_0_3)
    assert (result.closure, result.findings, result.final_seen) == ("final-proved", (), True)


def test_a_terminal_snapshot_proves_the_end_of_an_unfinal_0_3_stream() -> None:
    result = watched("0.3", START, A1, status(COMPLETED, final=False), snapshot(COMPLETED, art("a1", "ok")))
    assert (result.closure, slugs(result.findings)) == ("final-proved", ["final-missing"])


def test_events_after_final_are_too_late_and_still_tell_the_state() -> None:
    result = watched("0.3", START, status(WORKING, final=True), A1, DONE_0_3)
    assert (result.closure, result.state) == ("overrun", COMPLETED)
    assert slugs(result.findings) == ["event-after-end", "event-after-end"]


def test_a_last_snapshot_that_disagrees_does_not_replace() -> None:
    result = watched("1.0", START, A1, DONE, snapshot(COMPLETED, art("a1", "other")))
    assert slugs(result.findings) == ["snapshot-disagrees"]
    assert texts(result.artifacts) == {"a1": ["ok"]}


# -- errors


def test_an_error_on_the_way_ends_the_stream_and_completes_nothing() -> None:
    result = watched("1.0", START, failure(), DONE)
    assert (result.closure, slugs(result.findings), result.is_complete) == ("error-frame", ["stream-error"], False)
    assert (result.error.code, result.state) == (-32603, SUBMITTED)


def test_an_error_with_artifacts_leaves_an_orphan_unless_the_task_is_settled() -> None:
    result = watched("1.0", START, chunk(art("a1", "part"), last=False), failure())
    assert slugs(result.findings) == ["stream-error", "open-artifact"]
    assert result.verdict is Verdict.ORPHAN


def test_an_error_before_anything_else_is_a_refusal() -> None:
    result = watched("1.0", failure(-32005, "ContentTypeNotSupported"))
    (finding,) = result.findings
    assert (result.closure, finding.verdict, finding.kind) == ("rpc-error-before-stream", Verdict.REFUSE, Kind.NOTE)


# -- the record's rule (R28)


@pytest.mark.parametrize(
    ("events", "options", "is_fault"),
    [
        ([START, DONE], {"declared_streaming": True}, True),
        ([DONE], {"declared_streaming": True}, True),
        ([snapshot(COMPLETED)], {"declared_streaming": True}, True),
        ([START, DONE, snapshot(COMPLETED)], {"declared_streaming": True}, True),
        ([START, DONE], {"declared_streaming": False}, False),
        ([START, DONE], {"declared_streaming": True, "op": "subscribe"}, False),
        ([START, A1, DONE], {"declared_streaming": True}, False),
        ([snapshot(COMPLETED, art("a1", "x"))], {"declared_streaming": True}, False),
        ([START, DONE, snapshot(COMPLETED, art("a1", "x"))], {"declared_streaming": True}, False),
        ([START, status(State.FAILED)], {"declared_streaming": True}, False),
        ([START, status(State.REJECTED)], {"declared_streaming": True}, False),
        ([START, status(State.CANCELED)], {"declared_streaming": True}, False),
        ([START, status(State.INPUT_REQUIRED)], {"declared_streaming": True}, False),
        ([message()], {"declared_streaming": True}, False),
    ],
)
def test_declared_streaming_that_completes_without_an_artifact(
    events: list[StreamEvent], options: Any, is_fault: bool
) -> None:
    result = watched("1.0", *events, **options)
    found = [finding for finding in result.findings if finding.slug == "stream-without-artifact"]
    assert bool(found) is is_fault
    if is_fault:
        assert (found[0].verdict, found[0].judge.value) == (Verdict.CONFORMANCE_ERROR, "policy")
        assert result.is_complete is False


def test_a_flawed_artifact_is_not_complete() -> None:
    result = watched("1.0", START, chunk(art("a1", "x"), append=True, last=True), DONE)
    assert (result.closure, result.flawed_ids, result.is_complete) == ("final-proved", ("a1",), False)


def test_what_is_no_event_at_all_counts_and_says_nothing() -> None:
    result = watched("1.0", NOISE, START, A1, NOISE, DONE)
    assert (result.events, result.findings, result.closure) == (5, (), "final-proved")

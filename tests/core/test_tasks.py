"""The books of a cell: which task belongs to which message, what may be sent again, and what is left behind (R35)."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.holdings import media_type, size
from a2a_lab.core.model import Artifact, Part, RpcError, State
from a2a_lab.core.tasks import TaskBook
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Kind, Stage, Verdict
from tests.core.happenings import (
    COMPLETED,
    SUBMITTED,
    WORKING,
    art,
    chunk,
    message,
    slugs,
    snapshot,
    status,
    task,
)

NOT_FOUND = RpcError(code=-32001, message="gone", name="TaskNotFound")
NOT_CANCELABLE = RpcError(code=-32002, message="no", name="TaskNotCancelable")
UNSUPPORTED = RpcError(code=-32004, message="no", name="UnsupportedOperation")


def book(*, payload: bool = False, size: int = 7, context: str | None = None) -> TaskBook:
    """A book in which message m1 has left."""
    kept = TaskBook("alder@1.0")
    kept.note_sent("m1", purpose="commit", media_type="a/b", size=size, is_payload=payload, context_id=context)
    return kept


def left(kept: TaskBook) -> list[tuple[str, str | None, str | None, str]]:
    """The rows as (what, task, artifact or message, why)."""
    return [(row.what, row.task_id, row.artifact_or_message_id, row.why) for row in kept.orphans()]


def ledger(kept: TaskBook) -> list[tuple[str, Verdict]]:
    assert all(finding.stage in (Stage.LEDGER, Stage.PROBE) for finding in kept.findings())
    return [(finding.slug, finding.verdict) for finding in kept.findings()]


# -- a task that is left, and one that is not


@pytest.mark.parametrize("state", [SUBMITTED, WORKING, State.INPUT_REQUIRED, State.AUTH_REQUIRED, State.UNKNOWN])
def test_a_task_that_neither_ended_nor_was_canceled_is_an_orphan(state: State) -> None:
    kept = book()
    kept.note_task(task(state), how="answer", message_id="m1")
    assert left(kept) == [("task", "t1", None, "left-open")]
    assert ledger(kept) == [("orphaned-task", Verdict.ORPHAN)]
    assert kept.open_tasks() == ("t1",)


@pytest.mark.parametrize("state", [COMPLETED, State.FAILED, State.CANCELED, State.REJECTED])
def test_a_task_that_ended_by_its_own_word_is_none(state: State) -> None:
    kept = book()
    kept.note_task(task(state), how="answer", message_id="m1")
    assert (left(kept), ledger(kept), kept.open_tasks()) == ([], [], ())


def test_the_state_may_come_by_a_stream() -> None:
    kept = book()
    for event in (snapshot(SUBMITTED), chunk(art("a1", "x"), last=True), status(COMPLETED)):
        kept.note_event(event, message_id="m1")
    assert (left(kept), kept.state_of("t1"), kept.task_of("m1")) == ([], COMPLETED, "t1")


# -- cancels


def test_a_cancel_that_is_answered_with_canceled_cleans_up() -> None:
    kept = book()
    kept.note_task(task(WORKING, art("a1", "x")), how="answer", message_id="m1")
    kept.note_cancel("t1", task=task(State.CANCELED, art("a1", "x")))
    assert (left(kept), ledger(kept), kept.open_tasks()) == ([], [], ())


def test_success_of_the_call_is_not_success_of_the_cancel() -> None:
    kept = TaskBook("x")
    kept.note_cancel("t1", task=task(State.INPUT_REQUIRED))
    assert left(kept) == [("task", "t1", None, "cancel-not-effective")]
    assert ledger(kept) == [("cancel-not-effective", Verdict.ACCEPT), ("orphaned-task", Verdict.ORPHAN)]


@pytest.mark.parametrize("ended", [COMPLETED, State.FAILED])
def test_a_cancel_that_met_the_end_of_the_task_needs_no_more(ended: State) -> None:
    kept = book()
    kept.note_task(task(WORKING), how="answer", message_id="m1")
    kept.note_cancel("t1", task=task(ended))
    assert (left(kept), ledger(kept)) == ([], [])


def test_after_not_cancelable_the_task_is_asked_for_and_its_own_word_counts() -> None:
    for state, expected in ((COMPLETED, []), (WORKING, [("task", "t1", None, "left-open")])):
        kept = book()
        kept.note_task(task(WORKING), how="answer", message_id="m1")
        kept.note_cancel("t1", error=NOT_CANCELABLE)
        assert kept.open_tasks() == ("t1",)
        kept.note_task(task(state), how="get")
        assert left(kept) == expected
    assert kept.orphans()[0].cleanup == "asked"


def test_a_task_that_cannot_be_stopped_is_an_orphan_with_a_reason() -> None:
    kept = TaskBook("x")
    kept.note_cancel("t1", error=UNSUPPORTED)
    (row,) = kept.orphans()
    assert (row.why, row.cleanup, row.state) == ("cancel-unsupported", "unsupported", "unknown")


def test_a_cancel_of_unknown_outcome_cleans_nothing() -> None:
    kept = book()
    kept.note_task(task(WORKING), how="answer", message_id="m1")
    kept.note_cancel("t1")
    assert [(row.why, row.cleanup) for row in kept.orphans()] == [("left-open", "unknown")]


def test_an_acknowledged_cancel_stays_acknowledged() -> None:
    kept = book()
    kept.note_task(task(WORKING), how="answer", message_id="m1")
    kept.note_cancel("t1", task=task(State.CANCELED))
    kept.note_cancel("t1", error=NOT_FOUND)
    kept.note_cancel("t1", task=task(State.CANCELED))
    assert (left(kept), ledger(kept)) == ([], [])


# -- tasks that the agent forgets


def test_an_id_that_was_handed_out_must_be_retrievable() -> None:
    kept = book()
    kept.note_task(task(State.AUTH_REQUIRED), how="answer", message_id="m1")
    kept.note_gone("t1")
    kept.note_gone("t1")
    assert left(kept) == [("task", "t1", None, "lost-by-agent")]
    assert ledger(kept) == [
        ("task-not-retrievable", Verdict.CONFORMANCE_ERROR),
        ("orphaned-task", Verdict.ORPHAN),
    ]
    assert kept.open_tasks() == (), "there is nothing left to cancel"


def test_a_task_may_be_purged_after_its_end() -> None:
    kept = book()
    kept.note_task(task(COMPLETED), how="answer", message_id="m1")
    kept.note_gone("t1")
    kept.note_cancel("t1", error=NOT_FOUND)
    assert (left(kept), ledger(kept)) == ([], [])


def test_a_task_that_was_never_handed_out_is_rightly_not_found() -> None:
    kept = TaskBook("x")
    kept.note_gone("t1")
    kept.note_cancel("t1", error=NOT_FOUND)
    kept.note_sent("m1", purpose="commit", task_id="t1")
    kept.note_refused("m1", NOT_FOUND)
    assert (left(kept), ledger(kept)) == ([], [])


def test_a_known_task_that_a_message_cannot_find_is_lost() -> None:
    kept = book()
    kept.note_task(task(State.INPUT_REQUIRED), how="answer", message_id="m1")
    kept.note_sent("m2", purpose="commit", task_id="t1")
    kept.note_refused("m2", NOT_FOUND)
    assert slugs(kept.findings()) == ["task-not-retrievable", "orphaned-task"]


def test_a_task_event_without_a_status_is_known_all_the_same() -> None:
    kept = book()
    kept.note_event(chunk(art("a1", "xy")), message_id="m1")
    kept.note_gone("t1")
    assert left(kept) == [("task", "t1", None, "lost-by-agent"), ("artifact", "t1", "a1", "lost-by-agent")]


# -- artifacts and payloads


def test_an_open_task_takes_its_artifacts_and_payload_with_it() -> None:
    kept = book(payload=True)
    kept.note_task(task(WORKING, art("a1", "x")), how="answer", message_id="m1")
    assert left(kept) == [
        ("task", "t1", None, "left-open"),
        ("artifact", "t1", "a1", "left-open"),
        ("payload", "t1", "m1", "left-open"),
    ]
    assert [row.bytes for row in kept.orphans()] == [0, 1, 7]
    assert {row.agent for row in kept.orphans()} == {"alder@1.0"}


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELED, State.REJECTED])
def test_a_task_that_did_not_complete_leaves_artifacts_and_payloads(state: State) -> None:
    kept = book(payload=True)
    kept.note_task(task(state, art("a1", "x")), how="answer", message_id="m1")
    why = f"in-{state.value}-task"
    assert left(kept) == [("artifact", "t1", "a1", why), ("payload", "t1", "m1", why)]
    assert ledger(kept) == [("orphaned-artifact", Verdict.ORPHAN)] * 2


def test_every_payload_of_a_rejected_task_is_an_orphan() -> None:
    kept = book(payload=True)
    kept.note_task(task(State.INPUT_REQUIRED, art("a1", "x")), how="answer", message_id="m1")
    kept.note_sent("m2", purpose="commit", media_type="text/plain", size=3, is_payload=True, task_id="t1")
    kept.note_task(task(State.REJECTED, art("a1", "x")), how="answer", message_id="m2")
    assert [row[:3] for row in left(kept)] == [
        ("artifact", "t1", "a1"),
        ("payload", "t1", "m1"),
        ("payload", "t1", "m2"),
    ]


def test_a_refused_payload_that_was_sent_again_in_the_same_task_is_settled_by_completion() -> None:
    kept = book(payload=True)
    kept.note_task(task(State.INPUT_REQUIRED), how="answer", message_id="m1")
    kept.note_sent("m2", purpose="commit", is_payload=True, task_id="t1")
    kept.note_task(task(COMPLETED, art("a1", "x")), how="answer", message_id="m2")
    assert (left(kept), ledger(kept)) == ([], [])


def test_an_acknowledged_cancel_cleans_up_a_probe_but_not_a_payload() -> None:
    for is_payload, expected in (
        (False, []),
        (True, [("artifact", "t1", "a1", "in-canceled-task"), ("payload", "t1", "m1", "in-canceled-task")]),
    ):
        kept = book(payload=is_payload)
        kept.note_task(task(State.INPUT_REQUIRED, art("a1", "x")), how="answer", message_id="m1")
        kept.note_cancel("t1", task=task(State.CANCELED))
        assert left(kept) == expected


def test_what_was_streamed_must_be_in_the_completed_snapshot() -> None:
    kept = book()
    for event in (snapshot(SUBMITTED), chunk(art("a1", "ok"), last=True), status(COMPLETED)):
        kept.note_event(event, message_id="m1")
    kept.note_task(task(COMPLETED), how="get")
    assert left(kept) == [("artifact", "t1", "a1", "missing-from-snapshot")]
    kept.note_task(task(COMPLETED, art("a1", "ok")), how="get")
    assert left(kept) == []


def test_a_list_leaves_artifacts_out_and_proves_nothing_about_them() -> None:
    kept = book()
    kept.note_event(chunk(art("a1", "ok"), last=True), message_id="m1")
    kept.note_listing([task(COMPLETED)])
    assert left(kept) == []


def test_sizes_add_up_over_chunks_and_start_anew_where_a_chunk_replaces() -> None:
    kept = book()
    for text, append in (("four", False), ("six666", True), ("é", True)):
        kept.note_event(chunk(art("a1", text), append=append), message_id="m1")
    assert [row.bytes for row in kept.orphans()] == [0, 12]
    kept.note_event(chunk(art("a1", "x")), message_id="m1")
    assert [row.bytes for row in kept.orphans()] == [0, 1]


@pytest.mark.parametrize(
    ("parts", "kind", "count"),
    [
        ([Part(kind="text", text="é🙂")], "text/plain", 6),
        ([Part(kind="data", data={"n": 1})], "application/json", 7),
        ([Part(kind="data", data=None)], "application/json", 4),
        ([Part(kind="raw", raw="AAA=", media_type="image/png")], "image/png", 2),
        ([Part(kind="raw", raw="AAAA")], None, 3),
        ([Part(kind="url", url="https://x")], None, 0),
        ([Part(kind="unknown")], None, 0),
        ([], None, 0),
        ([Part(kind="text", text="a", media_type="x/y"), Part(kind="text", text="b")], "x/y", 2),
    ],
)
def test_what_an_artifact_is_and_how_big(parts: list[Part], kind: str | None, count: int) -> None:
    artifact = Artifact(id="a", parts=tuple(parts))
    assert (media_type(artifact), size(artifact)) == (kind, count)


# -- unknown outcomes and retries


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (False, [("task", None, "m1", "outcome-unknown")]),
        (True, [("task", None, "m1", "outcome-unknown"), ("payload", None, "m1", "outcome-unknown")]),
    ],
)
def test_a_send_of_unknown_outcome_is_a_suspected_task(payload: bool, expected: Any) -> None:
    kept = book(payload=payload)
    kept.note_unknown("m1")
    assert left(kept) == expected
    assert {row.state for row in kept.orphans()} == {"id-unknown"}
    assert (kept.unknown_sends(), kept.may_resend("m1")) == (("m1",), False)
    assert "started by message 'm1'" in kept.findings()[0].detail


def test_an_unknown_outcome_in_a_known_task_has_a_name() -> None:
    kept = book()
    kept.note_task(task(State.INPUT_REQUIRED), how="answer", message_id="m1")
    kept.note_sent("m2", purpose="commit", is_payload=True, task_id="t1")
    kept.note_unknown("m2")
    assert left(kept) == [("task", "t1", None, "left-open"), ("payload", "t1", "m2", "left-open")]


def named() -> TaskBook:
    """A book in which payload m1 left for a task that the client named t1, and nobody knows what became of it."""
    kept = TaskBook("alder@1.0")
    kept.note_sent("m1", purpose="commit", media_type="a/b", is_payload=True, opens="t1")
    kept.note_unknown("m1")
    return kept


def test_a_task_that_the_client_named_can_be_cancelled_though_no_answer_came() -> None:
    """The draft, §6.1: ids are the client's."""
    kept = named()
    assert left(kept) == [("task", "t1", "m1", "outcome-unknown"), ("payload", "t1", "m1", "outcome-unknown")]
    assert {row.state for row in kept.orphans()} == {"unknown"}
    assert (kept.open_tasks(), kept.unknown_sends()) == (("t1",), ("m1",))
    kept.note_cancel("t1", task=task(State.CANCELED))
    assert left(kept) == [("payload", "t1", "m1", "in-canceled-task")]
    assert (kept.open_tasks(), kept.unknown_sends(), kept.task_of("m1")) == ((), (), "t1")


def test_a_task_that_the_client_named_and_the_agent_does_not_know_was_never_started() -> None:
    kept = named()
    kept.note_cancel("t1", error=NOT_FOUND)
    assert (left(kept), kept.open_tasks(), kept.findings()) == ([], (), ())
    assert kept.may_resend("m1") is False


@pytest.mark.parametrize(
    ("error", "cleanup", "why"),
    [(None, "unknown", "left-open"), (UNSUPPORTED, "unsupported", "cancel-unsupported")],
)
def test_a_task_that_the_client_named_stays_suspected(error: RpcError | None, cleanup: str, why: str) -> None:
    kept = named()
    kept.note_cancel("t1", error=error)
    assert left(kept) == [("task", "t1", None, why), ("payload", "t1", "m1", why)]
    assert {(row.state, row.cleanup) for row in kept.orphans()} == {("unknown", cleanup)}
    assert kept.open_tasks() == ("t1",)


def test_an_answer_that_got_lost_is_in_no_doubt_where_the_named_task_was_seen() -> None:
    kept = TaskBook("alder@1.0")
    kept.note_sent("m1", purpose="commit", is_payload=True, opens="t1")
    kept.note_task(task(WORKING), how="get")
    kept.note_unknown("m1")
    assert left(kept) == [("task", "t1", None, "left-open"), ("payload", "t1", "m1", "left-open")]
    assert kept.task_of("m1") == "t1"


def test_a_task_of_another_id_is_not_the_one_that_the_client_named() -> None:
    kept = named()
    kept.note_sent("m2", purpose="probe", opens="t2")
    kept.note_unknown("m2")
    kept.note_listing([task(COMPLETED, id="t3"), task(COMPLETED, id="t1")], is_complete=False)
    assert kept.unknown_sends() == ("m2",)
    assert {row.task_id for row in kept.orphans()} == {"t2"}


def test_a_message_that_continues_a_task_opens_none() -> None:
    kept = book()
    kept.note_task(task(State.INPUT_REQUIRED), how="answer", message_id="m1")
    kept.note_sent("m2", purpose="commit", is_payload=True, task_id="t1", opens="t1")
    kept.note_unknown("m2")
    assert left(kept) == [("task", "t1", None, "left-open"), ("payload", "t1", "m2", "left-open")]


def test_a_throttled_message_may_be_sent_once_more() -> None:
    kept = book()
    assert kept.may_resend("m1") is False
    kept.note_not_processed("m1")
    assert kept.may_resend("m1") is True
    kept.note_sent("m1", purpose="commit")
    kept.note_not_processed("m1")
    assert kept.may_resend("m1") is False
    assert ledger(kept) == []


def test_a_retried_answer_to_a_task_stays_one_message_of_it() -> None:
    kept = book()
    kept.note_task(task(State.INPUT_REQUIRED), how="answer", message_id="m1")
    for _ in range(2):
        kept.note_sent("m2", purpose="commit", is_payload=True, task_id="t1")
        kept.note_not_processed("m2")
    assert [row[0] for row in left(kept)] == ["task", "payload"]


def test_a_blind_retry_is_noted() -> None:
    kept = book()
    kept.note_unknown("m1")
    kept.note_sent("m1", purpose="commit")
    kept.note_task(task(COMPLETED), how="answer", message_id="m1")
    assert slugs(kept.findings()) == ["resent-blindly", "orphaned-task"]
    assert kept.findings()[0].kind is Kind.NOTE


def test_two_tasks_for_one_message_orphan_the_first() -> None:
    kept = book()
    kept.note_task(task(COMPLETED, id="t1"), how="answer", message_id="m1")
    kept.note_task(task(COMPLETED, id="t2"), how="answer", message_id="m1")
    assert left(kept) == [("task", "t1", None, "second-task")]
    assert "the same message, sent again, was answered with another task" in kept.findings()[0].detail
    assert kept.task_of("m1") == "t2"


def test_the_task_of_a_lost_attempt_is_found_in_a_listing() -> None:
    """Case retry-01: not a conformance error, since deduplication is optional, but an orphan."""
    kept = book()
    kept.note_unknown("m1")
    kept.note_sent("m1", purpose="commit")
    kept.note_task(task(WORKING, id="t2"), how="answer", message_id="m1")
    kept.note_listing([task(COMPLETED, id="t1"), task(COMPLETED, id="t2")])
    assert left(kept) == [("task", "t1", None, "second-task")]
    assert kept.task_of("m1") == "t2"
    assert [v for _, v in ledger(kept)].count(Verdict.CONFORMANCE_ERROR) == 0


def test_a_listing_that_shows_the_only_attempt_names_it() -> None:
    kept = book(payload=True)
    kept.note_unknown("m1")
    kept.note_listing([task(WORKING, id="t1")])
    assert (kept.task_of("m1"), kept.unknown_sends()) == ("t1", ())
    assert left(kept) == [("task", "t1", None, "left-open"), ("payload", "t1", "m1", "left-open")]


@pytest.mark.parametrize(
    ("context", "listed", "complete", "is_ours", "is_known"),
    [
        ("c1", "c1", True, True, True),
        ("c1", "c2", True, False, True),
        ("c1", "c2", False, False, False),
        (None, "c2", True, True, True),
        ("c1", None, True, True, True),
    ],
)
def test_only_a_task_of_our_context_can_be_ours(
    context: str | None, listed: str | None, complete: bool, is_ours: bool, is_known: bool
) -> None:
    kept = book(context=context)
    kept.note_unknown("m1")
    kept.note_listing([task(WORKING, id="t9", context=listed)], is_complete=complete)
    assert (kept.task_of("m1") == "t9") is is_ours
    assert (kept.unknown_sends() == ()) is is_known


def test_without_a_doubtful_send_a_listed_stranger_is_a_stranger() -> None:
    kept = book()
    kept.note_task(task(COMPLETED), how="answer", message_id="m1")
    kept.note_listing([task(WORKING, id="t9")])
    assert (left(kept), kept.state_of("t9")) == ([], None)


def test_one_doubt_explains_one_task() -> None:
    kept = book()
    kept.note_unknown("m1")
    kept.note_listing([task(WORKING, id="t1"), task(WORKING, id="t2")])
    assert left(kept) == [("task", "t1", None, "left-open")]


@pytest.mark.parametrize("name", ["VersionNotSupported", "MethodNotFound", "InvalidParams"])
def test_a_cancel_that_was_declined_before_it_came_to_a_task_shows_none(name: str) -> None:
    """Testers cancel tasks that never were; a call that its agent does not take says nothing about any."""
    kept = TaskBook("x")
    kept.note_cancel("made-up", error=RpcError(code=-32009, message="no", name=name))
    assert (left(kept), ledger(kept), kept.open_tasks()) == ([], [], ())
    kept.note_task(task(WORKING), how="get")
    kept.note_cancel("t1", error=RpcError(code=-32009, message="no", name=name))
    assert left(kept) == [("task", "t1", None, "cancel-unsupported")]


# -- other answers


def test_a_task_that_answers_no_message_of_ours_is_watched_all_the_same() -> None:
    kept = TaskBook("x")
    kept.note_event(status(WORKING))
    kept.note_event(status(COMPLETED))
    assert (kept.state_of("t1"), left(kept)) == (COMPLETED, [])


def test_a_bare_message_and_an_error_start_nothing() -> None:
    kept = book()
    kept.note_message("m1")
    kept.note_sent("m2", purpose="probe")
    kept.note_event(message(), message_id="m2")
    kept.note_sent("m3", purpose="probe")
    kept.note_refused("m3", UNSUPPORTED)
    assert (left(kept), ledger(kept), kept.task_of("m1")) == ([], [], None)


def test_events_that_name_nobody_say_nothing() -> None:
    kept = book()
    kept.note_event(status(WORKING, id=None), message_id="m1")
    kept.note_event(message())
    kept.note_task(task(WORKING, id=""), how="get")
    assert left(kept) == []


def test_a_message_that_names_a_task_hands_none_out() -> None:
    """§3.1.1: a Message is the answer instead of a Task. An id in it that no task has is nothing that was lost."""
    kept = book(payload=True)
    kept.note_event(message(task_id="t1"), message_id="m1")
    assert (kept.open_tasks(), kept.task_of("m1")) == ((), None)
    kept.note_gone("t1")
    assert (left(kept), ledger(kept)) == ([], [])


def test_a_message_among_the_events_of_a_task_ends_nothing() -> None:
    kept = book()
    kept.note_event(status(WORKING), message_id="m1")
    kept.note_event(message(task_id="t1"), message_id="m1")
    assert (kept.task_of("m1"), left(kept)) == ("t1", [("task", "t1", None, "left-open")])


def test_a_task_that_lives_again_after_its_end_does_not_conform_and_is_an_orphan() -> None:
    kept = book()
    kept.note_task(task(COMPLETED), how="answer", message_id="m1")
    kept.note_task(task(WORKING), how="get")
    assert ledger(kept) == [("state-after-end", Verdict.CONFORMANCE_ERROR), ("orphaned-task", Verdict.ORPHAN)]


def test_a_cancel_that_was_acknowledged_and_ignored_is_found_out_by_asking() -> None:
    kept = book()
    kept.note_task(task(WORKING), how="answer", message_id="m1")
    kept.note_cancel("t1", task=task(State.CANCELED))
    kept.note_task(task(WORKING), how="get")
    assert left(kept) == [("task", "t1", None, "cancel-not-effective")]
    assert kept.open_tasks() == ("t1",)
    kept.note_cancel("t1", task=task(State.CANCELED))
    assert left(kept) == []


@pytest.mark.parametrize("event", [status(WORKING), snapshot(WORKING), status(State.UNKNOWN)])
def test_a_stream_that_lags_behind_revives_nothing(event: Any) -> None:
    kept = book()
    kept.note_task(task(COMPLETED), how="get", message_id="m1")
    kept.note_event(event, message_id="m1")
    assert (kept.state_of("t1"), left(kept), ledger(kept)) == (COMPLETED, [], [])


def test_a_state_that_says_nothing_takes_no_end_back() -> None:
    kept = book()
    kept.note_task(task(COMPLETED), how="answer", message_id="m1")
    kept.note_task(task(State.UNKNOWN), how="get")
    assert (kept.state_of("t1"), left(kept)) == (COMPLETED, [])


def test_a_task_that_goes_on_after_our_answer_is_not_odd() -> None:
    kept = book()
    kept.note_task(task(State.INPUT_REQUIRED), how="answer", message_id="m1")
    kept.note_sent("m2", purpose="commit", task_id="t1")
    kept.note_task(task(WORKING), how="answer", message_id="m2")
    kept.note_task(task(State.INPUT_REQUIRED), how="get")
    kept.note_task(task(WORKING), how="get")
    assert ledger(kept)[0][0] == "resumed-unasked"
    assert slugs(kept.findings()).count("resumed-unasked") == 1


def test_thousands_of_odd_polls_are_not_kept() -> None:
    kept = book()
    kept.note_task(task(COMPLETED), how="answer", message_id="m1")
    for _ in range(500):
        kept.note_task(task(WORKING), how="get")
        kept.note_task(task(COMPLETED), how="get")
    assert len(kept.findings()) == 20


@pytest.mark.parametrize(
    ("state", "artifacts", "booked", "delivered"),
    [
        (COMPLETED, [art("a1", "x")], True, True),
        (COMPLETED, [art("a1", "x")], False, False),
        (COMPLETED, [], True, False),
        (State.FAILED, [art("a1", "x")], True, False),
    ],
)
def test_what_counts_as_delivered(state: State, artifacts: Any, booked: bool, delivered: bool) -> None:
    kept = book(payload=True)
    assert kept.is_delivered("m1") is False
    kept.note_task(task(state, *artifacts), how="answer", message_id="m1")
    if booked:
        kept.book("t1")
    assert kept.is_delivered("m1") is delivered


def test_an_answer_to_a_message_that_never_left_is_misuse() -> None:
    with pytest.raises(Misuse, match="note_sent"):
        book().note_unknown("m9")


def test_a_task_that_a_message_names_is_asked_for_and_belongs_to_the_message_once_it_is_there() -> None:
    kept = book(payload=True)
    kept.note_message("m1", "t1")
    assert (kept.hearsay(), kept.open_tasks(), left(kept)) == (("t1",), (), [])
    kept.note_task(task(WORKING), how="get")
    assert (kept.hearsay(), kept.open_tasks(), kept.task_of("m1")) == ((), ("t1",), "t1")
    assert left(kept) == [("task", "t1", None, "left-open"), ("payload", "t1", "m1", "left-open")]


def test_a_task_in_the_stream_of_another_is_a_row_while_it_runs_and_never_touched() -> None:
    kept = book()
    for event in (status(WORKING), status(WORKING, id="t2"), status(COMPLETED)):
        kept.note_event(event, message_id="m1")
    assert (kept.task_of("m1"), kept.open_tasks()) == ("t1", ())
    assert left(kept) == [("task", "t2", None, "foreign-in-stream")]
    kept.note_event(status(COMPLETED, id="t2"), message_id="m1")
    assert left(kept) == []

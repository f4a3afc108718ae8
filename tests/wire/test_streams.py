"""The answer to a streaming call: status before media type before body, and never an empty success (A6, R31)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.model import State, Task
from a2a_lab.core.policy import Bounds
from a2a_lab.core.stream import Action
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import NotGradeable, Verdict
from a2a_lab.wire.dialects import Answer
from a2a_lab.wire.recorded import read_recorded
from a2a_lab.wire.streams import StreamReader
from tests.wire.streaming import SSE, frame, reader, streamed
from tests.wire.talk import JSON_HEADERS, TASK_1_0, envelope, said, slugs

TASK = frame({"task": TASK_1_0})
DONE = frame({"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}})
PLAIN = envelope({"task": TASK_1_0})
DECLINED = envelope(error={"code": -32004, "message": "no"})
ENDED = Task(id="t1", context_id="c1", state=State.COMPLETED, wire_state="TASK_STATE_COMPLETED")


def closed(status: int, headers: Any, body: bytes, **options: Any) -> StreamReader:
    read = reader(**options)
    read.open(status, headers, 0.1)
    read.feed(body, 0.2)
    read.close(0.3)
    return read


# -- no stream came


@pytest.mark.parametrize(
    ("status", "headers", "body", "closure", "expected"),
    [
        (200, JSON_HEADERS, DECLINED, "rpc-error-before-stream", ["error-before-stream"]),
        (400, JSON_HEADERS, DECLINED, "rpc-error-before-stream", ["http-status", "error-before-stream"]),
        (200, JSON_HEADERS, PLAIN, "wrong-media", ["wrong-media"]),
        (200, {}, PLAIN, "wrong-media", ["answer-media-type", "wrong-media"]),
        (200, {"Content-Type": "application/x-ndjson"}, PLAIN, "wrong-media", ["wrong-media"]),
        (200, {"Content-Type": "text/html"}, "<html>", "wrong-media", ["wrong-media"]),
        (204, {"Content-Type": "text/plain"}, "", "wrong-media", ["wrong-media"]),
        (500, {}, "oops", "http-error", ["http-error"]),
        (404, SSE, "", "http-error", ["http-error"]),
        (401, {"WWW-Authenticate": "Bearer"}, {"error": "unauthorized"}, "http-error", ["auth-needed"]),
    ],
)
def test_an_answer_that_is_no_stream(status: int, headers: Any, body: Any, closure: str, expected: list[str]) -> None:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    result = closed(status, headers, raw).result
    assert (result.closure, slugs(result.findings)) == (closure, expected)
    assert result.verdict is (Verdict.CONFORMANCE_ERROR if closure == "wrong-media" else Verdict.REFUSE)
    assert {stage for _, _, stage in said(result.findings)} == {"stream"}


def test_a_task_in_a_plain_answer_is_known_but_not_complete() -> None:
    read = closed(200, JSON_HEADERS, json.dumps(envelope({"task": TASK_1_0})).encode())
    assert (read.result.task_id, read.result.state, read.result.is_complete) == ("t1", State.WORKING, False)
    assert read.answer is not None


def test_a_task_under_another_id_is_not_forgotten() -> None:
    assert closed(200, JSON_HEADERS, json.dumps(envelope({"task": TASK_1_0}, id="zzz")).encode()).result.task_id == "t1"


def test_why_a_call_cannot_be_graded_is_handed_on() -> None:
    assert closed(401, {}, b"").not_gradeable is NotGradeable.AUTH_NEEDED
    assert closed(429, {"Retry-After": "3"}, b"").not_gradeable is NotGradeable.THROTTLED
    assert closed(200, SSE, TASK + DONE).not_gradeable is None


def test_a_plain_answer_is_bounded_too() -> None:
    result = closed(200, JSON_HEADERS, b"x" * 101, bounds=Bounds(body_bytes=100)).result
    assert (result.closure, slugs(result.findings)) == ("limit", ["stream-limit"])
    assert "body_bytes = 100" in result.findings[0].detail


# -- a stream came


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (200, SSE, []),
        (200, {"content-type": "Text/Event-Stream; charset=UTF-8"}, []),
        (200, {}, ["no-stream-media-type"]),
        (201, SSE, ["stream-status"]),
    ],
)
def test_the_head_of_a_stream(status: int, headers: Any, expected: list[str]) -> None:
    result = closed(status, headers, TASK + DONE).result
    assert (result.closure, slugs(result.findings)) == ("final-proved", expected)


def test_without_a_media_type_the_first_byte_decides() -> None:
    read = reader()
    read.open(200, {}, 0.1)
    assert read.feed(b" \r\n", 0.1) == []
    (event,) = read.feed(TASK, 0.2)
    assert event.kind == "task"


def test_a_body_that_never_came_without_a_media_type_is_an_empty_stream() -> None:
    assert closed(200, {}, b"").result.closure == "eof-nonterminal"


def test_the_head_comes_before_the_body() -> None:
    with pytest.raises(Misuse, match="call open first"):
        reader().feed(b"x", 0.1)


@pytest.mark.parametrize(
    ("noise", "expected", "comments"),
    [
        (b": keep-alive\n\n:\n\n", [], 2),
        (b"event: ping\n\n", [], 1),
        (b"data:\n\n", ["empty-data"], 1),
        (b"event: ping\ndata: {}\n\n", ["keep-alive-event"], 1),
        (b"event: heartbeat\ndata: 2026-11-30T12:00:00Z\n\n", ["keep-alive-event"], 1),
        (b"event: tick\ndata: {}\n\n", ["jsonrpc-version", "rpc-id-missing", "no-outcome"], 0),
        (b"data: hello\n\n", ["not-json"], 0),
        (b"data: {\xff}\n\n", ["stream-bad-utf8", "not-json"], 0),
    ],
)
def test_what_else_may_come_between_events(noise: bytes, expected: list[str], comments: int) -> None:
    result = streamed("1.0", TASK, noise, DONE)
    assert (result.closure, slugs(result.findings), result.comments) == ("final-proved", expected, comments)


def test_a_named_response_is_a_response() -> None:
    named = b"event: ping\n" + DONE
    assert streamed("1.0", TASK, named).state is State.COMPLETED


def test_keep_alives_are_no_progress() -> None:
    read = reader()
    read.open(200, SSE, 0.0)
    read.feed(TASK, 0.0)
    for tenths in range(1, 20):
        read.feed(b"event: ping\ndata: {}\n\n", tenths / 10)
    assert read.tick(1.0) is Action.ASK
    read.asked(None, 1.0)
    assert read.tick(2.0) is Action.STOP
    assert read.result.closure == "live-hang"


def test_what_is_no_event_is_not_handed_on_and_what_is_anothers_is_for_the_books() -> None:
    read = reader()
    read.open(200, SSE, 0.0)
    foreign = frame({"task": TASK_1_0 | {"id": "t2"}})
    handed = read.feed(TASK + foreign + frame({"error": "x"}) + DONE, 0.1)
    assert [(event.kind, event.task_id) for event in handed] == [("task", "t1"), ("task", "t2"), ("status", "t1")]
    assert (read.watch.content.events, read.watch.content.used) == (4, 2)


def test_events_that_come_once_the_watch_has_given_up_are_handed_on_and_change_no_closure() -> None:
    """R35: the books are told of all that an agent said; the stream hangs all the same."""
    read = reader()
    read.open(200, SSE, 0.0)
    read.feed(TASK, 0.1)
    while not read.is_over:
        read.tick(100.0)
    assert [event.kind for event in read.feed(DONE + frame({"error": "x"}), 100.1)] == ["status"]
    read.close(100.2)
    assert (read.result.closure, read.result.events, read.is_over) == ("idle-hang", 1, True)


def test_events_before_a_limit_count() -> None:
    read = reader(bounds=Bounds(events=2))
    read.open(200, SSE, 0.0)
    assert len(read.feed(TASK + TASK + DONE, 0.1)) == 2
    assert read.is_over
    assert (read.result.closure, read.result.events) == ("limit", 2)
    assert read.feed(DONE, 0.2) == []


def test_a_limit_after_an_error_frame_changes_nothing() -> None:
    read = reader(bounds=Bounds(events=1))
    read.open(200, SSE, 0.0)
    read.feed(frame(error={"code": -32603, "message": "x"}) + DONE, 0.1)
    assert read.result.closure == "rpc-error-before-stream"


def test_what_was_cut_is_shown() -> None:
    result = streamed("1.0", TASK, DONE[:-2])
    assert result.closure == "truncated"
    assert "TASK_STATE_COMPLETED" in result.findings[0].values["dropped"]


def test_a_tail_after_the_end_is_no_fault() -> None:
    result = streamed("1.0", TASK, DONE + b"data: {")
    assert (result.closure, said(result.findings)) == ("final-proved", [("tail-dropped", "accept", "stream")])


def test_closing_twice_changes_nothing() -> None:
    read = closed(200, SSE, TASK + DONE)
    read.close(9.0, "reset")
    assert (read.result.closure, read.result.ended) == ("final-proved", 0.3)
    assert (read.deadline(1.0), read.tick(9.0)) == (None, Action.STOP)


@pytest.mark.parametrize("told", [Answer(task=ENDED), ENDED])
def test_asking_may_be_told_by_answer_or_by_task(told: Any) -> None:
    read = reader()
    read.open(200, SSE, 0.0)
    read.feed(TASK, 0.0)
    read.asked(told, 1.0)
    read.tick(2.0)
    assert slugs(read.result.findings) == ["end-not-signalled"]


# -- recorded streams are read on their own clock (R5)


def recorded(chunks: Any, ending: Any, **options: Any) -> Any:
    ended_at = options.pop("ended_at", None)
    ask = options.pop("ask", None)
    return read_recorded(
        reader(**options),
        status=200,
        headers=SSE,
        head_at=0.1,
        chunks=chunks,
        ending=ending,
        ended_at=ended_at,
        ask=ask,
    )


def test_a_gap_in_a_recording_is_the_hang_that_it_was() -> None:
    result = recorded([(0.1, TASK), (2.5, DONE)], "close")
    assert (result.closure, result.ended, result.waited_s) == ("idle-hang", 2.1, 2.0)


def test_a_gap_below_the_limit_is_none() -> None:
    assert recorded([(0.1, TASK), (2.0, DONE)], "close").closure == "final-proved"


def test_a_late_close_of_a_recording_is_not_closed() -> None:
    assert recorded([(0.1, TASK), (0.2, DONE)], "close", ended_at=2.3).closure == "final-without-close"
    assert recorded([(0.1, TASK), (0.2, DONE)], "close", ended_at=2.1).closure == "final-proved"


def test_an_open_recording_is_judged_by_the_limits() -> None:
    assert recorded([(0.1, TASK)], "open").closure == "idle-hang"
    assert recorded([(0.1, TASK)], "open", ended_at=1.9).closure == "left"
    assert recorded([(0.1, TASK)], "open", ended_at=2.2).closure == "idle-hang"
    assert recorded([(0.1, TASK), (0.2, DONE)], "open").closure == "final-without-close"
    assert recorded([(0.1, TASK), (0.2, DONE)], "open", ended_at=0.3).closure == "final-proved"
    assert recorded([], "open").closure == "idle-hang"


def test_an_open_recording_that_asks_for_input_hands_control_back() -> None:
    asking = frame({"task": TASK_1_0 | {"status": {"state": "TASK_STATE_INPUT_REQUIRED"}}})
    assert recorded([(0.1, asking)], "open").closure == "interrupted-open"
    assert recorded([(0.1, asking), (5.0, TASK), (5.1, DONE)], "close").closure == "final-proved"


@pytest.mark.parametrize("ending", ["reset", "close"])
def test_a_recording_is_settled_by_what_the_evidence_knows(ending: Any) -> None:
    asked: list[tuple[str, float]] = []

    def ask(task_id: str, at: float) -> Task:
        asked.append((task_id, at))
        return ENDED

    result = recorded([(0.1, TASK)], ending, ask=ask)
    assert result.recovered is ENDED
    assert asked == [("t1", 0.1)]


def test_a_silent_recording_is_asked_about_at_the_right_time() -> None:
    asked: list[float] = []

    def ask(task_id: str, at: float) -> None:
        asked.append(round(at, 3))

    assert recorded([(0.1, TASK), (1.5, DONE)], "close", ask=ask).closure == "final-proved"
    assert asked == [1.1]

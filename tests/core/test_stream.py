"""The two clocks of a stream, the one question, and every way it can end (R30, R31). No clock runs here."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.model import State
from a2a_lab.core.policy import Clocks
from a2a_lab.core.stream import Action, StreamWatch
from a2a_lab.core.stream_times import IN_FLIGHT_S, LEAVE_GRACE_S
from a2a_lab.errors import Misuse, StreamFault
from a2a_lab.verdicts import Kind, Verdict
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
    task,
    watch,
    watched,
)

START = snapshot(SUBMITTED)
DONE = status(COMPLETED)


def started(version: str = "1.0", *events: Any, at: float = 0.5, **options: Any) -> StreamWatch:
    """A watch that received a task and these events, all at one time."""
    watching = watch(version, **options)
    for event in (START, *events):
        watching.receive(event, at)
    return watching


def run_out(watching: StreamWatch, now: float = 0.0) -> list[tuple[float, Action]]:
    """Let time pass to the end; nobody answers, nobody leaves."""
    steps = []
    while (due := watching.deadline(now)) is not None:
        now = due
        steps.append((round(due, 3), watching.tick(due)))
        assert len(steps) < 10, steps
    return steps


# -- silence, then a hang


def test_at_silence_the_task_is_asked_for_once_and_at_the_limit_it_is_a_hang() -> None:
    watching = started()
    assert run_out(watching) == [(1.5, Action.ASK), (2.5, Action.STOP)]
    result = watching.result
    assert (result.closure, slugs(result.findings), result.verdict) == ("idle-hang", ["idle-hang"], Verdict.HANG)
    assert (result.waited_s, result.last_event_at, result.is_hang) == (2.0, 0.5, True)


def test_nothing_happens_before_its_time() -> None:
    watching = started()
    assert watching.tick(1.49) is Action.WAIT
    assert watching.tick(1.5) is Action.ASK
    assert watching.tick(1.6) is Action.WAIT
    assert watching.deadline(9.0) == 9.0, "a deadline is never in the past of the caller"


def test_silence_runs_from_the_request_and_nobody_can_ask_for_a_task_without_a_name() -> None:
    watching = watch()
    assert run_out(watching) == [(2.0, Action.STOP)]
    assert (watching.result.closure, watching.result.waited_s) == ("idle-hang", 2.0)
    assert watching.needs_settling is False


def test_a_task_named_in_the_request_can_be_asked_for() -> None:
    assert run_out(watch(op="subscribe", task_id="t1")) == [(1.0, Action.ASK), (2.0, Action.STOP)]


def test_the_question_is_asked_once_a_stream() -> None:
    watching = started()
    assert watching.tick(1.5) is Action.ASK
    watching.receive(status(WORKING), 1.6)
    assert run_out(watching, 1.6) == [(3.6, Action.STOP)]


def test_where_silence_is_no_shorter_than_the_limit_nobody_asks() -> None:
    assert run_out(started(clocks=Clocks(silence_s=2, hang_s=2, total_s=10))) == [(2.5, Action.STOP)]


def test_a_hang_of_thirty_seconds_takes_no_time() -> None:
    watching = started(clocks=Clocks(silence_s=30, hang_s=120, total_s=600), at=0.0)
    assert run_out(watching) == [(30.0, Action.ASK), (120.0, Action.STOP)]


# -- signs of life are no progress


def test_comments_reset_no_clock_and_name_the_hang() -> None:
    watching = started()
    for tenths in range(6, 25):
        watching.comment(tenths / 10)
    assert run_out(watching) == [(1.5, Action.ASK), (2.5, Action.STOP)]
    result = watching.result
    assert (result.closure, result.comments, slugs(result.findings)) == ("live-hang", 19, ["live-hang"])


def test_comments_before_the_last_event_say_nothing_about_the_silence_after_it() -> None:
    watching = watch()
    watching.comment(0.1, times=3)
    watching.receive(START, 0.2)
    run_out(watching)
    assert watching.result.closure == "idle-hang"


@pytest.mark.parametrize("event", [NOISE, status(WORKING, id="t2")], ids=["nothing", "foreign"])
def test_what_is_no_event_of_this_stream_is_no_progress(event: Any) -> None:
    watching = started()
    watching.receive(event, 2.0)
    assert run_out(watching, 2.0)[-1] == (2.5, Action.STOP)


def test_a_drip_of_working_ends_at_the_total_limit() -> None:
    watching = started()
    for half_seconds in range(2, 20):
        watching.receive(status(WORKING), half_seconds / 2)
    assert run_out(watching, 9.5) == [(10.0, Action.STOP)]
    result = watching.result
    assert (result.closure, slugs(result.findings), result.verdict) == ("drip-hang", ["drip-hang"], Verdict.HANG)


@pytest.mark.parametrize(("is_pinged", "closure"), [(False, "idle-hang"), (True, "live-hang")])
def test_a_total_limit_without_any_event_is_no_drip(is_pinged: bool, closure: str) -> None:
    watching = watch(clocks=Clocks(silence_s=1, hang_s=20, total_s=10))
    if is_pinged:
        watching.comment(1.0)
    assert run_out(watching) == [(10.0, Action.STOP)]
    assert watching.result.closure == closure


# -- the answer to the question


def test_a_task_that_is_alive_is_slow_and_the_watch_goes_on() -> None:
    watching = started()
    watching.tick(1.5)
    watching.asked(task(WORKING), 1.6)
    watching.receive(chunk(art("a1", "x"), last=True), 2.4)
    watching.receive(DONE, 2.5)
    watching.close(2.6, "close")
    (finding,) = watching.result.findings
    assert (finding.slug, finding.verdict, finding.kind) == ("slow", Verdict.ACCEPT, Kind.NOTE)
    assert watching.result.is_complete


def test_a_task_that_has_ended_is_recovered_and_the_stream_is_a_hang() -> None:
    watching = started()
    watching.tick(1.5)
    watching.asked(task(COMPLETED, art("a1", "x")), 1.6)
    assert run_out(watching, 1.6) == [(1.6 + IN_FLIGHT_S, Action.STOP)]
    result = watching.result
    assert (result.closure, slugs(result.findings)) == ("idle-hang", ["end-not-signalled"])
    assert result.recovered is not None
    assert [artifact.id for artifact in result.recovered.artifacts] == ["a1"]
    assert result.is_complete is False


def test_an_end_that_was_under_way_is_no_hang() -> None:
    watching = started()
    watching.tick(1.5)
    watching.asked(task(COMPLETED), 1.6)
    watching.receive(chunk(art("a1", "x"), last=True), 1.7)
    watching.receive(DONE, 1.8)
    watching.close(1.9, "close")
    assert (watching.result.closure, watching.result.findings) == ("final-proved", ())


def test_an_event_that_is_not_the_end_starts_the_silence_anew_and_the_hang_still_has_its_name() -> None:
    watching = started()
    watching.tick(1.5)
    watching.asked(task(COMPLETED), 1.6)
    watching.receive(chunk(art("a1", "x")), 1.7)
    assert run_out(watching, 1.7) == [(3.7, Action.STOP)]
    assert slugs(watching.result.findings) == ["end-not-signalled"]


@pytest.mark.parametrize(
    "answer", [None, task(COMPLETED, id="t2"), task(State.UNKNOWN)], ids=["none", "other", "unknown"]
)
def test_an_answer_that_says_nothing_changes_nothing(answer: Any) -> None:
    watching = started()
    watching.tick(1.5)
    watching.asked(answer, 1.6)
    assert run_out(watching, 1.6) == [(2.5, Action.STOP)]
    assert slugs(watching.result.findings) == ["idle-hang"]


def test_a_task_is_not_slow_if_its_events_went_on_meanwhile() -> None:
    watching = started()
    watching.tick(1.5)
    watching.receive(status(WORKING), 1.55)
    watching.asked(task(WORKING), 1.6)
    watching.close(1.7, "left")
    assert slugs(watching.result.findings) == ["client-left"]


def test_an_answer_after_the_end_says_nothing_about_silence() -> None:
    watching = started("1.0", chunk(art("a1", "x"), last=True))
    watching.tick(1.5)
    watching.receive(DONE, 1.55)
    watching.asked(task(WORKING), 1.6)
    watching.close(1.7, "close")
    assert watching.result.findings == ()


# -- the end was signalled


@pytest.mark.parametrize(("version", "verdict"), [("1.0", Verdict.CONFORMANCE_ERROR), ("0.3", Verdict.HINT)])
@pytest.mark.parametrize("events", [[status(COMPLETED, final=True)], [snapshot(COMPLETED)]], ids=["status", "task"])
def test_a_socket_may_stay_open_for_two_seconds_after_the_end(version: str, verdict: Verdict, events: Any) -> None:
    watching = started(version, *events)
    assert run_out(watching) == [(2.5, Action.STOP)]
    result = watching.result
    assert (result.closure, slugs(result.findings), result.verdict) == ("final-without-close", ["not-closed"], verdict)
    assert result.is_complete, "the result is kept"


def test_a_message_that_is_not_followed_by_a_close_is_not_closed_either() -> None:
    watching = watch()
    watching.receive(message(), 0.5)
    assert run_out(watching) == [(2.5, Action.STOP)]
    assert slugs(watching.result.findings) == ["not-closed"]


def test_late_events_do_not_buy_more_time() -> None:
    watching = started("1.0", DONE)
    watching.receive(DONE, 2.0)
    watching.receive(status(WORKING), 2.2)
    assert watching.deadline(0.0) == 2.5


def test_the_limits_of_a_running_stream_end_with_its_end() -> None:
    watching = started("1.0", DONE, clocks=Clocks(silence_s=1, hang_s=1.1, total_s=0.6, close_s=2))
    assert watching.deadline(0.0) == 2.5


def test_a_message_that_turns_out_to_begin_a_task_stream_is_watched_as_one() -> None:
    watching = watch()
    watching.receive(message(), 0.1)
    watching.receive(START, 0.2)
    assert run_out(watching) == [(1.2, Action.ASK), (2.2, Action.STOP)]


# -- 0.3: a terminal state is not yet the signal


def test_a_terminal_state_without_final_in_an_open_0_3_stream_is_an_end_not_signalled() -> None:
    watching = started("0.3", status(COMPLETED, final=False))
    assert run_out(watching) == [(1.5, Action.STOP)]
    result = watching.result
    assert (result.closure, slugs(result.findings), result.verdict) == (
        "idle-hang",
        ["end-not-signalled"],
        Verdict.HANG,
    )
    assert result.state is COMPLETED


def test_final_in_an_active_state_ends_the_stream_and_not_the_task() -> None:
    watching = started("0.3", status(WORKING, final=True))
    watching.close(0.6, "close")
    assert watching.needs_settling
    assert (watching.result.closure, slugs(watching.result.findings)) == ("final-proved", ["final-while-active"])


# -- the agent waits for us


@pytest.mark.parametrize(("version", "final"), [("1.0", None), ("0.3", True), ("0.3", False)])
def test_input_required_hands_control_back_and_is_neither_hang_nor_complete(version: str, final: bool | None) -> None:
    watching = started(version, status(State.INPUT_REQUIRED, final=final, text="Which city?"))
    assert watching.deadline(0.0) == 0.5 + LEAVE_GRACE_S
    assert watching.tick(0.75) is Action.LEAVE
    watching.close(0.75, "left")
    result = watching.result
    assert (result.closure, result.findings, result.is_complete) == ("interrupted-open", (), False)
    assert result.message is not None


def test_an_authorisation_is_waited_for_as_long_as_silence_lasts() -> None:
    watching = started("1.0", status(State.AUTH_REQUIRED))
    assert watching.tick(1.49) is Action.WAIT
    assert watching.tick(1.5) is Action.LEAVE


@pytest.mark.parametrize(
    ("version", "final", "ending", "closure", "expected"),
    [
        ("1.0", None, "close", "interrupted-closed", []),
        ("1.0", None, "reset", "interrupted-closed", []),
        ("0.3", True, "close", "interrupted-closed", []),
        ("0.3", False, "close", "close-without-final", ["final-missing"]),
        ("0.3", None, "close", "close-without-final", ["final-missing"]),
    ],
)
def test_an_interrupted_stream_may_be_closed(
    version: str, final: bool | None, ending: Any, closure: str, expected: list[str]
) -> None:
    watching = started(version, status(State.INPUT_REQUIRED, final=final))
    watching.close(0.6, ending)
    assert (watching.result.closure, slugs(watching.result.findings)) == (closure, expected)


def test_whoever_does_not_leave_may_watch_to_the_total_limit() -> None:
    watching = started("1.0", status(State.INPUT_REQUIRED))
    assert run_out(watching) == [(0.75, Action.LEAVE), (10.0, Action.STOP)]
    assert (watching.result.closure, watching.result.findings) == ("interrupted-open", ())


def test_a_stream_that_goes_on_after_input_required_is_watched_again() -> None:
    watching = started("1.0", status(State.INPUT_REQUIRED))
    watching.tick(0.75)
    watching.receive(status(WORKING), 5.0)
    assert watching.deadline(5.0) == 6.0
    watching.receive(status(State.INPUT_REQUIRED), 5.1)
    assert watching.tick(5.35) is Action.LEAVE


# -- how the body ended


@pytest.mark.parametrize(
    ("ending", "closure", "expected", "verdict"),
    [
        ("close", "eof-nonterminal", ["eof-nonterminal"], Verdict.CONFORMANCE_ERROR),
        ("truncated", "truncated", ["stream-truncated"], Verdict.CONFORMANCE_ERROR),
        ("reset", "reset", ["stream-reset"], Verdict.ORPHAN),
        ("left", "left", ["client-left"], Verdict.ACCEPT),
        ("limit", "limit", [], Verdict.ACCEPT),
    ],
)
def test_the_end_of_a_stream_is_not_the_end_of_its_task(
    ending: Any, closure: str, expected: list[str], verdict: Verdict
) -> None:
    watching = started("1.0", status(WORKING))
    watching.close(0.6, ending)
    result = watching.result
    assert (result.closure, slugs(result.findings), result.verdict) == (closure, expected, verdict)
    assert watching.needs_settling
    assert result.is_complete is False


@pytest.mark.parametrize(
    ("ending", "expected"),
    [("close", []), ("truncated", ["tail-dropped"]), ("reset", ["tail-dropped"]), ("left", [])],
)
def test_after_the_end_it_matters_little_how_the_body_ends(ending: Any, expected: list[str]) -> None:
    watching = started("1.0", chunk(art("a1", "x"), last=True), DONE)
    watching.close(0.6, ending)
    assert (watching.result.closure, slugs(watching.result.findings)) == ("final-proved", expected)
    assert watching.needs_settling is False


def test_a_0_3_stream_that_closes_after_a_terminal_state_lacks_only_final() -> None:
    result = watched("0.3", START, chunk(art("a1", "x"), last=True), status(COMPLETED))
    assert (result.closure, slugs(result.findings), result.verdict) == (
        "close-without-final",
        ["final-missing"],
        Verdict.HINT,
    )
    assert result.is_complete


def test_a_stream_without_any_event() -> None:
    result = watched("1.0")
    assert (result.closure, result.task_id, result.waited_s) == ("eof-nonterminal", None, 0.1)


# -- settling


def test_settling_lifts_a_reset_from_orphan_to_hint() -> None:
    watching = started("1.0", chunk(art("a1", "part one"), last=False))
    watching.close(0.6, "reset")
    assert slugs(watching.result.findings) == ["stream-reset", "open-artifact"]
    assert watching.result.verdict is Verdict.ORPHAN
    watching.asked(task(COMPLETED, art("a1", "part one and two")), 0.7)
    assert [(f.slug, f.verdict) for f in watching.result.findings] == [("stream-reset", Verdict.HINT)]
    assert watching.result.recovered is not None


@pytest.mark.parametrize("answer", [None, task(WORKING)], ids=["none", "alive"])
def test_a_task_that_nobody_can_settle_stays_an_orphan_and_is_asked_for_once(answer: Any) -> None:
    watching = started("1.0", chunk(art("a1", "x")))
    watching.close(0.6, "reset")
    watching.asked(answer, 0.7)
    assert watching.result.verdict is Verdict.ORPHAN
    assert watching.needs_settling is False
    assert watching.result.recovered is None


def test_settling_an_error_keeps_the_error_and_drops_the_orphan() -> None:
    watching = started("1.0", chunk(art("a1", "x")), failure())
    assert watching.needs_settling
    watching.asked(task(State.FAILED), 0.7)
    assert slugs(watching.result.findings) == ["stream-error"]


def test_a_hang_after_which_the_task_was_alive_is_settled_once_more() -> None:
    watching = started()
    watching.tick(1.5)
    watching.asked(task(WORKING), 1.6)
    watching.tick(2.5)
    assert watching.needs_settling
    watching.asked(task(COMPLETED), 2.6)
    assert (watching.needs_settling, slugs(watching.result.findings)) == (False, ["slow", "idle-hang"])
    assert watching.result.recovered is not None


def test_a_task_that_the_stream_itself_showed_to_have_ended_is_not_recovered() -> None:
    watching = started("1.0", DONE)
    watching.close(0.6, "close")
    watching.asked(task(COMPLETED), 0.7)
    assert watching.result.recovered is None


# -- use


def test_there_is_no_result_before_the_end() -> None:
    with pytest.raises(Misuse, match="not over"):
        _ = watch().result


def test_what_comes_after_the_verdict_is_not_looked_at() -> None:
    watching = started()
    run_out(watching)
    assert watching.receive(DONE, 3.0) == []
    watching.close(3.0, "close")
    assert (watching.result.closure, watching.result.state) == ("idle-hang", SUBMITTED)
    assert (watching.deadline(3.0), watching.tick(3.0)) == (None, Action.STOP)


def test_a_caller_who_wants_an_error_gets_the_worst_one() -> None:
    watching = started("1.0", status(WORKING, id="t2"))
    run_out(watching)
    with pytest.raises(StreamFault, match="idle-hang") as caught:
        watching.result.raise_for_fault()
    assert (caught.value.name, caught.value.fields["closure"]) == ("idle-hang", "idle-hang")


def test_a_refused_stream_knows_the_task_that_came_instead() -> None:
    watching = watch()
    watching.refuse("wrong-media", 0.3, [], task(COMPLETED))
    assert (watching.result.task_id, watching.result.state, watching.result.is_complete) == ("t1", COMPLETED, False)


def test_thousands_of_faults_are_not_kept() -> None:
    watching = started()
    for _ in range(1000):
        watching.receive(status(WORKING, id="t2"), 0.6)
    watching.close(0.7, "close")
    assert slugs(watching.result.findings).count("foreign-task") == 20


@pytest.mark.parametrize(("first", "spread", "is_noted"), [(0.9, 0.0, True), (0.9, 0.2, False), (0.3, 0.0, False)])
def test_a_stream_that_was_buffered_is_noted(first: float, spread: float, is_noted: bool) -> None:
    watching = watch()
    for place, event in enumerate([START, chunk(art("a1", "x"), last=True), DONE]):
        watching.receive(event, first + spread * place)
    watching.close(2.0, "close")
    assert slugs(watching.result.findings) == (["all-at-once"] if is_noted else [])

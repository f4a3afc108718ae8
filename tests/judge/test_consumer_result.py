"""What a consumer told its caller, held against what the agent gave it (A5, A6, A7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from a2a_lab.judge.visit import Account
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import OK, RPC, WHOLE_STREAM, call, card_1_0, look, slugs, status, stream, task

DONE = call(answer={"task": task()})
ERROR = call(error={"code": -32601, "message": "Method not found"})


def told(exchange: Exchange, account: Account) -> set[str]:
    return slugs(look(card_1_0()), exchange, account=account)


def test_a_faithful_account_is_not_remarked_on() -> None:
    assert not told(DONE, OK)
    assert not told(stream(*WHOLE_STREAM), OK)


def test_an_artifact_that_went_no_further_was_dropped() -> None:
    """The JS client on a stream of mixed shapes: success, and nothing in it."""
    hollow = replace(OK, artifacts={}, said="completed, 3 of 4 events had nothing in them")
    assert "artifacts-dropped" in told(stream(*WHOLE_STREAM), hollow)
    part = replace(OK, artifacts={"a": "echo:"}, said="-")
    assert "artifacts-dropped" in told(stream(*WHOLE_STREAM), part)


def test_other_blanks_and_other_ids_are_the_same_artifact() -> None:
    assert not told(DONE, replace(OK, artifacts={"output": "echo:  hello\n"}))


def test_an_artifact_that_is_shown_in_a_message_was_not_dropped() -> None:
    message = Account(ok=True, artifacts={}, events=1, said="answered, message 'echo: hello'")
    assert not told(DONE, message)


def test_a_file_is_not_compared_by_its_text() -> None:
    raw = [{"artifactId": "a", "parts": [{"raw": "aGk=", "mediaType": "image/png"}]}]
    answer = call(answer={"task": task() | {"artifacts": raw}})
    assert not told(answer, replace(OK, artifacts={"a": "[file image/png]"}))


def test_an_artifact_shown_twice_is_doubled() -> None:
    """CrewAI gives the output of a task that was streamed and fetched twice."""
    assert told(DONE, replace(OK, artifacts={"output": "echo: hello echo: hello"})) == {"artifact-doubled"}


@pytest.mark.parametrize("state", [None, "submitted"])
def test_an_end_that_the_caller_was_not_told_was_dropped(state: str | None) -> None:
    assert "end-dropped" in told(stream(*WHOLE_STREAM), replace(OK, state=state, artifacts={}, said="-"))


def test_a_failure_reported_beside_an_answer_was_swallowed() -> None:
    """CrewAI puts the error to its model, and hands out whatever the model says."""
    crew = Account(ok=True, state="failed", events=2, error="Timeout Error", said="the manager's own words")
    assert "failure-swallowed" in told(ERROR, crew)
    assert "failure-swallowed" in told(DONE, crew)


@pytest.mark.parametrize(
    "exchange",
    [
        ERROR,
        call(status=500, body=b"Unknown content type", answer={}),
        call(status=None, fault="reset-after-request", body=b""),
        call(answer={"task": task("failed", artifact="")}),
        stream(*WHOLE_STREAM[:1], status("rejected")),
    ],
    ids=["error", "500", "reset", "failed", "rejected"],
)
def test_success_over_a_failure_in_the_evidence_was_swallowed(exchange: Exchange) -> None:
    assert "failure-swallowed" in told(exchange, replace(OK, artifacts={}, said="done"))


def test_a_failure_that_the_caller_can_read_off_the_state_was_not() -> None:
    failed = call(answer={"task": task("failed", artifact="")})
    assert "failure-swallowed" not in told(failed, replace(OK, state="failed", artifacts={}))


def test_neither_answer_nor_error_is_swallowed_too() -> None:
    """fasta2a's client reads a JSON error in place of a stream as a stream without events."""
    silent = Account(ok=False, events=0, said="nothing came, and the SDK reported no error")
    refused = call("SendStreamingMessage", error={"code": -32004, "message": "no"})
    assert "failure-swallowed" in told(refused, silent)


def test_an_error_that_was_reported_is_nobodys_fault_here() -> None:
    honest = Account(ok=False, error="JSON-RPC error -32601", said="failed after 0 events")
    assert not told(ERROR, honest) & {"failure-swallowed", "artifacts-dropped", "end-dropped"}


def test_what_is_no_call_of_a2a_can_fail_as_well() -> None:
    stray = call(answer={}, url=RPC)
    stray.request_body, stray.body = b'{"content": {"text": "hello"}}', b'{"error": {"code": -32600}}'
    assert "failure-swallowed" in told(stray, Account(ok=True, events=1, said="answered, message '...'"))

"""Each misbehaviour of streams and their events does what its sentence says, and what the store says of it."""

from __future__ import annotations

import time

import httpx
import pytest

from tests.vendors.bench import Bench, Streamed

SHORT_S = 0.4
PLAIN = ["task:WORKING", "artifactUpdate", "statusUpdate:COMPLETED"]


# ---- no end ------------------------------------------------------------------------------------------------------


def test_never_final(bench: Bench) -> None:
    seen = (agent := bench.agent("never-final")).stream(limit_s=SHORT_S)
    assert seen.kinds == PLAIN[:2] and seen.ending == "open" and "ping" not in seen.text
    assert [task["state"] for task in agent.store()["tasks"]] == ["working"]


def test_never_final_with_pings(bench: Bench) -> None:
    seen = bench.agent({"name": "never-final", "pings": True, "every_s": 0.05}).stream(limit_s=SHORT_S)
    assert seen.kinds == PLAIN[:2] and seen.ending == "open" and seen.text.count(": ping") >= 2


def test_a_stream_that_never_ends_can_be_canceled(bench: Bench) -> None:
    agent = bench.agent({"name": "never-final", "on": "stream"})
    agent.stream(limit_s=SHORT_S)
    [task] = agent.store()["tasks"]
    assert agent.task("cancel", task=task["id"])["status"]["state"] == "TASK_STATE_CANCELED"


def test_drip_of_working(bench: Bench) -> None:
    seen = bench.agent({"name": "drip-of-working", "every_s": 0.05}).stream(limit_s=SHORT_S)
    assert seen.ending == "open" and seen.kinds.count("statusUpdate:WORKING") >= 3


def test_eof_nonterminal(bench: Bench) -> None:
    agent = bench.agent("eof-nonterminal")
    seen = agent.stream()
    assert seen.kinds == PLAIN[:2] and seen.ending == "closed"
    assert agent.task("send")["status"]["state"] == "TASK_STATE_WORKING"


def test_never_moves(bench: Bench) -> None:
    agent = bench.agent("never-moves")
    task = agent.task("send", configuration={"returnImmediately": True})
    time.sleep(0.1)
    assert agent.task("get", task=task["id"])["status"]["state"] == "TASK_STATE_SUBMITTED"
    with pytest.raises(httpx.ReadTimeout):
        agent.post(agent.body("send"), limit_s=0.2)


def test_completed_then_open(bench: Bench) -> None:
    agent = bench.agent("completed-then-open")
    seen = agent.stream(limit_s=SHORT_S)
    assert seen.kinds == PLAIN and seen.ending == "open"
    assert agent.task("send")["status"]["state"] == "TASK_STATE_COMPLETED"


def test_completed_then_open_for_a_while(bench: Bench) -> None:
    assert bench.agent({"name": "completed-then-open", "for_s": 0.1}).stream().ending == "closed"


# ---- a wrong end -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("event", "kinds"), [("task", ["task:COMPLETED"]), ("status", ["statusUpdate:COMPLETED"])])
def test_single_terminal_event(bench: Bench, event: str, kinds: list[str]) -> None:
    agent = bench.agent({"name": "single-terminal-event", "event": event})
    assert agent.stream().kinds == kinds
    [task] = agent.store()["tasks"]
    assert task["state"] == "completed" and task["artifacts"] == []


def test_single_terminal_event_is_final_in_0_3(bench: Bench) -> None:
    [result] = bench.agent({"name": "single-terminal-event", "event": "status"}, dialect="0.3").stream().results
    assert result["final"] is True and result["status"]["state"] == "completed"


def test_a_refusal_is_no_empty_end(bench: Bench) -> None:
    seen = bench.agent("single-terminal-event").stream({"data": {}})
    assert seen.kinds == ["task:WORKING", "statusUpdate:INPUT_REQUIRED"]


@pytest.mark.parametrize("state", ["failed", "rejected", "canceled"])
def test_artifact_then_failed(bench: Bench, state: str) -> None:
    seen = bench.agent({"name": "artifact-then-failed", "state": state}).stream()
    assert seen.kinds == [*PLAIN[:2], f"statusUpdate:{state.upper()}"]


@pytest.mark.parametrize("state", ["input-required", "auth-required"])
def test_interrupts(bench: Bench, state: str) -> None:
    status = bench.agent({"name": "interrupts", "state": state}).task("send")["status"]
    assert status["state"] == f"TASK_STATE_{state.upper().replace('-', '_')}"
    assert "/" not in status["message"]["parts"][0]["text"]


# ---- single events -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "event"), [("status", "statusUpdate:WORKING"), ("artifact", "artifactUpdate")])
def test_events_after_terminal(bench: Bench, kind: str, event: str) -> None:
    agent = bench.agent({"name": "events-after-terminal", "kind": kind})
    assert agent.stream().kinds == [*PLAIN, event]
    assert [task["state"] for task in agent.store()["tasks"]] == ["completed"]


def test_foreign_task_id(bench: Bench) -> None:
    task, *others = bench.agent("foreign-task-id").stream().results
    named = {update["taskId"] for result in others for update in result.values()}
    assert len(named) == 1 and task["task"]["id"] not in named


def test_context_replaced(bench: Bench) -> None:
    agent = bench.agent("context-replaced")
    task = agent.task("send", {"data": {}}, context="mine")
    assert task["contextId"] != "mine"
    assert agent.task("send", task=task["id"])["contextId"] == task["contextId"]


def test_status_before_task(bench: Bench) -> None:
    assert bench.agent("status-before-task").stream().kinds == ["statusUpdate:WORKING", *PLAIN[1:]]


def test_append_without_base(bench: Bench) -> None:
    seen = bench.agent("append-without-base").stream()
    assert seen.results[1]["artifactUpdate"]["append"] is True


def test_chunk_after_last(bench: Bench) -> None:
    first, second = (
        r["artifactUpdate"] for r in bench.agent("chunk-after-last").stream().results if "artifactUpdate" in r
    )
    assert first["lastChunk"] is True and second["append"] is True
    assert first["artifact"]["artifactId"] == second["artifact"]["artifactId"]


def test_mixed_message(bench: Bench) -> None:
    agent = bench.agent("mixed-message")
    assert agent.stream().kinds == ["task:WORKING", "message", *PLAIN[1:]]
    assert agent.task("send")["status"]["state"] == "TASK_STATE_COMPLETED"


def test_message_only(bench: Bench) -> None:
    agent = bench.agent("message-only")
    assert agent.stream().kinds == ["message"]
    assert list(agent.call("send")["result"]) == ["message"]


def test_unknown_state(bench: Bench) -> None:
    assert bench.agent("unknown-state").stream().kinds == [*PLAIN[:2], "statusUpdate:PAUSED", PLAIN[2]]


def test_no_final_flag(bench: Bench) -> None:
    assert bench.agent("no-final-flag", dialect="0.3").stream().results[-1]["final"] is False


# ---- bytes -------------------------------------------------------------------------------------------------------


def is_cut(seen: Streamed) -> bool:
    return bool(seen.text) and not seen.text.endswith("\n\n") and not seen.text.endswith("\r\n\r\n")


def test_truncated_event(bench: Bench) -> None:
    seen = bench.agent("truncated-event").stream()
    assert seen.kinds == PLAIN[:2] and is_cut(seen) and seen.ending == "closed"


def test_endless_line(bench: Bench) -> None:
    seen = bench.agent({"name": "endless-line", "bytes": 300_000}).stream()
    assert seen.kinds == PLAIN[:1] and is_cut(seen) and len(seen.text) > 300_000


def test_resets(bench: Bench) -> None:
    seen = bench.agent("resets").stream()
    assert seen.kinds == PLAIN[:1] and seen.ending == "reset"

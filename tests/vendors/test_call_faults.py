"""Each misbehaviour of whole calls does what its sentence says."""

from __future__ import annotations

import time

import httpx
import pytest

from tests.vendors.bench import Bench


def test_blocks_forever(bench: Bench) -> None:
    agent = bench.agent("blocks-forever")
    with pytest.raises(httpx.ReadTimeout):
        agent.post(agent.body("send"), limit_s=0.3)
    assert [task["state"] for task in agent.store()["tasks"]] == ["completed"]


def test_silent_downgrade(bench: Bench) -> None:
    answer = (agent := bench.agent("silent-downgrade")).post(agent.body("stream"))
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_answers_early(bench: Bench) -> None:
    assert bench.agent("answers-early", work_s=1.0).task("send")["status"]["state"] == "TASK_STATE_WORKING"


def test_wrong_error_code(bench: Bench) -> None:
    agent = bench.agent({"name": "wrong-error-code", "code": -32603})
    assert agent.call("get", task="nobody")["error"]["code"] == -32603
    assert "result" in agent.call("send")


def test_ignores_cancel(bench: Bench) -> None:
    agent = bench.agent("ignores-cancel", work_s=0.3)
    task = agent.task("send", configuration={"returnImmediately": True})
    assert agent.task("cancel", task=task["id"])["status"]["state"] == "TASK_STATE_WORKING"
    time.sleep(0.5)
    assert agent.task("get", task=task["id"])["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize(
    ("status", "header"), [(502, None), (401, "www-authenticate"), (429, "retry-after"), (503, "retry-after")]
)
def test_http_status(bench: Bench, status: int, header: str | None) -> None:
    answer = (agent := bench.agent({"name": "http-status", "status": status})).post(agent.body("send"))
    assert answer.status_code == status and answer.text.startswith("<html>")
    assert header is None or header in answer.headers


def test_wrong_stream_media(bench: Bench) -> None:
    seen = bench.agent("wrong-stream-media").stream()
    assert seen.media_type == "application/x-ndjson" and seen.kinds[-1] == "statusUpdate:COMPLETED"


def test_result_and_error(bench: Bench) -> None:
    assert {"result", "error"} <= bench.agent("result-and-error").call("send").keys()


def test_foreign_rpc_id(bench: Bench) -> None:
    agent = bench.agent("foreign-rpc-id")
    assert agent.call("send")["id"] == "not-yours"
    assert agent.stream().text.count('"id":"not-yours"') == 3


def test_problem_details(bench: Bench) -> None:
    answer = bench.agent("problem-details", binding="HTTP+JSON").ask("get", task="nobody")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    problem = answer.json()
    assert problem["type"] == "https://a2a-protocol.org/errors/task-not-found"
    assert (problem["title"], problem["status"]) == ("Task not found", 404)


def test_problem_details_of_a_general_error(bench: Bench) -> None:
    answer = bench.agent("problem-details", binding="HTTP+JSON", tenant="acme").ask("send")
    assert (answer.status_code, answer.json()["type"]) == (400, "https://a2a-protocol.org/errors/invalid-request")


def test_speaks_another_version(bench: Bench) -> None:
    """The card goes on saying 1.0."""
    agent = bench.agent("speaks-another-version")
    assert agent.card()["supportedInterfaces"][0]["protocolVersion"] == "1.0"
    assert agent.call("send")["error"]["code"] == -32601
    old = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
    body = {"jsonrpc": "2.0", "id": 7, "method": "message/send", "params": {"message": old}}
    assert agent.post(body).json()["result"]["kind"] == "task"

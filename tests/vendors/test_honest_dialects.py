"""An agent without misbehaviours in the other dialects: 0.2, the draft, HTTP+JSON in 1.0 and 0.3 (wire-facts 5-8)."""

from __future__ import annotations

import pytest

from tests.vendors.bench import Bench

LEGACY = "/.well-known/agent.json"
JSON_PART = {"data": {"data": {"rows": 1}}}


# -- 0.2


def test_a_card_of_0_2_lies_at_the_old_path_alone_and_states_its_patch(bench: Bench) -> None:
    agent = bench.agent(dialect="0.2")
    assert agent.get().status_code == 404
    card = agent.card(LEGACY)
    assert (card["protocolVersion"], card["url"]) == ("0.2.6", f"{agent.running.url}/rpc")
    assert "preferredTransport" not in card


def test_0_2_calls_are_those_of_0_3(bench: Bench) -> None:
    agent = bench.agent(dialect="0.2")
    assert agent.task("send")["status"]["state"] == "completed"
    assert agent.stream().kinds == ["task:working", "artifact-update", "status-update:completed"]
    assert agent.call("agent/getAuthenticatedExtendedCard")["error"]["code"] == -32601


# -- the draft


def test_a_card_of_the_draft_has_authentication_and_no_version(bench: Bench) -> None:
    card = bench.agent(dialect="0.1").card(LEGACY)
    assert card["authentication"] == {"schemes": []} and "protocolVersion" not in card


def test_the_draft_answers_under_the_id_that_the_client_made(bench: Bench) -> None:
    task = bench.agent(dialect="0.1").task("send", task="mine", context="s1")
    assert (task["id"], task["sessionId"], task["status"]["state"]) == ("mine", "s1", "completed")
    assert task["artifacts"] == [
        {"name": "result-1", "index": 0, "parts": [{"type": "text", "text": "received 32 bytes"}]}
    ]


def test_a_draft_stream_has_updates_only_and_says_append_in_the_artifact(bench: Bench) -> None:
    seen = bench.agent(dialect="0.1", chunks=2).stream()
    assert [sorted(result) for result in seen.results] == [
        ["final", "id", "status"],
        ["artifact", "id"],
        ["artifact", "id"],
        ["final", "id", "status"],
    ]
    assert [result.get("final") for result in seen.results] == [False, None, None, True]
    chunks = [result["artifact"] for result in seen.results if "artifact" in result]
    assert [(chunk["index"], chunk["append"], chunk["lastChunk"]) for chunk in chunks] == [
        (0, False, False),
        (0, True, True),
    ]
    assert {result["id"] for result in seen.results} == {"t1"}


def test_a_draft_task_waits_for_input_and_is_continued_under_its_id(bench: Bench) -> None:
    agent = bench.agent(dialect="0.1")
    asked = agent.task("send", {"type": "data", "data": [1]}, task="t7")
    assert asked["status"]["state"] == "input-required"
    assert asked["status"]["message"]["parts"][0]["type"] == "text" and "messageId" not in asked["status"]["message"]
    assert agent.task("send", task="t7")["status"]["state"] == "completed"
    assert len(agent.store()["tasks"]) == 1


@pytest.mark.parametrize(
    ("op", "task", "code"), [("send", "done", -32009), ("cancel", "done", -32002), ("get", "nobody", -32001)]
)
def test_errors_of_the_draft_have_the_drafts_codes(bench: Bench, op: str, task: str, code: int) -> None:
    agent = bench.agent(dialect="0.1")
    agent.task("send", task="done")
    assert agent.call(op, task=task)["error"]["code"] == code


def test_a_draft_agent_without_streaming_says_so_and_a_send_without_an_id_is_invalid(bench: Bench) -> None:
    assert bench.agent(dialect="0.1", streaming=False).call("stream")["error"]["code"] == -32006
    agent = bench.agent(dialect="0.1")
    body = agent.body("send")
    del body["params"]["id"]
    assert agent.post(body).json()["error"]["code"] == -32602


# -- HTTP+JSON


def test_the_card_names_the_binding(bench: Bench) -> None:
    new, old = (bench.agent(dialect=dialect, binding="HTTP+JSON").card() for dialect in ("1.0", "0.3"))
    assert new["supportedInterfaces"][0]["protocolBinding"] == old["preferredTransport"] == "HTTP+JSON"


@pytest.mark.parametrize(
    ("dialect", "media_type", "state"),
    [("1.0", "application/a2a+json", "TASK_STATE_COMPLETED"), ("0.3", "application/json", "TASK_STATE_COMPLETED")],
)
def test_a_send_answers_the_wrapped_task_and_get_the_bare_one(
    bench: Bench, dialect: str, media_type: str, state: str
) -> None:
    agent = bench.agent(dialect=dialect, binding="HTTP+JSON")
    answer = agent.ask("send")
    assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
    task = answer.json()["task"]
    assert task["status"]["state"] == state
    assert agent.ask("get", task=task["id"]).json() == task


@pytest.mark.parametrize(("dialect", "final"), [("1.0", None), ("0.3", True)])
def test_a_stream_holds_bare_events(bench: Bench, dialect: str, final: bool | None) -> None:
    seen = bench.agent(dialect=dialect, binding="HTTP+JSON").stream()
    assert [next(iter(result)) for result in seen.results] == ["task", "artifactUpdate", "statusUpdate"]
    assert "jsonrpc" not in seen.text
    assert seen.results[-1]["statusUpdate"].get("final") is final


def test_0_3_over_http_json_writes_the_protos_names(bench: Bench) -> None:
    agent = bench.agent(dialect="0.3", binding="HTTP+JSON", work_s=5.0, default_inputs=["text/plain"])
    working = agent.ask("send", configuration={"blocking": False}).json()["task"]
    canceled = agent.post({}, path=agent.place("cancel", working["id"])).json()
    assert canceled["status"]["state"] == "TASK_STATE_CANCELLED"
    agent = bench.agent(dialect="0.3", binding="HTTP+JSON", outputs=["text/csv"])
    asked = agent.ask("send", JSON_PART).json()["task"]
    assert "content" in asked["status"]["message"] and asked["status"]["message"]["role"] == "ROLE_AGENT"
    part = agent.ask("send").json()["task"]["artifacts"][0]["parts"][0]
    assert part["file"]["mimeType"] == "text/csv" and "fileWithUri" in part["file"]


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/message:send", "GET", 405),
        ("/message:sing", "POST", 404),
        ("/tasks/t1", "POST", 405),
        ("/v1/message:send", "GET", 405),
    ],
)
def test_what_is_no_operation_is_no_call(bench: Bench, path: str, method: str, status: int) -> None:
    """The last one is the send of a tenant that is called v1."""
    agent = bench.agent(binding="HTTP+JSON")
    send = agent.get if method == "GET" else lambda where: agent.post({}, path=where)
    assert send(f"/rpc{path}").status_code == status


@pytest.mark.parametrize(
    ("dialect", "verb", "status"),
    [("1.0", "POST", 404), ("1.0", "GET", 404), ("0.3", "POST", 405), ("0.3", "GET", 404)],
)
def test_1_0_subscribes_by_both_verbs_and_0_3_by_get(bench: Bench, dialect: str, verb: str, status: int) -> None:
    agent = bench.agent(dialect=dialect, binding="HTTP+JSON")
    path = agent.place("get", "nobody") + ":subscribe"
    answer = agent.get(path, **agent.version) if verb == "GET" else agent.post({}, path=path)
    assert answer.status_code == status


def test_an_error_of_1_0_is_a_status_with_its_reason(bench: Bench) -> None:
    agent = bench.agent(binding="HTTP+JSON")
    answer = agent.ask("cancel", task="nobody")
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "TASK_NOT_FOUND",
        "domain": "a2a-protocol.org",
    }
    error = {"code": 404, "status": "NOT_FOUND", "message": "no task 'nobody'", "details": [info]}
    assert (answer.status_code, answer.json()) == (404, {"error": error})
    done = agent.ask("send").json()["task"]["id"]
    error = agent.ask("cancel", task=done).json()["error"]
    assert (error["code"], error["status"], error["details"][0]["reason"]) == (
        400,
        "FAILED_PRECONDITION",
        "TASK_NOT_CANCELABLE",
    )


def test_an_error_of_0_3_is_that_of_its_javascript_sdk(bench: Bench) -> None:
    agent = bench.agent(dialect="0.3", binding="HTTP+JSON")
    done = agent.ask("send").json()["task"]["id"]
    answer = agent.ask("cancel", task=done)
    assert (answer.status_code, answer.json()["code"]) == (409, -32002)


@pytest.mark.parametrize(("version", "status"), [("", 400), ("1.1", 400), ("1.0", 200)])
def test_1_0_over_http_json_wants_its_version(bench: Bench, version: str, status: int) -> None:
    agent = bench.agent(binding="HTTP+JSON")
    assert agent.post(agent.body("send"), path="/rpc/message:send", **{"A2A-Version": version}).status_code == status


def test_the_tenant_is_a_segment_of_the_path(bench: Bench) -> None:
    agent = bench.agent(binding="HTTP+JSON", tenant="acme")
    assert agent.ask("send").status_code == 400
    answer = agent.post(agent.body("send"), path="/rpc/acme/message:send")
    assert answer.status_code == 200
    task = answer.json()["task"]["id"]
    assert agent.get(f"/rpc/acme/tasks/{task}", **agent.version).json()["id"] == task


@pytest.mark.parametrize("body", [b"{", b"[]"])
def test_a_body_that_is_no_object_is_refused(bench: Bench, body: bytes) -> None:
    answer = bench.agent(binding="HTTP+JSON").post(body, path="/rpc/message:send")
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")

"""An agent without misbehaviours does what the published protocol asks, in both dialects (wire-facts 5 to 8)."""

from __future__ import annotations

import json

import pytest
import rfc8785
from jwcrypto import jwk, jws

from tests.vendors.bench import Bench

DIALECTS = pytest.mark.parametrize("dialect", ["1.0", "0.3"])
JSON_PART = {"data": {"rows": 1}}


@DIALECTS
def test_a_blocking_send_answers_the_completed_task(bench: Bench, dialect: str) -> None:
    task = bench.agent(dialect=dialect).task("send")
    assert task["status"]["state"] == {"1.0": "TASK_STATE_COMPLETED", "0.3": "completed"}[dialect]
    assert len(task["artifacts"]) == 1


@pytest.mark.parametrize(
    ("dialect", "settings", "state"),
    [("1.0", {"returnImmediately": True}, "TASK_STATE_WORKING"), ("0.3", {"blocking": False}, "working")],
)
def test_a_send_that_need_not_wait_answers_at_once_and_can_be_polled(
    bench: Bench, dialect: str, settings: dict[str, bool], state: str
) -> None:
    agent = bench.agent(dialect=dialect, work_s=0.2)
    task = agent.task("send", configuration=settings)
    assert task["status"]["state"] == state
    assert agent.task("get", task=task["id"])["status"]["state"] == state


def test_a_1_0_stream_begins_with_the_task_and_leaves_false_members_out(bench: Bench) -> None:
    seen = bench.agent().stream()
    assert seen.kinds == ["task:WORKING", "artifactUpdate", "statusUpdate:COMPLETED"]
    assert seen.media_type.startswith("text/event-stream") and seen.ending == "closed"
    assert "append" not in seen.results[1]["artifactUpdate"] and "final" not in seen.text


def test_a_0_3_stream_tags_its_events_and_ends_with_final(bench: Bench) -> None:
    seen = bench.agent(dialect="0.3").stream()
    assert seen.kinds == ["task:working", "artifact-update", "status-update:completed"]
    assert [result.get("final") for result in seen.results] == [None, None, True]


def test_an_artifact_in_chunks_appends_and_closes(bench: Bench) -> None:
    seen = bench.agent(chunks=3).stream()
    updates = [result["artifactUpdate"] for result in seen.results if "artifactUpdate" in result]
    assert [update.get("append", False) for update in updates] == [False, True, True]
    assert [update.get("lastChunk", False) for update in updates] == [False, False, True]
    assert len({update["artifact"]["artifactId"] for update in updates}) == 1


@pytest.mark.parametrize(
    ("version", "code"), [("", -32009), ("1.9", -32009), ("1.0.0", -32009), ("2.0", -32009)], ids=str
)
def test_a_1_0_agent_refuses_other_versions(bench: Bench, version: str, code: int) -> None:
    agent = bench.agent()
    assert agent.post(agent.body("send"), **{"A2A-Version": version}).json()["error"]["code"] == code


@DIALECTS
@pytest.mark.parametrize("op", ["get", "cancel"])
def test_an_unknown_task_is_not_found(bench: Bench, dialect: str, op: str) -> None:
    assert bench.agent(dialect=dialect).call(op, task="nobody")["error"]["code"] == -32001


def test_a_running_task_is_canceled_and_a_finished_one_is_not(bench: Bench) -> None:
    agent = bench.agent(work_s=5.0)
    running = agent.task("send", configuration={"returnImmediately": True})
    assert agent.task("cancel", task=running["id"])["status"]["state"] == "TASK_STATE_CANCELED"
    assert agent.call("cancel", task=running["id"])["error"]["code"] == -32002


@pytest.mark.parametrize(
    ("asks_with", "found"),
    [
        ("text", "application/json is not supported here; please send text/plain"),
        ("data", {"acceptedInputModes": ["text/plain"]}),
    ],
)
def test_an_undeclared_mode_is_asked_about_in_the_agents_own_way(bench: Bench, asks_with: str, found: object) -> None:
    status = bench.agent(asks_with=asks_with).task("send", JSON_PART)["status"]
    assert status["state"] == "TASK_STATE_INPUT_REQUIRED"
    part = status["message"]["parts"][0]
    assert part.get("text", part.get("data")) == found


def test_an_undeclared_mode_may_be_error_32005_before_any_task(bench: Bench) -> None:
    agent = bench.agent(asks_with="error")
    assert agent.call("send", JSON_PART)["error"]["code"] == -32005
    assert agent.store()["tasks"] == []


def test_modes_of_a_skill_widen_what_is_taken(bench: Bench) -> None:
    agent = bench.agent(skills=[{"id": "extract", "inputs": ["application/json"]}])
    assert agent.task("send", JSON_PART)["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize(("reads", "state"), [(True, "INPUT_REQUIRED"), (False, "COMPLETED")])
def test_metadata_names_modes_to_those_who_read_it(bench: Bench, reads: bool, state: str) -> None:
    agent = bench.agent(reads_metadata=reads)
    task = agent.task("send", message={"metadata": {"intendedInputModes": ["text/csv"]}})
    assert task["status"]["state"] == f"TASK_STATE_{state}"


@pytest.mark.parametrize(("echoes", "metadata"), [(True, {"skillId": "summarize"}), (False, None)])
def test_the_skill_is_echoed_by_those_who_do(bench: Bench, echoes: bool, metadata: object) -> None:
    agent = bench.agent(echoes_skill=echoes)
    task = agent.task("send", message={"metadata": {"skillId": "summarize"}})
    assert task.get("metadata") == metadata


def test_an_open_question_is_answered_on_the_same_task_and_context(bench: Bench) -> None:
    agent = bench.agent()
    asked = agent.task("send", JSON_PART)
    answered = agent.task("send", task=asked["id"], context=asked["contextId"])
    assert answered["id"] == asked["id"] and answered["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_context_of_the_clients_is_kept(bench: Bench) -> None:
    assert bench.agent().task("send", context="mine")["contextId"] == "mine"


def test_a_finished_task_takes_no_message_and_a_wrong_context_is_refused(bench: Bench) -> None:
    agent = bench.agent()
    done = agent.task("send")
    assert agent.call("send", task=done["id"])["error"]["code"] == -32004
    assert agent.call("send", task=done["id"], context="other")["error"]["code"] == -32602


def test_a_stream_call_to_an_agent_without_streaming_is_refused(bench: Bench) -> None:
    for streaming in (False, "absent"):
        agent = bench.agent(streaming=streaming)
        assert agent.call("stream")["error"]["code"] == -32004
        assert agent.card()["capabilities"] == ({} if streaming == "absent" else {"streaming": False})


def test_the_tenant_of_the_card_is_wanted_in_every_call(bench: Bench) -> None:
    agent = bench.agent(tenant="acme")
    assert agent.card()["supportedInterfaces"][0]["tenant"] == "acme"
    assert agent.call("send")["error"]["code"] == -32602
    assert "result" in agent.call("send", tenant="acme")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"no json", -32700),
        (b"[]", -32600),
        ({"method": "SendMessage", "params": []}, -32602),
        ({"method": "SendMessage", "params": {"message": {"parts": []}}}, -32602),
        ({"method": "Nothing", "params": {}}, -32601),
        ({"method": "GetExtendedAgentCard", "params": {}}, -32004),
    ],
    ids=str,
)
def test_bad_requests_are_answered_by_their_code(bench: Bench, body: object, code: int) -> None:
    assert bench.agent().post(body).json()["error"]["code"] == code


def test_a_subscription_opens_with_the_task_and_ends_with_it(bench: Bench) -> None:
    agent = bench.agent(work_s=0.2)
    task = agent.task("send", configuration={"returnImmediately": True})
    body = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task["id"]}}
    seen = agent.bench.run(agent._stream(body, 5.0))
    assert seen.kinds == ["task:WORKING", "artifactUpdate", "statusUpdate:COMPLETED"]
    assert agent.post(body).json()["error"]["code"] == -32004


# ---- the card ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "old", "new"), [("agent-card.json", 200, 200), ("agent.json", 200, 404)])
def test_only_0_3_serves_the_card_under_its_old_name(bench: Bench, path: str, old: int, new: int) -> None:
    assert bench.agent(dialect="0.3").get(f"/.well-known/{path}").status_code == old
    assert bench.agent().get(f"/.well-known/{path}").status_code == new


@DIALECTS
@pytest.mark.parametrize("signer", ["lab", "stranger"])
def test_a_card_is_signed_over_its_jcs_bytes_by_the_key_it_names(bench: Bench, dialect: str, signer: str) -> None:
    agent = bench.agent(dialect=dialect, signed_by=signer)
    card = agent.card()
    [entry] = card.pop("signatures")
    token = jws.JWS()
    token.allowed_algs = ["ES256"]
    token.deserialize(json.dumps(entry | {"payload": jws.base64url_encode(rfc8785.dumps(card))}))
    token.verify(jwk.JWK(**agent.running.public_keys[signer]))
    assert token.jose_header == {"alg": "ES256", "typ": "JOSE", "kid": signer}


def test_the_signature_stays_the_same_from_get_to_get(bench: Bench) -> None:
    agent = bench.agent(signed_by="lab")
    assert agent.get().content == agent.get().content


def test_further_members_are_merged_into_the_card(bench: Bench) -> None:
    card = bench.agent(extra={"capabilities": {"pushNotifications": False}, "x-vendor": 1}).card()
    assert card["capabilities"] == {"streaming": True, "pushNotifications": False} and card["x-vendor"] == 1


# ---- the store ---------------------------------------------------------------------------------------------------


def test_the_store_holds_what_was_received_and_made(bench: Bench) -> None:
    agent = bench.agent()
    task = agent.task("send", {"text": "canary-1"})
    [kept] = agent.store()["tasks"]
    assert kept["id"] == task["id"] and kept["state"] == "completed"
    assert json.loads(kept["received"][0]) == [{"text": "canary-1"}]
    assert [(made["id"], made["media_type"]) for made in kept["artifacts"]] == [("result-1", "text/plain")]
    assert kept["artifacts"][0]["bytes"] > 0


def test_the_store_lists_requests_in_order_and_no_credentials(bench: Bench) -> None:
    agent = bench.agent()
    agent.get(Authorization="Bearer secret")
    agent.call("send")
    requests = agent.store()["requests"]
    assert [(kept["method"], kept["rpc_method"]) for kept in requests] == [("GET", None), ("POST", "SendMessage")]
    assert "secret" not in json.dumps(requests) and requests[1]["headers"]["a2a-version"] == "1.0"

"""What the scripts of `reproduce` see of an answer: plain facts, the same for a recording and for a live agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.lab.faultfacts import facts_of

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json; charset=utf-8"}
SENT = b'{"jsonrpc":"2.0","id":"r1","method":"SendMessage","params":{"message":{"contextId":"c1"}}}'


def facts(body: Any, *, sent: bytes = SENT, headers: dict[str, str] = JSON, ending: str = "close") -> dict[str, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return facts_of(sent, 200, headers, data, ending=ending)


def stream(*results: Any, ending: str = "close", tail: bytes = b"") -> dict[str, Any]:
    events = [f"data: {json.dumps({'jsonrpc': '2.0', 'id': 'r1', 'result': one})}\r\n\r\n" for one in results]
    return facts("".join(events).encode() + tail, headers=SSE, ending=ending)


def status(state: str, **more: Any) -> dict[str, Any]:
    return {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": state}, **more}}


@pytest.mark.parametrize(
    ("state", "ending", "hang"),
    [
        ("TASK_STATE_WORKING", "open", True),
        ("TASK_STATE_WORKING", "close", False),
        ("TASK_STATE_COMPLETED", "open", False),
        ("TASK_STATE_INPUT_REQUIRED", "open", False),
    ],
)
def test_a_hang_is_a_wait_for_an_end_that_was_not_signalled(state: str, ending: str, hang: bool) -> None:
    assert stream(status(state), ending=ending)["hang"] is hang


def test_states_and_ids_are_read_in_all_generations() -> None:
    new = facts(
        {"jsonrpc": "2.0", "id": "r1", "result": {"task": {"id": "t1", "status": {"state": "TASK_STATE_WORKING"}}}}
    )
    old = facts({"jsonrpc": "2.0", "id": "r1", "result": {"kind": "task", "id": "t1", "status": {"state": "working"}}})
    assert (new["state"], new["task"]) == (old["state"], old["task"]) == ("working", "t1")


@pytest.mark.parametrize(
    ("answer", "relation"),
    [
        ({"id": "r1"}, "same"),
        ({"id": "r2"}, "foreign"),
        ({"id": None}, "missing"),
        ({}, "missing"),
    ],
)
def test_the_id_of_an_answer_is_told_by_its_relation(answer: dict[str, Any], relation: str) -> None:
    assert facts({"jsonrpc": "2.0", "result": {}, **answer})["id"] == relation


def test_an_id_of_another_type_is_told_apart() -> None:
    assert (
        facts({"jsonrpc": "2.0", "id": "1", "result": {}}, sent=b'{"jsonrpc":"2.0","id":1}')["id"] == "of another type"
    )


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b'{"a":1}', "ok"),
        (b'{"a":1,"a":2}', "duplicate member names"),
        (b'{"a":NaN}', "NaN is no JSON number"),
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"", "none"),
    ],
)
def test_what_is_wrong_with_the_json(body: bytes, fault: str) -> None:
    assert facts(body)["json"] == fault


def test_artifacts_and_their_types_are_counted_wherever_they_come() -> None:
    update = {
        "artifactUpdate": {
            "taskId": "t1",
            "artifact": {"artifactId": "a", "parts": [{"raw": "eA==", "mediaType": "x/y"}]},
        }
    }
    seen = stream(update, status("TASK_STATE_COMPLETED"))
    assert (seen["has_artifact"], seen["types"], seen["over"]) == (True, ["x/y"], True)
    assert stream(status("TASK_STATE_COMPLETED"))["has_artifact"] is False


def test_a_cut_event_and_a_second_task_are_seen() -> None:
    other = {"statusUpdate": {"taskId": "t2", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}}
    assert stream(status("TASK_STATE_WORKING"), tail=b"data: {")["torn"] is True
    assert (stream(status("TASK_STATE_WORKING"), other)["tasks"], stream(other)["torn"]) == (2, False)


def test_an_answer_about_another_context_is_seen() -> None:
    moved = {"statusUpdate": {"taskId": "t1", "contextId": "c2", "status": {"state": "TASK_STATE_WORKING"}}}
    assert stream(moved)["context_kept"] is False and stream(status("TASK_STATE_WORKING"))["context_kept"] is True


def test_shape_holds_members_and_types_and_no_content() -> None:
    shape = facts({"jsonrpc": "2.0", "id": "r1", "result": {"parts": [{"text": "secret", "data": {"deep": 1}}]}})[
        "shape"
    ]
    assert ".result.parts[].text:str" in shape and ".result.parts[].data:dict" in shape
    assert "secret" not in json.dumps(shape) and "deep" not in json.dumps(shape)


def test_a_card_has_one_digest_wherever_it_is_served() -> None:
    def card(origin: str) -> bytes:
        return json.dumps({"name": "x", "skills": [], "url": f"{origin}/rpc", "protocolVersion": "0.3.0"}).encode()

    here = facts_of(b"", 200, JSON, card("http://127.0.0.1:1"), ending="close", origins=("http://127.0.0.1:1",))
    there = facts_of(b"", 200, JSON, card("https://a.test"), ending="close", origins=("https://a.test",))
    assert here["card"] == there["card"] and here["versions"] == ["0.3.0"] and here["signed"] is False


@given(st.binary(), st.sampled_from([SSE, JSON, {}]), st.binary())
def test_any_bytes_have_facts(body: bytes, headers: dict[str, str], sent: bytes) -> None:
    assert facts(body, headers=headers, sent=sent)["bytes"] == len(body)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
def test_any_json_has_facts(value: Any) -> None:
    facts({"jsonrpc": "2.0", "id": "r1", "result": value})
    facts({"result": {"status": value, "artifact": {"parts": value}, "artifacts": value, "task": value}})

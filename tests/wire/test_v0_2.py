"""0.2 over JSON-RPC: the calls of 0.3, codes of its own, and an extended card by GET (wire-facts 1, 5.1, 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.model import State
from a2a_lab.wire.dialects import Op, dialect_for
from tests.wire.streaming import frame, streamed
from tests.wire.talk import MESSAGE_0_3, TASK_0_3, URL, answer, envelope, slugs
from tests.wire.test_dialects import MESSAGE

V02, V03 = dialect_for("0.2"), dialect_for("0.3")


@pytest.mark.parametrize("op", ["send", "stream", "get", "cancel", "subscribe"])
def test_a_call_is_that_of_0_3(op: Op) -> None:
    options: dict[str, Any] = {"message": MESSAGE} if op in ("send", "stream") else {"task_id": "t1"}
    old, new = (one.request(op, url=URL, rpc_id=1, **options) for one in (V02, V03))
    assert (old.method, old.url, old.headers, old.body) == (new.method, new.url, new.headers, new.body)
    assert "A2A-Version" not in old.headers


def test_a_configuration_says_which_outputs_are_accepted() -> None:
    """0.2.0 to 0.2.5 MessageSendConfiguration: acceptedOutputModes is required. fasta2a 0.5 holds its callers to it."""
    sent = V02.request("send", url=URL, rpc_id=1, message=MESSAGE, return_immediately=True)
    configuration = json.loads(sent.body)["params"]["configuration"]
    assert configuration == {"acceptedOutputModes": [], "blocking": False}
    sent = V02.request("send", url=URL, rpc_id=1, message=MESSAGE, accepts=("a/b",), return_immediately=True)
    assert json.loads(sent.body)["params"]["configuration"]["acceptedOutputModes"] == ["a/b"]
    newer = V03.request("send", url=URL, rpc_id=1, message=MESSAGE, return_immediately=True)
    assert json.loads(newer.body)["params"]["configuration"] == {"blocking": False}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://agent.example.test/a2a/v1", "https://agent.example.test/a2a/agent/authenticatedExtendedCard"),
        ("https://agent.example.test/", "https://agent.example.test/agent/authenticatedExtendedCard"),
        ("https://agent.example.test", "https://agent.example.test/agent/authenticatedExtendedCard"),
    ],
)
def test_the_extended_card_lies_beside_the_endpoint(url: str, expected: str) -> None:
    """0.2.6 §7.10: GET {url}/../agent/authenticatedExtendedCard."""
    request = V02.request("extended-card", url=url, rpc_id=1)
    assert (request.method, request.url, request.body) == ("GET", expected, b"")
    facts = V02.parse_request(b"", method="GET", url=f"{expected}?x=1")
    assert (facts.op, facts.rpc_id) == ("extended-card", None)
    assert V02.parse_request(b"", method="GET", url=url).op is None


def test_the_extended_card_comes_bare() -> None:
    read = answer({"name": "agent"}, version="0.2", op="extended-card")
    assert (read.result, read.findings) == ({"name": "agent"}, ())
    missing = answer(b"no", version="0.2", op="extended-card", status=404)
    assert slugs(missing.findings) == ["http-error"] and missing.result is None


@pytest.mark.parametrize(
    ("code", "name"),
    [(-32006, "InvalidAgentResponse"), (-32007, None), (-32008, None), (-32005, "ContentTypeNotSupported")],
)
def test_codes_end_at_32006(code: int, name: str | None) -> None:
    """-32007 came with 0.3.0."""
    read = answer(envelope(error={"code": code, "message": "no"}), version="0.2")
    assert read.error is not None and read.error.name == name


@pytest.mark.parametrize(("result", "kind"), [(TASK_0_3, "task"), (MESSAGE_0_3, "message")])
def test_results_are_told_apart_by_kind(result: Any, kind: str) -> None:
    read = answer(envelope(result), version="0.2")
    assert read.findings == () and getattr(read, kind) is not None


def test_the_other_generation_is_named_with_the_version_that_was_called() -> None:
    read = answer(
        envelope({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}), version="0.2"
    )
    finding = next(one for one in read.findings if one.slug == "version-not-honoured")
    assert "0.2" in finding.detail


def test_a_stream_ends_by_final() -> None:
    end = {"kind": "status-update", "taskId": "t1", "contextId": "c1", "status": {"state": "completed"}}
    assert streamed("0.2", frame(TASK_0_3), frame(end | {"final": True})).closure == "final-proved"
    result = streamed("0.2", frame(TASK_0_3), frame(end))
    assert (result.closure, result.state, slugs(result.findings)) == (
        "close-without-final",
        State.COMPLETED,
        ["final-missing"],
    )


def test_a_request_is_read_in_0_2() -> None:
    facts = V02.parse_request(V02.request("send", url=URL, rpc_id=7, message=MESSAGE).body, url=URL)
    assert (facts.op, facts.rpc_id, facts.endpoint) == ("send", 7, URL)
    assert json.loads(V02.request("get", url=URL, rpc_id=7, task_id="t1").body)["method"] == "tasks/get"

"""HTTP+JSON: what is sent where, what answers and events look like, how a request is read back (wire-facts 5.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.model import Part, State, StreamEvent
from a2a_lab.errors import MalformedJson, Misuse
from a2a_lab.verdicts import Finding, NotGradeable
from a2a_lab.wire.dialects import Answer, Op, OutMessage, dialect_for
from a2a_lab.wire.messages import WireRequest
from a2a_lab.wire.rest_paths import find
from tests.wire.streaming import SSE
from tests.wire.talk import MESSAGE_1_0, TASK_1_0, said, slugs

BASE = "https://agent.example.test/a2a"
NEW, OLD = dialect_for("1.0", "HTTP+JSON"), dialect_for("0.3", "HTTP+JSON")
HELLO = OutMessage(message_id="uuid", parts=(Part(kind="text", text="Hello"),))
FULL = OutMessage(
    message_id="m1",
    parts=(Part(kind="text", text="hi", media_type="text/plain"),),
    context_id="c1",
    task_id="t1",
    metadata={"lab": True},
)
A2A_JSON = {"Content-Type": "application/a2a+json"}
MESSAGE_OLD = {"messageId": "a1", "role": "ROLE_AGENT", "content": [{"text": "hi"}]}
UPDATE: dict[str, Any] = {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}
PIECE = {"taskId": "t1", "contextId": "c1", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}
SAID = {"messageId": "uuid", "role": "ROLE_USER"}
OLD_BODY = {
    "message": SAID | {"content": [{"text": "Hello"}]},
    "configuration": {"historyLength": 2},
    "metadata": {"k": 1},
}


def sent(version: str, op: Op, *, url: str = BASE, **options: Any) -> WireRequest:
    return dialect_for(version, "HTTP+JSON").request(op, url=url, rpc_id="unused", **options)


def answer(
    body: Any,
    *,
    version: str = "1.0",
    op: Op = "send",
    status: int = 200,
    headers: Mapping[str, str] = A2A_JSON,
) -> Answer:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    dialect = dialect_for(version, "HTTP+JSON")
    return dialect.read_answer(op, rpc_id=None, status=status, headers=headers, body=raw)


def event(body: Any, *, version: str = "1.0", name: str = "") -> tuple[StreamEvent, list[Finding]]:
    return dialect_for(version, "HTTP+JSON").read_event(json.dumps(body), rpc_id=None, name=name)


# -- what is sent


def test_a_send_is_the_example_of_1_0() -> None:
    """1.0.1 §11.4, byte for byte but for white space."""
    request = sent("1.0", "send", message=HELLO, accepts=("text/plain",))
    assert (request.method, request.url) == ("POST", f"{BASE}/message:send")
    assert request.body == (
        b'{"message":{"messageId":"uuid","role":"ROLE_USER","parts":[{"text":"Hello"}]},'
        b'"configuration":{"acceptedOutputModes":["text/plain"]}}'
    )
    assert request.headers == {
        "Content-Type": "application/a2a+json",
        "Accept": "application/a2a+json, application/json",
        "A2A-Version": "1.0",
    }


def test_a_0_3_send_is_the_json_of_its_proto() -> None:
    """0.3.0 a2a.proto with its json names: content, ROLE_USER, blocking; no version header existed."""
    request = sent("0.3", "send", message=FULL, accepts=("a/b",), return_immediately=True, metadata={"k": 1})
    assert (request.method, request.url) == ("POST", f"{BASE}/v1/message:send")
    assert json.loads(request.body) == {
        "message": {
            "messageId": "m1",
            "role": "ROLE_USER",
            "content": [{"text": "hi"}],
            "contextId": "c1",
            "taskId": "t1",
            "metadata": {"lab": True},
        },
        "configuration": {"acceptedOutputModes": ["a/b"], "blocking": False},
        "metadata": {"k": 1},
    }
    assert request.headers == {"Content-Type": "application/json", "Accept": "application/json"}


@pytest.mark.parametrize(
    ("version", "op", "verb", "place", "body"),
    [
        ("1.0", "stream", "POST", "/message:stream", {"message": SAID | {"parts": [{"text": "Hello"}]}}),
        ("1.0", "get", "GET", "/tasks/t1?historyLength=2", None),
        ("1.0", "cancel", "POST", "/tasks/t1:cancel", {"metadata": {"k": 1}}),
        ("1.0", "subscribe", "POST", "/tasks/t1:subscribe", None),
        ("1.0", "list", "GET", "/tasks?contextId=c1", None),
        ("1.0", "extended-card", "GET", "/extendedAgentCard", None),
        ("0.3", "stream", "POST", "/v1/message:stream", OLD_BODY),
        ("0.3", "get", "GET", "/v1/tasks/t1?historyLength=2", None),
        ("0.3", "cancel", "POST", "/v1/tasks/t1:cancel", {"name": "tasks/t1"}),
        ("0.3", "subscribe", "POST", "/v1/tasks/t1:subscribe", None),
        ("0.3", "extended-card", "GET", "/v1/card", None),
    ],
)  # fmt: skip
def test_every_operation_has_its_verb_and_path(version: str, op: Op, verb: str, place: str, body: Any) -> None:
    """The task and the query of a GET stand in the URL, everything else in the body (§11.3, §11.5)."""
    options: dict[str, Any] = {"message": HELLO} if op == "stream" else {"task_id": "t1", "context_id": "c1"}
    if op == "get" or version == "0.3":
        options["history_length"] = 2
    if op == "cancel" or version == "0.3":
        options["metadata"] = {"k": 1}
    request = sent(version, op, **options)
    assert (request.method, request.url) == (verb, BASE + place)
    assert (json.loads(request.body) if request.body else None) == body
    assert ("Content-Type" in request.headers) is bool(request.body)
    assert (request.headers["Accept"] == "text/event-stream") is (op in ("stream", "subscribe"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://agent.example.test", "https://agent.example.test/acme/tasks/t1?historyLength=0"),
        ("https://agent.example.test/", "https://agent.example.test/acme/tasks/t1?historyLength=0"),
        ("https://agent.example.test/v1?key=1", "https://agent.example.test/v1/acme/tasks/t1?key=1&historyLength=0"),
    ],
)
def test_the_tenant_is_a_segment_before_the_operation(url: str, expected: str) -> None:
    """D2; a query of the interface is kept, and its final slash is not doubled."""
    assert sent("1.0", "get", url=url, task_id="t1", tenant="acme", history_length=0).url == expected


def test_the_tenant_stands_nowhere_else_and_0_3_has_none() -> None:
    assert b"acme" not in sent("1.0", "send", message=HELLO, tenant="acme").body
    assert "acme" not in sent("0.3", "send", message=HELLO, tenant="acme").url


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_any_id_and_any_tenant_survives_the_path(task_id: str, tenant: str) -> None:
    try:
        (task_id + tenant).encode()
    except UnicodeEncodeError:
        return
    for op in ("get", "cancel", "subscribe"):
        request = sent("1.0", op, task_id=task_id, tenant=tenant)  # type: ignore[arg-type]
        place = find(request.method, request.url)
        assert place is not None and (place.op, place.task_id) == (op, task_id)
        assert place.base.startswith(f"{BASE}/") and "/" not in place.base.removeprefix(f"{BASE}/")


@pytest.mark.parametrize(
    ("version", "op", "options"),
    [("1.0", "send", {}), ("1.0", "get", {}), ("0.3", "subscribe", {"task_id": ""}), ("0.3", "list", {})],
)
def test_a_call_that_cannot_be_right_is_misuse(version: str, op: Op, options: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        sent(version, op, **options)


@pytest.mark.parametrize(("version", "header"), [("1.0", "A2A-Extensions"), ("0.3", "X-A2A-Extensions")])
def test_extensions_are_named_in_the_header_of_the_version(version: str, header: str) -> None:
    assert sent(version, "get", task_id="t1", extensions=("https://e/a", "https://e/b")).headers[header] == (
        "https://e/a, https://e/b"
    )


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (Part(kind="data", data={"n": 1}), {"data": {"data": {"n": 1}}}),
        (
            Part(kind="raw", raw="AA==", media_type="image/png", filename="p.png"),
            {"file": {"fileWithBytes": "AA==", "name": "p.png", "mimeType": "image/png"}},
        ),
        (Part(kind="url", url="https://x/y"), {"file": {"fileWithUri": "https://x/y"}}),
    ],
)
def test_0_3_parts_nest_their_content(part: Part, written: Any) -> None:
    request = sent("0.3", "send", message=OutMessage(message_id="m", parts=(part,)))
    assert json.loads(request.body)["message"]["content"] == [written]


# -- subscribe, by the one verb or by the other


@pytest.mark.parametrize("dialect", [NEW, OLD], ids=lambda dialect: dialect.id)
@pytest.mark.parametrize("status", [404, 405])
def test_who_does_not_subscribe_by_post_is_asked_by_get(dialect: Any, status: int) -> None:
    """A2A #1574: prose has POST, the proto GET."""
    request = dialect.request("subscribe", url=BASE, rpc_id=1, task_id="t1")
    other, note = dialect.other_way("subscribe", request, status)
    assert (other.method, other.url, other.headers, other.body) == ("GET", request.url, request.headers, b"")
    assert said([note]) == [("subscribe-verb", "accept", "stream")]
    assert dialect.other_way("subscribe", other, status) is None


@pytest.mark.parametrize(
    ("op", "status"), [("subscribe", 200), ("subscribe", 400), ("subscribe", 500), ("subscribe", None), ("cancel", 405)]
)
def test_nothing_else_is_tried_the_other_way(op: Any, status: int | None) -> None:
    request = NEW.request(op, url=BASE, rpc_id=1, task_id="t1")
    assert NEW.other_way(op, request, status) is None
    rpc = dialect_for("1.0")
    assert rpc.other_way("subscribe", rpc.request("subscribe", url=BASE, rpc_id=1, task_id="t1"), 405) is None


# -- answers


@pytest.mark.parametrize(
    ("version", "op", "body", "state"),
    [
        ("1.0", "send", {"task": TASK_1_0}, State.WORKING),
        ("1.0", "get", TASK_1_0, State.WORKING),
        ("1.0", "cancel", TASK_1_0 | {"status": {"state": "TASK_STATE_CANCELED"}}, State.CANCELED),
        ("0.3", "send", {"task": TASK_1_0}, State.WORKING),
        ("0.3", "cancel", TASK_1_0 | {"status": {"state": "TASK_STATE_CANCELLED"}}, State.CANCELED),
    ],
)
def test_an_answer_is_the_bare_object(version: str, op: Op, body: Any, state: State) -> None:
    headers = A2A_JSON if version == "1.0" else {"Content-Type": "application/json"}
    read = answer(body, version=version, op=op, headers=headers)
    assert read.findings == () and read.task is not None
    assert (read.task.state, read.result) == (state, body)


def test_a_message_and_a_list_and_a_card_are_read() -> None:
    assert answer({"message": MESSAGE_1_0}).message is not None
    assert answer({"message": MESSAGE_OLD}, version="0.3").findings == ()
    assert [task.id for task in answer({"tasks": [TASK_1_0]}, op="list").tasks] == ["t1"]
    assert answer({"name": "card"}, op="extended-card").result == {"name": "card"}


@pytest.mark.parametrize(
    ("body", "found", "at"),
    [
        ({"task": {"id": "t1", "status": {}}}, "state-missing", "/task/status/state"),
        (TASK_1_0, "result-shape", ""),
        ({"task": TASK_1_0, "message": MESSAGE_1_0}, "result-shape", ""),
        ({"task": TASK_1_0 | {"kind": "task"}}, "legacy-member", "/task/kind"),
        ([], "wrong-type", ""),
        (None, "wrong-type", ""),
    ],
)
def test_pointers_of_findings_begin_at_the_body(body: Any, found: str, at: str) -> None:
    """There is no envelope, so nothing lies under `result`."""
    read = answer(body)
    assert found in slugs(read.findings)
    assert next(one.at for one in read.findings if one.slug == found) == at


@pytest.mark.parametrize(
    ("state", "slug"),
    [("TASK_STATE_CANCELED", "state-misspelt"), ("cancelled", "state-misspelt"), ("working", "version-not-honoured")],
)
def test_0_3_spells_cancelled_with_two_ls(state: str, slug: str) -> None:
    read = answer(TASK_1_0 | {"status": {"state": state}}, version="0.3", op="get")
    assert slug in slugs(read.findings) and read.task is not None
    assert read.task.state is (State.WORKING if state == "working" else State.CANCELED)


@pytest.mark.parametrize(
    ("part", "kind", "found"),
    [
        ({"text": "hi"}, "text", []),
        ({"data": {"data": {"n": 1}}}, "data", []),
        ({"data": {}}, "data", []),
        ({"data": {"n": 1}}, "data", ["wrong-type"]),
        ({"data": [1]}, "data", ["wrong-type"]),
        ({"file": {"fileWithUri": "https://x/y", "mimeType": "a/b"}}, "url", []),
        ({"file": {"fileWithBytes": "AA=="}}, "raw", []),
        ({"file": {"uri": "https://x/y"}}, "url", ["wrong-type"]),
        ({"file": {}}, "unknown", ["part-shape"]),
        ({"file": "x"}, "unknown", ["wrong-type", "part-shape"]),
        ({"kind": "text", "text": "hi"}, "text", ["version-not-honoured"]),
        ({"type": "text", "text": "hi"}, "text", ["version-not-honoured"]),
        ({"raw": "AA==", "mediaType": "a/b"}, "raw", ["version-not-honoured"]),
        ({"text": "hi", "file": {"fileWithUri": "x"}}, "unknown", ["part-shape"]),
        ({}, "unknown", ["part-shape"]),
    ],
)
def test_parts_of_0_3_over_http_json(part: Any, kind: str, found: list[str]) -> None:
    read = answer(TASK_1_0 | {"artifacts": [{"artifactId": "a", "parts": [part]}]}, version="0.3", op="get")
    assert slugs(read.findings) == found and read.task is not None
    assert read.task.artifacts[0].parts[0].kind == kind
    if found == [] and kind == "data":
        assert read.task.artifacts[0].parts[0].data == part["data"].get("data", {})


@pytest.mark.parametrize(
    ("version", "message", "found"),
    [
        ("0.3", MESSAGE_1_0, ["version-not-honoured"]),
        ("1.0", MESSAGE_OLD, ["version-not-honoured"]),
        ("0.3", {"messageId": "a1", "role": "ROLE_AGENT"}, ["empty-parts"]),
        ("0.3", MESSAGE_OLD | {"role": "agent"}, ["version-not-honoured"]),
    ],
)
def test_a_message_of_the_other_version_is_understood(version: str, message: Any, found: list[str]) -> None:
    read = answer({"message": message}, version=version)
    assert slugs(read.findings) == found and read.message is not None
    assert len(read.message.parts) == (0 if found == ["empty-parts"] else 1)


@pytest.mark.parametrize(
    ("status", "headers", "found"),
    [
        (200, {"Content-Type": "application/json; charset=utf-8"}, []),
        (201, A2A_JSON, [("http-status", "accept", "rpc")]),
        (200, {"Content-Type": "text/html"}, [("answer-media-type", "hint", "rpc")]),
        (200, {}, [("answer-media-type", "hint", "rpc")]),
        (200, SSE, [("stream-on-send", "conformance-error", "rpc")]),
    ],
)
def test_labels_of_an_answer(status: int, headers: dict[str, str], found: list[Any]) -> None:
    """SDKs of 0.3 answer a send with 201; both JSON types are right (1.0.0 and 1.0.1 differ)."""
    body = json.dumps({"task": TASK_1_0}).encode()
    read = answer(b"data: " + body + b"\n\n" if headers == SSE else body, status=status, headers=headers)
    assert said(read.findings) == found
    assert read.task is not None


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"", ["empty-answer"]),
        (b"{", ["not-json"]),
        (b'{"task":{},"task":{}}', ["duplicate-key"]),
        (b"<html>", ["not-json"]),
    ],
)
def test_a_body_that_is_no_answer(body: bytes, found: list[str]) -> None:
    read = answer(body)
    assert slugs(read.findings) == found
    assert (read.task, read.message, read.error) == (None, None, None)


def test_a_json_rpc_response_is_the_wrong_binding() -> None:
    read = answer({"jsonrpc": "2.0", "id": 1, "result": {"task": TASK_1_0}})
    assert slugs(read.findings) == ["version-not-honoured"] and read.task is not None
    failed = answer({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no"}})
    assert failed.error is not None and failed.error.name == "TaskNotFound"
    assert answer({"jsonrpc": "2.0", "id": 1}).task is None


@pytest.mark.parametrize(
    ("status", "headers", "graded"),
    [
        (401, {"WWW-Authenticate": "Bearer"}, NotGradeable.AUTH_NEEDED),
        (403, {}, NotGradeable.AUTH_NEEDED),
        (429, {"Retry-After": "3"}, NotGradeable.THROTTLED),
        (503, {"Retry-After": "3"}, NotGradeable.THROTTLED),
    ],
)
def test_who_is_not_let_in_is_not_graded(status: int, headers: dict[str, str], graded: NotGradeable) -> None:
    body = {"error": {"code": status, "status": "UNAUTHENTICATED", "message": "no"}}
    read = answer(body, status=status, headers=headers | A2A_JSON)
    assert (read.not_gradeable, read.challenge) == (graded, headers.get("WWW-Authenticate"))
    assert len(read.findings) == 1 and read.error is not None


# -- events


@pytest.mark.parametrize(
    ("version", "body", "kind"),
    [
        ("1.0", {"task": TASK_1_0}, "task"),
        ("1.0", {"statusUpdate": UPDATE}, "status"),
        ("1.0", {"artifactUpdate": PIECE}, "artifact"),
        ("1.0", {"message": MESSAGE_1_0}, "message"),
        ("0.3", {"message": MESSAGE_OLD}, "message"),
        ("0.3", {"statusUpdate": UPDATE | {"final": True}}, "status"),
    ],
)
def test_an_event_is_the_bare_stream_response(version: str, body: Any, kind: str) -> None:
    read, findings = event(body, version=version)
    assert (read.kind, findings) == (kind, [])
    assert read.final is (True if version == "0.3" and kind == "status" else None)


def test_final_is_a_note_in_1_0() -> None:
    read, findings = event({"statusUpdate": UPDATE | {"final": True}})
    assert read.final is None and said(findings) == [("final-in-1.0", "accept", "stream")]


@pytest.mark.parametrize(
    ("body", "name", "code", "error", "found"),
    [
        ({"error": {"code": 500, "status": "INTERNAL", "message": "x"}}, "error", 500, "InternalError", []),
        ({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no"}}, "", 400, "InvalidParams", []),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}},
            "error",
            -32603,
            "InternalError",
            ["version-not-honoured"],
        ),
        ({"code": -32603, "message": "no"}, "error", -32603, "InternalError", []),
        ({"error": "boom"}, "error", None, None, ["error-shape"]),
    ],
)
def test_an_error_event_ends_the_stream(body: Any, name: str, code: Any, error: str | None, found: list[str]) -> None:
    """SDKs name the event; their bodies are those of error answers."""
    read, findings = event(body, name=name)
    assert read.kind == "error" and read.error is not None
    assert (read.error.code, read.error.name, slugs(findings)) == (code, error, found)
    assert all(finding.stage.value == "stream" for finding in findings)


@pytest.mark.parametrize(
    ("body", "kind", "found"),
    [
        ({}, "unknown", ["result-shape"]),
        ([], "unknown", ["result-shape"]),
        ("x", "unknown", ["result-shape"]),
        ({"task": TASK_1_0, "message": MESSAGE_1_0}, "unknown", ["result-shape"]),
        (TASK_1_0, "task", ["version-not-honoured"]),
        ({"jsonrpc": "2.0", "id": 1, "result": {"task": TASK_1_0}}, "task", ["version-not-honoured"]),
        ({"status_update": UPDATE}, "status", ["snake-case"]),
    ],
)
def test_events_that_are_no_stream_response(body: Any, kind: str, found: list[str]) -> None:
    read, findings = event(body)
    assert (read.kind, slugs(findings)) == (kind, found)


def test_a_broken_event_is_unknown() -> None:
    read, findings = NEW.read_event("{", rpc_id=None)
    assert (read.kind, said(findings)) == ("unknown", [("not-json", "conformance-error", "stream")])


# -- recorded requests


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_a_send_is_read_back(version: str) -> None:
    options = {"metadata": {"k": 1}, "accepts": ("a/b",), "return_immediately": True, "history_length": 4}
    request = sent(version, "send", message=FULL, **options)
    facts = dialect_for(version, "HTTP+JSON").parse_request(request.body, method=request.method, url=request.url)
    assert (facts.op, facts.rpc_id, facts.endpoint, facts.findings) == ("send", None, BASE, ())
    assert (facts.accepts, facts.metadata, facts.return_immediately, facts.history_length) == (
        ("a/b",),
        {"k": 1},
        True,
        4,
    )
    assert facts.message is not None and (facts.message.id, facts.message.task_id) == ("m1", "t1")
    assert facts.message.parts[0].text == "hi"


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("op", ["get", "cancel", "subscribe"])
def test_a_call_about_a_task_is_read_back(version: str, op: Op) -> None:
    request = sent(version, op, task_id="t/1:x", history_length=3)
    dialect = dialect_for(version, "HTTP+JSON")
    facts = dialect.parse_request(request.body, method=request.method, url=request.url)
    assert (facts.op, facts.task_id, facts.method) == (op, "t/1:x", dialect.names[op])
    assert facts.history_length == (3 if op == "get" else None)


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("GET", f"{BASE}/message:send"),
        ("POST", f"{BASE}/tasks/t1"),
        ("PUT", f"{BASE}/message:send"),
        ("GET", f"{BASE}/tasks/t1/history"),
        ("GET", f"{BASE}/tasks/t1:cancel"),
        ("GET", f"{BASE}/"),
        ("POST", "https://[broken/message:send"),
    ],
)
def test_a_request_that_is_none_of_ours(method: str, url: str) -> None:
    assert NEW.parse_request(b"{}", method=method, url=url).op is None


def test_0_3_has_no_list_and_1_0_no_card() -> None:
    assert OLD.parse_request(b"", method="GET", url=f"{BASE}/v1/tasks").op is None
    assert NEW.parse_request(b"", method="GET", url=f"{BASE}/tasks?contextId=c").op == "list"
    assert OLD.parse_request(b"", method="GET", url=f"{BASE}/v1/card").op == "extended-card"


def test_a_broken_request_is_malformed_and_an_odd_one_is_read_as_far_as_it_goes() -> None:
    with pytest.raises(MalformedJson):
        NEW.parse_request(b"{", method="POST", url=f"{BASE}/message:send")
    facts = NEW.parse_request(b"[]", method="POST", url=f"{BASE}/message:send")
    assert (facts.op, facts.message) == ("send", None)
    assert NEW.parse_request(b"", method="GET", url=f"{BASE}/tasks/t?historyLength=x").history_length is None


@pytest.mark.parametrize("prefix", ["", "/v1"])
@pytest.mark.parametrize(
    ("method", "path", "op"),
    [
        ("POST", "/tasks/t1/pushNotificationConfigs", "push-set"),
        ("GET", "/tasks/t1/pushNotificationConfigs", "push-list"),
        ("GET", "/tasks/t1/pushNotificationConfigs/c1", "push-get"),
        ("DELETE", "/tasks/t1/pushNotificationConfigs/c1", "push-delete"),
        ("DELETE", "/tasks/t1/pushNotificationConfigs", None),
        ("POST", "/tasks/t1/pushNotificationConfigs/c1", None),
    ],
)
def test_calls_about_push_are_known_and_never_made(prefix: str, method: str, path: str, op: Op | None) -> None:
    dialect = OLD if prefix else NEW
    facts = dialect.parse_request(b"", method=method, url=f"{BASE}{prefix}{path}")
    assert (facts.op, facts.task_id) == (op, "t1" if op else None)
    if op is not None:
        with pytest.raises(Misuse, match="does not call"):
            dialect.request(op, url=BASE, rpc_id=1, task_id="t1")


@pytest.mark.parametrize(("version", "name"), [("1.0", "taskPushNotificationConfig"), ("0.3", "pushNotification")])
def test_a_send_that_brings_a_place_to_push_to_says_so(version: str, name: str) -> None:
    dialect = dialect_for(version, "HTTP+JSON")
    body = json.dumps({"configuration": {name: {"url": "https://x"}}}).encode()
    assert dialect.parse_request(body, url=f"{BASE}{dialect.prefix}/message:send").configures_push  # type: ignore[attr-defined]


def test_who_refuses_the_media_type_of_1_0_1_is_called_under_that_of_1_0_0() -> None:
    """§11.1 SHOULD: application/a2a+json; 1.0.0 had application/json, and the Java SDK takes that alone."""
    request = sent("1.0", "send", message=OutMessage(message_id="m", parts=(Part(kind="text", text="hi"),)))
    other, note = NEW.other_way("send", request, 415)
    assert other.headers == {**request.headers, "Content-Type": "application/json"}
    assert (other.method, other.url, other.body) == (request.method, request.url, request.body)
    assert said([note]) == [("http-media-type-refused", "accept", "rpc")]
    assert NEW.other_way("send", other, 415) is None  # then it is about the parts
    older = sent("0.3", "send", message=OutMessage(message_id="m", parts=(Part(kind="text", text="hi"),)))
    assert OLD.other_way("send", older, 415) is None

"""What the lab sends: names, headers and shapes of each dialect, and how a recorded request is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.model import Part
from a2a_lab.errors import MalformedJson, Misuse
from a2a_lab.wire.dialects import DIALECTS, Op, OutMessage, RequestFacts, dialect_for, dialect_of_request
from a2a_lab.wire.errors_table import A2A, HTTP_STATUS, STANDARD, error_code, error_name
from a2a_lab.wire.parts import payload_part
from tests.wire.talk import URL, slugs

MESSAGE = OutMessage(
    message_id="m1",
    parts=(Part(kind="text", text="hi", media_type="text/plain"),),
    context_id="c1",
    task_id="t1",
    metadata={"lab": True},
)
BARE = OutMessage(message_id="m1", parts=(Part(kind="text", text="hi"),))


def sent(version: str, op: Op, **options: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(dialect_for(version).request(op, url=URL, rpc_id="r1", **options).body)
    assert (document["jsonrpc"], document["id"]) == ("2.0", "r1")
    return document


def asked(**params: Any) -> RequestFacts:
    return dialect_for("1.0").parse_request(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).encode()
    )


def test_a_1_0_send_has_every_member_where_1_0_puts_it() -> None:
    document = sent(
        "1.0",
        "send",
        message=MESSAGE,
        tenant="acme",
        metadata={"skill": "s"},
        accepts=("text/plain",),
        return_immediately=True,
        history_length=0,
    )
    assert document["method"] == "SendMessage"
    assert document["params"] == {
        "tenant": "acme",
        "message": {
            "messageId": "m1",
            "role": "ROLE_USER",
            "parts": [{"text": "hi", "mediaType": "text/plain"}],
            "contextId": "c1",
            "taskId": "t1",
            "metadata": {"lab": True},
        },
        "configuration": {"acceptedOutputModes": ["text/plain"], "historyLength": 0, "returnImmediately": True},
        "metadata": {"skill": "s"},
    }


def test_what_has_its_default_value_is_left_out() -> None:
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    assert sent("1.0", "send", message=BARE, tenant="", return_immediately=False)["params"] == {"message": message}


@pytest.mark.parametrize(("immediately", "blocking"), [(True, False), (False, True)])
def test_a_0_3_send_says_blocking(immediately: bool, blocking: bool) -> None:
    document = sent("0.3", "send", message=MESSAGE, metadata={"k": 1}, accepts=("a/b",), return_immediately=immediately)
    assert document["method"] == "message/send"
    assert document["params"] == {
        "message": {
            "kind": "message",
            "messageId": "m1",
            "role": "user",
            "parts": [{"kind": "text", "text": "hi"}],
            "contextId": "c1",
            "taskId": "t1",
            "metadata": {"lab": True},
        },
        "configuration": {"acceptedOutputModes": ["a/b"], "blocking": blocking},
        "metadata": {"k": 1},
    }


def test_0_3_has_no_tenant_and_no_blocking_stream() -> None:
    params = sent("0.3", "stream", message=BARE, tenant="acme", return_immediately=True, history_length=3)["params"]
    assert "tenant" not in params
    assert params["configuration"] == {"historyLength": 3}
    assert "configuration" not in sent("0.3", "send", message=BARE)["params"]


@pytest.mark.parametrize(
    ("version", "op", "method", "params"),
    [
        ("1.0", "get", "GetTask", {"tenant": "acme", "id": "t1", "historyLength": 2}),
        ("1.0", "cancel", "CancelTask", {"tenant": "acme", "id": "t1", "metadata": {"k": 1}}),
        ("1.0", "subscribe", "SubscribeToTask", {"tenant": "acme", "id": "t1"}),
        ("1.0", "list", "ListTasks", {"tenant": "acme", "contextId": "c1"}),
        ("1.0", "extended-card", "GetExtendedAgentCard", {"tenant": "acme"}),
        ("0.3", "get", "tasks/get", {"id": "t1", "historyLength": 2, "metadata": {"k": 1}}),
        ("0.3", "cancel", "tasks/cancel", {"id": "t1", "metadata": {"k": 1}}),
        ("0.3", "subscribe", "tasks/resubscribe", {"id": "t1", "metadata": {"k": 1}}),
        ("0.3", "extended-card", "agent/getAuthenticatedExtendedCard", None),
    ],
)
def test_the_other_calls(version: str, op: Op, method: str, params: dict[str, Any] | None) -> None:
    """The tenant is echoed in every request of 1.0 (D2); metadata has a place on some calls only."""
    options: dict[str, Any] = {"tenant": "acme", "metadata": {"k": 1}, "history_length": 2, "context_id": "c1"}
    document = sent(version, op, task_id="t1", **options)
    assert (document["method"], document.get("params")) == (method, params)


def test_without_a_tenant_a_call_without_arguments_has_empty_params() -> None:
    assert sent("1.0", "extended-card")["params"] == {}
    assert sent("1.0", "list")["params"] == {}


@pytest.mark.parametrize(
    ("version", "op", "headers"),
    [
        ("1.0", "send", {"Accept": "application/json", "A2A-Version": "1.0", "A2A-Extensions": "https://e/a, https://e/b"}),
        ("1.0", "stream", {"Accept": "text/event-stream", "A2A-Version": "1.0", "A2A-Extensions": "https://e/a, https://e/b"}),
        ("0.3", "send", {"Accept": "application/json", "X-A2A-Extensions": "https://e/a, https://e/b"}),
        ("0.3", "stream", {"Accept": "text/event-stream", "X-A2A-Extensions": "https://e/a, https://e/b"}),
    ],
)  # fmt: skip
def test_headers_say_version_and_extensions_in_the_names_of_the_dialect(
    version: str, op: Op, headers: dict[str, str]
) -> None:
    request = dialect_for(version).request(
        op, url=URL, rpc_id=1, message=BARE, extensions=("https://e/a", "https://e/b")
    )
    assert (request.method, request.url) == ("POST", URL)
    assert request.headers == headers | {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("version", "op", "options"),
    [
        ("1.0", "send", {}),
        ("1.0", "stream", {}),
        ("1.0", "get", {}),
        ("0.3", "cancel", {"task_id": ""}),
        ("0.3", "list", {}),
    ],
)
def test_a_call_that_cannot_be_right_is_misuse(version: str, op: Op, options: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        dialect_for(version).request(op, url=URL, rpc_id=1, **options)


@pytest.mark.parametrize(
    ("spelling", "dialect"), [("1.0", "1.0"), ("0.3", "0.3"), ("0.3.0", "0.3"), ("0.2.6", "0.2"), ("0.1", "0.1")]
)
def test_a_dialect_is_found_by_every_spelling_of_its_version(spelling: str, dialect: str) -> None:
    assert dialect_for(spelling).id == dialect


@pytest.mark.parametrize(
    ("version", "binding"), [("1.0.0", "JSONRPC"), ("0.2.7", "JSONRPC"), ("0.2.6", "GRPC"), ("0.2.6", "HTTP+JSON")]
)
def test_a_dialect_that_is_not_spoken_is_misuse(version: str, binding: Any) -> None:
    with pytest.raises(Misuse, match="spoken are"):
        dialect_for(version, binding)


@pytest.mark.parametrize(
    "dialect", [one for one in DIALECTS if one.binding == "JSONRPC" and one.id != "0.1"], ids=lambda dialect: dialect.id
)
def test_what_is_sent_is_read_back(dialect: Any) -> None:
    options = {"metadata": {"k": 1}, "accepts": ("a/b",), "return_immediately": True, "history_length": 4}
    request = dialect.request("send", url=URL, rpc_id=7, message=MESSAGE, **options)
    facts = dialect.parse_request(request.body)
    assert (facts.op, facts.rpc_id, facts.accepts, facts.metadata) == ("send", 7, ("a/b",), {"k": 1})
    assert (facts.return_immediately, facts.history_length, facts.findings) == (True, 4, ())
    assert facts.message is not None
    assert (facts.message.id, facts.message.task_id, facts.message.parts[0].text) == ("m1", "t1", "hi")


def test_a_request_for_a_task_is_read_back() -> None:
    facts = dialect_for("1.0").parse_request(
        dialect_for("1.0").request("get", url=URL, rpc_id=7, task_id="t1", tenant="acme").body
    )
    assert (facts.op, facts.task_id, facts.tenant, facts.message) == ("get", "t1", "acme", None)
    assert (facts.return_immediately, facts.history_length) == (None, None)


@pytest.mark.parametrize(
    ("body", "op", "method"),
    [
        (b"[]", None, None),
        (b'{"id":1,"method":"Dance","params":{}}', None, "Dance"),
        (b'{"id":1,"method":5,"params":[1]}', None, None),
        (b'{"id":1,"method":"GetTask"}', "get", "GetTask"),
    ],
)
def test_a_request_that_is_none_of_ours(body: bytes, op: Op | None, method: str | None) -> None:
    facts = dialect_for("1.0").parse_request(body)
    assert (facts.op, facts.method) == (op, method)


@pytest.mark.parametrize(
    ("more", "flaws"),
    [
        ({}, []),
        ({"id": None}, []),
        ({"jsonrpc": "1.0"}, ["/jsonrpc"]),
        ({"id": {"bad": "type"}}, ["/id"]),
        ({"params": "text"}, ["/params", "/params/id"]),
        ({"params": {}}, ["/params/id"]),
        ({"params": {"id": ""}}, ["/params/id"]),
        ({"method": "SendMessage"}, ["/params/message"]),
        ({"method": "ListTasks", "params": {}}, []),
    ],
)
def test_what_is_wrong_with_a_request_itself(more: Any, flaws: list[str]) -> None:
    """JSON-RPC 2.0 §4, and what a method is about: what a tester sends on purpose is a fault of the request."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t1"}} | more
    facts = dialect_for("1.0").parse_request(json.dumps(request).encode())
    assert [one.at for one in facts.findings] == flaws
    assert {one.slug for one in facts.findings} <= {"request-shape"}


def test_odd_members_of_a_request_are_reported_and_left_out() -> None:
    facts = asked(configuration={"acceptedOutputModes": [1, "a/b"], "historyLength": "x"})
    assert (facts.accepts, facts.history_length) == (("a/b",), None)
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": ""}]}
    assert slugs(asked(message=message).findings) == ["wrong-role"]


def test_a_broken_request_is_malformed() -> None:
    with pytest.raises(MalformedJson):
        dialect_for("1.0").parse_request(b"{")


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        (b'{"method":"SendStreamingMessage"}', "1.0"),
        (b'{"method":"message/stream"}', "0.3"),
        (b'{"method":"tasks/get"}', "0.3"),
        (b'{"method":"tasks/send"}', "0.1"),
        (b'{"method":"tasks/sendAll"}', None),
        (b"[1]", None),
        (b"{", None),
    ],
)
def test_the_dialect_of_a_recorded_request(body: bytes, dialect: str | None) -> None:
    found = dialect_of_request(body)
    assert (found.id if found else None) == dialect


# -- codes


def test_one_code_means_different_things_in_different_dialects() -> None:
    names = [error_name(dialect, -32007) for dialect in ("0.1", "0.2", "0.3", "1.0")]
    assert names == ["AuthenticationRequired", None, "ExtendedAgentCardNotConfigured", "ExtendedAgentCardNotConfigured"]
    assert (error_name("0.3", -32009), error_name("1.0", -32009)) == (None, "VersionNotSupported")


@pytest.mark.parametrize("code", [None, "-32001", True, -32001.0, {}])
def test_what_is_no_integer_is_no_code(code: Any) -> None:
    assert error_name("1.0", code) is None


@pytest.mark.parametrize("dialect", A2A)
def test_codes_and_names_are_one_to_one(dialect: str) -> None:
    for code, name in {**A2A[dialect], **STANDARD}.items():
        assert error_code(dialect, error_name(dialect, code) or "") == code == error_code(dialect, name)
    assert error_code(dialect, "Unheard") is None


def test_every_error_of_1_0_has_its_http_status() -> None:
    assert set(HTTP_STATUS) == set(A2A["1.0"].values())


# -- payloads


@pytest.mark.parametrize(
    ("mode", "payload", "dialect", "kind", "content"),
    [
        ("text/plain", b"hi", "1.0", "text", "hi"),
        ("Text/Plain; charset=utf-8", b"hi", "0.3", "text", "hi"),
        ("application/json", b'{"a":1}', "1.0", "data", {"a": 1}),
        ("application/json", b"[1]", "1.0", "data", [1]),
        ("application/json", b'{"a":1}', "0.3", "data", {"a": 1}),
        ("application/json", b"[1]", "0.3", "raw", "WzFd"),
        ("text/csv", b"a,b", "1.0", "text", "a,b"),
        ("text/csv", b"a,b", "0.3", "raw", "YSxi"),
        ("image/png", b"\x89P", "1.0", "raw", "iVA="),
    ],
)
def test_a_payload_goes_in_the_part_that_can_name_its_type(
    mode: str, payload: bytes, dialect: str, kind: str, content: Any
) -> None:
    part = payload_part(mode, payload, dialect=dialect)
    assert (part.kind, part.media_type) == (kind, mode)
    assert getattr(part, kind) == content


@pytest.mark.parametrize(
    ("mode", "payload"), [("text/plain", b"\xff"), ("application/json", b"{"), ("text/csv", b"\xff")]
)
def test_a_payload_that_is_not_of_its_type_is_misuse(mode: str, payload: bytes) -> None:
    with pytest.raises(Misuse, match="give bytes of that type"):
        payload_part(mode, payload, dialect="1.0")


@pytest.mark.parametrize(
    ("part", "in_1_0", "in_0_3"),
    [
        (
            Part(kind="raw", raw="AA==", media_type="image/png", filename="p.png"),
            {"raw": "AA==", "mediaType": "image/png", "filename": "p.png"},
            {"kind": "file", "file": {"bytes": "AA==", "mimeType": "image/png", "name": "p.png"}},
        ),
        (
            Part(kind="url", url="https://x/y"),
            {"url": "https://x/y"},
            {"kind": "file", "file": {"uri": "https://x/y"}},
        ),
        (Part(kind="data", data=None), {"data": None}, {"kind": "data", "data": None}),
    ],
)
def test_parts_are_written_as_each_dialect_wants_them(part: Part, in_1_0: Any, in_0_3: Any) -> None:
    message = OutMessage(message_id="m", parts=(part,))
    assert sent("1.0", "send", message=message)["params"]["message"]["parts"] == [in_1_0]
    assert sent("0.3", "send", message=message)["params"]["message"]["parts"] == [in_0_3]


@pytest.mark.parametrize("part", [Part(kind="unknown"), Part(kind="text"), Part(kind="raw")])
def test_a_part_without_content_is_not_sent(part: Part) -> None:
    with pytest.raises(Misuse, match="without content"):
        sent("1.0", "send", message=OutMessage(message_id="m", parts=(part,)))

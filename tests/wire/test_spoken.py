"""Which dialect a recorded request is in: by method, path, header or body, else by what is known of its endpoint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.model import Interface
from a2a_lab.wire.dialects import DIALECTS, Dialect, OutMessage, dialect_for, dialect_of_request, spoken
from a2a_lab.wire.exchange import Exchange
from tests.wire.test_rest import HELLO

RPC = "https://agent.example.test/rpc"
REST = "https://agent.example.test/a2a"
NEW = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}
OLD = {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}}


def asked(method: str, url: str, body: Any = None, **headers: str) -> Exchange:
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Exchange(method=method, url=url, request_headers=named, request_body=raw)


def called(method: str, url: str = RPC) -> Exchange:
    return asked("POST", url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}})


def told(dialect: Dialect | None) -> str | None:
    return None if dialect is None else f"{dialect.id} {dialect.binding}"


def interface(version: Any, binding: str = "JSONRPC", url: str = RPC) -> Interface:
    return Interface(url=url, binding=binding, version=version)


@pytest.mark.parametrize("dialect", DIALECTS, ids=told)
def test_every_request_of_ours_is_recognised_where_its_interface_is_known(dialect: Dialect) -> None:
    url = REST if dialect.binding == "HTTP+JSON" else RPC
    declared = interface({"0.3": "0.3.0", "0.2": "0.2.6"}.get(dialect.id, dialect.id), dialect.binding, url)
    for op in dialect.names:
        if op.startswith("push"):
            continue
        message: OutMessage | None = HELLO if op in ("send", "stream") else None
        sent = dialect.request(op, url=url, rpc_id=1, message=message, task_id="t1")
        exchange = Exchange(
            method=sent.method, url=sent.url, request_headers=list(sent.headers.items()), request_body=sent.body
        )
        assert spoken(declared).dialect_of(exchange) is dialect, op
        facts = dialect.parse_request(sent.body, method=sent.method, url=sent.url)
        assert facts.op == op


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("SendMessage", "1.0 JSONRPC"),
        ("message/send", "0.3 JSONRPC"),
        ("tasks/get", "0.3 JSONRPC"),
        ("tasks/sendSubscribe", "0.1 JSONRPC"),
        ("tasks/sendAll", None),
        ("GET /agent/authenticatedExtendedCard", "0.2 JSONRPC"),
    ],
)
def test_a_method_names_its_dialect(method: str, expected: str | None) -> None:
    assert told(dialect_of_request(called(method))) == expected
    assert told(dialect_of_request(called(method).request_body)) == expected


def test_a_method_of_several_dialects_is_that_of_its_endpoint() -> None:
    """After `tasks/send` a `tasks/get` at the same place is one of the draft; elsewhere it is not."""
    heard = spoken()
    assert told(heard.dialect_of(called("tasks/get"))) == "0.3 JSONRPC"
    assert told(heard.dialect_of(called("tasks/send"))) == "0.1 JSONRPC"
    assert told(heard.dialect_of(called("tasks/get", f"{RPC}/?trace=1"))) == "0.1 JSONRPC"
    assert told(heard.dialect_of(called("tasks/get", "https://other.example.test/rpc"))) == "0.3 JSONRPC"


@pytest.mark.parametrize("version", ["0.2", "0.2.6", "0.2.9"])
def test_only_the_card_tells_0_2_from_0_3(version: str) -> None:
    assert told(spoken(interface(version)).dialect_of(called("message/send"))) == "0.2 JSONRPC"
    assert told(spoken(interface(version)).dialect_of(called("SendMessage"))) == "1.0 JSONRPC"


@pytest.mark.parametrize(
    ("method", "url", "body", "headers", "expected"),
    [
        ("POST", "/message:send", NEW, {"A2A_Version": "1.0"}, "1.0"),
        ("POST", "/message:send", NEW, {}, "1.0"),
        ("POST", "/message:send", OLD, {}, "1.0"),
        ("POST", "/v1/message:send", OLD, {}, "0.3"),
        ("POST", "/v1/message:send", NEW, {}, "1.0"),
        ("POST", "/v1/message:stream", OLD, {"A2A_Version": "1.0"}, "1.0"),
        ("POST", "/v1/message:send", NEW, {"A2A_Version": "0.3"}, "0.3"),
        ("POST", "/message:send", NEW, {"A2A_Version": "0.3"}, "1.0"),
        ("POST", "/message:send", NEW, {"A2A_Version": "1.9"}, "1.0"),
        ("POST", "/v1/message:send", {"message": {"messageId": "m"}}, {}, "0.3"),
        ("POST", "/message:send", {"message": {"messageId": "m"}}, {}, "1.0"),
        ("POST", "/message:send", {"subject": "a letter"}, {}, None),
        ("POST", "/message:send", b"{", {}, None),
        ("POST", "/tasks/t1:cancel", None, {}, "1.0"),
        ("POST", "/v1/tasks/t1:cancel", {"name": "tasks/t1"}, {}, "0.3"),
        ("GET", "/tasks/t1", None, {}, None),
        ("GET", "/v1/tasks/t1", None, {}, None),
        ("GET", "/tasks", None, {"A2A_Version": "1.0"}, "1.0"),
        ("GET", "/tasks/t1", None, {"Accept": "application/a2a+json"}, "1.0"),
        ("GET", "/v1/tasks/t1", None, {"A2A_Version": "0.3"}, "0.3"),
        ("GET", "/v1/card", None, {}, None),
        ("GET", "/.well-known/agent-card.json", None, {"A2A_Version": "1.0"}, None),
    ],
)
def test_a_request_over_http_json_says_its_version_or_is_none(
    method: str, url: str, body: Any, headers: dict[str, str], expected: str | None
) -> None:
    """A GET below /tasks may be anybody's; a POST with a message is a send of whoever has that path."""
    found = dialect_of_request(asked(method, REST + url, body, **headers))
    assert told(found) == (None if expected is None else f"{expected} HTTP+JSON")


def test_a_get_is_recognised_once_its_endpoint_is_known() -> None:
    heard = spoken()
    assert heard.dialect_of(asked("GET", f"{REST}/v1/tasks/t1")) is None
    assert heard.dialect_of(asked("POST", f"{REST}/v1/message:send", OLD)) is dialect_for("0.3", "HTTP+JSON")
    assert told(heard.dialect_of(asked("GET", f"{REST}/v1/tasks/t1"))) == "0.3 HTTP+JSON"
    assert heard.dialect_of(asked("GET", "https://other.example.test/v1/tasks/t1")) is None


def test_a_tenants_segment_belongs_to_the_interface() -> None:
    heard = spoken(interface("1.0", "HTTP+JSON", f"{REST}/v1"))
    assert told(heard.dialect_of(asked("GET", f"{REST}/v1/tasks/t1"))) == "1.0 HTTP+JSON"
    assert told(heard.dialect_of(asked("GET", f"{REST}/v1/acme/tasks/t1"))) == "1.0 HTTP+JSON"
    assert told(heard.dialect_of(asked("POST", f"{REST}/v1/message:send", OLD))) == "0.3 HTTP+JSON"


@pytest.mark.parametrize(
    "declared",
    [interface("1.0", "GRPC"), interface("2.0"), interface(None), interface(1.0), interface("x", "HTTP+JSON")],
)
def test_an_interface_that_is_not_spoken_is_no_help(declared: Interface) -> None:
    assert told(spoken(declared).dialect_of(called("tasks/get"))) == "0.3 JSONRPC"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"method":7}', b"null", b"\xff"])
@pytest.mark.parametrize("method", ["POST", "GET", "PUT"])
def test_what_is_no_call_has_no_dialect(method: str, body: bytes) -> None:
    assert dialect_of_request(asked(method, RPC, body)) is None
    assert dialect_of_request(asked(method, "https://[broken", body)) is None

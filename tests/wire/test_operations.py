"""DESIGN 9: whatever a dialect is asked for it has, or says that it has not; no table of it is missing an entry."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from a2a_lab.core.model import Part
from a2a_lab.errors import Misuse
from a2a_lab.wire.dialects import DIALECTS, Dialect, OutMessage
from a2a_lab.wire.messages import PUSHES, Op

OPS: tuple[Op, ...] = get_args(Op)
EVENTS = b'data: {"jsonrpc": "2.0", "id": 1, "result": {}}\n\n'
BODIES: list[tuple[int, str, bytes]] = [
    (200, "application/json", json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode()),
    (
        200,
        "application/json",
        json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": ""}}).encode(),
    ),
    (200, "application/json", b"{}"),
    (200, "application/json", b"null"),
    (200, "text/event-stream", EVENTS),
    (200, "application/grpc", b"\0\0\0\0\0"),
    (404, "application/json", b'{"error": {"code": 404, "status": "NOT_FOUND", "message": ""}}'),
    (405, "text/plain", b"no"),
    (500, "application/json", b""),
    (204, "", b""),
]


def named(dialect: Dialect) -> str:
    return f"{dialect.id} over {dialect.binding}"


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dialect", DIALECTS, ids=named)
def test_an_answer_to_any_call_is_read_or_the_call_is_said_to_be_missing(dialect: Dialect, op: Op) -> None:
    for status, media, body in BODIES:
        given: dict[str, Any] = {"rpc_id": 1, "status": status, "headers": {"Content-Type": media}, "body": body}
        if op in dialect.names:
            dialect.read_answer(op, **given)
            continue
        with pytest.raises(Misuse, match=f"A2A {dialect.id} over .* has no '{op}'"):
            dialect.read_answer(op, **given)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dialect", DIALECTS, ids=named)
def test_any_call_is_written_or_said_to_be_missing(dialect: Dialect, op: Op) -> None:
    message = OutMessage(message_id="m1", parts=(Part(kind="text", text="hi"),))
    given: dict[str, Any] = {"url": "http://127.0.0.1:1/rpc", "rpc_id": 1, "message": message, "task_id": "t1"}
    if op in dialect.names and op not in PUSHES:
        assert dialect.request(op, **given).method in ("GET", "POST")
    elif op not in dialect.names:
        with pytest.raises(Misuse):
            dialect.request(op, **given)

"""Streams over HTTP+JSON, read to their end: bare events, ends by version, errors and refusals (wire-facts 7.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.model import State
from a2a_lab.core.stream import StreamWatch
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.wire.dialects import dialect_for
from a2a_lab.wire.recorded import read_recorded
from a2a_lab.wire.streams import StreamReader
from tests.wire.streaming import CLOCKS, SSE
from tests.wire.talk import MESSAGE_1_0, TASK_1_0, slugs
from tests.wire.test_rest import MESSAGE_OLD, PIECE
from tests.wire.test_rest_errors import status_body

JSON = {"Content-Type": "application/json"}


def status(state: str, **members: Any) -> dict[str, Any]:
    return {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": f"TASK_STATE_{state}"}} | members}


def streamed(
    version: str, *bodies: Any, http: int = 200, headers: Any = None, ending: Any = "close", **options: Any
) -> StreamResult:
    """Each body one event; bytes are written as they are."""
    watch = StreamWatch(version, CLOCKS, opened=0.0, **options)
    reader = StreamReader(dialect_for(version, "HTTP+JSON"), watch, rpc_id=None)
    chunks = [body if isinstance(body, bytes) else f"data: {json.dumps(body)}\r\n\r\n".encode() for body in bodies]
    return read_recorded(
        reader,
        status=http,
        headers=SSE if headers is None else headers,
        head_at=0.05,
        chunks=[(0.1 * (place + 1), chunk) for place, chunk in enumerate(chunks)],
        ending=ending,
    )


@pytest.mark.parametrize(
    ("version", "events", "closure", "found"),
    [
        ("1.0", [{"task": TASK_1_0}, {"artifactUpdate": PIECE}, status("COMPLETED")], "final-proved", []),
        ("1.0", [{"message": MESSAGE_1_0}], "message-only", []),
        ("1.0", [{"task": TASK_1_0}, status("INPUT_REQUIRED")], "interrupted-closed", []),
        ("1.0", [{"task": TASK_1_0}], "eof-nonterminal", ["eof-nonterminal"]),
        ("1.0", [status("COMPLETED")], "final-proved", ["first-event"]),
        ("0.3", [{"task": TASK_1_0}, {"artifactUpdate": PIECE}, status("COMPLETED", final=True)], "final-proved", []),
        ("0.3", [status("COMPLETED", final=True)], "final-proved", []),
        ("0.3", [{"task": TASK_1_0}, status("COMPLETED")], "close-without-final", ["final-missing"]),
        ("0.3", [{"task": TASK_1_0}, status("CANCELLED", final=True)], "final-proved", []),
        ("0.3", [{"message": MESSAGE_OLD}], "message-only", []),
        ("0.3", [status("WORKING", final=True)], "final-proved", ["final-while-active"]),
    ],
)
def test_a_stream_ends_as_its_version_has_it(version: str, events: list[Any], closure: str, found: list[str]) -> None:
    result = streamed(version, *events)
    assert (result.closure, slugs(result.findings)) == (closure, found)


def test_chunks_are_put_together_and_comments_are_no_progress() -> None:
    more = PIECE | {"append": True, "lastChunk": True}
    result = streamed(
        "1.0",
        {"task": TASK_1_0},
        b": ping\n\n",
        {"artifactUpdate": PIECE},
        {"artifactUpdate": more},
        status("COMPLETED"),
    )
    assert [part.text for part in result.artifacts[0].parts] == ["x", "x"]
    assert (result.comments, result.is_complete, result.verdict.value) == (1, True, "accept")


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_an_error_event_leaves_the_task_to_be_asked_for(version: str) -> None:
    error = b"event: error\ndata: " + json.dumps(status_body(500, status="INTERNAL")).encode() + b"\n\n"
    result = streamed(version, {"task": TASK_1_0}, error)
    assert (result.closure, result.state) == ("error-frame", State.WORKING)
    assert result.error is not None and result.error.name == "InternalError"


@pytest.mark.parametrize(
    ("version", "http", "body", "closure", "name"),
    [
        ("1.0", 400, status_body(400, name="UnsupportedOperation"), "rpc-error-before-stream", "UnsupportedOperation"),
        ("0.3", 400, {"code": -32004, "message": "no"}, "rpc-error-before-stream", "UnsupportedOperation"),
        ("0.3", 501, {"message": "no"}, "rpc-error-before-stream", "UnsupportedOperation"),
        ("1.0", 404, b"<html>", "rpc-error-before-stream", "MethodNotFound"),
        ("1.0", 502, b"<html>", "http-error", None),
        ("1.0", 401, b"", "http-error", None),
    ],
)
def test_a_refusal_is_read_as_what_it_is(version: str, http: int, body: Any, closure: str, name: str | None) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    result = streamed(version, raw, http=http, headers=JSON if raw.startswith(b"{") else {})
    watch_error = next((one.values.get("code") for one in result.findings if one.slug == "error-before-stream"), None)
    assert result.closure == closure
    assert (watch_error is not None) is (name is not None)
    assert name is None or any(name in one.detail for one in result.findings)


def test_plain_json_instead_of_a_stream_is_the_wrong_media_type() -> None:
    result = streamed("1.0", json.dumps({"task": TASK_1_0}).encode(), headers={"Content-Type": "application/a2a+json"})
    assert result.closure == "wrong-media" and slugs(result.findings) == ["wrong-media"]
    assert result.task_id == "t1"


def test_frames_of_json_rpc_are_the_wrong_binding() -> None:
    frames = [{"jsonrpc": "2.0", "id": 1, "result": one} for one in ({"task": TASK_1_0}, status("COMPLETED"))]
    result = streamed("1.0", *frames)
    assert (result.closure, result.state) == ("final-proved", State.COMPLETED)
    assert set(slugs(result.findings)) == {"version-not-honoured"}

"""Streams in a few words: readers with round clocks, frames, and the case book's streams read to their end."""

from __future__ import annotations

import base64
import json
from typing import Any

from a2a_lab.core.model import Artifact
from a2a_lab.core.policy import Bounds, Clocks
from a2a_lab.core.stream import StreamWatch
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.wire.dialects import Answer, Dialect, dialect_for, dialect_of_request
from a2a_lab.wire.recorded import read_recorded
from a2a_lab.wire.streams import StreamReader

CLOCKS = Clocks(silence_s=1, hang_s=2, total_s=10, close_s=2)
SSE = {"Content-Type": "text/event-stream"}


def reader(version: str = "1.0", *, bounds: Bounds | None = None, **options: Any) -> StreamReader:
    """A reader whose request "r1" left at 0."""
    watch = StreamWatch(version, options.pop("clocks", CLOCKS), opened=0.0, **options)
    return StreamReader(dialect_for(version), watch, rpc_id="r1", bounds=bounds or Bounds())


def frame(result: Any = None, **members: Any) -> bytes:
    document = {"jsonrpc": "2.0", "id": "r1"} | ({} if result is None else {"result": result}) | members
    return f"data: {json.dumps(document)}\n\n".encode()


def streamed(version: str, *chunks: bytes, ending: Any = "close", headers: Any = None, **options: Any) -> StreamResult:
    """The chunks, a tenth of a second apart, read to the end."""
    chunk_times = [(0.1 * (place + 1), chunk) for place, chunk in enumerate(chunks)]
    return read_recorded(
        reader(version, **options),
        status=200,
        headers=SSE if headers is None else headers,
        head_at=0.05,
        chunks=chunk_times,
        ending=ending,
    )


def read_case(case: dict[str, Any]) -> StreamResult:
    """The stream of a case, judged as the case book means it: its own limits, its GetTask where one is there."""
    given, stream = case["given"], case["given"]["stream"]
    body = json.dumps(stream["request"]).encode()
    dialect = dialect_of_request(body)
    assert dialect is not None
    facts = dialect.parse_request(body)
    limits = stream.get("limits", {})
    watch = StreamWatch(
        dialect.id,
        Clocks(hang_s=limits.get("idle_ms", 10_000) / 1000, total_s=limits.get("total_ms", 60_000) / 1000),
        opened=0.0,
        declared_streaming=given.get("client", {}).get("require", {}).get("streaming", False),
        op="subscribe" if facts.op == "subscribe" else "stream",
        task_id=facts.task_id,
        known=_known(dialect, given.get("before_cut", [])),
    )
    bounds = Bounds(event_bytes=limits.get("max_event_bytes", 4_000_000))
    return read_recorded(
        StreamReader(dialect, watch, rpc_id=facts.rpc_id, bounds=bounds),
        status=stream["response"]["status"],
        headers=stream["response"]["headers"],
        head_at=0.0,
        chunks=list(_chunks(stream["frames"])),
        ending=stream["then"],
        ask=lambda task_id, at: _asked(dialect, given.get("exchanges", [])),
    )


def _chunks(frames: list[dict[str, Any]]) -> Any:
    at = 0.0
    for written in frames:
        at += written.get("after_ms", 0) / 1000
        if "b64" in written:
            yield at, base64.b64decode(written["b64"])
        else:
            yield at, (written["text"] if "text" in written else written["repeat"] * written["count"]).encode()


def _known(dialect: Dialect, events: list[Any]) -> tuple[Artifact, ...]:
    before = StreamWatch(dialect.id, CLOCKS, opened=0.0)
    for result in events:
        event, _ = dialect.read_event(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}), rpc_id=1)
        before.receive(event, 0.0)
    return before.content.reassembly.artifacts


def _asked(dialect: Dialect, exchanges: list[dict[str, Any]]) -> Answer | None:
    for exchange in exchanges:
        request, response = exchange["request"], exchange["response"]
        facts = dialect.parse_request(json.dumps(request["json"]).encode())
        if facts.op == "get":
            return dialect.read_answer(
                "get",
                rpc_id=facts.rpc_id,
                status=response["status"],
                headers=response["headers"],
                body=json.dumps(response["json"]).encode(),
            )
    return None

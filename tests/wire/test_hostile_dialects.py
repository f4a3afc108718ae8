"""Every byte from a peer is hostile, in every dialect: readers answer with findings and never raise (DESIGN 9)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_lab.core.stream import StreamWatch
from a2a_lab.wire.dialects import DIALECTS, spoken
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.streams import StreamReader
from tests.wire import test_hostile as known
from tests.wire.streaming import CLOCKS, SSE
from tests.wire.talk import MESSAGE_1_0, TASK_1_0, envelope
from tests.wire.test_draft import TASK, artifact, status
from tests.wire.test_rest import MESSAGE_OLD, PIECE, UPDATE
from tests.wire.test_rest_errors import status_body

SEEDS: list[Any] = [
    envelope(TASK | {"artifacts": [{"index": 1, "parts": [{"type": "text", "text": "x"}]}]}),
    envelope(status("completed", final=True)),
    envelope(artifact(index=2, append=True)),
    {"task": TASK_1_0},
    {"message": MESSAGE_OLD},
    {"statusUpdate": UPDATE},
    {"artifactUpdate": PIECE},
    TASK_1_0 | {"artifacts": [{"artifactId": "a", "parts": [{"data": {"data": {}}}, {"file": {"fileWithUri": "x"}}]}]},
    status_body(404, name="TaskNotFound"),
    {"type": "x", "title": "y", "status": 404, "detail": "z"},
    {"code": -32001, "message": "no"},
    {"message": MESSAGE_1_0, "configuration": {"acceptedOutputModes": ["a/b"]}},
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tasks/send",
        "params": {"id": "t", "message": {"role": "user", "parts": []}},
    },
]


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """One of these documents, spoilt as those of the other dialects are."""
    seeds = known.SEEDS
    known.SEEDS = SEEDS
    try:
        return draw(known.documents())
    finally:
        known.SEEDS = seeds


@settings(max_examples=400, deadline=None)
@given(documents(), st.sampled_from(DIALECTS), st.sampled_from([200, 201, 400, 404, 405, 409, 501]), st.data())
def test_no_answer_is_too_odd_to_be_read(document: Any, dialect: Any, http: int, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(sorted(op for op in dialect.names if not op.startswith("push"))))
    body = json.dumps(document).encode()
    for media in ("application/json", "application/a2a+json", "application/problem+json", "text/event-stream", ""):
        headers = {"Content-Type": media} if media else {}
        read = dialect.read_answer(op, rpc_id="r1", status=http, headers=headers, body=body)
        assert sum(value is not None for value in (read.task, read.message, read.error)) <= 1
        assert all(finding.detail and len(finding.detail) < 1000 for finding in read.findings)
        assert json.dumps([finding.as_json() for finding in read.findings])


@settings(max_examples=400, deadline=None)
@given(st.lists(documents(), max_size=6), st.sampled_from(DIALECTS), st.sampled_from(["", "error", "message", "ping"]))
def test_no_stream_is_too_odd_to_be_watched(frames: list[Any], dialect: Any, name: str) -> None:
    reader = StreamReader(dialect, StreamWatch(dialect.id, CLOCKS, opened=0.0), rpc_id="r1")
    reader.open(200, SSE, 0.0)
    head = f"event: {name}\n" if name else ""
    for place, frame in enumerate(frames):
        reader.feed(f"{head}data: {json.dumps(frame)}\n\n".encode(), 0.1 * place)
    reader.close(1.0, "close")
    assert reader.is_over
    assert all(finding.stage.value == "stream" for finding in reader.result.findings)
    assert json.dumps([finding.as_json() for finding in reader.result.findings])


@settings(max_examples=400, deadline=None)
@given(
    documents(),
    st.sampled_from(["POST", "GET", "DELETE"]),
    st.sampled_from(["", "/v1"]),
    st.sampled_from(
        ["/message:send", "/message:stream", "/tasks/t1", "/tasks/%ff:cancel", "/tasks/t:subscribe", "/tasks", ""]
    )
    | st.text(max_size=12),
)
def test_no_request_is_too_odd_to_be_read(document: Any, method: str, prefix: str, path: str) -> None:
    body, url = json.dumps(document).encode(), f"https://agent.example.test/a{prefix}{path}"
    exchange = Exchange(method=method, url=url, request_body=body)
    heard = spoken()
    for _ in range(2):  # what was learnt from a request must fit it
        dialect = heard.dialect_of(exchange)
        if dialect is not None:
            facts = dialect.parse_request(body, method=method, url=url)
            assert facts.op is None or facts.op in dialect.names
    for each in DIALECTS:
        each.parse_request(body, method=method, url=url)

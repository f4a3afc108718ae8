"""Every byte from a peer is hostile: whatever it sends, the readers answer with findings and never raise (DESIGN 9)."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_lab.core.stream import Action
from a2a_lab.core.tasks import TaskBook
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.dialects import DIALECTS, dialect_for
from tests.wire.streaming import SSE, reader
from tests.wire.talk import JSON_HEADERS, MESSAGE_0_3, MESSAGE_1_0, TASK_0_3, TASK_1_0, envelope
from tests.wire.test_cards import V03, V1
from tests.wire.test_events import ARTIFACT_0_3, ARTIFACT_1_0, STATUS_0_3, STATUS_1_0

ARTIFACTS = {"artifacts": [{"artifactId": "a1", "name": "n", "parts": [{"text": "x"}, {"data": {"n": 1}}]}]}
STATUS = {"status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-11-30T12:00:00Z", "message": MESSAGE_1_0}}
SEEDS: list[Any] = [
    envelope({"task": TASK_1_0 | ARTIFACTS | STATUS}),
    envelope({"message": MESSAGE_1_0}),
    envelope({"statusUpdate": STATUS_1_0}),
    envelope({"artifactUpdate": ARTIFACT_1_0}),
    envelope(TASK_0_3 | ARTIFACTS),
    envelope(MESSAGE_0_3),
    envelope(STATUS_0_3),
    envelope(ARTIFACT_0_3),
    envelope(error={"code": -32001, "message": "no", "data": [{"@type": "x"}]}),
    {"jsonrpc": "2.0", "id": "r1", "method": "SendMessage", "params": {"message": MESSAGE_1_0, "configuration": {}}},
    V1,
    V03,
]
ODD = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "x", "TASK_STATE_WORKING", "completed", "cancelled", "agent", "status-update", "2.0", "\x00\x1b"]
    )
    | st.text(max_size=3)
    | st.just([])
    | st.just({})
    | st.just([[]])
    | st.just({"kind": "file", "file": {"bytes": 1}})
    | st.just([{"kind": "text"}, {"raw": "=", "url": ""}, None])
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    if isinstance(value, dict):
        found += [place for name, inner in value.items() for place in places(inner, (*at, name))]
    elif isinstance(value, list):
        found += [place for index, inner in enumerate(value) for place in places(inner, (*at, index))]
    return found


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """A document as it should be, with up to three places replaced, removed or renamed."""
    document = {"": copy.deepcopy(draw(st.sampled_from(SEEDS)))}
    for _ in range(draw(st.integers(min_value=0, max_value=3))):
        *way, last = draw(st.sampled_from(places(document)[1:]))
        owner: Any = document
        for step in way:
            owner = owner[step]
        how = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
        if how == "replace" or (way == [] and last == ""):
            owner[last] = copy.deepcopy(draw(ODD))
        elif how == "remove":
            del owner[last]
        elif isinstance(owner, dict):
            owner[draw(st.sampled_from(["kind", "task_id", "state", "text", "raw", "extra"]))] = owner.pop(last)
    return document.get("")


@settings(max_examples=300, deadline=None)
@given(documents(), st.sampled_from(DIALECTS), st.sampled_from(["send", "get", "cancel", "list", "extended-card"]))
def test_no_answer_is_too_odd_to_be_read(document: Any, dialect: Any, op: Any) -> None:
    if op not in dialect.names:
        op = "send"
    body = json.dumps(document).encode()
    for status, headers in ((200, JSON_HEADERS), (400, {}), (200, SSE)):
        read = dialect.read_answer(op, rpc_id="r1", status=status, headers=headers, body=body)
        assert sum(value is not None for value in (read.task, read.message, read.error)) <= 1
        assert all(finding.detail and len(finding.detail) < 1000 for finding in read.findings)
        assert json.dumps([finding.as_json() for finding in read.findings])


@settings(max_examples=300, deadline=None)
@given(documents())
def test_no_card_is_too_odd_to_be_read(document: Any) -> None:
    reading = read_card(json.dumps(document).encode())
    assert (reading.card is not None) or reading.findings
    assert json.dumps([finding.as_json() for finding in reading.findings])


@settings(max_examples=300, deadline=None)
@given(documents())
def test_no_request_is_too_odd_to_be_read(document: Any) -> None:
    body = json.dumps(document).encode()
    for dialect in DIALECTS:
        facts = dialect.parse_request(body)
        assert facts.op is None or facts.op in dialect.names


@settings(max_examples=300, deadline=None)
@given(
    st.lists(documents(), max_size=6),
    st.sampled_from(["1.0", "0.3"]),
    st.sampled_from(["close", "reset", "left", "truncated"]),
    st.sampled_from([0.0, 0.4, 1.2, 3.0]),
)
def test_no_stream_is_too_odd_to_be_watched(frames: list[Any], version: str, ending: Any, pause: float) -> None:
    read = reader(version, declared_streaming=True)
    book = TaskBook("x")
    book.note_sent("m1", purpose="commit", is_payload=True)
    read.open(200, SSE, 0.0)
    now = 0.0
    for frame in frames:
        while (due := read.deadline(now)) is not None and due <= now + pause:
            now = due
            if read.tick(now) is Action.STOP:
                break
        now += pause
        for event in read.feed(f"data: {json.dumps(frame)}\n\n".encode(), now):
            book.note_event(event, message_id="m1")
    read.close(now, ending)
    result = read.result
    assert read.is_over
    assert not (result.is_complete and result.verdict.value in ("hang", "orphan"))
    assert result.is_hang is (result.closure in ("idle-hang", "live-hang", "drip-hang"))
    assert json.dumps([finding.as_json() for finding in (*result.findings, *book.findings())])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80), st.lists(st.integers(min_value=0, max_value=80), max_size=3))
def test_no_bytes_are_too_odd_for_a_stream(data: bytes, cuts: list[int]) -> None:
    for headers in (SSE, {}, JSON_HEADERS):
        read = reader()
        read.open(200, headers, 0.0)
        edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
        for start, end in pairwise(edges):
            read.feed(data[start:end], 0.1)
        read.close(0.2)
        assert read.result.is_complete is False


def test_a_peers_text_is_never_repeated_at_length() -> None:
    huge = "x" * 1_000_000
    task = TASK_1_0 | {"id": huge, "contextId": [huge], "status": {"state": huge, "timestamp": huge}}
    read = dialect_for("1.0").read_answer(
        "get", rpc_id="r1", status=200, headers=JSON_HEADERS, body=json.dumps(envelope(task, id=huge)).encode()
    )
    assert max(len(json.dumps(finding.as_json())) for finding in read.findings) < 2000

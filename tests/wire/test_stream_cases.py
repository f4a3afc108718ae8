"""Every stream of the case book and every stream that a vendor sent, read to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from a2a_lab.core.model import State
from tests.wire.streaming import SSE, read_case, streamed
from tests.wire.talk import JSON_HEADERS, cases

STREAMS = [case for case in cases("*.json") if "stream" in case["given"]]
RECORDED = Path(__file__).parent / "recorded" / "streams"


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["id"])
def test_the_stream_of_a_case_gets_the_verdict_of_the_case(case: dict[str, Any]) -> None:
    result = read_case(case)
    if case["expect"]["stage"] == "stream":
        assert result.verdict.value == case["expect"]["verdict"], [f.detail for f in result.findings]


def texts(case_id: str) -> dict[str, str]:
    (case,) = cases(f"{case_id}.json")
    return {a.id: "".join(part.text or "" for part in a.parts) for a in read_case(case).artifacts}


@pytest.mark.parametrize(
    ("case_id", "expected"),
    [
        ("art-01-append-to-unknown", {"x1": "Hel", "x2": "lo"}),
        ("art-02-append-true-from-first-same-id", {"a1": "I'll go"}),
        ("art-03-last-chunk-replaces", {"a1": "ld!"}),
        ("art-05-update-after-last-chunk", {"a1": "v1"}),
        ("art-06-last-chunk-never", {"a1": "Hello"}),
        ("art-08-same-id-two-artifacts", {"a1": "report"}),
        ("art-13-chunk-metadata-changes", {"a1": "xy"}),
        ("life-08-resubscribe-snapshot-rebase", {"a1": "one two three four"}),
        ("life-17-first-task-submitted-is-not-the-answer", {"a1": "answer"}),
        ("life-25-final-snapshot-after-terminal", {"a1": "ok"}),
        ("sse-07-utf8-split", {"a1": "naïve 🙂"}),
        ("sse-11-line-over-64k", {"a1": "A" * 70_000}),
    ],
)
def test_what_a_case_delivers(case_id: str, expected: dict[str, str]) -> None:
    assert texts(case_id) == expected


@pytest.mark.parametrize(
    ("case_id", "closure", "state"),
    [
        ("life-02-keepalive-only", "live-hang", State.WORKING),
        ("life-04-input-required-stays-open", "interrupted-open", State.INPUT_REQUIRED),
        ("life-06-clean-eof-without-terminal", "eof-nonterminal", State.WORKING),
        ("life-07-connection-reset", "reset", State.WORKING),
        ("life-20-final-missing-0.3", "close-without-final", State.COMPLETED),
        ("life-21-final-true-while-working-0.3", "final-proved", State.WORKING),
        ("life-23-final-true-alone-in-1.0", "idle-hang", State.WORKING),
        ("life-28-error-mid-stream", "error-frame", State.SUBMITTED),
        ("sse-12-endless-line", "limit", State.SUBMITTED),
        ("sse-13-last-event-without-blank-line", "truncated", State.WORKING),
        ("cap-05-ndjson-instead-of-sse", "wrong-media", None),
        ("cap-06-json-error-on-stream-call", "rpc-error-before-stream", None),
        ("cap-08-401-on-stream-call", "http-error", None),
    ],
)
def test_how_a_case_ends(case_id: str, closure: str, state: State | None) -> None:
    (case,) = cases(f"{case_id}.json")
    result = read_case(case)
    assert (result.closure, result.state, result.is_complete) == (closure, state, case_id.startswith("life-20"))


def test_the_result_of_a_cut_stream_comes_from_asking() -> None:
    (case,) = cases("life-06-*.json")
    result = read_case(case)
    assert result.recovered is not None
    assert [artifact.id for artifact in result.recovered.artifacts] == ["a1"]


# vendor and method, closure, text, findings worse than accept
VENDORS: list[tuple[str, str, str | None, set[str]]] = [
    ("a2a1.v10", "final-proved", "echo ['text'] hello", set()),
    ("a2a1-all.v10", "final-proved", "echo ['text'] hello", set()),
    ("a2a1-all.v03", "final-proved", "echo ['text'] hello", set()),
    ("a2a1.v03", "rpc-error-before-stream", None, {"error-before-stream"}),
    ("a2a02.v03", "final-proved", "echo ['text'] hello", set()),
    ("a2a02.v10", "rpc-error-before-stream", None, {"rpc-id-missing", "error-before-stream"}),
    ("a2a03.v03", "final-proved", "echo ['text'] hello", set()),
    ("a2a03.v10", "rpc-error-before-stream", None, {"error-before-stream"}),
    ("adk.v03", "final-proved", "echo ['text'] hello", set()),
    ("adk.v10", "final-proved", "echo ['text'] hello", set()),
    ("crewai.v03", "final-proved", "echo", set()),
    ("crewai.v10", "rpc-error-before-stream", None, {"error-before-stream"}),
    (
        "fasta2a.v03",
        "close-without-final",
        "echo [['text']] hello",
        {"version-not-honoured", "member-missing", "final-missing"},
    ),
    ("fasta2a.v10", "final-proved", "echo [['text']] hello", {"timestamp-form"}),
    ("js03.v03", "final-proved", 'echo ["text"] hello', set()),
    ("js03.v10", "rpc-error-before-stream", None, {"error-before-stream"}),
    ("js1.v10", "final-proved", 'echo ["text"] hello', set()),
    ("js1.v03", "rpc-error-before-stream", None, {"error-before-stream"}),
    ("js1c.v10", "final-proved", 'echo ["text"] hello', set()),
    ("js1c.v03", "final-proved", 'echo ["text"] hello', set()),
    ("lg.v03", "final-proved", "echo hello", set()),
    ("lg.v10", "final-proved", "echo hello", {"version-not-honoured", "timestamp-form"}),
    ("pythona2a.v03", "wrong-media", None, {"jsonrpc-version", "rpc-id-missing", "no-outcome", "wrong-media"}),
    ("pythona2a.v10", "wrong-media", None, {"jsonrpc-version", "rpc-id-missing", "no-outcome", "wrong-media"}),
]


def test_every_recorded_stream_is_expected() -> None:
    assert {path.stem for path in RECORDED.glob("*.sse")} == {row[0] for row in VENDORS}


@pytest.mark.parametrize(("name", "closure", "text", "expected"), VENDORS, ids=[row[0] for row in VENDORS])
def test_what_vendors_really_sent(name: str, closure: str, text: str | None, expected: set[str]) -> None:
    """CRLF, event lines, mixed generations, a single terminal task, flags left out: none of it loses content."""
    data = (RECORDED / f"{name}.sse").read_bytes()
    headers = SSE if data.startswith((b"data", b"event")) else JSON_HEADERS
    result = streamed("1.0" if name.endswith("v10") else "0.3", *_answered_as(data, b"r1"), headers=headers)
    assert result.closure == closure
    assert {finding.slug for finding in result.findings if finding.verdict.value != "accept"} == expected
    received = ["".join(part.text or "" for part in artifact.parts) for artifact in result.artifacts]
    assert received == ([] if text is None else [text])
    assert result.state is (State.COMPLETED if text else None)


def _answered_as(data: bytes, rpc_id: bytes) -> list[bytes]:
    """The recording in two pieces, under the id that our request has."""
    renamed = data.replace(b'"id":1,', b'"id":"%b",' % rpc_id).replace(b'"id": 1,', b'"id": "%b",' % rpc_id)
    renamed = renamed.replace(b'"id":1}', b'"id":"%b"}' % rpc_id)
    middle = len(renamed) // 2
    return [renamed[:middle], renamed[middle:]]

"""Every fault that a JSON-RPC envelope can have (R1, stage rpc), in answers and in stream frames."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.model import State
from a2a_lab.verdicts import Kind
from a2a_lab.wire.dialects import dialect_for
from tests.wire.talk import TASK_1_0, answer, envelope, event, said, slugs

WRAPPED = {"task": TASK_1_0}
ERROR = {"code": -32602, "message": "Invalid params"}

# body, what the stage rpc finds, whether the task may be used
ANSWERS: list[tuple[str, Any, list[tuple[str, str]], bool]] = [
    ("clean", envelope(WRAPPED), [], True),
    ("array of one", [envelope(WRAPPED)], [("batch-answer", "conformance-error")], True),
    ("array of two", [envelope(WRAPPED)] * 2, [("batch-answer", "conformance-error")], False),
    ("empty array", [], [("batch-answer", "conformance-error")], False),
    ("text", "done", [("not-a-response", "conformance-error")], False),
    ("null", b"null", [("not-a-response", "conformance-error")], False),
    ("number", b"3", [("not-a-response", "conformance-error")], False),
    ("a request", envelope(method="SendMessage"), [("not-a-response", "conformance-error")], False),
    ("no version", {"id": "r1", "result": WRAPPED}, [("jsonrpc-version", "conformance-error")], True),
    ("version 1.0", envelope(WRAPPED, jsonrpc="1.0"), [("jsonrpc-version", "conformance-error")], True),
    ("version number", envelope(WRAPPED, jsonrpc=2.0), [("jsonrpc-version", "conformance-error")], True),
    ("no id", {"jsonrpc": "2.0", "result": WRAPPED}, [("rpc-id-missing", "conformance-error")], False),
    ("null id", envelope(WRAPPED, id=None), [("rpc-id-null", "conformance-error")], False),
    ("other id", envelope(WRAPPED, id="zzz"), [("rpc-id-foreign", "conformance-error")], False),
    ("id true", envelope(WRAPPED, id=True), [("rpc-id-foreign", "conformance-error")], False),
    ("null error beside", envelope(WRAPPED, error=None), [("null-beside", "hint")], True),
    (
        "both",
        envelope(WRAPPED, error=ERROR),
        [("result-and-error", "conformance-error"), ("rpc-error", "refuse")],
        False,
    ),
    ("neither", envelope(), [("no-outcome", "conformance-error")], False),
    ("only null error", envelope(error=None), [("no-outcome", "conformance-error")], False),
    ("both null", envelope(result=None, error=None) | {"result": None}, [("no-outcome", "conformance-error")], False),
    ("null result", envelope() | {"result": None}, [("wrong-type", "conformance-error")], False),
]


@pytest.mark.parametrize(("body", "expected", "is_used"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_envelopes_of_results(body: Any, expected: list[tuple[str, str]], is_used: bool) -> None:
    read = answer(body)
    assert [(slug, verdict) for slug, verdict, stage in said(read.findings) if stage == "rpc"] == expected
    assert (read.task is not None) is is_used


SHAPE = ["error-shape", "rpc-error"]
ERRORS: list[tuple[str, Any, list[str], str | None]] = [
    ("clean", envelope(error=ERROR), ["rpc-error"], "InvalidParams"),
    ("null result beside", envelope(error=ERROR) | {"result": None}, ["null-beside", "rpc-error"], "InvalidParams"),
    ("a text", envelope(error="bad"), SHAPE, None),
    ("no code", envelope(error={"message": "x"}), SHAPE, None),
    ("text code", envelope(error=ERROR | {"code": "-32001"}), SHAPE, None),
    ("float code", envelope(error=ERROR | {"code": -32001.5}), SHAPE, None),
    ("true code", envelope(error=ERROR | {"code": True}), SHAPE, None),
    ("no message", envelope(error={"code": -32603}), SHAPE, "InternalError"),
    ("message object", envelope(error=ERROR | {"message": {}}), SHAPE, "InvalidParams"),
    ("HTTP code", envelope(error=ERROR | {"code": 502}), ["error-code-range"], None),
    ("zero", envelope(error=ERROR | {"code": 0}), ["error-code-range"], None),
    ("reserved", envelope(error=ERROR | {"code": -32500}), ["error-code-range"], None),
    ("server's own", envelope(error=ERROR | {"code": -32050}), ["rpc-error"], None),
    ("A2A", envelope(error=ERROR | {"code": -32005}), ["rpc-error"], "ContentTypeNotSupported"),
    ("null id, unread", envelope(error=ERROR | {"code": -32700}, id=None), ["rpc-error"], "ParseError"),
    ("null id, read", envelope(error=ERROR, id=None), ["rpc-id-null", "rpc-error"], "InvalidParams"),
    ("no id", {"jsonrpc": "2.0", "error": ERROR}, ["rpc-id-missing", "rpc-error"], "InvalidParams"),
]
VERDICTS = {
    "rpc-error": "refuse",
    "error-shape": "conformance-error",
    "error-code-range": "hint",
    "null-beside": "hint",
    "rpc-id-null": "conformance-error",
    "rpc-id-missing": "conformance-error",
}


@pytest.mark.parametrize(("body", "expected", "name"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_envelopes_of_errors(body: Any, expected: list[str], name: str | None) -> None:
    read = answer(body)
    assert said(read.findings) == [(slug, VERDICTS[slug], "rpc") for slug in expected]
    assert read.error is not None
    assert read.error.name == name


def test_an_error_under_somebody_elses_id_is_not_ours() -> None:
    read = answer(envelope(error=ERROR, id="zzz"))
    assert read.error is None
    assert slugs(read.findings) == ["rpc-id-foreign"]


@pytest.mark.parametrize(
    ("sent", "came", "slug"), [(7, "7", "rpc-id-type"), ("7", 7, "rpc-id-type"), (7, 8, "rpc-id-foreign")]
)
def test_ids_must_be_the_same_value_of_the_same_type(sent: Any, came: Any, slug: str) -> None:
    read = answer(envelope(WRAPPED, id=came), rpc_id=sent)
    assert slugs(read.findings) == [slug]
    assert (read.task is not None) is (slug == "rpc-id-type")


@pytest.mark.parametrize("came", [7, 7.0])
def test_numbers_of_one_value_are_one_id(came: Any) -> None:
    assert answer(envelope(WRAPPED, id=came), rpc_id=7).findings == ()


def test_a_task_under_another_id_is_never_used_and_never_forgotten() -> None:
    read = answer(envelope(WRAPPED, id="zzz"))
    assert read.task is None
    assert read.unmatched is not None
    assert read.unmatched.state is State.WORKING


def test_declining_is_no_fault_of_the_vendor() -> None:
    (finding,) = answer(envelope(error=ERROR)).findings
    assert finding.kind is Kind.NOTE


def test_a_message_of_the_peer_is_quoted_and_capped() -> None:
    (finding,) = answer(envelope(error=ERROR | {"message": "a\nb\x1b" + "x" * 500})).findings
    assert "a\\nb\\x1b" in finding.detail
    assert len(finding.detail) < 300


@pytest.mark.parametrize(
    ("members", "slug", "is_used"),
    [
        ({}, None, True),
        ({"id": "zzz"}, "rpc-id-foreign", True),
        ({"id": None}, "rpc-id-null", True),
        ({"jsonrpc": "1"}, "jsonrpc-version", True),
        ({"error": None}, "null-beside", True),
    ],
)
def test_every_frame_of_a_stream_is_a_response_to_our_request(members: Any, slug: str | None, is_used: bool) -> None:
    """A frame came over our connection, so a wrong id is a fault and no reason to lose what it says."""
    read, findings = event(WRAPPED, **members)
    assert [(f.slug, f.stage.value) for f in findings] == ([] if slug is None else [(slug, "stream")])
    assert (read.kind == "task") is is_used


def test_an_error_frame_is_an_error_event() -> None:
    read, findings = event(None, error=ERROR)
    assert (read.kind, read.error.name if read.error else None, findings) == ("error", "InvalidParams", [])


def test_a_bare_error_under_the_name_error_is_understood() -> None:
    read, findings = dialect_for("1.0").read_event('{"code":-32603,"message":"oops"}', rpc_id="r1", name="error")
    assert read.error is not None
    assert (read.error.name, slugs(findings)) == ("InternalError", ["not-a-response"])

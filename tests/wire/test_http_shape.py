"""The body wins where it holds an answer; otherwise the HTTP status decides, before any media type (R1, R2)."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.verdicts import NotGradeable
from tests.wire.talk import JSON_HEADERS, TASK_1_0, answer, envelope, said, slugs

ERROR_BODY = envelope(error={"code": -32602, "message": "Invalid params"})
GOOD_BODY = envelope({"task": TASK_1_0})


@pytest.mark.parametrize(
    ("status", "body", "slug"),
    [
        (500, b"Internal Server Error", "http-error"),
        (500, b"<html>oops</html>", "http-error"),
        (404, b"", "http-error"),
        (400, b'{"detail": "no"}', "http-error"),
        (400, b'{"error": {"code": 400, "status": "INVALID", "message": "no"}}', "http-error"),
        (307, b"", "http-error"),
        (503, b"busy", "http-error"),
        (200, b"", "empty-answer"),
        (204, b"", "empty-answer"),
        (200, b"<html>login</html>", "not-json"),
        (200, b'{"jsonrpc":"2.0","id":"r1","id":"r1","result":{}}', "duplicate-key"),
        (200, b'{"jsonrpc":"2.0","id":"r1","result":{"n":NaN}}', "nan"),
        (200, b'{"jsonrpc":"2.0","id":"r1","result":{"n":"\\ud800"}}', "lone-surrogate"),
    ],
)
def test_a_body_without_an_answer(status: int, body: bytes, slug: str) -> None:
    read = answer(body, status=status)
    assert slugs(read.findings) == [slug]
    assert (read.task, read.error) == (None, None)


def test_an_http_failure_refuses_and_a_broken_body_does_not_conform() -> None:
    assert said(answer(b"no", status=502).findings) == [("http-error", "refuse", "rpc")]
    assert said(answer(b"no").findings) == [("not-json", "conformance-error", "rpc")]


def test_where_a_redirect_points_is_said() -> None:
    (finding,) = answer(b"", status=307, headers={"Location": "https://agent.example.test/rpc/"}).findings
    assert "https://agent.example.test/rpc/" in finding.detail


@pytest.mark.parametrize("status", [400, 404, 500])
def test_the_body_wins_over_the_status(status: int) -> None:
    read = answer(ERROR_BODY, status=status)
    assert read.error is not None
    assert said(read.findings) == [("rpc-error", "refuse", "rpc"), ("http-status", "accept", "rpc")]


@pytest.mark.parametrize("status", [201, 202, 500])
def test_a_result_under_another_status_is_used_and_noted(status: int) -> None:
    read = answer(GOOD_BODY, status=status)
    assert read.task is not None
    assert said(read.findings) == [("http-status", "accept", "rpc")]


@pytest.mark.parametrize("status", [401, 403])
def test_missing_credentials_are_not_the_vendors_failure(status: int) -> None:
    read = answer(b'{"error":"unauthorized"}', status=status, headers={"www-authenticate": 'Bearer realm="x"'})
    assert slugs(read.findings) == ["auth-needed"]
    assert (read.not_gradeable, read.challenge) == (NotGradeable.AUTH_NEEDED, 'Bearer realm="x"')


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {}, None),
        (429, {"Retry-After": "7"}, 7.0),
        (503, {"Retry-After": "1"}, 1.0),
        (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        (429, {"Retry-After": "-1"}, None),
    ],
)
def test_a_throttled_call_may_come_again(status: int, headers: dict[str, str], wait: float | None) -> None:
    read = answer(b"busy", status=status, headers=headers)
    assert slugs(read.findings) == ["throttled"]
    assert (read.not_gradeable, read.retry_after_s) == (NotGradeable.THROTTLED, wait)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Content-Type": "application/json"}, []),
        ({"content-type": "Application/JSON; charset=utf-8"}, []),
        ([("Content-Type", "application/a2a+json")], []),
        ({"Content-Type": "text/plain"}, ["answer-media-type"]),
        ({"Content-Type": ""}, ["answer-media-type"]),
        ({}, ["answer-media-type"]),
    ],
)
def test_the_label_of_an_answer_is_a_hint_at_most(headers: Any, expected: list[str]) -> None:
    read = answer(GOOD_BODY, headers=headers)
    assert read.task is not None
    assert slugs(read.findings) == expected


def test_a_stream_in_answer_to_a_send_does_not_conform_and_its_task_is_known() -> None:
    body = (
        b'data: {"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}}}\n\n'
    )
    read = answer(body, headers={"Content-Type": "text/event-stream"})
    assert read.task is not None
    assert said(read.findings) == [("stream-on-send", "conformance-error", "rpc")]


def test_a_broken_stream_in_answer_to_a_send_is_still_no_crash() -> None:
    read = answer(b"data: {\n\n", headers={"Content-Type": "text/event-stream"})
    assert slugs(read.findings) == ["stream-on-send", "not-json"]
    assert slugs(answer(b": nothing\n\n", headers={"Content-Type": "text/event-stream"}).findings) == ["stream-on-send"]


def test_a_leading_byte_order_mark_is_dropped() -> None:
    read = answer(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","status":{"state":3}}}}')
    assert read.task is not None


def test_a_big_integer_in_the_data_is_a_note() -> None:
    task = TASK_1_0 | {"metadata": {"n": 2**60}}
    assert said(answer(envelope({"task": task}), headers=JSON_HEADERS).findings) == [("big-number", "accept", "rpc")]

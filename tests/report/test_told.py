"""What a page says of a body (R38): type, length and a keyed hash of parts, in every dialect, and never the content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.report.told import Seal, answer_told, part_told, request_told

SEAL = Seal(b"k")


def body(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1} | members).encode()


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"text": "hällo"}, "text/plain 6 B"),
        ({"kind": "text", "text": "hi", "mediaType": "text/markdown"}, "text/markdown 2 B"),
        ({"data": {"a": 1}}, "application/json 8 B"),
        ({"raw": "YWJj", "mediaType": "text/csv"}, "text/csv 3 B"),
        ({"raw": "YWI=", "filename": "x"}, "raw, no media type 2 B"),
        ({"kind": "file", "file": {"bytes": "YWJj", "mimeType": "image/png"}}, "image/png 3 B"),
        ({"type": "file", "file": {"uri": "http://x/"}}, "url, no media type 9 B"),
        ({}, "empty, no media type 0 B"),
        ("no object", "no part"),
    ],
)
def test_a_part_is_told_by_type_and_decoded_length(part: Any, told: str) -> None:
    assert part_told(part, SEAL).startswith(told)


def test_equal_content_has_an_equal_hash_that_only_this_page_can_make() -> None:
    one, two = part_told({"text": "secret"}, SEAL), part_told({"text": "secret"}, Seal(b"k"))
    assert one == two
    assert part_told({"text": "secret"}, Seal()) != one
    assert "secret" not in one


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"task": {"id": "t", "status": {"state": "TASK_STATE_INPUT_REQUIRED"}}}, "task t input-required"),
        ({"kind": "task", "id": "t", "status": {"state": "working"}}, "task t working"),
        ({"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}, "task t completed"),
        (
            {"kind": "status-update", "taskId": "t", "final": True, "status": {"state": "failed"}},
            "task t failed, final",
        ),
        ({"id": "t", "sessionId": "s", "status": {"state": "unknown"}}, "task t unknown"),
        (
            {"artifactUpdate": {"artifact": {"artifactId": "a", "parts": []}, "append": True}},
            "artifact a (append): no parts",
        ),
        (
            {"artifact": {"index": 0, "parts": [{"type": "text", "text": "x"}]}, "lastChunk": True},
            "artifact 0 (last): text/plain 1 B",
        ),
        ({"message": {"messageId": "m", "parts": [{"text": "x"}]}}, "message: text/plain 1 B"),
    ],
)
def test_results_of_every_dialect_are_understood(result: Any, told: str) -> None:
    assert answer_told(body(result=result), SEAL).startswith(told)


def test_artifacts_in_a_snapshot_are_listed_and_counted() -> None:
    artifacts = [{"artifactId": f"a{n}", "parts": [{"text": "x"}]} for n in range(9)]
    said = answer_told(body(result={"id": "t", "status": {"state": "completed"}, "artifacts": artifacts}), SEAL)
    assert "artifact a2: text/plain 1 B" in said and said.endswith("6 more")


def test_errors_cards_and_strangers_are_told() -> None:
    assert answer_told(body(error={"code": -32005, "message": "no csv"}), SEAL) == "error -32005 'no csv'"
    card = json.dumps({"name": "x", "version": "1", "supportedInterfaces": [{}, {}], "signatures": [{}]})
    assert answer_told(card, SEAL) == "card 'x', version '1', 2 interfaces, 1 signature"
    assert answer_told(json.dumps({"name": "x", "url": "http://a", "skills": []}), SEAL).endswith("unsigned")
    assert answer_told(b"<!doctype html><p>404", SEAL) == "HTML of 21 bytes"
    assert answer_told(b"", SEAL) == "no body"
    assert answer_told(b"[" * 100_000, SEAL) == "a body of 100000 bytes"
    assert answer_told(b'{"a": 1}', SEAL) == "a body of 8 bytes"


def test_a_request_names_its_method_and_what_it_carries() -> None:
    message = {"messageId": "m", "parts": [{"text": "secret"}] * 5}
    said = request_told(body(method="SendMessage", params={"message": message}), SEAL)
    assert said.startswith("SendMessage: text/plain 6 B #") and said.endswith("2 more parts")
    assert "secret" not in said
    assert request_told(body(method="tasks/get", params={"id": "t-1"}), SEAL) == "tasks/get: task t-1"
    assert request_told(body(method="ListTasks", params=[]), SEAL) == "ListTasks"
    bare = request_told(json.dumps({"message": message}).encode(), SEAL)  # as gRPC and HTTP+JSON have it
    assert bare and said.endswith(bare)
    assert request_told(b'{"id":"t-1","tenant":"a"}', SEAL) == "task t-1"
    assert request_told(b"", SEAL) == ""
    assert request_told(b"x=1", SEAL) == "a body of 3 bytes"


@pytest.mark.parametrize("odd", [{"status": 3}, {"parts": "text"}, {"task": []}, {"artifact": 1}, {"status": {}}])
def test_odd_shapes_are_no_reason_to_fail(odd: Any) -> None:
    assert answer_told(body(result=odd), SEAL)

"""What a message of gRPC is in evidence: ProtoJSON, and beside it what ProtoJSON hides (R32, P5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from a2a_lab.wire.protobuf import schema
from a2a_lab.wire.protojson import BESIDE, line, read_message, read_status
from tests.wire.grpc_talk import TASK, kept, packed


def test_a_message_is_the_json_of_its_version() -> None:
    update = {
        "artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": ""}]}, "append": True}
    }
    assert kept("StreamResponse", packed("StreamResponse", update)) == update
    assert kept("Task", packed("Task", TASK)) == TASK


def test_an_enum_number_without_a_name_is_written_in_digits() -> None:
    """ProtoJSON would write a bare number, which reads as a sloppy spelling of a known state."""
    task = schema("1.0").messages["Task"](id="t")
    task.status.state = 99
    task.history.add(role=7)
    document = kept("Task", task.SerializeToString())
    assert document["status"] == {"state": "99"} and document["history"] == [{"role": "7"}]


@pytest.mark.parametrize(
    ("raw", "beside"),
    [
        (b"\xa2\x06\x01a" + packed("Task", TASK), {"unknown": ["/100 (length-delimited)"]}),
        (b"\x08\x01", {"wrong": ["/id (varint)"]}),
        (b"\x1a\x03\x98\x06\x01", {"unknown": ["/status/99 (varint)"]}),
    ],
    ids=["a field that the proto does not have", "a known field of another wire type", "within another message"],
)
def test_fields_that_json_cannot_show_are_told_beside_it(raw: bytes, beside: dict[str, Any]) -> None:
    assert kept("Task", raw)[BESIDE] == beside


def test_members_of_a_one_of_that_came_together_are_told() -> None:
    raw = packed("StreamResponse", {"task": TASK}) + packed("StreamResponse", {"message": {"messageId": "m"}})
    assert kept("StreamResponse", raw) == {"message": {"messageId": "m"}, BESIDE: {"several": ["task", "message"]}}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (packed("Task", TASK)[:-1], "Error parsing message"),
        (b"\xff\xff\xff", "Error parsing message"),
        (b"\n\x02\xff\xfe", ""),
        (b"\x1a\x0a\x1a\x08\x08\x80\x80\x80\x80\x80\x80\x10", "no JSON form"),
    ],
    ids=["cut", "no message", "text that is no UTF-8", "a time beyond all calendars"],
)
def test_bytes_that_are_no_message_are_told_and_raise_nothing(raw: bytes, why: str) -> None:
    said = kept("Task", raw)
    assert list(said) == [BESIDE] and why in said[BESIDE]["malformed"] and said[BESIDE]["bytes"] == len(raw)


def test_numbers_that_no_json_has_are_told() -> None:
    part = schema("1.0").messages["Part"]()
    part.data.number_value = float("nan")
    assert "NaN" in kept("Part", part.SerializeToString())[BESIDE]["malformed"]


@given(
    raw=some.binary(max_size=200), kind=some.sampled_from(["Task", "StreamResponse", "AgentCard", "SendMessageRequest"])
)
def test_no_bytes_raise(raw: bytes, kind: str) -> None:
    assert line(read_message(schema("1.0").messages[kind], raw)).endswith(b"\n")
    assert isinstance(read_status(raw), list)


def test_the_details_of_a_status_are_read_as_far_as_they_are_known() -> None:
    types = schema("rpc").messages
    status = types["Status"](code=5)
    status.details.add().Pack(types["ErrorInfo"](reason="TASK_NOT_FOUND", domain="a2a-protocol.org"))
    status.details.add(type_url="type.example.test/own.Thing", value=b"\x01")
    status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\xff")
    named, own, broken = read_status(status.SerializeToString())
    assert named == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "TASK_NOT_FOUND",
        "domain": "a2a-protocol.org",
    }
    assert (own["value"], broken["value"]) == ("AQ==", "/w==")

"""R38: what leaves the house shows parts as type, length and a keyed hash; what a judge concludes from stays."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.named_modes import modes_in_text
from a2a_lab.lab.masking import Mask
from a2a_lab.wire.exchange import Chunk, Exchange

MASK = Mask(b"key")
SECRET = "Anna Example, born 1980-02-30"


def answered(document: Any, **members: Any) -> Exchange:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Exchange(method="POST", url="https://a.test/rpc", status=200, body=body, **members)


def part(content: dict[str, Any], *, mask: Mask = MASK) -> dict[str, Any]:
    """One part of an artifact, masked."""
    masked = mask.exchange(answered({"result": {"artifacts": [{"artifactId": "a1", "parts": [content]}]}}))
    found: dict[str, Any] = json.loads(masked.body)["result"]["artifacts"][0]
    assert found["artifactId"] == "a1"
    return dict(found["parts"][0])


def test_a_text_becomes_its_kind_length_and_hash() -> None:
    masked = part({"text": SECRET, "mediaType": "text/plain"})
    assert masked["mediaType"] == "text/plain"
    assert masked["text"].startswith(f"[text, {len(SECRET)} bytes, #")


def test_equal_content_is_seen_to_be_equal_under_one_key_only() -> None:
    assert part({"text": SECRET}) == part({"text": SECRET}) != part({"text": SECRET + "."})
    assert part({"text": SECRET}, mask=Mask()) != part({"text": SECRET}, mask=Mask())


@pytest.mark.parametrize(
    "content",
    [
        {"text": SECRET},
        {"kind": "text", "text": SECRET},
        {"data": {"name": SECRET, "list": [SECRET, {"deep": SECRET}]}},
        {"data": SECRET},
        {"raw": base64.b64encode(SECRET.encode()).decode(), "filename": SECRET},
        {"kind": "file", "file": {"bytes": base64.b64encode(SECRET.encode()).decode(), "name": SECRET}},
        {"url": f"https://files.test/{SECRET}?q={SECRET}"},
        {"file": {"uri": f"https://files.test/{SECRET}"}},
    ],
)
def test_nothing_that_was_written_is_left(content: dict[str, Any]) -> None:
    shown = json.dumps(part(content))
    assert SECRET not in shown and base64.b64encode(SECRET.encode()).decode() not in shown and "1980" not in shown


def test_rest_messages_of_0_3_keep_their_parts_elsewhere() -> None:
    sent = json.dumps({"request": {"messageId": "m", "content": [{"text": SECRET}, {"data": {"data": {"n": SECRET}}}]}})
    masked = MASK.exchange(Exchange(method="POST", url="https://a.test", request_body=sent.encode()))
    assert b"1980" not in masked.request_body and b'"messageId": "m"' in masked.request_body


@pytest.mark.parametrize("name", ["parts", "content"])
def test_lists_of_that_name_inside_of_data_are_data(name: str) -> None:
    assert SECRET not in json.dumps(part({"data": {name: [{"address": SECRET}]}}))


def test_numbers_in_data_are_hidden_and_media_types_stay() -> None:
    masked = part({"data": {"acceptedModes": ["text/plain", "km/h"], "salary": 81_000, "ok": True}})
    assert masked["data"]["acceptedModes"][0] == "text/plain" and masked["data"]["acceptedModes"][1].startswith("[text")
    assert masked["data"]["salary"] == 0 and masked["data"]["ok"] is True


@pytest.mark.parametrize(
    "text",
    [
        "Only text/plain is accepted, Mr. Example.",
        "application/json is not supported; send text/plain or text/csv",
        "Please send it as JSON",
        "Who are you?",
        "not text/plain",
    ],
)
def test_the_modes_that_an_agent_asks_for_stay_named(text: str) -> None:
    masked = part({"text": text})["text"]
    assert modes_in_text(masked) == modes_in_text(text) and "Example" not in masked


def test_base64_stays_what_it_was() -> None:
    base64.b64decode(part({"raw": base64.b64encode(b"x" * 900).decode()})["raw"], validate=True)
    with pytest.raises(ValueError):
        base64.b64decode(part({"raw": "not base64!"})["raw"], validate=True)


def test_requests_are_masked_as_answers_are() -> None:
    sent = json.dumps({"params": {"message": {"messageId": "m", "parts": [{"text": SECRET}]}, "metadata": {"m": "x"}}})
    masked = MASK.exchange(Exchange(method="POST", url="https://a.test", request_body=sent.encode()))
    assert SECRET.encode() not in masked.request_body and b'"metadata": {"m": "x"}' in masked.request_body


def test_a_stream_keeps_its_chunks_and_their_times() -> None:
    whole = f'data: {{"result":{{"artifact":{{"parts":[{{"text":"{SECRET}"}}]}}}}}}\n\n'.encode()
    chunks = [Chunk(offset_ms=1, data=whole[:50]), Chunk(offset_ms=9, data=whole[50:])]
    stream = answered(whole, chunks=chunks, response_headers=[("Content-Type", "text/event-stream")])
    masked = MASK.exchange(stream)
    assert [chunk.offset_ms for chunk in masked.chunks] == [1, 9]
    assert masked.body == b"".join(chunk.data for chunk in masked.chunks) and b"1980" not in masked.body


def test_malformed_answers_stay_malformed_and_are_masked_all_the_same() -> None:
    body = f'{{"id":1,"id":2,"result":{{"parts":[{{"text":"{SECRET}","n":NaN}}]'.encode()
    masked = MASK.exchange(answered(body)).body
    assert masked.startswith(b'{"id":1,"id":2,"result":{"parts":[{"text":"[text, ') and masked.endswith(b'"n":NaN}]')


@pytest.mark.parametrize(
    "document",
    [
        {"name": "x", "skills": [{"description": "text of a card", "url": "https://a.test"}]},
        {"error": {"code": -32005, "message": "text/plain only", "data": [{"text": "x"}]}},
        {"result": {"status": {"state": "completed"}, "metadata": {"text": "x"}}},
    ],
)
def test_what_is_no_part_stays_byte_for_byte(document: dict[str, Any]) -> None:
    assert MASK.exchange(answered(document)).body == json.dumps(document).encode()


def test_cards_are_never_touched() -> None:
    card = answered({"parts": [{"text": "x"}]}, purpose="card:hint")
    assert MASK.exchange(card) is card


@given(st.binary())
def test_any_bytes_are_taken(data: bytes) -> None:
    MASK.exchange(answered(b'{"parts":[{"data":' + data))

"""R43: where an answer's id is the recorded request's, the live request's takes its place; no other byte changes."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.lab.renaming import Renames, put_in


def renamed(text: str, *, rpc: tuple[Any, Any] | None = ("r1", "live-1"), stream: bool = False, **ids: str) -> str:
    """`ids` are kind_recorded=live, as in message_m1="mine"."""
    kinds = {tuple(name.split("_", 1)): live for name, live in ids.items()}
    return put_in([text.encode()], Renames(rpc=rpc, ids=kinds), is_stream=stream)[0].decode()  # type: ignore[arg-type]


def test_only_the_outermost_id_is_that_of_the_request() -> None:
    assert renamed('{"id":"r1","result":{"id":"r1"}}') == '{"id":"live-1","result":{"id":"r1"}}'


def test_a_foreign_id_stays_foreign() -> None:
    assert renamed('{"id":"r2"}') == '{"id":"r2"}'


@pytest.mark.parametrize(
    ("recorded", "live", "found", "expected"),
    [
        (1, 7001, "1", "7001"),
        (1, 7001, '"1"', '"7001"'),
        ("1", "7001", "1", "7001"),
        ("r1", "live-1", "null", "null"),
        (1, 7001, "true", "true"),
        (1, 7001, "1.0", "1.0"),
    ],
)
def test_an_id_keeps_the_type_in_which_it_came(recorded: Any, live: Any, found: str, expected: str) -> None:
    """An agent that answers 1 with "1" answers 7001 with "7001": wrong in the same way."""
    assert renamed(f'{{"id":{found}}}', rpc=(recorded, live)) == f'{{"id":{expected}}}'


def test_ids_of_messages_tasks_and_contexts_are_put_in_where_they_stand() -> None:
    text = '{"result":{"task":{"id":"t1","contextId":"t1","history":[{"messageId":"m1","taskId":"t1"}]}}}'
    assert renamed(text, message_m1="mine", task_t1="own") == (
        '{"result":{"task":{"id":"own","contextId":"t1","history":[{"messageId":"mine","taskId":"own"}]}}}'
    )


def test_lists_of_ids_are_reached() -> None:
    assert renamed('{"referenceTaskIds":["t1","t2"]}', task_t1="own") == '{"referenceTaskIds":["own","t2"]}'


@pytest.mark.parametrize(
    "text",
    [
        '{"id":"x","id":"y"}',
        '{"text":"\\"id\\":\\"r1\\"","value":NaN}',
        '{"name" : "r1", "id":',
        "not json at all",
        '{"a":"\\u0069d"}',
        "",
    ],
)
def test_what_holds_no_such_id_stays_byte_for_byte(text: str) -> None:
    assert renamed(text) == text


def test_malformed_json_around_an_id_is_kept() -> None:
    assert renamed('{ "id" : "r1" , "n":NaN, "k":1,"k":2 ') == '{ "id" : "live-1" , "n":NaN, "k":1,"k":2 '


def test_each_event_of_a_stream_begins_anew() -> None:
    """An event that was cut in the middle does not hide the depth of the next; comments are no JSON."""
    text = (
        ': {"id":"r1"}\n\ndata: {"id":"r1","result":{"x":[\n\nid: r1\ndata: {"id":\ndata: "r1"}\r\n\r\ndata:{"id":"r1"}'
    )
    assert renamed(text, stream=True) == (
        ': {"id":"r1"}\n\ndata: {"id":"live-1","result":{"x":[\n\nid: r1\ndata: {"id":\ndata: "live-1"}\r\n\r\n'
        'data:{"id":"live-1"}'
    )


@given(st.integers(0, 40), st.integers(0, 40))
def test_an_id_split_between_writes_is_put_in_once(one: int, other: int) -> None:
    text = 'data: {"id":"recorded","x":"é"}\n\n'.encode()
    cuts = sorted({min(one, len(text)), min(other, len(text))})
    parts = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    made = put_in(parts, Renames(rpc=("recorded", "mine")), is_stream=True)
    assert b"".join(made) == 'data: {"id":"mine","x":"é"}\n\n'.encode()
    assert len(made) == len(parts)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_any_json_reads_as_before_with_the_new_id(value: Any) -> None:
    made = json.loads(renamed(json.dumps({"id": "r1", "value": value})))
    assert made == {"id": "live-1", "value": value}


@given(st.binary())
def test_any_bytes_are_taken(data: bytes) -> None:
    put_in([data], Renames(rpc=("r1", "x"), ids={("task", "t"): "u"}), is_stream=True)


@pytest.mark.parametrize("unit", ['\\"', '{"', "[", '"id":', "data: \n\n"])
def test_time_follows_size(unit: str) -> None:
    """Hostile nesting and endless strings cost what their length costs."""
    data = ('data: "' + unit * 200_000).encode()
    began = time.perf_counter()
    put_in([data], Renames(rpc=("r1", "x")), is_stream=True)
    assert time.perf_counter() - began < 5

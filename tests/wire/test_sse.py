"""Server-sent events are cut by the grammar of the HTML standard, wherever the network cuts them (A6)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.policy import Bounds
from a2a_lab.errors import LimitExceeded
from a2a_lab.verdicts import Stage, Verdict
from a2a_lab.wire.sse import SseEvent, SseReader


def read(*chunks: bytes) -> list[SseEvent]:
    reader = SseReader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


def data(*chunks: bytes) -> list[str]:
    return [event.data for event in read(*chunks)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_in_lf_crlf_or_cr(end: bytes) -> None:
    assert data(b"data: one" + end + end + b"data: two" + end + b"data: three" + end + end) == ["one", "two\nthree"]


def test_line_ends_may_be_mixed() -> None:
    assert data(b"data: a\r\ndata: b\ndata: c\r\rdata: d\n\r\n") == ["a\nb\nc", "d"]


def test_a_crlf_cut_in_two_is_one_line_end() -> None:
    assert data(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == ["a\nb"]


def test_an_event_is_given_as_soon_as_its_blank_line_begins() -> None:
    reader = SseReader()
    assert [event.data for event in reader.feed(b"data: a\r\n\r")] == ["a"]
    assert reader.feed(b"\n") == []
    assert reader.feed(b"") == []


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (b"data:x\n\n", ["x"]),
        (b"data:  x\n\n", [" x"]),
        (b"data\n\n", [""]),
        (b"data:\n\n", [""]),
        (b"data:\ndata:\n\n", ["\n"]),
        (b"data: a: b\n\n", ["a: b"]),
        (b"x-vendor: 1\ndata: x\nretry: 10\n\n", ["x"]),
        (b"Data: x\n\n", []),
        (b" data: x\n\n", []),
        (b"event: only\n\ndata: x\n\n", ["x"]),
        (b"\n\n\ndata: x\n\n\n", ["x"]),
        (b":data: x\n\n", []),
        (b"\xef\xbb\xbfdata: x\n\n", ["x"]),
        (b"data: \xef\xbb\xbfx\n\n", ["\ufeffx"]),
    ],
)
def test_fields_are_read_as_the_grammar_says(text: bytes, events: list[str]) -> None:
    assert data(text) == events


def test_a_byte_order_mark_may_come_in_pieces() -> None:
    assert data(b"\xef", b"\xbb", b"\xbfdata: x\n", b"\n") == ["x"]


def test_names_belong_to_one_event_and_ids_to_all_that_follow() -> None:
    first, second = read(b"event: error\nid: 7\ndata: a\n\ndata: b\n\n")
    assert (first.name, first.id) == ("error", "7")
    assert (second.name, second.id) == ("", "7")


def test_a_name_without_data_is_forgotten_and_counted() -> None:
    reader = SseReader()
    (event,) = reader.feed(b"event: ping\n\ndata: x\n\n")
    assert (event.name, reader.blanks) == ("", 1)


def test_an_id_with_a_null_byte_is_ignored() -> None:
    assert [event.id for event in read(b"id: a\0b\ndata: x\n\n")] == [None]


def test_comments_are_counted_and_give_no_event() -> None:
    reader = SseReader()
    assert reader.feed(b": keep-alive\n\n:\n\ndata: x\n: inside\n\n") == [SseEvent(data="x")]
    assert (reader.comments, reader.events, reader.blanks) == (3, 1, 0)


def test_a_character_cut_in_two_is_one_character() -> None:
    assert data("data: naïve 🙂\n\n".encode()[:14], "data: naïve 🙂\n\n".encode()[14:]) == ["naïve 🙂"]


def test_bytes_that_are_not_utf8_are_shown_and_marked() -> None:
    assert read(b"data: a\xffb\n\n") == [SseEvent(data="a\ufffdb", is_utf8=False)]


@pytest.mark.parametrize(
    ("text", "is_cut", "dropped"),
    [
        (b"data: x\n\n", False, ""),
        (b"data: x\n", True, "x"),
        (b"data: x", True, "data: x"),
        (b"data: x\n\ndata: y\nevent: z\nda", True, "y\nda"),
        (b"event: message\n", True, ""),
        (b"data: x\n\n: bye", False, ": bye"),
        (b"data: x\n\n: bye\n", False, ""),
        (b"", False, ""),
        (b"\xef\xbb\xbf", False, "\ufeff"),
        (b"\xef\xbb\xbf: hello", False, "\ufeff: hello"),
        (b"retry: 5\n", False, ""),
    ],
)
def test_an_event_without_its_blank_line_is_no_event(text: bytes, is_cut: bool, dropped: str) -> None:
    reader = SseReader()
    events = reader.feed(text)
    assert len(events) == text.count(b"\n\n")
    assert (reader.close(), reader.dropped) == (is_cut, dropped)


def test_a_line_of_seventy_thousand_characters_is_an_ordinary_event() -> None:
    assert data(b"data: ", b"A" * 70_000, b"\n\n") == ["A" * 70_000]


@pytest.mark.parametrize(
    "chunks",
    [
        [b"data: ", b"A" * 3000, b"A" * 3000],
        [b"data: " + b"A" * 6000 + b"\n"],
        [b"data: AAAA\n" * 1000],
        [b": " + b"A" * 6000],
    ],
    ids=["endless line", "long line", "endless event", "endless comment"],
)
def test_an_event_beyond_the_bound_is_stopped_by_name(chunks: list[bytes]) -> None:
    reader = SseReader(Bounds(event_bytes=4096))
    reader.feed(b"data: first\n\n")
    with pytest.raises(LimitExceeded, match="event_bytes = 4096") as caught:
        for chunk in chunks:
            reader.feed(chunk)
    finding = caught.value.finding
    assert finding is not None
    assert (finding.stage, finding.verdict) == (Stage.STREAM, Verdict.CONFORMANCE_ERROR)


def test_events_before_the_bound_are_not_lost() -> None:
    reader = SseReader(Bounds(events=2))
    with pytest.raises(LimitExceeded, match="events = 2") as caught:
        reader.feed(b"data: a\n\ndata: b\n\ndata: c\n\n")
    assert [event.data for event in caught.value.fields["events"]] == ["a", "b"]


def test_the_whole_stream_is_bounded_too() -> None:
    reader = SseReader(Bounds(stream_bytes=20))
    reader.feed(b": a comment\n")
    with pytest.raises(LimitExceeded, match="stream_bytes = 20"):
        reader.feed(b": another one\n")


def test_short_comments_may_come_for_ever_within_the_stream_bound() -> None:
    reader = SseReader(Bounds(event_bytes=64))
    for _ in range(1000):
        reader.feed(b": ping\n\n")
    assert reader.comments == 1000


STREAMS = st.lists(
    st.sampled_from(
        [
            "data: x",
            "data:",
            "data",
            "data: é🙂",
            ": c",
            ":",
            "event: e",
            "id: 1",
            "retry: 1",
            "other: 2",
            "",
            "",
            "data: {}",
        ]
    ),
    max_size=12,
).flatmap(
    lambda lines: st.tuples(st.just(lines), st.lists(st.sampled_from(["\n", "\r", "\r\n"]), min_size=12, max_size=12))
)


@given(STREAMS, st.lists(st.integers(min_value=0, max_value=200), max_size=8), st.booleans())
def test_where_the_network_cuts_changes_nothing(
    stream: tuple[list[str], list[str]], cuts: list[int], has_bom: bool
) -> None:
    lines, ends = stream
    text = (b"\xef\xbb\xbf" if has_bom else b"") + "".join(
        line + end for line, end in zip(lines, ends, strict=False)
    ).encode()
    whole, pieces = SseReader(), SseReader()
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    read_whole = whole.feed(text)
    read_pieces = [event for start, end in pairwise(places) for event in pieces.feed(text[start:end])]
    assert read_pieces == read_whole
    assert (pieces.comments, pieces.close()) == (whole.comments, whole.close())


@given(STREAMS)
def test_the_reader_agrees_with_the_grammar_written_out(stream: tuple[list[str], list[str]]) -> None:
    """The grammar on decoded lines, one step a line, as a second opinion."""
    lines, ends = stream
    expected: list[str] = []
    block: list[str] = []
    text = "".join(line + end for line, end in zip(lines, ends, strict=False))
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]:
        field, colon, value = line.partition(":")
        if line == "":
            if block:
                expected.append("\n".join(block))
            block = []
        elif field == "data":
            block.append(value[1:] if colon and value.startswith(" ") else value)
    assert data(text.encode()) == expected


def test_many_small_pieces_are_joined_once() -> None:
    reader = SseReader()
    piece = b"A" * 1000
    reader.feed(b"data: ")
    for _ in range(2000):
        reader.feed(piece)
    assert len(reader._line) == 2001, "pieces are kept apart until the line ends, and joined once"
    (event,) = reader.feed(b"\n\n")
    assert len(event.data) == 2_000_000

"""R43: what was recorded becomes a head, writes with their pauses, and an end; what no socket can show is said."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.lab.performance import Performance, perform, shortcoming
from a2a_lab.lab.renaming import Renames
from a2a_lab.wire.exchange import Chunk, Exchange


def recorded(**members: Any) -> Exchange:
    return Exchange(**({"method": "POST", "url": "https://a.test/rpc", "status": 200} | members))


def performed(*, is_head: bool = False, **members: Any) -> Performance:
    return perform(recorded(**members), Renames(rpc=("r1", "mine")), is_head=is_head)


def test_a_whole_body_waits_as_long_as_it_took() -> None:
    made = performed(body=b'{"id":"r1"}', started_ms=100, ended_ms=350)
    assert (made.wait_s, made.is_chunked, made.end) == (0.25, False, "close")
    assert [piece.data for piece in made.pieces] == [b'{"id":"mine"}']


def test_chunks_are_separate_writes_with_the_recorded_pauses() -> None:
    chunks = [Chunk(offset_ms=at, data=b"data: 1\n\n") for at in (1000, 1000, 1250)]
    made = performed(chunks=chunks, started_ms=900, ended_ms=1250)
    assert [round(piece.wait_s, 3) for piece in made.pieces] == [0.1, 0.0, 0.25]
    assert made.is_chunked and made.wait_s == 0


@pytest.mark.parametrize("ending", ["open", "reset"])
def test_an_unfinished_answer_stays_unfinished(ending: str) -> None:
    made = performed(body=b"{", ending=ending)
    assert made.end == ending and made.is_chunked


@pytest.mark.parametrize(
    ("fault", "end", "lost"),
    [
        ("reset-after-request", "reset", ""),
        ("no-answer", "reset", ""),
        ("read-timeout", "open", ""),
        ("connect-refused", "reset", "before it is refused"),
        ("connect-timeout", "open", "then nothing comes"),
        ("dns", "reset", "the name is known"),
        ("tls: certificate expired", "reset", "no TLS"),
        ("limit: body_bytes 1000", "open", "only what was read"),
    ],
)
def test_faults_as_far_as_a_socket_can(fault: str, end: str, lost: str) -> None:
    broken = recorded(status=None, fault=fault)
    made = perform(broken, Renames())
    assert (made.status, made.end, made.pieces) == (None, end, ())
    assert lost in shortcoming(broken) and bool(lost) == bool(shortcoming(broken))


def test_what_came_before_a_fault_is_shown_first() -> None:
    made = performed(body=b"half", fault="reset-after-request", ending="reset")
    assert (made.status, made.end, [piece.data for piece in made.pieces]) == (200, "reset", [b"half"])


@pytest.mark.parametrize(("is_head", "status"), [(True, 200), (False, 204), (False, 304)])
def test_answers_without_a_body(is_head: bool, status: int) -> None:
    assert performed(body=b"x", status=status, is_head=is_head).pieces == ()


def test_framing_headers_are_ours_and_all_others_theirs() -> None:
    headers = [
        (":status", "200"),
        ("Content-Length", "9"),
        ("content-encoding", "gzip"),
        ("Transfer-Encoding", "chunked"),
        ("Content-Type", "application/json"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("X-Folded", "one\r\nX-Injected: two"),
    ]
    assert performed(response_headers=headers).headers == (
        ("Content-Type", "application/json"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("X-Folded", "one X-Injected: two"),
    )


def test_a_stream_without_its_media_type_is_still_read_as_one() -> None:
    made = performed(body=b'data: {"id":"r1"}\n\n', chunks=[Chunk(offset_ms=0, data=b'data: {"id":"r1"}\n\n')])
    assert made.pieces[0].data == b'data: {"id":"mine"}\n\n'


def test_it_is_told_in_a_few_words() -> None:
    assert performed(body=b"x").told == "200"
    assert performed(chunks=[Chunk(offset_ms=0, data=b"x")], ending="open").told == "200, 1 writes, then left open"
    assert perform(recorded(status=None, fault="read-timeout"), Renames()).told == "no answer, then left open"

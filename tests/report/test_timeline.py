"""The timeline of a cell (DESIGN 8): request, response, event, comment, silence, deadline with millisecond offsets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import synthetic_runs as synthetic

from a2a_lab.report.timeline import timeline
from a2a_lab.wire.exchange import Chunk, Exchange


def marks(exchanges: list[Exchange], **more: Any) -> list[tuple[int, str]]:
    return [(round(row.at_ms), row.mark) for row in timeline(exchanges, **more)]


def test_a_hang_shows_its_silence_and_what_ended_the_wait() -> None:
    events = [(40, synthetic.task("SUBMITTED")), (55, synthetic.status_update("WORKING")), (1000, ": ping\r\n\r\n")]
    rows = timeline([synthetic.stream(events, at=20, ended=2055, cut_by="hang-limit")])
    assert [(round(row.at_ms), row.mark) for row in rows] == [
        (20, "request"),
        (40, "response"),
        (40, "event"),
        (55, "event"),
        (1000, "comment"),
        (2055, "silence"),
        (2055, "deadline"),
    ]
    assert rows[-2].text == "… nothing for 2.0 s"


def test_comments_are_counted_and_do_not_end_a_silence() -> None:
    pings = [(40, synthetic.task("WORKING")), *((100 * n, ": ping\n\n") for n in range(1, 30))]
    rows = timeline([synthetic.stream(pings, at=20, ended=3000, cut_by="transport-timeout")])
    assert [row.text for row in rows if row.mark == "comment"] == ["29 comments, no progress"]
    assert [row.text for row in rows if row.mark == "silence"] == ["… nothing for 3.0 s"]


def test_calls_that_overlap_interleave_by_time() -> None:
    watched = synthetic.stream(
        [(40, synthetic.task("WORKING")), (900, synthetic.status_update("COMPLETED"))], at=20, ended=901
    )
    asked = synthetic.rpc("GetTask", {"id": "t"}, synthetic.task("WORKING")["task"], at=500, purpose="get")
    calls = [row.call for row in timeline([watched, asked])]
    assert calls == [1, 1, 1, 2, 2, 1, 1, 1]


def test_an_end_by_the_peer_a_reset_and_a_cut_event_are_told_apart() -> None:
    done = [(30, synthetic.status_update("COMPLETED"))]
    assert marks([synthetic.stream(done, at=20, ended=31)])[-1] == (31, "end")
    reset = replace(synthetic.stream(done, at=20, ended=31), ending="reset", fault="reset-after-request")
    assert timeline([reset])[-1].text == "the connection failed: reset-after-request"
    half = synthetic.stream(done, at=20, ended=31)
    half.chunks.append(Chunk(offset_ms=30.5, data=b'data: {"jsonrpc"'))
    assert "the last event was cut off" in [row.text for row in timeline([half])]


def test_no_answer_at_all_names_the_fault() -> None:
    refused = Exchange(method="GET", url="http://h:1/x?tenant=a", started_ms=1, ended_ms=3, fault="connect-refused")
    assert [row.text for row in timeline([refused])] == ["GET h:1/x?tenant=a", "no answer: connect-refused"]


def test_a_unary_call_that_ran_into_a_deadline_shows_the_wait() -> None:
    stuck = Exchange(
        method="POST", url="http://h/", started_ms=0, ended_ms=5000, fault="read-timeout", cut_by="transport-timeout"
    )
    assert [mark for _, mark in marks([stuck])] == ["request", "fault", "silence", "deadline"]


def test_a_long_stream_shows_how_it_began_and_how_it_ended() -> None:
    many = [(float(n), synthetic.status_update("WORKING")) for n in range(30, 10_030)]
    rows = timeline([synthetic.stream(many, at=20, ended=10_031)])
    assert len(rows) < 60
    assert [row.text for row in rows if row.mark == "note"] == [
        "… 9960 more lines of the stream; all are in the evidence file"
    ]
    assert rows[-1].mark == "end"


def test_many_calls_are_cut_in_the_middle() -> None:
    polls = [synthetic.rpc("GetTask", {"id": "t"}, None, at=float(n * 50), purpose="get") for n in range(500)]
    rows = timeline(polls)
    assert len(rows) == 81 and "460 more calls" in next(row.text for row in rows if row.mark == "note")


def test_contents_are_shown_only_when_asked_for() -> None:
    sent = [synthetic.rpc("SendMessage", synthetic.message("text/plain", "secret"), None, at=0, purpose="commit")]
    assert not any("secret" in row.text + row.body for row in timeline(sent))
    assert "secret" in timeline(sent, bodies=True)[0].body


def test_a_stream_that_passes_a_bound_names_it_and_the_page_goes_on() -> None:
    endless = synthetic.stream([(30, "data: " + "x" * 5_000_000)], at=20, ended=40)
    assert any("event_bytes" in row.text for row in timeline([endless]))


def test_the_purpose_of_a_call_is_kept() -> None:
    assert timeline([synthetic.card_get("x")])[0].purpose == "card"

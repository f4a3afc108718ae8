"""Lays out the exchanges of a cell as one timeline: request, response, event, comment, silence, deadline, in order.

Each row has the milliseconds since the cell began. A silence is drawn where a stream said nothing of the protocol for
a while; comments and pings are listed and do not end it (R30). Pure: exchanges in, rows out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from a2a_lab.errors import LimitExceeded
from a2a_lab.report.told import Seal, answer_told, request_told
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.frames import frame_reader

SILENCE_MS = 500.0  # shorter gaps are an agent at work
_HEAD, _TAIL = 30, 10  # lines shown of a long stream, and calls of a long cell: how it began and how it ended

_CUTS = {
    "transport-timeout": "the transport timeout ended the wait",
    "cap": "the lab's own cap ended the wait",
    "silence": "the silence limit: the task is asked for",
    "hang-limit": "the hang limit: called a hang",
    "total-limit": "the limit for the whole call was reached",
    "done": "closed by us: the reader had what it needed",
    "left": "the consumer left",
    "stopped": "the observation ended",
}
_ENDINGS = {"close": "closed by the peer", "open": "left open", "reset": "cut by the transport"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a timeline. `call` numbers the exchange it belongs to; `mark` is its kind."""

    at_ms: float
    call: int
    mark: str
    text: str
    purpose: str = ""
    body: str = ""


def timeline(exchanges: Sequence[Exchange], seal: Seal | None = None, *, bodies: bool = False) -> list[Row]:
    """All exchanges of one cell in the order of time; calls that overlap interleave.

    Parts are told by type, length and hash; with `bodies` each row also holds what was sent, as it was recorded.
    """
    seal = seal or Seal()
    calls = list(enumerate(exchanges, 1))
    rows: list[Row] = []
    if len(calls) > _HEAD + _TAIL:
        calls, left = calls[:_HEAD] + calls[-_TAIL:], calls[_HEAD:-_TAIL]
        text = f"… {len(left)} more calls; all are in the evidence file"
        rows.append(Row(at_ms=left[0][1].started_ms, call=left[0][0], mark="note", text=text))
    rows += [row for call, exchange in calls for row in _exchange(exchange, call, seal)]
    kept = rows if bodies else [replace(row, body="") for row in rows]
    return sorted(kept, key=lambda row: row.at_ms)


def _exchange(exchange: Exchange, call: int, seal: Seal) -> Iterator[Row]:
    place = urlsplit(exchange.url)
    asked = f"{exchange.method} {place.netloc}{place.path}{'?' + place.query if place.query else ''}"
    carried = request_told(exchange.request_body, seal)
    yield Row(
        at_ms=exchange.started_ms,
        call=call,
        mark="request",
        text=f"{asked}  {carried}".rstrip(),
        purpose=exchange.purpose,
        body=_text(exchange.request_body),
    )
    if exchange.chunks:
        yield from _stream(exchange, call, seal)
    elif exchange.status is not None:
        text = f"{exchange.status} {_media(exchange)}  {answer_told(exchange.body, seal)}"
        yield Row(at_ms=exchange.ended_ms, call=call, mark="response", text=text, body=_text(exchange.body))
    if exchange.fault and not (exchange.chunks and exchange.cut_by):  # a wait that we ended is told as a deadline
        what = "the connection failed" if exchange.status else "no answer"
        yield Row(at_ms=exchange.ended_ms, call=call, mark="fault", text=f"{what}: {exchange.fault}")
    if exchange.cut_by and not exchange.chunks:
        yield from _waited(exchange.started_ms, exchange.ended_ms, call)
        yield Row(at_ms=exchange.ended_ms, call=call, mark=_cut_mark(exchange), text=_cut(exchange))


def _stream(exchange: Exchange, call: int, seal: Seal) -> Iterator[Row]:
    first = exchange.chunks[0].offset_ms
    yield Row(at_ms=first, call=call, mark="response", text=f"{exchange.status} {_media(exchange)}")
    events, last = _events(exchange, call, seal)
    many = [row for row in events if row.mark in {"event", "comment"}][_HEAD:-_TAIL]
    if many:
        text = f"… {len(many)} more lines of the stream; all are in the evidence file"
        yield Row(at_ms=many[0].at_ms, call=call, mark="note", text=text)
    hidden = {id(row) for row in many}
    yield from (row for row in events if id(row) not in hidden)
    yield from _waited(last, exchange.ended_ms, call)
    if exchange.cut_by:
        yield Row(at_ms=exchange.ended_ms, call=call, mark=_cut_mark(exchange), text=_cut(exchange))
    else:
        yield Row(at_ms=exchange.ended_ms, call=call, mark="end", text=_ENDINGS.get(exchange.ending, exchange.ending))


def _events(exchange: Exchange, call: int, seal: Seal) -> tuple[list[Row], float]:
    """The events of a stream with the silences between them, and when the last one came."""
    reader = frame_reader(exchange.response_headers)
    rows: list[Row] = []
    last, comments = exchange.started_ms, 0
    for chunk in exchange.chunks:
        try:
            events = reader.feed(chunk.data)
        except LimitExceeded as limit:
            rows.append(Row(at_ms=chunk.offset_ms, call=call, mark="fault", text=limit.message))
            break
        if reader.comments > comments:
            _count_comments(rows, chunk.offset_ms, call, reader.comments - comments)
            comments = reader.comments
        for event in events:
            rows += _waited(last, chunk.offset_ms, call)
            last = chunk.offset_ms
            name = f"{event.name}: " if event.name and event.name != "message" else ""
            told = name + answer_told(event.data, seal)
            rows.append(Row(at_ms=last, call=call, mark="event", text=told, body=event.data))
    if reader.close():
        rows.append(Row(at_ms=exchange.ended_ms, call=call, mark="fault", text="the last event was cut off"))
    return rows, last


def _count_comments(rows: list[Row], at_ms: float, call: int, count: int) -> None:
    """Comments in a row are one line that counts up: a peer may ping for hours."""
    if rows and rows[-1].mark == "comment":
        before = rows.pop()
        total = int(before.text.partition(" ")[0]) + count
        at_ms, count = before.at_ms, total
    rows.append(Row(at_ms=at_ms, call=call, mark="comment", text=f"{count} comment{'s' * (count > 1)}, no progress"))


def _waited(since_ms: float, until_ms: float, call: int) -> list[Row]:
    gap = until_ms - since_ms
    if gap < SILENCE_MS:
        return []
    return [Row(at_ms=until_ms, call=call, mark="silence", text=f"… nothing for {gap / 1000:.1f} s")]


def _cut_mark(exchange: Exchange) -> str:
    return "end" if exchange.cut_by == "done" else "deadline"


def _cut(exchange: Exchange) -> str:
    return _CUTS.get(exchange.cut_by or "", str(exchange.cut_by))


def _media(exchange: Exchange) -> str:
    return (exchange.header("content-type") or "no content type").partition(";")[0].strip()


def _text(body: bytes) -> str:
    return body.decode("utf-8", errors="replace")

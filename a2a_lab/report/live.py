"""Tells what passes a recorder, line by line while it happens: the offset, who spoke, and what was said.

The words are those of the timeline on a page, which is made from the same evidence afterwards. Contents stay out: a
part is its type, its length and a hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from a2a_lab.errors import LimitExceeded
from a2a_lab.net.keeping import Passing
from a2a_lab.net.redact import Redactor
from a2a_lab.report.told import Seal, answer_told, request_told
from a2a_lab.wire.dialects import dialect_of_request
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.frames import FrameReader, frame_reader, is_over_grpc, is_streamed
from a2a_lab.wire.http_shape import media_type
from a2a_lab.wire.messages import STREAMING
from a2a_lab.wire.spoken import grpc_method

CONSUMER, AGENT, RECORDER = "consumer", "agent", "recorder"
_ENDS = {"left": "the consumer left", "stopped": "the observation ended", "not-recorded": "the recording is full"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line. `call` numbers the exchange it belongs to."""

    at_ms: float
    call: int
    who: str
    what: str


class LiveLines:
    """Turns what passes into lines; one for each observation, since it remembers the streams that are open."""

    def __init__(self, seal: Seal | None = None) -> None:
        self._seal = seal or Seal()
        self._redactor = Redactor()
        self._streams: dict[int, FrameReader] = {}
        self._comments: dict[int, int] = {}

    def __call__(self, passing: Passing) -> list[Line]:
        """The lines of one thing that passed: none for what is no news."""
        found = {"request": self._request, "head": self._head, "chunk": self._chunk, "end": self._end}[passing.what]
        if passing.what == "request":
            self._redactor.learn([passing.exchange])  # a terminal is logged, and an agent may say it back
        told = [(who, self._redactor.text(what)) for who, what in found(passing)]
        return [Line(at_ms=passing.at_ms, call=passing.number, who=who, what=what) for who, what in told]

    def _request(self, passing: Passing) -> Iterator[tuple[str, str]]:
        exchange = passing.exchange
        place = urlsplit(self._redactor.url(exchange.url))
        target = place.path + (f"?{place.query}" if place.query else "")
        yield CONSUMER, f"{exchange.method} {target}  {request_told(exchange.request_body, self._seal)}".rstrip()

    def _head(self, passing: Passing) -> Iterator[tuple[str, str]]:
        headers = passing.exchange.response_headers
        if is_streamed(headers) and not _is_answered_once(passing.exchange):
            self._streams[passing.number] = frame_reader(headers)
            yield AGENT, f"{passing.exchange.status} a stream begins"

    def _chunk(self, passing: Passing) -> Iterator[tuple[str, str]]:
        reader = self._streams.get(passing.number)
        if reader is None:
            return
        try:
            events = reader.feed(passing.data)
        except LimitExceeded as limit:
            self._streams.pop(passing.number)
            yield RECORDER, limit.message
            return
        for event in events:
            yield AGENT, answer_told(event.data, self._seal)
        if reader.comments > self._comments.get(passing.number, 0) and not self._comments.get(passing.number):
            yield AGENT, "a comment: no progress (more of them are not shown)"
        self._comments[passing.number] = reader.comments

    def _end(self, passing: Passing) -> Iterator[tuple[str, str]]:
        exchange = passing.exchange
        is_stream = self._streams.pop(passing.number, None) is not None
        if exchange.status is not None and not is_stream:
            kind = media_type(exchange.response_headers) or "no content type"
            yield AGENT, f"{exchange.status} {kind}  {answer_told(exchange.body, self._seal)}"
        if exchange.fault or exchange.cut_by or is_stream:
            yield RECORDER, _end_told(exchange)


def _is_answered_once(exchange: Exchange) -> bool:
    """Whether an answer over gRPC, whose media type tells nothing, is one message."""
    if not is_over_grpc(exchange.request_headers):
        return False
    dialect = dialect_of_request(exchange)
    called = grpc_method(exchange.url)
    return dialect is not None and not any(dialect.names.get(op) == called for op in STREAMING)


def _end_told(exchange: Exchange) -> str:
    if exchange.cut_by:
        return _ENDS.get(exchange.cut_by, exchange.cut_by)
    if exchange.fault:
        return f"fault: {exchange.fault}"
    return "the agent closed the stream"

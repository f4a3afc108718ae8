"""Cuts the body of a streamed answer into events, whatever carried it: server-sent events, or messages of gRPC.

A gRPC stream is kept as JSON lines, one message a line (`protojson`), each a chunk with its own time. What a reader
takes is bounded alike, and the bound is named when it is passed.
"""

from __future__ import annotations

from typing import Final, Protocol

from a2a_lab.core.policy import Bounds
from a2a_lab.errors import LimitExceeded
from a2a_lab.wire.http_shape import media_type
from a2a_lab.wire.messages import Headers
from a2a_lab.wire.sse import STREAM_LIMIT, SseEvent, SseReader

EVENT_STREAM: Final = "text/event-stream"
GRPC: Final = "application/grpc"
ERROR_LINE: Final = b'{"error":'
"""How the line of a failed call begins: what its trailers say, in the place where a message would stand."""


class FrameReader(Protocol):
    """Feed it what arrives; it gives the events that are complete. `comments` and `blanks` are signs of life."""

    comments: int
    blanks: int
    events: int

    def feed(self, chunk: bytes, /) -> list[SseEvent]:
        """The events that `chunk` completes. Raises LimitExceeded; its `fields["events"]` came before the limit."""

    def close(self) -> bool:
        """Whether the stream ended inside an event."""

    @property
    def dropped(self) -> str:
        """What `close` dropped."""


class LineReader:
    """Cuts the JSON lines of a gRPC stream. gRPC has no comments, so nothing but a message is a sign of life."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._rest = b""
        self.comments = 0
        self.blanks = 0
        self.events = 0
        self.bytes = 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        self.bytes += len(chunk)
        events: list[SseEvent] = []
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for whole in lines:
            self.events += 1
            self._check("stream_bytes", self.bytes, events)
            self._check("events", self.events, events)
            self._check("event_bytes", len(whole), events)
            events.append(SseEvent(data=whole.decode(errors="replace")))
        self._check("event_bytes", len(self._rest), events)
        return events

    def close(self) -> bool:
        return bool(self._rest.strip())

    @property
    def dropped(self) -> str:
        return self._rest.decode(errors="replace")

    def _check(self, bound: str, found: int, events: list[SseEvent]) -> None:
        limit: int = getattr(self._bounds, bound)
        if found > limit:
            detail = f"the stream passed {bound} = {limit} ({found} so far); raise the bound if that is meant"
            finding = STREAM_LIMIT(detail, bound=bound, limit=limit)
            raise LimitExceeded(detail, finding=finding, bound=bound, events=tuple(events))


def is_streamed(headers: Headers) -> bool:
    """Whether the headers of an answer say that its body may be read event by event, whatever was asked."""
    return media_type(headers) in (EVENT_STREAM, GRPC)


def is_over_grpc(request_headers: Headers) -> bool:
    """Whether a request was a call over gRPC, by its headers."""
    return (media_type(request_headers) or "").startswith(GRPC)


def frame_reader(headers: Headers, bounds: Bounds | None = None) -> FrameReader:
    """The reader for a body with these headers."""
    return LineReader(bounds) if media_type(headers) == GRPC else SseReader(bounds)

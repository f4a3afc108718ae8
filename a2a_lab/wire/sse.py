"""Cuts a byte stream into server-sent events, by the grammar of the HTML standard and nothing else.

Lines end in CR, LF or CR LF wherever the network cuts them; comments are counted, since they prove that the peer
lives but are no progress (R30); an event without its closing blank line is not an event. Each byte is copied a fixed
number of times, so an event in many small pieces costs no more than in one. What a reader takes is bounded, and
the bound is named when it is passed: `event_bytes`, `events`, `stream_bytes` of Bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

from a2a_lab.core.policy import Bounds
from a2a_lab.errors import LimitExceeded
from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict

STREAM_LIMIT = FindingKind(
    slug="stream-limit",
    stage=Stage.STREAM,
    verdict=Verdict.CONFORMANCE_ERROR,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="DESIGN 9, R31",
    means="a stream passed a bound of the reader, which stopped there",
)

_BOM = b"\xef\xbb\xbf"
_LF = 0x0A
_CR = 0x0D


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One event. `data` is its lines joined by LF, possibly empty; `name` the `event:` field, empty for none.

    `is_utf8` is False where bytes had to be replaced by U+FFFD: what A2A sends is JSON, and JSON is UTF-8.
    """

    data: str
    name: str = ""
    id: str | None = None
    is_utf8: bool = True


class SseReader:
    """Feed it what arrives; it gives the events that are complete.

    `comments` and `blanks` (blocks without data) count up: signs of life. `bytes` and `events` count all that came.
    """

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._line: list[bytes] = []  # pieces of the line that is not ended yet
        self._line_bytes = 0
        self._after_cr = False  # the last byte was a CR: an LF that follows belongs to it
        self._at_start = True
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name = ""
        self._id: str | None = None
        self._in_block = False
        self.comments = 0
        self.blanks = 0
        self.events = 0
        self.bytes = 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that `chunk` completes. Raises LimitExceeded; its `fields["events"]` came before the limit."""
        self.bytes += len(chunk)
        events: list[SseEvent] = []
        try:
            self._take(chunk, events)
        except LimitExceeded as limit:
            limit.fields["events"] = tuple(events)
            raise
        return events

    def _take(self, chunk: bytes, events: list[SseEvent]) -> None:
        if self.bytes > self._bounds.stream_bytes:
            raise self._limit("stream_bytes", self._bounds.stream_bytes, f"{self.bytes} bytes so far")
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == _LF:
                chunk = chunk[1:]
        if not chunk:
            return
        last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        if last < 0:
            self._keep(chunk)
            return
        self._after_cr = last == len(chunk) - 1 and chunk[last] == _CR
        self._line.append(chunk[: last + 1])
        whole = b"".join(self._line)
        self._line = []
        self._line_bytes = 0
        self._read_lines(whole, events)
        self._keep(chunk[last + 1 :])

    def close(self) -> bool:
        """Whether the stream ended inside an event, which is then dropped, as the grammar says."""
        rest = b"".join(self._line).removeprefix(_BOM if self._at_start else b"")
        return self._in_block or (bool(rest) and not rest.startswith(b":"))

    @property
    def dropped(self) -> str:
        """What `close` dropped, for the report: it may hold the event that the peer meant to end with."""
        return b"\n".join([*self._data, *self._line]).decode(errors="replace")

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._line.append(piece)
            self._line_bytes += len(piece)
            self._check_size()

    def _read_lines(self, whole: bytes, events: list[SseEvent]) -> None:
        if self._at_start:
            self._at_start = False
            whole = whole.removeprefix(_BOM)
        for line in whole.splitlines():
            if line.startswith(b"data: "):
                self._add_data(line[6:])
            elif not line:
                if self._data:
                    events.append(self._dispatch())
                elif self._in_block:
                    self.blanks += 1
                    self._name = ""
                self._in_block = False
            else:
                self._read_field(line)

    def _read_field(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if colon and not name:
            self.comments += 1
            return
        value = value.removeprefix(b" ")
        if name == b"data":
            self._add_data(value)
        elif name == b"event":
            self._name = value.decode(errors="replace")
            self._in_block = True
        elif name == b"id":
            if b"\0" not in value:
                self._id = value.decode(errors="replace")
            self._in_block = True

    def _add_data(self, value: bytes) -> None:
        self._in_block = True
        self._data.append(value)
        self._data_bytes += len(value) + 1
        self._check_size()

    def _dispatch(self) -> SseEvent:
        self.events += 1
        if self.events > self._bounds.events:
            raise self._limit("events", self._bounds.events, "one more event")
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data.clear()
        self._data_bytes = 0
        name, self._name = self._name, ""
        try:
            return SseEvent(data=data.decode(), name=name, id=self._id)
        except UnicodeDecodeError:
            return SseEvent(data=data.decode(errors="replace"), name=name, id=self._id, is_utf8=False)

    def _check_size(self) -> None:
        size = self._data_bytes + self._line_bytes
        if size > self._bounds.event_bytes:
            raise self._limit("event_bytes", self._bounds.event_bytes, f"an event of at least {size} bytes")

    def _limit(self, bound: str, value: int, found: str) -> LimitExceeded:
        detail = f"the stream passed {bound} = {value} ({found}); raise the bound if that is meant"
        return LimitExceeded(detail, finding=STREAM_LIMIT(detail, bound=bound, limit=value), bound=bound)

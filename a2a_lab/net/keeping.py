"""Keeps a copy of what passes a recorder, within bounds, while the bytes themselves go on unread and unchanged.

The copy is what the judges read: undone gzip, chunks with their times, and a word for whoever ended the exchange. A
bound that is reached ends the copy and never the traffic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.policy import Bounds
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.unpacking import PACKED, PLAIN, Undecodable, Unpacker
from a2a_lab.wire.exchange import Chunk, Exchange
from a2a_lab.wire.frames import is_streamed
from a2a_lab.wire.har import NOT_RECORDED

MOST_BYTES = 256_000_000  # of one recording; a long session of large answers must not take the machine's memory
MOST_EXCHANGES = 20_000
LEFT = "left"
"""`cut_by` of an exchange that the watched consumer ended by going away, as far as the traffic shows."""
STOPPED = "stopped"
"""`cut_by` of an exchange that was still open when the observation ended."""
NO_HEAD = "consumer-left"
"""`fault` of an exchange that the consumer left before any answer had begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """One thing that passed, told to whoever watches while it happens. `data` are the bytes of a chunk, decoded."""

    what: Literal["request", "head", "chunk", "end"]
    number: int
    exchange: Exchange
    at_ms: float
    data: bytes = b""


Listener = Callable[[Passing], None]


@dataclass(slots=True, kw_only=True)
class Budget:
    """What one recording may still keep."""

    bytes: int = MOST_BYTES
    exchanges: int = MOST_EXCHANGES
    is_spent: bool = False

    def take(self, wanted: int) -> int:
        taken = min(wanted, self.bytes)
        self.bytes -= taken
        self.is_spent = self.is_spent or taken < wanted
        return taken


class Kept:
    """The copy of one exchange. `exchange` is in the recorder while it is being made, unless that is full."""

    def __init__(
        self, exchange: Exchange, recorder: Recorder, *, bounds: Bounds, budget: Budget, listener: Listener | None
    ) -> None:
        self.exchange = exchange
        self._recorder, self._bounds, self._budget, self._listener = recorder, bounds, budget, listener
        self._bound, self._kept = bounds.body_bytes, 0
        self._unpack: Unpacker | None = None
        self._is_stream = self._is_over = False
        self.is_readable = True
        if budget.exchanges > 0:
            budget.exchanges -= 1
            recorder.begin(exchange)
        else:
            budget.is_spent = True
            exchange.started_ms = exchange.ended_ms = recorder.now_ms()
        self.number = len(recorder.exchanges)

    @property
    def is_keeping(self) -> bool:
        """Whether there is still room for more of this exchange."""
        return not self._budget.is_spent and self._kept < self._bound

    def request(self, body: bytes, *, is_whole: bool) -> None:
        """The body of the request, as far as it was kept."""
        self.exchange.request_body = body[: self._budget.take(len(body))]
        if not is_whole:
            self._limited(f"limit: body_bytes {self._bounds.body_bytes}")
        self._tell("request")

    def head(self, status: int, headers: list[tuple[str, str]]) -> None:
        exchange = self.exchange
        exchange.status, exchange.response_headers = status, headers
        exchange.ending = "open"
        self._is_stream = is_streamed(headers)
        self._bound = self._bounds.stream_bytes if self._is_stream else self._bounds.body_bytes
        coding = (exchange.header("content-encoding") or "identity").strip().lower()
        if coding in PACKED:
            self._unpack = Unpacker(coding, self._bound)
        self.is_readable = coding in PACKED | PLAIN
        self._tell("head")

    def data(self, raw: bytes) -> None:
        """Bytes of the answer, as they came off the wire."""
        room = self._bound - self._kept
        data = self._decoded(raw)
        if len(data) > room or (self._unpack is not None and self._unpack.over):
            self._limited(f"limit: {'stream' if self._is_stream else 'body'}_bytes {self._bound}")
            data = data[: max(room, 0)]
        self._kept += len(data)
        if data and (kept := data[: self._budget.take(len(data))]):
            self.exchange.chunks.append(Chunk(offset_ms=self._recorder.now_ms(), data=kept))
        if self._budget.is_spent:
            self.exchange.cut_by = NOT_RECORDED
        self._tell("chunk", data)

    def body(self) -> bytes:
        """All that is kept of the answer so far."""
        return b"".join(chunk.data for chunk in self.exchange.chunks)

    def failed(self, fault: str) -> None:
        """The agent's side of the exchange broke."""
        exchange, self._is_over = self.exchange, True
        exchange.fault = fault
        exchange.ending = "reset" if exchange.status is not None else "close"

    def ended(self) -> None:
        """The agent has said all of its answer."""
        self.exchange.ending, self._is_over = "close", True

    def left(self, by: str) -> None:
        """Somebody on this side went away; nothing new where the answer was whole by then."""
        exchange = self.exchange
        if self._is_over:
            return
        exchange.ending, exchange.cut_by = "open", by
        if exchange.status is None:
            exchange.fault = NO_HEAD

    def close(self) -> None:
        """Make the copy what the judges read: chunks of streams keep their times, any other body is one piece."""
        exchange = self.exchange
        exchange.body = self.body()
        in_one_go = exchange.header("content-length") is not None or len(exchange.chunks) < 2
        if not (exchange.status is not None and self._is_stream) and in_one_go:
            exchange.chunks = []
        exchange.ended_ms = self._recorder.now_ms()
        self._tell("end")

    def _decoded(self, raw: bytes) -> bytes:
        if self._unpack is None:
            return raw
        try:
            return self._unpack(raw)
        except Undecodable as problem:
            self._limited(f"undecodable: {problem}")
            self._unpack, self.is_readable = None, False
            return b""

    def _limited(self, fault: str) -> None:
        self.exchange.fault = self.exchange.fault or fault

    def _tell(self, what: Literal["request", "head", "chunk", "end"], data: bytes = b"") -> None:
        if self._listener is not None:
            passing = Passing(
                what=what, number=self.number, exchange=self.exchange, at_ms=self._recorder.now_ms(), data=data
            )
            self._listener(passing)

"""Turns one recorded exchange into what is written to a socket: a head, pieces with their pauses, and an end.

What came over the wire framed or packed was recorded bare, so the recorded framing headers go and one's own are put in
their place. Knows nothing of sockets; says in a sentence what no socket can show again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal

from a2a_lab.lab.renaming import Renames, moved, put_in
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.frames import is_over_grpc
from a2a_lab.wire.http_shape import media_type

End = Literal["close", "open", "reset"]

_FRAMING: Final = frozenset(
    {
        "content-length",
        "transfer-encoding",
        "content-encoding",  # bodies are recorded unpacked
        "connection",
        "keep-alive",
        "proxy-connection",
        "trailer",
        "upgrade",
    }
)
_BODILESS: Final = (204, 304)

# What each transport fault becomes, and what is lost by it. A prefix: some faults carry a detail.
_FAULTS: Final[dict[str, tuple[End, str]]] = {
    "connect-refused": ("reset", "the connection is made before it is refused"),
    "connect-timeout": ("open", "the connection is made, and then nothing comes"),
    "dns": ("reset", "the name is known, and the connection is cut"),
    "tls": ("reset", "no TLS is spoken here; the connection is cut"),
    "proxy": ("reset", "the connection is cut"),
    "connect": ("reset", "the connection is made before it is cut"),
    "read-timeout": ("open", ""),
    "write-timeout": ("open", ""),
    "limit": ("open", "only what was read of it was recorded"),
    "undecodable": ("reset", "the connection is cut after what could be read"),
}
BEFORE_CONNECTING: Final = ("connect-refused", "dns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One write, and the seconds to wait before it."""

    wait_s: float
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """What is written for one request. `status` None: no byte at all, only the end.

    `end` "close" completes the answer, "open" leaves it and the socket open, "reset" cuts both. `is_chunked` where the
    length is not said in advance.
    """

    status: int | None
    headers: tuple[tuple[str, str], ...] = ()
    pieces: tuple[Piece, ...] = ()
    wait_s: float = 0.0
    end: End = "close"
    is_chunked: bool = False

    @property
    def told(self) -> str:
        """In a few words, for the log."""
        ends = {"close": "", "open": ", then left open", "reset": ", then cut"}[self.end]
        if self.status is None:
            return "no answer" + ends
        count = len(self.pieces)
        return f"{self.status}" + (f", {count} writes" if self.is_chunked else "") + ends


def perform(
    exchange: Exchange, renames: Renames, *, is_head: bool = False, origins: Mapping[str, str] | None = None
) -> Performance:
    """What to write for a recorded exchange; pauses are seconds as recorded.

    `origins` are those that others take the place of in what is answered; none of them in a faithful replay.
    """
    fault = exchange.fault or ""
    end, _ = _of_fault(fault) if fault else (exchange.ending, "")
    began, first = exchange.started_ms, exchange.chunks[0].offset_ms if exchange.chunks else exchange.ended_ms
    wait_s = max(0.0, first - began) / 1000
    if exchange.status is None:
        return Performance(status=None, wait_s=0.0 if end == "open" else wait_s, end=end)
    is_chunked = bool(exchange.chunks) or end != "close"
    has_body = not is_head and exchange.status >= 200 and exchange.status not in _BODILESS
    pieces = _pieces(exchange, renames, origins or {}) if has_body else ()
    return Performance(
        status=exchange.status,
        headers=tuple(_headers(exchange.response_headers, origins or {})),
        pieces=pieces,
        wait_s=0.0 if is_chunked else wait_s,
        end=end,
        is_chunked=is_chunked and has_body,
    )


def _pieces(exchange: Exchange, renames: Renames, origins: Mapping[str, str]) -> tuple[Piece, ...]:
    bodies = [chunk.data for chunk in exchange.chunks] if exchange.chunks else [exchange.body]
    bodies = moved(put_in(bodies, renames, is_stream=_is_event_stream(exchange)), origins)
    if not exchange.chunks:
        return (Piece(wait_s=0.0, data=bodies[0]),) if bodies[0] else ()
    at, pieces = exchange.started_ms, []
    for chunk, data in zip(exchange.chunks, bodies, strict=True):
        pieces.append(Piece(wait_s=max(0.0, chunk.offset_ms - at) / 1000, data=data))
        at = max(at, chunk.offset_ms)
    return tuple(pieces)


def _is_event_stream(exchange: Exchange) -> bool:
    media = media_type(exchange.response_headers)
    start = next((chunk.data for chunk in exchange.chunks if chunk.data.strip()), exchange.body).lstrip()[:1]
    return media == "text/event-stream" or (media is None and start not in (b"{", b"["))


def _headers(recorded: Sequence[tuple[str, str]], origins: Mapping[str, str]) -> list[tuple[str, str]]:
    """Recorded headers that can be sent again: not the framing, no pseudo header of HTTP/2, on one line each."""
    return [
        (name, moved([" ".join(value.splitlines()).encode()], origins)[0].decode())
        for name, value in recorded
        if name.lower() not in _FRAMING and name and not name.startswith(":") and name.isascii()
    ]


def _of_fault(fault: str) -> tuple[End, str]:
    return next((known for word, known in _FAULTS.items() if fault.startswith(word)), ("reset", ""))


def shortcoming(exchange: Exchange) -> str:
    """What of a recorded fault no socket can show again; empty where all of it can be."""
    if is_over_grpc(exchange.request_headers):
        return f"{exchange.method} {exchange.url}: recorded over gRPC; a replay speaks HTTP/1 and does not answer it"
    lost = _of_fault(exchange.fault)[1] if exchange.fault else ""
    return f"{exchange.method} {exchange.url}: recorded {exchange.fault}; {lost}" if lost else ""


def reason(status: int) -> str:
    """The reason phrase of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""

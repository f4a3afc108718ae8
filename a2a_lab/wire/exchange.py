"""One HTTP exchange as evidence: what was asked, what came back and when, or which transport fault came instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import parse_qsl

RENEWED: Final = "renewed"
"""The purpose of a request that was answered with 401 and sent again, the same, with a renewed credential."""

VERSION_HEADER: Final = "A2A-Version"

Ending = Literal["close", "open", "reset"]
"""How a body ended: closed by the peer, left open (by whoever stopped reading), or cut by the transport."""


@dataclass(slots=True, kw_only=True)
class Chunk:
    """Bytes of a streamed body, with the milliseconds since the cell began."""

    offset_ms: float
    data: bytes


@dataclass(slots=True, kw_only=True)
class GrpcBytes:
    """What a call over gRPC was on the wire, beside its JSON: each message as bytes, and which headers were trailers.

    Bytes are left out (None, an empty list) where what the JSON holds had to be hidden.
    """

    request: bytes | None = None
    messages: list[bytes] = field(default_factory=list)
    trailers: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and its answer. Offsets are milliseconds since the cell began.

    `status` is None where no answer came; `fault` then names the transport fault (connect-refused, read-timeout,
    reset-after-request, tls, dns, limit). `cut_by` says which clock or client ended the wait: None (the peer),
    "transport-timeout", "cap", "silence", "hang-limit", "total-limit", "done" (the reader had what it needed), "left"
    (a consumer that was only watched went away), "stopped" (the observation ended), "not-recorded" (the copy is cut).
    `purpose` is what the client sent it for: card, probe, rehearsal, commit, get, cancel, subscribe, or RENEWED.
    Streamed bodies keep `chunks`; `body` is then their concatenation. Over gRPC both bodies are ProtoJSON, a message a
    line, the trailers stand behind the response headers, and `grpc` holds the bytes.
    """

    method: str
    url: str
    request_headers: list[tuple[str, str]] = field(default_factory=list)
    request_body: bytes = b""
    started_ms: float = 0.0
    ended_ms: float = 0.0
    status: int | None = None
    response_headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    chunks: list[Chunk] = field(default_factory=list)
    ending: Ending = "close"
    fault: str | None = None
    cut_by: str | None = None
    purpose: str = ""
    grpc: GrpcBytes | None = None

    def header(self, name: str) -> str | None:
        """A response header by name, case-insensitively; the first of several."""
        return first_header(self.response_headers, name)


def first_header(headers: list[tuple[str, str]] | Mapping[str, str], name: str) -> str | None:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return next((value for key, value in pairs if key.lower() == name.lower()), None)


def named_version(headers: list[tuple[str, str]] | Mapping[str, str], url: str) -> str | None:
    """The version of A2A that a request names: by header, or by a parameter of its URL (A2A 1.0.1 §3.6.1 MAY).

    "" where it names none, None where the recording holds no headers and nobody can tell.
    """
    said = first_header(headers, VERSION_HEADER) or dict(parse_qsl(url.partition("?")[2])).get(VERSION_HEADER)
    return said or ("" if headers else None)

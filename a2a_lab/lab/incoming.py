"""Reads HTTP/1.1 requests from a connection, within bounds: just as much of HTTP as clients of agents use."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import urlsplit

from a2a_lab.lab.repertoire import Asked

HEAD_BYTES: Final = 64_000
BODY_BYTES: Final = 64_000_000


class BadRequest(Exception):
    """What came is no HTTP request, or passes a bound."""


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Asked | None:
    """The next request of a connection; None where the client has left. Raises BadRequest."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as fault:
        raise BadRequest(f"the head of the request passes {HEAD_BYTES} bytes") from fault
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1"):
        raise BadRequest(f"{first[:60]!r} is no HTTP/1.1 request")
    headers = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    named = {name.lower(): value for name, value in headers}
    if named.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    method, target, _ = words
    place = named.get("host", "")
    if "://" in target:  # as clients of a proxy write it
        parts = urlsplit(target)
        place, target = parts.netloc, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Asked(method=method.upper(), place=place, target=target, headers=headers, body=await _body(reader, named))


async def _body(reader: asyncio.StreamReader, named: dict[str, str]) -> bytes:
    if "chunked" in named.get("transfer-encoding", "").lower():
        return await _chunked(reader)
    length = named.get("content-length", "0")
    if not length.isdecimal() or int(length) > BODY_BYTES:
        raise BadRequest(f"Content-Length {length[:20]!r}: expected a number up to {BODY_BYTES}")
    return await reader.readexactly(int(length))


async def _chunked(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    total = 0
    while True:
        line = (await reader.readuntil(b"\r\n")).partition(b";")[0].strip()
        try:
            size = int(line, 16)
        except ValueError as fault:
            raise BadRequest(f"chunk size {line[:20]!r} is no number") from fault
        total += size
        if size < 0 or total > BODY_BYTES:
            raise BadRequest(f"the body passes {BODY_BYTES} bytes")
        if size == 0:
            while (await reader.readuntil(b"\r\n")).strip():
                pass  # trailers
            return b"".join(parts)
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)

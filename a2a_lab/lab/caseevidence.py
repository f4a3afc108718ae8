"""Turns what a case writes down of HTTP into exchanges: requests with their answers, and one stream in frames.

A case has no clock but the pauses of its stream; exchanges follow one another a millisecond apart, and what came after
a stream that was left open lies beyond the last of its limits. A frame that repeats a text is kept as references to one
block, so that a case of a few bytes cannot ask for gigabytes.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

from a2a_lab.core.policy import Bounds, Clocks
from a2a_lab.vendors.tables import Table
from a2a_lab.wire.exchange import Chunk, Ending, Exchange, first_header

_BLOCK: Final = 65_536  # bytes of a repeated text that are held at once
STREAM_URL: Final = "https://agent.example.test/rpc"  # where the book's agents are called, for a stream without a URL


def read_exchange(table: Table, *, at_ms: float, bounds: Bounds) -> Exchange:
    """One entry of `exchanges`. Raises Misuse that names the member.

    A case made from a recording says more than one made by hand: `at_ms` and `took_ms`, `purpose` and `cut_by` as a HAR
    file of the lab has them, and of a streamed answer its `frames` and `then`, as `stream` has them.
    """
    request, response = Table(table.take("request"), f"{table.where}.request"), table.take("response")
    table.take("label")  # for people
    began = table.number("at_ms", at_ms)
    exchange = Exchange(
        method=request.text("method").upper(),
        url=request.text("url"),
        request_headers=headers(request),
        request_body=body(request, bounds),
        started_ms=began,
        ended_ms=began + table.number("took_ms", 1),
        purpose=table.text("purpose", ""),
        cut_by=table.text("cut_by") if "cut_by" in table else None,
    )
    request.done()
    table.done()
    answer = Table(response, f"{table.where}.response")
    if "fault" in answer:
        exchange.fault = _fault(answer)
        exchange.ending = "reset" if exchange.fault.startswith("reset") else "open"
    if "status" in answer:
        exchange.status = answer.integer("status", least=100)
        exchange.response_headers = headers(answer)
        exchange.body = _unpacked(body(answer, bounds), exchange.response_headers, bounds)
        if "then" in answer:
            exchange.ending = _then(answer)
        if "frames" in answer:
            _take_frames(answer, exchange, bounds)
    elif exchange.fault is None:
        answer.refuse("status", "an HTTP status, or a fault where no answer came")
    answer.done()
    return exchange


def read_stream(table: Table, *, at_ms: float, url: str, bounds: Bounds) -> Exchange:
    """The stream of a case; its frames are the writes of the answer's body."""
    answer = Table(table.take("response"), f"{table.where}.response")
    sent = _sent(table, url, bounds)
    exchange = Exchange(
        method=sent.method,
        url=sent.url,
        request_headers=sent.request_headers,
        request_body=sent.request_body,
        started_ms=at_ms,
        status=None if "fault" in answer else answer.integer("status", 200, least=100),
        response_headers=headers(answer),
        ended_ms=at_ms,
        ending=_then(table),
        fault=_fault(answer) if "fault" in answer else None,
        purpose=table.text("purpose", ""),
    )
    answer.done()
    _take_frames(table, exchange, bounds)
    return exchange


def _then(table: Table) -> Ending:
    word = table.text("then", "close", one_of=("close", "open", "reset"))
    return word  # type: ignore[return-value]  # one of the three words


def _take_frames(table: Table, exchange: Exchange, bounds: Bounds) -> None:
    """The writes of a streamed answer, each after its pause; one that wrote nothing keeps its time all the same."""
    now, room = exchange.started_ms, bounds.stream_bytes + _BLOCK
    for frame in table.tables("frames"):
        now += frame.number("after_ms", 0)
        for piece in _pieces(frame, room):
            exchange.chunks.append(Chunk(offset_ms=now, data=piece))
            room -= len(piece)
        frame.done()
    exchange.ended_ms = max(exchange.ended_ms, now)
    if not exchange.chunks:
        exchange.chunks.append(Chunk(offset_ms=now, data=b""))


def _sent(table: Table, url: str, bounds: Bounds) -> Exchange:
    """The request of a stream: the JSON-RPC body alone, or an HTTP request as in `exchanges`."""
    written = table.take("request")
    if not isinstance(written, Mapping) or "url" not in written:
        return Exchange(method="POST", url=url, request_body=_written(written))
    request = Table(written, f"{table.where}.request")
    sent = Exchange(
        method=request.text("method", "POST").upper(),
        url=request.text("url"),
        request_headers=headers(request),
        request_body=body(request, bounds),
    )
    request.done()
    return sent


def _fault(answer: Table) -> str:
    """The transport fault in the lab's spelling, which has hyphens."""
    return answer.text("fault").strip().lower().replace(" ", "-").replace("_", "-")


def headers(table: Table) -> list[tuple[str, str]]:
    """Headers as an object, or as a list of pairs where a name comes twice."""
    return _pairs(table, "headers")


def _pairs(table: Table, key: str) -> list[tuple[str, str]]:
    value = table.take(key, {})
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        table.refuse(key, "an object of header names and values")
    return [(str(name), str(text)) for name, text in pairs]


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(one, str) for one in pair)


def body(table: Table, bounds: Bounds) -> bytes:
    """A body written as `json`, `text` or `b64`; at most one of them."""
    named = [name for name in ("json", "text", "b64") if name in table]
    if len(named) > 1:
        table.refuse(named[1], f"allowed beside {named[0]}: a body is written once")
    if not named:
        return b""
    if named == ["json"]:
        return _written(table.take("json"))
    if named == ["text"]:
        return table.text("text").encode("utf-8", "surrogatepass")
    return _decoded(table, "b64")


def _decoded(table: Table, key: str) -> bytes:
    try:
        return base64.b64decode(table.text(key), validate=True)
    except (binascii.Error, ValueError):
        table.refuse(key, "base64")


def _written(value: Any) -> bytes:
    """JSON as a peer might have written it; escapes keep what is no Unicode, so that the strict reader sees it."""
    return json.dumps(value, separators=(",", ":")).encode()


def _pieces(frame: Table, room: int) -> list[bytes]:
    """What a frame writes, in pieces; a repeated text up to what any reader would take."""
    if "b64" in frame:
        return [_decoded(frame, "b64")]
    if "text" in frame:
        return [frame.text("text").encode("utf-8", "surrogatepass")]
    unit, count = frame.text("repeat").encode("utf-8", "surrogatepass"), frame.integer("count")
    if not unit:
        return []
    block = unit * min(max(1, _BLOCK // len(unit)), count)
    whole = min(count * len(unit), max(0, room))
    full, rest = divmod(whole, max(1, len(block)))
    return [block] * full + ([block[:rest]] if rest else [])


def _unpacked(data: bytes, pairs: list[tuple[str, str]], bounds: Bounds) -> bytes:
    """The body without its content coding, where the case holds the bytes as they travelled; bounded."""
    coding = (first_header(pairs, "Content-Encoding") or "").strip().lower()
    if coding not in ("gzip", "x-gzip") or not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return zlib.decompressobj(31).decompress(data, bounds.body_bytes)
    except zlib.error:
        return data


def beyond(exchange: Exchange, clocks: Clocks) -> float:
    """When anything later than this stream can have happened: after its end, or after every limit if it stays open."""
    waited = clocks.total_s + clocks.close_s + clocks.hang_s if exchange.ending == "open" else 0.0
    return exchange.ended_ms + 1 + waited * 1000

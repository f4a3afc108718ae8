"""Exchanges as HAR 1.2 and back. Mapping only: whoever stores the document redacts it first (`net.evidence`).

What HAR has no member for stands in members that begin with an underscore, as the format allows: `_offset_ms`,
`_purpose`, `_fault`, `_cut_by`, `_ending`, `_chunks` (`{offset_ms, text}`, or `b64` where a chunk splits a character)
and, of calls over gRPC, `_grpc` (the bytes of each message in base64, and which headers were trailers). Files open in
any HAR viewer; files of browsers and proxies, which have none of these, are read too.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from a2a_lab.errors import RecordFault
from a2a_lab.wire.exchange import Chunk, Ending, Exchange, GrpcBytes, first_header

Har = dict[str, Any]

NOT_RECORDED: Final = "not-recorded"
"""`cut_by` of an exchange whose body the recorder left out, as browsers do with streams and evicted bodies."""


def to_har(exchanges: Sequence[Exchange], *, started: datetime, tool: str, comment: str = "") -> Har:
    """A HAR 1.2 document of the exchanges; `started` is the wall-clock time of offset 0."""
    name, _, version = tool.partition(" ")
    log: Har = {
        "version": "1.2",
        "creator": {"name": name, "version": version},
        "entries": [_entry(exchange, started) for exchange in exchanges],
    }
    return {"log": log | ({"comment": comment} if comment else {})}


def from_har(document: Any) -> list[Exchange]:
    """The exchanges of a HAR document, in its order. Raises RecordFault where it is no HAR; names the entry."""
    log = document.get("log") if isinstance(document, Mapping) else None
    entries = log.get("entries") if isinstance(log, Mapping) else None
    if not isinstance(entries, list):
        raise RecordFault(
            "this is no HAR file: log.entries is missing; expected the export of a browser, proxy or a2a-lab"
        )
    begin: datetime | None = None
    exchanges = []
    for number, entry in enumerate(entries):
        try:
            at = _time(entry.get("startedDateTime"))
            begin = begin or at
            exchanges.append(_exchange(entry, 0.0 if not at or not begin else (at - begin).total_seconds() * 1000))
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise RecordFault(
                f"HAR entry {number} cannot be read: {type(problem).__name__}: {problem}; is the file cut or edited?"
            ) from problem
    return exchanges


def _entry(exchange: Exchange, started: datetime) -> Har:
    took = max(0.0, exchange.ended_ms - exchange.started_ms)
    request: Har = {
        "method": exchange.method,
        "url": exchange.url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(exchange.request_headers),
        "queryString": _pairs(parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": len(exchange.request_body),
    }
    if exchange.request_body:
        mime = first_header(exchange.request_headers, "content-type") or ""
        request["postData"] = {"mimeType": mime} | _text_or_base64(exchange.request_body)
    content: Har = {"size": len(exchange.body), "mimeType": exchange.header("content-type") or ""}
    response: Har = {
        "status": exchange.status or 0,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(exchange.response_headers),
        "content": content | (_text_or_base64(exchange.body) if exchange.body else {}),
        "redirectURL": exchange.header("location") or "",
        "headersSize": -1,
        "bodySize": len(exchange.body),
    }
    entry: Har = {
        "startedDateTime": (started + timedelta(milliseconds=exchange.started_ms)).isoformat(timespec="milliseconds"),
        "time": round(took, 3),
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": round(took, 3), "receive": 0},
        "_offset_ms": round(exchange.started_ms, 3),
        "_purpose": exchange.purpose,
        "_ending": exchange.ending,
    }
    if exchange.fault:
        entry["_fault"] = exchange.fault
    if exchange.cut_by:
        entry["_cut_by"] = exchange.cut_by
    if exchange.chunks:
        entry["_chunks"] = [
            {"offset_ms": round(chunk.offset_ms, 3)} | _text_or_base64(chunk.data, name="b64")
            for chunk in exchange.chunks
        ]
    if exchange.grpc is not None:
        entry["request"]["httpVersion"] = entry["response"]["httpVersion"] = "HTTP/2"
        entry["_grpc"] = _grpc(exchange.grpc)
    return entry


def _grpc(said: GrpcBytes) -> Har:
    known = {} if said.request is None else {"request": base64.b64encode(said.request).decode("ascii")}
    messages = [base64.b64encode(one).decode("ascii") for one in said.messages]
    return {**known, "messages": messages, "trailers": said.trailers}


def _read_grpc(said: Any) -> GrpcBytes | None:
    if said is None:
        return None
    request = said.get("request")
    return GrpcBytes(
        request=None if request is None else base64.b64decode(request, validate=True),
        messages=[base64.b64decode(one, validate=True) for one in said.get("messages") or []],
        trailers=[str(name) for name in said.get("trailers") or []],
    )


def _exchange(entry: Mapping[str, Any], offset_ms: float) -> Exchange:
    request, response = entry["request"], entry["response"]
    start = float(entry.get("_offset_ms", offset_ms))
    content = response.get("content") or {}
    chunks = [
        Chunk(offset_ms=float(chunk["offset_ms"]), data=_bytes(chunk, base64_in="b64"))
        for chunk in entry.get("_chunks") or []
    ]
    body = b"".join(chunk.data for chunk in chunks) if chunks else _bytes(content)
    status = int(response.get("status") or 0) or None
    is_left_out = status is not None and not chunks and _is_left_out(entry, response, content)
    return Exchange(
        method=str(request["method"]),
        url=str(request["url"]),
        request_headers=_headers(request.get("headers")),
        request_body=_bytes(request.get("postData") or {}),
        started_ms=start,
        ended_ms=start + max(0.0, float(entry.get("time") or 0.0)),
        status=status,
        response_headers=_headers(response.get("headers")),
        body=body,
        chunks=chunks,
        ending="open" if is_left_out else _ending(entry),
        fault=_word(entry, "_fault") or (None if status else _fault(entry, response)),
        cut_by=NOT_RECORDED if is_left_out else _word(entry, "_cut_by"),
        purpose=str(entry.get("_purpose", "")),
        grpc=_read_grpc(entry.get("_grpc")),
    )


# What browsers and proxies write for a request that had no answer, and the word that the lab has for it.
_FAULTS: Final = (
    ("refused", "connect-refused"),
    ("name_not_resolved", "dns"),
    ("name or service", "dns"),
    ("getaddrinfo", "dns"),
    ("cert", "tls"),
    ("ssl", "tls"),
    ("tls", "tls"),
    ("connection_timed_out", "connect-timeout"),
    ("timed out", "read-timeout"),
    ("timed_out", "read-timeout"),
    ("timeout", "read-timeout"),
    ("reset", "reset-after-request"),
    ("disconnect", "reset-after-request"),
    ("empty_response", "reset-after-request"),
    ("closed", "reset-after-request"),
)


def _fault(entry: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    """The transport fault of a request that had no answer, in the lab's words where the recorder's can be read."""
    said = str(response.get("_error") or entry.get("_error") or "").lower()
    return next((word for text, word in _FAULTS if text in said), "no-answer")


def _ending(entry: Mapping[str, Any]) -> Ending:
    said = entry.get("_ending", "close")
    if said not in ("close", "open", "reset"):
        raise ValueError(f"_ending is {str(said)[:40]!r}, expected close, open or reset")
    return cast(Ending, said)


def _word(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is {str(value)[:40]!r}, expected a word")
    return value


def _is_left_out(entry: Mapping[str, Any], response: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether there was a body that a foreign recorder did not keep; our own files say how each body ended."""
    if "_ending" in entry or content.get("text") is not None:
        return False
    sizes = [int(size or 0) for size in (content.get("size"), response.get("bodySize"))]
    return max(sizes) > 0 or str(content.get("mimeType") or "").lower().startswith("text/event-stream")


def _text_or_base64(data: bytes, *, name: str | None = None) -> Har:
    """UTF-8 as `text`; anything else as base64, in HAR's own way or, for chunks, under `name`."""
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        encoded = base64.b64encode(data).decode("ascii")
        return {name: encoded} if name else {"text": encoded, "encoding": "base64"}


def _bytes(holder: Mapping[str, Any], *, base64_in: str = "") -> bytes:
    try:
        if base64_in and base64_in in holder:
            return base64.b64decode(holder[base64_in], validate=True)
        text = holder.get("text") or ""
        return (
            base64.b64decode(text, validate=True) if holder.get("encoding") == "base64" else str(text).encode("utf-8")
        )
    except (binascii.Error, UnicodeEncodeError) as problem:
        raise ValueError(f"a body cannot be decoded: {problem}") from problem


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[Har]:
    return [{"name": name, "value": value} for name, value in pairs]


def _headers(headers: Any) -> list[tuple[str, str]]:
    return [(str(header["name"]), str(header["value"])) for header in headers or []]


def _time(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")) if text else None
    except ValueError:
        return None

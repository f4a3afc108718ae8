"""Hides what people and agents wrote in parts, for evidence that leaves the house: type, length and a keyed hash (R38).

What a judge concludes from stays: media types, ids, states, errors and metadata, the modes that an agent's words name,
and whether base64 can be decoded. Every byte outside of parts stays, malformed or not.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from a2a_lab.core.media import parse_media_type
from a2a_lab.core.named_modes import modes_in_text
from a2a_lab.lab.jsontext import Scalar, exchanged, read, written
from a2a_lab.wire.exchange import Chunk, Exchange
from a2a_lab.wire.frames import is_over_grpc
from a2a_lab.wire.http_shape import media_type

_BYTES: Final = ("raw", "bytes", "fileWithBytes", "file_with_bytes")
_URLS: Final = ("url", "uri", "fileWithUri", "file_with_uri")
_TYPES: Final = ("application", "audio", "font", "image", "message", "model", "multipart", "text", "video")


class Mask:
    """Masks with one key: equal content is seen to be equal, and nothing can be looked up from a hash."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(16)

    def exchange(self, exchange: Exchange) -> Exchange:
        """A copy without the content of its parts."""
        if exchange.purpose.startswith("card") or exchange.purpose == "jku":
            return exchange
        if is_over_grpc(exchange.request_headers):
            return self._over_grpc(exchange)
        is_stream = media_type(exchange.response_headers) == "text/event-stream"
        chunks = exchange.chunks
        bodies = [chunk.data for chunk in chunks] or [exchange.body]
        bodies = exchanged(bodies, self._other, is_stream=is_stream)
        if chunks:
            chunks = [Chunk(offset_ms=old.offset_ms, data=new) for old, new in zip(chunks, bodies, strict=True)]
        return replace(
            exchange,
            request_body=exchanged([exchange.request_body], self._other)[0],
            body=b"".join(bodies),
            chunks=chunks,
        )

    def _over_grpc(self, exchange: Exchange) -> Exchange:
        """Of gRPC each line is a message; bytes cannot be masked, and stay here."""

        def masked(body: bytes) -> bytes:
            return b"".join(exchanged([one], self._other)[0] for one in body.splitlines(keepends=True))

        return replace(
            exchange,
            request_body=masked(exchange.request_body),
            body=masked(exchange.body),
            chunks=[Chunk(offset_ms=one.offset_ms, data=masked(one.data)) for one in exchange.chunks],
            grpc=replace(exchange.grpc, request=None, messages=[]) if exchange.grpc is not None else None,
        )

    def _other(self, scalar: Scalar) -> bytes | None:
        """What stands in place of a value in a part; None for a value that stays."""
        inner, name = scalar.in_part, read(scalar.key or b"")
        how: Callable[[Any], Any] | None = None
        if inner == b"":
            how = self._text if name in ("text", "data") else self._member(name)
        elif inner == b'"file"':
            how = self._member(name)
        elif inner == b'"data"':
            how = self._datum
        if how is None:
            return None
        value = scalar.value
        new = how(value)
        return None if new == value and type(new) is type(value) else written(new)

    def _member(self, name: Any) -> Callable[[Any], Any] | None:
        if name in _BYTES:
            return self._raw
        if name in _URLS:
            return self._url
        return self._name if name in ("filename", "name") else None

    # -- by kind

    def _told(self, kind: str, data: bytes) -> str:
        """Without a slash, since a media type in it would be taken for one that is asked for."""
        return f"[{kind}, {len(data)} bytes, #{hashlib.blake2s(data, key=self._key, digest_size=4).hexdigest()}]"

    def _text(self, value: Any) -> Any:
        if not isinstance(value, str):
            return self._datum(value)
        hidden, modes = self._told("text", value.encode("utf-8", "replace")), modes_in_text(value)
        return f"{hidden}; send {' or '.join(modes)}" if modes else hidden

    def _datum(self, value: Any) -> Any:
        """A value inside of data. Media types stay: an agent lists there what it accepts."""
        if isinstance(value, str):
            is_type = value.partition("/")[0].lower() in _TYPES and parse_media_type(value) is not None
            return value if is_type else self._told("text", value.encode("utf-8", "replace"))
        return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value

    def _raw(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return self._told("undecodable", value.encode("utf-8", "replace"))  # and still no base64
        return base64.b64encode(self._told("raw", data).encode()).decode()

    def _url(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            parts = urlsplit(value)
        except ValueError:
            return self._told("url", value.encode("utf-8", "replace"))
        told = hashlib.blake2s(value.encode("utf-8", "replace"), key=self._key, digest_size=4).hexdigest()
        return f"{parts.scheme or 'https'}://{(parts.hostname or 'masked')}/masked-{told}"

    def _name(self, value: Any) -> Any:
        return self._told("name", value.encode("utf-8", "replace")) if isinstance(value, str) else value

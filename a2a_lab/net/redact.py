"""Replaces secrets in evidence before anything is stored (R38).

Always: credentials in headers, cookies and query keys, tokens of push notification settings, presigned URLs, and
every value that the operator handed over as a secret, wherever it turns up. Card bodies are never touched: a
digest must be recomputable from the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from a2a_lab.wire.exchange import Chunk, Exchange

PLACEHOLDER = "REDACTED"

_HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "set-cookie",
        "x-api-key",
        "api-key",
        "apikey",
        "x-auth-token",
        "x-access-token",
        "x-amz-security-token",
        "x-goog-api-key",
        "ocp-apim-subscription-key",
        "x-csrf-token",
    }
)
_QUERY_KEYS = re.compile(
    r"^(api[-_]?key|key|token|access[-_]?token|id[-_]?token|refresh[-_]?token|auth|authorization|password|secret"
    r"|client[-_]?secret|code|sig|signature|x-amz-(signature|credential|security-token)|x-goog-(signature|credential)"
    r"|se|sp|sv|sr)$",
    re.IGNORECASE,
)
# Members of JSON bodies that hold a credential by the specification (push settings) or by common practice.
_MEMBERS = re.compile(
    rb'("(?:token|credentials|password|client_secret|clientSecret|access_token|refresh_token|api_key|apiKey)"'
    rb'\s*:\s*)"(?:[^"\\]|\\.)*"'
)
_PRESIGNED = re.compile(
    rb"([?&](?:X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|X-Goog-Signature|X-Goog-Credential|sig|Signature)=)"
    rb'[^&"\\\s]+'
)


class Redactor:
    """Knows the operator's secrets of one target: names of headers and query keys, and the values themselves."""

    def __init__(self, *, headers: Iterable[str] = (), values: Iterable[str] = ()) -> None:
        self._headers = _HEADERS | {name.lower() for name in headers}
        # A value of a few characters would blank half of every body; such a secret protects nothing anyway.
        self._values = sorted({value for value in values if len(value) >= 4}, key=len, reverse=True)

    def exchange(self, exchange: Exchange) -> Exchange:
        """A copy that is fit to be stored."""
        keep_body = exchange.purpose.startswith("card")
        chunks = exchange.chunks
        body = exchange.body if keep_body else self.data(exchange.body)
        if chunks and body != exchange.body:
            chunks = self._chunks(chunks)
            body = b"".join(chunk.data for chunk in chunks)
        return replace(
            exchange,
            url=self.url(exchange.url),
            request_headers=self._pairs(exchange.request_headers),
            request_body=self.data(exchange.request_body),
            response_headers=self._pairs(exchange.response_headers),
            body=body,
            chunks=chunks,
        )

    def url(self, url: str) -> str:
        """The URL without user information and without values of query keys that name a credential."""
        url = self.text(url)
        parts = urlsplit(url)
        netloc = parts.netloc
        if "@" in netloc:
            netloc = f"{PLACEHOLDER}@{netloc.rpartition('@')[2]}"
        pairs = [
            f"{name}{equals}{PLACEHOLDER if equals and _QUERY_KEYS.match(name) else value}"
            for name, equals, value in (pair.partition("=") for pair in parts.query.split("&"))
        ]
        return urlunsplit((parts.scheme, netloc, parts.path, "&".join(pairs), parts.fragment))

    def text(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, PLACEHOLDER)
        return text

    def data(self, data: bytes) -> bytes:
        for value in self._values:
            data = data.replace(value.encode(), PLACEHOLDER.encode())
        marker = PLACEHOLDER.encode()
        data = _MEMBERS.sub(lambda found: found.group(1) + b'"' + marker + b'"', data)
        return _PRESIGNED.sub(lambda found: found.group(1) + marker, data)

    def _pairs(self, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [
            (name, PLACEHOLDER if name.lower() in self._headers else self._header_value(name, value))
            for name, value in pairs
        ]

    def _header_value(self, name: str, value: str) -> str:
        return self.url(value) if name.lower() in ("location", "referer") else self.text(value)

    def _chunks(self, chunks: list[Chunk]) -> list[Chunk]:
        """Chunks redacted one by one; as a whole, at the first chunk's time, where a secret is split between two."""
        parts = [self.data(chunk.data) for chunk in chunks]
        whole = self.data(b"".join(chunk.data for chunk in chunks))
        if b"".join(parts) != whole:
            parts = [whole] + [b""] * (len(chunks) - 1)
        return [Chunk(offset_ms=chunk.offset_ms, data=part) for chunk, part in zip(chunks, parts, strict=True)]

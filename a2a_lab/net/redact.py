"""Replaces secrets before anything is stored, shown or handed out (R38): the one place that knows how.

Always: credentials in headers, cookies and query keys, tokens of push notification settings, presigned URLs, and
every value that the operator handed over as a secret, or that travelled as one, wherever and however it is spelled.
The body of a card is never touched, since a digest must be recomputable from the evidence; a login page that came in
its place is no card.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from a2a_lab.core.resolution import LEGACY_WELL_KNOWN, WELL_KNOWN
from a2a_lab.net.spellings import as_bytes, in_header, in_url, packed, spellings
from a2a_lab.verdicts import Finding
from a2a_lab.wire.cards import read_card
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


_IN_PAGES = re.compile(
    rb"""(\bvalue\s*=\s*["'])[^"']*|([?&;](?:code|state|token|nonce|session\w*|SAML\w+|RelayState)=)[^&"'<>\s]+""",
    re.IGNORECASE,
)
_PAGE_BYTES: Final = 16_384  # of what came in place of a card: enough to see whose login page it is
_LEAST: Final = 4  # a shorter value would blank half of every body; such a secret protects nothing anyway
_LEAST_LEARNED: Final = 8  # of a value that only travelled like a secret
_BEGINNING: Final = 16  # characters by which a secret that was cut is known
_MOST_LEARNED: Final = 50  # a client that has a new token for each of ten thousand calls must not cost hours


class Redactor:
    """Knows the operator's secrets of one target: names of headers and query keys, and the values themselves.

    `urls` are those that the operator typed: what stands in them like a credential is one. Values that turn up later,
    such as a renewed token, are given to `know`.
    """

    def __init__(self, *, headers: Iterable[str] = (), values: Iterable[str] = (), urls: Iterable[str] = ()) -> None:
        self._headers = _HEADERS | {name.lower() for name in headers}
        self._values: set[str] = set()
        self._learned = 0
        self._forms: dict[str, str] = {}  # each with what takes its place, the longest first
        self.know(values)
        for url in urls:
            self.know(in_url(url, _QUERY_KEYS))

    def know(self, values: Iterable[str], *, least: int = _LEAST) -> None:
        """More secrets, from now on."""
        new = {value for value in values if len(value) >= least} - self._values
        if new:
            self._values |= new
            forms = {form: PLACEHOLDER for value in new for form in spellings(value)}
            forms |= {form: _in_base64(form) for value in new for form in packed(value)}
            self._forms = dict(sorted((forms | self._forms).items(), key=lambda one: len(one[0]), reverse=True))

    def hide(self, headers: Iterable[str]) -> None:
        """More headers whose values are secrets."""
        self._headers |= {name.lower() for name in headers}

    def learn(self, exchanges: Iterable[Exchange]) -> None:
        """Take what travelled as a credential for one: a client that was only watched told nobody what its are.

        The first of them: each costs a search of every body. Where it stands as a credential any of them is replaced.
        """
        for exchange in exchanges:
            found = set(in_url(exchange.url, _QUERY_KEYS))
            for name, value in exchange.request_headers:
                if name.lower() in self._headers:
                    found |= set(in_header(name, value))
            new = {value for value in found if len(value) >= _LEAST_LEARNED} - self._values
            if new and self._learned < _MOST_LEARNED:
                self._learned += len(new)
                self.know(new)

    def exchange(self, exchange: Exchange) -> Exchange:
        """A copy that is fit to be stored."""
        chunks = exchange.chunks
        body = self._body(exchange)
        if chunks and body != exchange.body:
            chunks = self._chunks(chunks)
            body = b"".join(chunk.data for chunk in chunks)
        request_body, grpc = self.data(exchange.request_body), exchange.grpc
        if grpc is not None:
            # Bytes cannot be redacted as text can: where they or their text held a secret, they are not stored.
            is_clean = body == exchange.body and all(self.data(one) == one for one in grpc.messages)
            asked = grpc.request if request_body == exchange.request_body else None
            grpc = replace(
                grpc,
                request=asked if asked is not None and self.data(asked) == asked else None,
                messages=grpc.messages if is_clean else [],
            )
        return replace(
            exchange,
            grpc=grpc,
            url=self.url(exchange.url),
            request_headers=self._pairs(exchange.request_headers),
            request_body=request_body,
            response_headers=self._pairs(exchange.response_headers),
            body=body,
            chunks=chunks,
            fault=exchange.fault and self.text(exchange.fault),  # a library quotes there what it could not read
        )

    def url(self, url: str) -> str:
        """The URL without user information and without values of query keys that name a credential."""
        url = self.text(url)
        try:
            parts = urlsplit(url)
        except ValueError:
            return url
        netloc = parts.netloc
        if "@" in netloc:
            netloc = f"{PLACEHOLDER}@{netloc.rpartition('@')[2]}"
        pairs = [
            f"{name}{equals}{PLACEHOLDER if equals and _QUERY_KEYS.match(name) else value}"
            for name, equals, value in (pair.partition("=") for pair in parts.query.split("&"))
        ]
        return urlunsplit((parts.scheme, netloc, parts.path, "&".join(pairs), parts.fragment))

    def text(self, text: str) -> str:
        """The text without secrets, nor the beginnings of any: a sentence that quotes a peer cuts what is long."""
        for form, stand_in in self._forms.items():
            text = text.replace(form, stand_in)
            if len(form) > _BEGINNING and form[:_BEGINNING] in text:
                text = _without_beginnings(text, form)
        return text

    def data(self, data: bytes) -> bytes:
        marker = PLACEHOLDER.encode()
        for form, stand_in in self._forms.items():
            data = data.replace(as_bytes(form), stand_in.encode())
        data = _MEMBERS.sub(lambda found: found.group(1) + b'"' + marker + b'"', data)
        return _PRESIGNED.sub(lambda found: found.group(1) + marker, data)

    def value(self, value: Any) -> Any:
        """A copy of a JSON value without secrets in its texts. Names of members stay."""
        if not self._forms:
            return value
        if isinstance(value, str):
            # A word of the lab, such as a verdict, is a str of its own type and nobody's secret.
            return self.text(value) if type(value) is str else value
        if isinstance(value, Mapping):
            return {name: self.value(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.value(member) for member in value)
        return value

    def finding(self, finding: Finding) -> Finding:
        """A copy without what a peer echoed of ours."""
        return replace(
            finding,
            detail=self.text(finding.detail),
            values=self.value(dict(finding.values)),
            other=self.value(finding.other),
            at=self.value(finding.at),
        )

    def _body(self, exchange: Exchange) -> bytes:
        if not _is_of_card(exchange):
            return self.data(exchange.body)
        if read_card(exchange.body).card is not None:
            return exchange.body
        if exchange.body.lstrip()[:1] in (b"{", b"["):
            return self.data(exchange.body)
        page = _IN_PAGES.sub(
            lambda found: (found.group(1) or found.group(2)) + PLACEHOLDER.encode(), self.data(exchange.body)
        )
        if len(page) <= _PAGE_BYTES:
            return page
        return (
            page[:_PAGE_BYTES] + f"[a2a-lab: {len(page) - _PAGE_BYTES} more bytes, of no card, are not kept]".encode()
        )

    def _pairs(self, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [
            (self.text(name), PLACEHOLDER if name.lower() in self._headers else self._header_value(name, value))
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


def _in_base64(form: str) -> str:
    """What takes the place of a part of a base64 text, which stays one: whoever judges the evidence reads the rest."""
    return PLACEHOLDER + "A" * ((len(form) - len(PLACEHOLDER)) % 4)


def _without_beginnings(text: str, form: str) -> str:
    """The text without what agrees with the form from its first character on, however soon it ends."""
    kept, at = [], 0
    while (found := text.find(form[:_BEGINNING], at)) >= 0:
        kept += [text[at:found], PLACEHOLDER]
        pairs = zip(text[found : found + len(form)], form, strict=False)
        at = found + sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return "".join([*kept, text[at:]])


def _is_of_card(exchange: Exchange) -> bool:
    """Whether a card was asked for: by the lab, or by a client that was only watched."""
    if exchange.purpose:
        return exchange.purpose.startswith("card")
    path = urlsplit(exchange.url).path if "[" not in exchange.url else exchange.url.partition("?")[0]
    return exchange.method == "GET" and path.endswith((WELL_KNOWN, LEGACY_WELL_KNOWN))

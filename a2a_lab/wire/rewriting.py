"""Puts a recorder's own address in place of an agent's in the bytes of a card, and changes no other byte.

A consumer that follows the card would otherwise walk past the recorder. The card is not parsed and written anew: member
order, blanks, odd numbers and every member that nobody knows stay as the agent sent them. Knows no HTTP.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from a2a_lab.core.addresses import is_loopback, is_wildcard
from a2a_lab.core.urls import parse_url
from a2a_lab.wire.card_forms import ANY_REQUIRED, SNAKE

_ORIGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\s]+")
_LISTS: Final = ("supportedInterfaces", "supported_interfaces", "additionalInterfaces", "additional_interfaces")
NOWHERE: Final[Mapping[str, str]] = {}
_BINDING: Final = ("protocolBinding", "protocol_binding", "transport", "preferredTransport", "preferred_transport")
_FLAT: Final = re.compile(rb"\{[^{}]*\}")
_URL: Final = re.compile(rb'(?P<before>"url"\s*:\s*)(?P<url>"(?:[^"\\]|\\.)*")')
# What may not follow an origin: then the text names another port or another host.
_END: Final = rb"(?![A-Za-z0-9.:@_-])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A card as it is handed on. `interfaces` are the URLs that were moved to the recorder, as the agent wrote them.

    `beyond` are those that still lead past it: another origin, gRPC where nobody stands, or a spelling that was not
    recognised.
    """

    body: bytes
    interfaces: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    is_signed: bool = False


def rewrite_card(
    body: bytes,
    *,
    own: str,
    recorder: str,
    fronts: Mapping[str, str] = NOWHERE,
) -> Rewritten | None:
    """The card with `recorder` in place of the agent's origin `own`; None where the body is no card at all.

    `fronts` are places over gRPC, as the card writes them, with the `host:port` that stands there instead. Lenient on
    purpose: what a client may read as a card has to be handed on as one.
    """
    document = _card(body)
    if document is None:
        return None
    before = list(dict.fromkeys(_urls(document)))
    body = _over_grpc(body, document, fronts)
    origins = {found.group() for url in before if (found := _ORIGIN.match(url)) and _is_own(found.group(), own)}
    for spelling in sorted(origins, key=len, reverse=True):
        body = _pattern(spelling).sub(lambda found: _as_found(found.group(), recorder), body)
    after = set(_urls(_card(body) or {}))
    moved = {url: _moved(url, place) for url, place in fronts.items()}
    at_recorder = re.compile(re.escape(recorder) + _END.decode())
    return Rewritten(
        body=body,
        interfaces=tuple(url for url in before if url not in after or moved.get(url) in after),
        beyond=tuple(
            url for url in before if url in after and moved.get(url) not in after and not at_recorder.match(url)
        ),
        is_signed=bool(document.get("signatures")),
    )


def move_url(url: str, *, own: str, recorder: str) -> str | None:
    """A URL at the agent's origin, as a redirect names it, with the recorder in its place; None for any other."""
    found = _ORIGIN.match(url)
    if found is None or not _is_own(found.group(), own):
        return None
    return recorder + url[found.end() :]


def grpc_places(body: bytes, *, own: str) -> list[str]:
    """The places over gRPC that a card names on the agent's own host, as it writes them; empty for what is no card."""
    document = _card(body)
    found = []
    for url in dict.fromkeys(_grpc_urls(document) if document is not None else ()):
        try:
            here, there = parse_url(own), parse_url(url, binding="GRPC")
        except ValueError:
            continue
        is_local = all(is_loopback(one.host) or is_wildcard(one.host) for one in (here, there))
        if here.host == there.host or is_local:
            found.append(url)
    return found


def _grpc_urls(card: Mapping[str, Any]) -> Iterator[str]:
    entries = [entry for name in _LISTS if isinstance(card.get(name), list) for entry in card[name]]
    for holder in (card, *entries):
        if isinstance(holder, dict) and isinstance(holder.get("url"), str) and _is_grpc(holder):
            yield holder["url"]


def _is_grpc(holder: Mapping[str, Any]) -> bool:
    return any(holder.get(name) == "GRPC" for name in _BINDING)


def _over_grpc(body: bytes, document: Mapping[str, Any], fronts: Mapping[str, str]) -> bytes:
    """The card with others in the places over gRPC. An entry is found by its braces: two may share a URL by text."""

    def moved(found: re.Match[bytes]) -> bytes:
        url = _text(found["url"])
        return found["before"] + json.dumps(_moved(url, fronts[url])).encode() if url in fronts else found.group()

    def entry(found: re.Match[bytes]) -> bytes:
        holder = _object(found.group())
        return _URL.sub(moved, found.group()) if holder is not None and _is_grpc(holder) else found.group()

    if not fronts:
        return body
    body = _FLAT.sub(entry, body)
    return _URL.sub(moved, body) if _is_grpc(document) else body


def _moved(url: str, place: str) -> str:
    """A place as the card spelt it: with a scheme or without. The recorder speaks plain text, and says so."""
    return f"http://{place}" if "://" in url else place


def _object(text: bytes) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(literal: bytes) -> str:
    try:
        return str(json.loads(literal.decode("utf-8", "replace")))
    except ValueError:
        return ""


def _card(body: bytes) -> Mapping[str, Any] | None:
    """The card in a body, or in the result of the RPC call that asks for the extended one."""
    try:
        document = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict) and "jsonrpc" in document:
        document = document.get("result")
    if not isinstance(document, dict) or not any(SNAKE.get(name, name) in ANY_REQUIRED for name in document):
        return None
    return document


def _urls(card: Mapping[str, Any]) -> Iterator[str]:
    """Every place that a client of some generation would call: those of 1.0, and the members of older cards."""
    entries = [entry for name in _LISTS if isinstance(card.get(name), list) for entry in card[name]]
    for holder in (card, *entries):
        if isinstance(holder, dict) and isinstance(holder.get("url"), str):
            yield holder["url"]


def _is_own(origin: str, own: str) -> bool:
    """Whether both name the agent; on this machine each of its names will do, and the wildcard that servers print."""
    try:
        one, other = parse_url(origin), parse_url(own)
    except ValueError:
        return False
    if one.origin == other.origin:
        return True
    here = all(is_loopback(url.host) or is_wildcard(url.host) for url in (one, other))
    return here and (one.scheme, one.port) == (other.scheme, other.port)


def _pattern(origin: str) -> re.Pattern[bytes]:
    """The origin as JSON may spell it: a slash with or without its backslash."""
    return re.compile(re.escape(origin.encode()).replace(b"/", rb"\\?/") + _END)


def _as_found(spelt: bytes, recorder: str) -> bytes:
    return recorder.encode().replace(b"/", rb"\/") if b"\\/" in spelt else recorder.encode()

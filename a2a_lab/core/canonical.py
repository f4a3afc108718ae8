"""Gives a card its one byte form and the digests by which the lab recognises it again (P2, P5).

The byte form is RFC 8785: sorted members, ECMAScript numbers, literal UTF-8. What has no such form (NaN, integers
beyond 2^53-1, lone surrogates) is refused and never repaired, because two readers would take it for two documents.
Knows nothing of signatures: which members are signed is the business of `profiles`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping

import rfc8785

from a2a_lab.core.model import Json
from a2a_lab.core.quoting import quoted
from a2a_lab.core.urls import DEFAULT_PORTS, parse_url
from a2a_lab.errors import MalformedJson, Misuse
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict

NOT_CANONICAL = FindingKind(
    slug="no-canonical-form",
    stage=Stage.FETCH,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.SPEC,
    rule="P5",
    clause="RFC 8785 3.1 and 3.2.2, RFC 7493 2.1-2.3 (MUST)",
    means="the document has a value that RFC 8785 cannot write, so neither a digest nor a signature can cover it",
)

INTEGER_LIMIT = 2**53 - 1  # beyond it a double skips integers, and readers disagree about the value (RFC 7493 2.2)

# The writer behind the fast path. Where `_is_plain` holds, its output is RFC 8785: it escapes the same characters in
# the same way, and code point order is UTF-16 order. Measured at a sixth of the cost of rfc8785.
_PLAIN = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True, separators=(",", ":")
)


def canonical_bytes(document: Json) -> bytes:
    """The document as RFC 8785 bytes. Raises `MalformedJson` with a JSON Pointer for what has no such form (P5)."""
    try:
        if _is_plain(document):
            return _PLAIN.encode(document).encode()
        return rfc8785.dumps(document)
    except (ValueError, RecursionError, TypeError) as fault:
        raise _refused(document, fault) from fault


def content_digest(document: Mapping[str, Json]) -> str:
    """SHA-256 of the card without `signatures`, unknown members included: 64 hex digits (P2).

    Raises `MalformedJson`. Member order and white space never change it; a rotated signature does not either.
    """
    return hashlib.sha256(canonical_bytes(without_signatures(document))).hexdigest()


canonical_digest = content_digest  # the pinning record's public name


def full_digest(document: Mapping[str, Json]) -> str:
    """SHA-256 of the whole card with its signatures: 64 hex digits (P2). Raises `MalformedJson`."""
    return hashlib.sha256(canonical_bytes(document)).hexdigest()


def portable_digest(document: Mapping[str, Json], own_origin: str) -> str:
    """The content digest with the agent's own origin replaced, so that two runs on two ports compare (R36).

    `own_origin` is `scheme://host[:port]`. Replaced in every string value, also where the default port is written out
    and where only `host:port` stands, as in GRPC interfaces; never in member names. Raises `MalformedJson`, and
    `Misuse` where `own_origin` is no origin.
    """
    own = _own_origin_pattern(own_origin)
    return content_digest(_map_strings(document, own))


def without_signatures(document: Mapping[str, Json]) -> dict[str, Json]:
    """A shallow copy of the card without its `signatures`."""
    return {name: value for name, value in document.items() if name != "signatures"}


def _is_plain(document: Json) -> bool:
    """Whether the standard writer gives RFC 8785 for it: no floats, integers in range, names in ASCII."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind is str or kind is bool or value is None:
            continue
        if kind is dict:
            if not "".join(value).isascii():
                return False
            waiting.extend(value.values())
        elif kind is list:
            waiting.extend(value)
        elif kind is not int or not -INTEGER_LIMIT <= value <= INTEGER_LIMIT:
            return False
    return True


def _refused(document: Json, fault: Exception) -> MalformedJson:
    if isinstance(fault, RecursionError):
        finding = NOT_CANONICAL("the document is nested too deeply to be written", reason="too-deep")
    else:
        named = (found for at, value in _values(document) if (found := _fault_at(at, value)))
        finding = next(named, NOT_CANONICAL("a member name is no text", reason="name"))
    return MalformedJson(finding.detail, finding=finding, at=finding.at)


def _values(document: Json) -> Iterator[tuple[str, Json]]:
    """Every value and every member name with the JSON Pointer of its place, in document order."""
    waiting: list[tuple[str, Json]] = [("", document)]
    while waiting:
        at, value = waiting.pop()
        yield at, value
        if isinstance(value, dict):
            yield from ((at, name) for name in value)
            waiting.extend((f"{at}/{escape(str(name))}", member) for name, member in reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend((f"{at}/{place}", member) for place, member in reversed(list(enumerate(value))))


def _fault_at(at: str, value: Json) -> Finding | None:
    match value:
        case None | bool() | dict() | list():
            return None
        case str():
            reason = "lone-surrogate" if any("\ud800" <= letter <= "\udfff" for letter in value) else ""
            why = "holds half of a surrogate pair, which is no character"
        case int():
            reason = "" if -INTEGER_LIMIT <= value <= INTEGER_LIMIT else "integer"
            why = "is beyond 2^53-1, where readers disagree about the value"
        case float():
            reason, why = "" if math.isfinite(value) else "not-a-number", "is no JSON number"
        case _:
            reason, why = "type", f"is a {type(value).__name__}, which JSON does not know"
    detail = f"{quoted(value)} at {at or '/'} {why}; the card has no digest until the vendor sends it otherwise"
    return NOT_CANONICAL(detail, at=at, reason=reason) if reason else None


def escape(name: str) -> str:
    """A member name as a reference token of a JSON Pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _own_origin_pattern(own_origin: str) -> re.Pattern[str]:
    try:
        own = parse_url(own_origin)
    except ValueError as fault:
        raise Misuse(f"own_origin: {fault}; expected the agent's scheme://host[:port]") from fault
    host = re.escape(f"[{own.host}]" if ":" in own.host else own.host)
    port = f"(?::{own.port})?" if own.port == DEFAULT_PORTS[own.scheme] else f":{own.port}"
    # Not inside a longer host, port or user name: http://own:80 is part of http://own:8080 and of http://own:80@other.
    return re.compile(
        rf"(?<![\w.@/-])(?:{own.scheme}://{host}{port}|{host}:{own.port})(?![\w:@%-]|\.\w)", re.IGNORECASE
    )


def _map_strings(value: Json, own: re.Pattern[str]) -> Json:
    if isinstance(value, str):
        return own.sub("{own-origin}", value)
    if isinstance(value, Mapping):
        return {name: _map_strings(member, own) for name, member in value.items()}
    if isinstance(value, list):
        return [_map_strings(member, own) for member in value]
    return value

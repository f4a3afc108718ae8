"""Finds the recorded answer to a live request: the same method, place and content, ids aside (R43).

Repeated requests get their recorded answers in turn, and the last one from then on. What was blanked before the
evidence was stored matches anything that stands in its place. Knows nothing of sockets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from a2a_lab.lab.renaming import KINDS, Renames
from a2a_lab.net.redact import PLACEHOLDER
from a2a_lab.wire.exchange import Exchange, first_header

Match = Literal["ids", "operation"]
"""What a request may deviate in: in ids only, or in anything but its place and its operation."""

# Headers that say nothing about what is asked: they never tell two recorded requests of one place apart.
_ASIDE: Final = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "user-agent", "date", "authorization", "cookie"}
)
_PORTS: Final = {"http": "80", "https": "443"}
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came. `place` is the host it names, `target` path and query."""

    method: str
    place: str
    target: str
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What was recorded for it. `turn` counts from 1 among `turns` recorded answers; `again` once they are used up."""

    number: int
    exchange: Exchange
    turn: int
    turns: int
    again: bool
    renames: Renames


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """Nothing was recorded for it: the status to answer with, and why in a sentence."""

    status: int
    why: str


@dataclass(slots=True, kw_only=True)
class _Entry:
    number: int
    exchange: Exchange
    content: Any
    query: list[tuple[str, str]]
    is_used: bool = False


@dataclass(slots=True)
class _Compared:
    """How two requests differ: in ids, which are renamed, and at JSON Pointers, which are named."""

    renames: Renames = field(default_factory=Renames)
    differs: list[str] = field(default_factory=list)


class Repertoire:
    """All that was recorded, and what of it was used. Ids that a consumer chose hold for what it asks later."""

    def __init__(self, exchanges: Sequence[Exchange], *, match: Match = "ids") -> None:
        self._match = match
        self._entries: dict[tuple[str, str, str], list[_Entry]] = {}
        self._ids: Renames = Renames()
        for number, exchange in enumerate(exchanges):
            method, place, path, query = _place_of(exchange)
            entry = _Entry(number=number, exchange=exchange, content=_content(exchange.request_body), query=query)
            self._entries.setdefault((method, place, path), []).append(entry)
        self.places = frozenset(place for _, place, _ in self._entries)

    def find(self, asked: Asked) -> Hit | Miss:
        """The answer whose turn it is."""
        path, _, query = asked.target.partition("?")
        here, live = self._at(asked.method, asked.place, self._recorded(path)), _content(asked.body)
        if not here:
            return self._nowhere(asked, path)
        pairs = parse_qsl(query, keep_blank_values=True)
        placed = [entry for entry in here if _same_query(entry.query, pairs)]
        if not placed:
            known = ", ".join(sorted({_shown_query(entry.query) for entry in here})[:3])
            return Miss(status=404, why=f"{path} was recorded with the query {known}, not {query or 'without one'!r}")
        compared = [(entry, self._compare(entry, live)) for entry in placed]
        fit = [(entry, found) for entry, found in compared if not found.differs]
        if not fit and self._match == "operation":
            fit = [(entry, found) for entry, found in compared if _operation(entry.content) == _operation(live)]
        if not fit:
            return Miss(status=404, why=_nearest(asked, compared, live))
        return self._take(_by_headers(fit, asked.headers))

    def _take(self, fit: list[tuple[_Entry, _Compared]]) -> Hit:
        turn = next((place for place, (entry, _) in enumerate(fit) if not entry.is_used), None)
        again = turn is None
        turn = len(fit) - 1 if turn is None else turn
        entry, found = fit[turn]
        entry.is_used = True
        self._ids.ids.update(found.renames.ids)
        renames = Renames(rpc=found.renames.rpc, ids=dict(self._ids.ids))
        return Hit(
            number=entry.number,
            exchange=entry.exchange,
            turn=turn + 1,
            turns=len(fit),
            again=again,
            renames=renames,
        )

    def _at(self, method: str, place: str, path: str) -> list[_Entry]:
        """What was recorded at a place. A name that was never recorded is that of the replay itself: any will do."""
        place = normalised(place)
        if place in self.places:
            return self._entries.get((method, place, path), [])
        found = [entry for key, entries in self._entries.items() if key[::2] == (method, path) for entry in entries]
        return sorted(found, key=lambda entry: entry.number)

    def _recorded(self, path: str) -> str:
        """The path with the recorded ids in it, where a consumer's own stand there (REST names tasks in the path)."""
        if not self._ids.ids:
            return path
        recorded = {live: old for (_, old), live in self._ids.ids.items()}
        return "/".join(recorded.get(piece, piece) for piece in path.split("/"))

    def _compare(self, entry: _Entry, live: Any) -> _Compared:
        found = _Compared()
        try:
            _walk(entry.content, live, "", None, found)
        except RecursionError:
            found.differs.append("(too deep to compare)")
        return found

    def _nowhere(self, asked: Asked, path: str) -> Miss:
        place = normalised(asked.place)
        methods = {
            method
            for method, there, known in self._entries
            if known == path and (there == place or place not in self.places)
        }
        if methods:
            return Miss(status=405, why=f"{path} was recorded with {' and '.join(sorted(methods))} only")
        return Miss(status=404, why=f"nothing was recorded at {path}")


def normalised(place: str) -> str:
    """A host as it is compared: without the default ports, since the scheme cannot be seen on the wire."""
    place = place.rpartition("@")[2].lower()
    host, colon, port = place.rpartition(":")
    return host if colon and port in _PORTS.values() else place


def origins(exchanges: Sequence[Exchange]) -> dict[str, list[Exchange]]:
    """The exchanges of each recorded "host:port", as connect-to options name it, in order."""
    found: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        parts = urlsplit(exchange.url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        found.setdefault(f"{host}:{parts.port or _PORTS.get(parts.scheme, '80')}", []).append(exchange)
    return found


def _place_of(exchange: Exchange) -> tuple[str, str, str, list[tuple[str, str]]]:
    parts = urlsplit(exchange.url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    return exchange.method.upper(), normalised(parts.netloc), parts.path or "/", query


def _content(body: bytes) -> Any:
    """The JSON of a body; the bytes themselves where it is none; nothing for an empty one."""
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _walk(recorded: Any, live: Any, at: str, key: str | None, found: _Compared) -> None:
    """Compare two JSON values member by member."""
    if isinstance(recorded, dict) and isinstance(live, dict):
        for name in {**recorded, **live}:
            _member(recorded.get(name, _MISSING), live.get(name, _MISSING), at, name, found)
    elif isinstance(recorded, list) and isinstance(live, list) and len(recorded) == len(live):
        for place, (old, new) in enumerate(zip(recorded, live, strict=True)):
            _walk(old, new, f"{at}/{place}", key, found)
    elif key is not None and isinstance(recorded, str) and isinstance(live, str):
        found.renames.ids[(KINDS[key], recorded)] = live
    elif not _equal(recorded, live):
        found.differs.append(at or "the body")


def _member(recorded: Any, live: Any, at: str, name: str, found: _Compared) -> None:
    here = f"{at}/{name}"
    if at == "" and name == "id":
        # The id of a JSON-RPC request; a REST body has no id of its own.
        found.renames.rpc = (None if recorded is _MISSING else recorded, None if live is _MISSING else live)
    elif name in KINDS and not isinstance(recorded, dict) and not isinstance(live, dict):
        if recorded not in (None, _MISSING) and live not in (None, _MISSING):
            _walk(recorded, live, here, name, found)
    elif recorded is _MISSING or live is _MISSING:
        found.differs.append(here)
    else:
        _walk(recorded, live, here, None, found)


def _equal(recorded: Any, live: Any) -> bool:
    if isinstance(recorded, str) and isinstance(live, str) and PLACEHOLDER in recorded:
        before, _, after = recorded.partition(PLACEHOLDER)
        return live.startswith(before) and live.endswith(after.rpartition(PLACEHOLDER)[2])
    return isinstance(recorded, bool) is isinstance(live, bool) and bool(recorded == live)


def _same_query(recorded: list[tuple[str, str]], live: list[tuple[str, str]]) -> bool:
    return len(recorded) == len(live) and all(
        name == other and _equal(value, new)
        for (name, value), (other, new) in zip(sorted(recorded), sorted(live), strict=True)
    )


def _shown_query(query: list[tuple[str, str]]) -> str:
    return repr("&".join(f"{name}={value}" for name, value in query))


def _operation(content: Any) -> Any:
    """What a body asks for: the JSON-RPC method; nothing that tells REST bodies of one path apart."""
    return content.get("method") if isinstance(content, dict) else None


def operation_of(body: bytes) -> str:
    """The JSON-RPC method that a body names; empty for none."""
    method = _operation(_content(body))
    return method if isinstance(method, str) else ""


def _nearest(asked: Asked, compared: list[tuple[_Entry, _Compared]], live: Any) -> str:
    """Why no recorded request is this one: the entry that differs least, and where."""
    entry, found = min(compared, key=lambda one: len(one[1].differs))
    wanted, got = _operation(entry.content), _operation(live)
    where = asked.target.partition("?")[0]
    if wanted != got:
        return f"{where} was recorded with {wanted!r}, not with {got!r:.60}"
    places = ", ".join(found.differs[:3]) + (" and more" if len(found.differs) > 3 else "")
    return f"{got or 'the request'} differs from recorded entry {entry.number} at {places}, not in ids only"


def _by_headers(
    fit: list[tuple[_Entry, _Compared]], headers: Sequence[tuple[str, str]]
) -> list[tuple[_Entry, _Compared]]:
    """Those that a header tells apart: where recorded values of one differ, the live request's own value decides."""
    for name in sorted({header.lower() for entry, _ in fit for header, _ in entry.exchange.request_headers} - _ASIDE):
        values = [first_header(entry.exchange.request_headers, name) for entry, _ in fit]
        wanted = first_header(list(headers), name)
        if len(set(values)) > 1 and wanted in values:
            fit = [one for one, value in zip(fit, values, strict=True) if value == wanted]
    return fit

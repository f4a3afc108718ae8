"""Finds the recorded answer to a live request: the same method, place and content, ids aside (R43).

Repeated requests get their recorded answers in turn, and the last one from then on. What was blanked before the
evidence was stored matches anything that stands in its place. Knows nothing of sockets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from a2a_lab.lab.likeness import Query, compare, content_of, form_of, operation_in, same_query
from a2a_lab.lab.renaming import Renames
from a2a_lab.net.redact import PLACEHOLDER
from a2a_lab.wire.exchange import Exchange, first_header

Match = Literal["ids", "operation"]
"""What a request may deviate in: in ids only, or in anything but its place and its operation."""

# Headers that say nothing about what is asked: they never tell two recorded requests of one place apart.
_ASIDE: Final = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "user-agent", "date", "authorization", "cookie"}
)
_PORTS: Final = {"http": "80", "https": "443"}
_ANYWHERE: Final = "*"  # in place of a host: at this path on any of them
_COMPARED: Final = 200  # entries that are looked at one by one; a poll of thousands is told apart by its turn alone


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
    """What was recorded for it. `turn` counts from 1 among `turns` recorded answers; `again` once they are used up.

    `differs` are JSON Pointers at which the request has other content than the recorded one.
    """

    number: int
    exchange: Exchange
    turn: int
    turns: int
    again: bool
    renames: Renames
    differs: tuple[str, ...] = ()


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
    query: Query
    is_blanked: bool  # something in it was replaced before it was stored, so that it may match what looks otherwise
    is_used: bool = False


@dataclass(slots=True)
class _Shelf:
    """What was recorded at one place: by form, by operation, and what was blanked, which has no form of its own."""

    entries: list[_Entry] = field(default_factory=list)
    forms: dict[Any, list[_Entry]] = field(default_factory=dict)
    operations: dict[Any, list[_Entry]] = field(default_factory=dict)
    blanked: list[_Entry] = field(default_factory=list)

    def add(self, entry: _Entry) -> None:
        self.entries.append(entry)
        self.operations.setdefault(operation_in(entry.content), []).append(entry)
        if entry.is_blanked:
            self.blanked.append(entry)
        else:
            self.forms.setdefault(form_of(entry.exchange.request_body, entry.query), []).append(entry)


class Repertoire:
    """All that was recorded, and what of it was used. Ids that a consumer chose hold for what it asks later."""

    def __init__(self, exchanges: Sequence[Exchange], *, match: Match = "ids") -> None:
        self._match = match
        self._shelves: dict[tuple[str, str, str], _Shelf] = {}
        self._ids: Renames = Renames()
        for number, exchange in enumerate(exchanges):
            method, place, path, query = _place_of(exchange)
            entry = _Entry(
                number=number,
                exchange=exchange,
                content=content_of(exchange.request_body),
                query=query,
                is_blanked=PLACEHOLDER.encode() in exchange.request_body or any(PLACEHOLDER in one for _, one in query),
            )
            for where in (place, _ANYWHERE):
                self._shelves.setdefault((method, where, path), _Shelf()).add(entry)
        self.places = frozenset(place for _, place, _ in self._shelves) - {_ANYWHERE}

    def find(self, asked: Asked) -> Hit | Miss:
        """The answer whose turn it is."""
        path, _, text = asked.target.partition("?")
        # A name that was never recorded is that of the replay itself: whatever was recorded at this path will do.
        place = normalised(asked.place) if normalised(asked.place) in self.places else _ANYWHERE
        shelf = self._shelves.get((asked.method, place, self._recorded(path)))
        if shelf is None:
            return self._nowhere(asked.method, place, path)
        live, query = content_of(asked.body), parse_qsl(text, keep_blank_values=True)
        fit = shelf.forms.get(form_of(asked.body, query), [])
        blanked = [
            one for one in shelf.blanked if same_query(one.query, query) and not compare(one.content, live).differs
        ]
        if blanked:
            fit = sorted([*fit, *blanked], key=lambda one: one.number)
        if not fit:
            alike = [one for one in shelf.operations.get(operation_in(live), ()) if same_query(one.query, query)]
            fit = alike if self._match == "operation" else []
            if not fit:
                advice = "; --match operation answers it all the same" if alike else ""
                return Miss(status=404, why=_nearest(path, text, live, query, shelf) + advice)
        return self._take(_by_headers(fit, asked.headers), live)

    def _take(self, fit: list[_Entry], live: Any) -> Hit:
        turn = next((place for place, entry in enumerate(fit) if not entry.is_used), None)
        again = turn is None
        turn = len(fit) - 1 if turn is None else turn
        entry = fit[turn]
        entry.is_used = True
        compared = compare(entry.content, live)
        renames = compared.renames
        self._ids.ids.update(renames.ids)
        return Hit(
            number=entry.number,
            exchange=entry.exchange,
            turn=turn + 1,
            turns=len(fit),
            again=again,
            renames=Renames(rpc=renames.rpc, ids=dict(self._ids.ids)),
            differs=tuple(compared.differs),
        )

    def _recorded(self, path: str) -> str:
        """The path with the recorded ids in it, where a consumer's own stand there (REST names tasks in the path)."""
        if not self._ids.ids:
            return path
        recorded = {live: old for (_, old), live in self._ids.ids.items()}
        return "/".join(recorded.get(piece, piece) for piece in path.split("/"))

    def _nowhere(self, method: str, place: str, path: str) -> Miss:
        methods = sorted(known for known, there, here in self._shelves if (there, here) == (place, path))
        if methods:
            return Miss(status=405, why=f"{path} was recorded with {' and '.join(methods)} only")
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


def _place_of(exchange: Exchange) -> tuple[str, str, str, Query]:
    parts = urlsplit(exchange.url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    return exchange.method.upper(), normalised(parts.netloc), parts.path or "/", query


def _shown_query(query: Query) -> str:
    return repr("&".join(f"{name}={value}" for name, value in query))


def _nearest(path: str, text: str, live: Any, query: Query, shelf: _Shelf) -> str:
    """Why no recorded request is this one: the query, the operation, or where the entry that differs least differs."""
    placed = [entry for entry in shelf.entries[:_COMPARED] if same_query(entry.query, query)]
    if not placed:
        known = ", ".join(sorted({_shown_query(entry.query) for entry in shelf.entries[:_COMPARED]})[:3])
        return f"{path} was recorded with the query {known}, not {text or 'without one'!r}"
    entry, found = min(((one, compare(one.content, live)) for one in placed), key=lambda one: len(one[1].differs))
    wanted, got = operation_in(entry.content), operation_in(live)
    if wanted != got:
        return f"{path} was recorded with {wanted!r}, not with {got!r:.60}"
    places = ", ".join(found.differs[:3]) + (" and more" if len(found.differs) > 3 else "")
    return f"{got or 'the request'} differs from recorded entry {entry.number} at {places}, not in ids only"


def _by_headers(fit: list[_Entry], headers: Sequence[tuple[str, str]]) -> list[_Entry]:
    """Those that a header tells apart: where recorded values of one differ, the live request's own value decides."""
    if len(fit) > _COMPARED:
        return fit
    for name in sorted({header.lower() for entry in fit for header, _ in entry.exchange.request_headers} - _ASIDE):
        values = [first_header(entry.exchange.request_headers, name) for entry in fit]
        wanted = first_header(list(headers), name)
        if len(set(values)) > 1 and wanted in values:
            fit = [one for one, value in zip(fit, values, strict=True) if value == wanted]
    return fit

"""Finds and judges the card in recorded evidence: the same walk and gates that live traffic takes (D1-D8, A1, A2, R6).

A recorded answer is given to the walk when it asks for that URL, each once and in turn; what the evidence does not hold
counts as not there. GETs that the walk left over are looks at the card again, or none of its business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from a2a_lab.core.cardfetch import CardAnswer, CardRequest
from a2a_lab.core.discovery import Discovering, Discovery
from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Bounds, Intent, Policy
from a2a_lab.core.resolution import is_well_known
from a2a_lab.core.urls import normalise, parse_url
from a2a_lab.judge.answers import card_answer, key_set
from a2a_lab.judge.statics import Statics, judge_statics
from a2a_lab.wire.exchange import Exchange, first_header

# Every request has these for reasons of its own; what else a walk sends selects the card.
_USUAL = frozenset({"accept", "a2a-version"})


class Shelf:
    """The recorded GETs by URL. What was taken is not given twice."""

    def __init__(self, exchanges: Iterable[Exchange], bounds: Bounds) -> None:
        self._bounds = bounds
        self._held: dict[str, deque[Exchange]] = {}
        for exchange in exchanges:
            if exchange.method == "GET":
                self._held.setdefault(_key(exchange.url), deque()).append(exchange)

    def answer(self, request: CardRequest) -> CardAnswer:
        """What the evidence has for this request; nothing counts as 404 (R6)."""
        held = self._held.get(_key(request.url), deque())
        found = next((one for one in held if _selects_alike(request.headers, one)), None)
        if found is None:
            return CardAnswer()
        held.remove(found)
        return card_answer(found, self._bounds)

    def take(self, url: str) -> Exchange | None:
        """The next answer of a URL, for what is no card."""
        held = self._held.get(_key(url))
        return held.popleft() if held else None

    def left(self, urls: Iterable[str]) -> list[Exchange]:
        """What nobody asked for among the answers of these URLs."""
        return [one for url in dict.fromkeys(map(_key, urls)) for one in self._held.get(url, ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a case stands on: the bound card and interface, if any, and what the gates said of them."""

    discovery: Discovery | None = None
    card: Card | None = None
    interface: Interface | None = None
    served_from: str | None = None
    statics: Statics | None = None
    jku_keys: Mapping[str, KeySet] = field(default_factory=dict)


def drive(walk: Discovering, shelf: Shelf) -> Discovery:
    """Answer every request of the walk from the evidence until it returns. Raises Misuse for what was typed."""
    try:
        request = next(walk)
        while True:
            request = walk.send(shelf.answer(request))
    except StopIteration as done:
        found: Discovery = done.value
        return found


def gated(
    card: Card,
    interface: Interface,
    *,
    shelf: Shelf,
    intent: Intent,
    policy: Policy,
    now: float,
    served_from: str | None,
) -> tuple[Statics, dict[str, KeySet]]:
    """Match, signature and version; key sets that the signatures point to are taken from the evidence where allowed."""
    keys: dict[str, KeySet] = {}
    while True:  # ends: each round fetches something that was not fetched before
        statics = judge_statics(card, interface, intent, policy, now=now, served_from=served_from, jku_keys=keys)
        wanted = [url for url in statics.signature.wanted_jku if url not in keys]
        if not wanted:
            return statics, keys
        keys |= {url: key_set(shelf.take(url), policy.bounds) for url in wanted}


def first_card_url(exchanges: Sequence[Exchange], bounds: Bounds) -> tuple[str | None, str | None]:
    """Where a recording looked for a card: a well-known URL, or else the URL of the first body that is a card.

    A registry or a platform may serve cards anywhere; there the URL counts as one that the operator gave.
    """
    gets = [exchange for exchange in exchanges if exchange.method == "GET" and _is_url(exchange.url)]
    known = next((one.url for one in gets if is_well_known(parse_url(one.url).path)), None)
    if known is not None:
        return known, None
    objects = (one for one in gets if one.body[:16].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{")
    return None, next((one.url for one in objects if card_answer(one, bounds).card is not None), None)


def _key(url: str) -> str:
    return normalise(url) if _is_url(url) else url


def _is_url(url: str) -> bool:
    try:
        parse_url(url)
    except ValueError:
        return False
    return True


def _selects_alike(headers: Mapping[str, str], recorded: Exchange) -> bool:
    """Whether a recorded request selected the card as this one does; one recorded without headers may have."""
    selecting = {name: value for name, value in headers.items() if name.lower() not in _USUAL}
    if not recorded.request_headers:
        return True
    return all(first_header(recorded.request_headers, name) == value for name, value in selecting.items())

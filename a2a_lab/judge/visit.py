"""Reads recorded exchanges as the visit of one consumer: where it looked for a card, what it called, what it got.

Mapping only, in the agent's terms. Whatever the judges of the consumer say starts from here, so that they all see the
same looks, calls and results. What a capture does not show is unknown and never held against anybody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from a2a_lab.core.asked import STREAMS
from a2a_lab.core.model import Artifact, Card, Interface, RpcError, State
from a2a_lab.core.policy import Policy
from a2a_lab.core.resolution import LEGACY_WELL_KNOWN, WELL_KNOWN, base_of, is_well_known
from a2a_lab.core.urls import is_url, origin, parse_url, same_target
from a2a_lab.core.version import line_of
from a2a_lab.judge.answers import card_answer, was_sent
from a2a_lab.judge.lastword import received
from a2a_lab.judge.transcript import Call, read_calls
from a2a_lab.judge.watching import asking, watch
from a2a_lab.wire.exchange import Exchange

# Paths of older programs that mean a card as well; only where such a name is asked for is a 404 a look for a card.
_CARD_NAMES: Final = ("/agent.json", "/agent-card.json", "/extendedAgentCard", "/agent/authenticatedExtendedCard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a consumer told its caller: its own account, and no verdict.

    `ok`: the caller was told of no error and given at least one event. `artifacts` are texts by id. Both `ok` and an
    `error` is a failure that was reported beside the answer. `hung`: the lab ended the consumer. `steps` are what it
    did without traffic: milliseconds on the clock of the exchanges, a word, a clause.
    """

    ok: bool
    state: str | None = None
    artifacts: Mapping[str, str] = field(default_factory=dict)
    events: int = 0
    error: str | None = None
    said: str = ""
    hung: bool = False
    steps: tuple[tuple[float, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One GET for a card. `level` is the path it was asked for ("" for the origin); `card` is None where none came."""

    exchange: Exchange
    level: str
    is_legacy: bool
    card: Card | None

    @property
    def url(self) -> str:
        return self.exchange.url

    @property
    def status(self) -> int | None:
        return self.exchange.status


class Visit:
    """One consumer at one agent. `address` is what the consumer was given, in the agent's terms; None where unknown."""

    def __init__(self, exchanges: Sequence[Exchange], *, policy: Policy, address: str | None = None) -> None:
        self.exchanges = exchanges
        self.policy = policy
        self.address = address
        self._named: dict[int, list[tuple[Look, Interface]]] = {}
        self.looks = tuple(_looks(exchanges, policy))
        places = [place for look in self.looks if look.card for place in places_of(look.card)]
        self.calls = tuple(read_calls(exchanges, bounds=policy.bounds, interfaces=places))
        known = {id(call.exchange) for call in self.calls} | {id(look.exchange) for look in self.looks}
        self.strays = tuple(one for one in exchanges if one.method == "POST" and id(one) not in known)
        for call in self.calls:
            if call.op in STREAMS and was_sent(call.exchange) and call.exchange.status is not None:
                watch(call, policy, declared_streaming=False, ask=asking(self.calls, call))

    @cached_property
    def sends(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if call.is_send)

    @cached_property
    def posted(self) -> tuple[Exchange, ...]:
        """Everything that may have started something at the agent, calls of A2A or not, in order."""
        ids = {id(call.exchange) for call in self.sends} | {id(one) for one in self.strays}
        return tuple(one for one in self.exchanges if id(one) in ids)

    @cached_property
    def cards(self) -> tuple[Look, ...]:
        """The looks that found a card."""
        return tuple(look for look in self.looks if look.card is not None)

    @cached_property
    def artifacts(self) -> dict[str, str]:
        """What the agent gave, by artifact id: its text, other parts named by their kind in brackets."""
        found: dict[str, Artifact] = {}
        for call in self.calls:
            for artifact in _given(call):
                found[artifact.id] = artifact
        return {name: text_of(artifact) for name, artifact in found.items()}

    @cached_property
    def state(self) -> State | None:
        """The last state that the agent told of any task."""
        return next((task.state for call in reversed(self.calls) for task in reversed(call.tasks)), None)

    @cached_property
    def error(self) -> RpcError | None:
        """The error that answered the last send, if one did."""
        return self.sends[-1].error if self.sends else None

    def card_before(self, exchange: Exchange) -> list[Look]:
        """The cards that had come when this exchange began, the latest first."""
        return [look for look in reversed(self.cards) if look.exchange.started_ms <= exchange.started_ms]

    def named_by(self, call: Call) -> list[tuple[Look, Interface]]:
        """The interfaces of fetched cards that name the URL that was called; those of its version first."""
        if id(call) not in self._named:
            found = [
                (look, place)
                for look, places in self._places
                if look.exchange.started_ms <= call.exchange.started_ms
                for place in places
                if _is_there(call, place)
            ]
            self._named[id(call)] = sorted(found, key=lambda one: not is_line(one[1], call.dialect.id))
        return self._named[id(call)]

    @cached_property
    def _places(self) -> list[tuple[Look, tuple[Interface, ...]]]:
        """Each card once, the latest first: a client that polls a card fetches the same a thousand times."""
        distinct: dict[tuple[str, bytes], Look] = {}
        for look in self.cards:
            distinct.setdefault((look.url, look.exchange.body), look)
        return [(look, places_of(look.card)) for look in reversed(distinct.values()) if look.card is not None]

    def is_declared(self, call: Call) -> bool:
        """Whether a card that the consumer had fetched declares the call: its URL, in its version."""
        named = self.named_by(call)
        return bool(named) and is_line(named[0][1], call.dialect.id)

    @property
    def is_blind(self) -> bool:
        """Whether what was called may have passed the recorder by: the cards name gRPC, or another origin."""
        places = [place for look in self.cards if look.card for place in places_of(look.card)]
        here = {origin(look.url) for look in self.cards}
        return any(not is_url(place.url) or origin(place.url) not in here for place in places)

    @property
    def level(self) -> str | None:
        """The path of the address that the consumer was given, without a final slash."""
        if self.address is None or not is_url(self.address):
            return None
        return base_of(parse_url(self.address).path).rstrip("/")


def places_of(card: Card) -> tuple[Interface, ...]:
    """Every place that a client of some generation would call: of a 1.0 card also the members that only older read."""
    if card.form != "1.0":
        return card.interfaces
    document, old = card.document, []
    version = document.get("protocolVersion")
    url, more = document.get("url"), document.get("additionalInterfaces")
    if isinstance(url, str):
        binding = document.get("preferredTransport")
        old.append(Interface(url=url, binding=binding if isinstance(binding, str) else "JSONRPC", version=version))
    for entry in more if isinstance(more, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("url"), str):
            old.append(Interface(url=entry["url"], binding=str(entry.get("transport")), version=version))
    return (*card.interfaces, *old)


def is_line(place: Interface, dialect: str) -> bool:
    """Whether an interface is of the version that a call was made in."""
    line = line_of(place.version)
    if line is None:
        return True  # a card that states no version contradicts nothing
    if dialect == "1.0":
        return line.startswith("1.")
    return line == dialect or {line, dialect} <= {"0.2", "0.3"}  # the same methods under both names


def content_of(call: Call) -> str:
    """The parts that a call carries, so that two messages with one content are seen to be one."""
    parts = call.asked.message.parts if call.asked.message is not None else ()
    return json.dumps([(part.kind, part.text, part.data, part.raw, part.url) for part in parts], default=str)


def text_of(artifact: Artifact) -> str:
    found = []
    for part in artifact.parts:
        if part.kind == "text":
            found.append(part.text or "")
        else:
            found.append(f"[{part.kind} {part.media_type or 'untyped'}]")
    return "".join(found)


def _given(call: Call) -> Iterator[Artifact]:
    if call.watched is not None:
        yield from received(call.watched)
    for task in call.tasks if call.answer is not None else ():
        yield from task.artifacts


def _looks(exchanges: Sequence[Exchange], policy: Policy) -> Iterator[Look]:
    for exchange in exchanges:
        if exchange.method != "GET" or not is_url(exchange.url):
            continue
        path = parse_url(exchange.url).path
        card = card_answer(exchange, policy.bounds).card
        if card is None and not (is_well_known(path) or path.endswith(_CARD_NAMES)):
            continue
        yield Look(exchange=exchange, level=_level(path), is_legacy=not path.endswith(WELL_KNOWN), card=card)


def _level(path: str) -> str:
    for name in (WELL_KNOWN, LEGACY_WELL_KNOWN, *_CARD_NAMES):
        if path.endswith(name):
            return path.removesuffix(name).rstrip("/")
    return path.rpartition("/")[0]


def _is_there(call: Call, place: Interface) -> bool:
    """Whether a call went to an interface: to its URL, or over HTTP+JSON to a path below it."""
    url = call.exchange.url
    if "GRPC" in (call.dialect.binding, place.binding):
        is_one_binding = call.dialect.binding == place.binding
        return is_one_binding and same_target(call.asked.endpoint, place.url, binding="GRPC")[0]
    if call.dialect.binding == "JSONRPC" or not (is_url(url) and is_url(place.url)):
        return same_target(url.partition("?")[0], place.url.partition("?")[0])[0] if place.url else False
    here, there = parse_url(url), parse_url(place.url)
    return here.origin == there.origin and here.path.startswith(there.path.rstrip("/") + "/")

"""What a consumer did between its first byte and its first message: looks, choices, probes, the commit; and once more
at every later message.

The discovery record is about this order (D1): whether a card was fetched before or after the target was known, how
often, and what had been proven when the payload left. From the traffic, so that orchestrators can be compared; what
leaves no traffic (choosing an agent) is there where the consumer's own program told it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from a2a_lab.core.canonical import content_digest
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import MalformedJson
from a2a_lab.judge.consumer_cards import selectors
from a2a_lab.judge.transcript import Call
from a2a_lab.judge.visit import Account, Look, Visit, is_line
from a2a_lab.wire.exchange import Exchange, first_header

SHORT = 8  # characters of a digest that tell two cards apart to a reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that the consumer did. `what` is card, match, call, commit or other; `at_ms` counts from its first
    byte."""

    at_ms: float
    what: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message that opened a task, and what was known when it left.

    `looks` are the card fetches since the message before, `conditional` those of them that asked whether a card still
    held. `age_ms` and `digest` are of the latest card that it had, None where it had none. `known` are clauses.
    """

    at_ms: float
    looks: int
    conditional: int
    age_ms: float | None
    digest: str | None
    tenant: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """How a consumer came to its first message, and to those after it. `commit_ms` is None where it never sent one."""

    steps: tuple[Step, ...]
    looks: int
    conditional: int
    commit_ms: float | None
    dialect: str | None
    is_probed: bool
    turns: tuple[Turn, ...] = ()

    @property
    def order(self) -> str:
        """The kinds of steps in their order, such as `card, match, card, commit`."""
        return ", ".join(step.what for step in self.steps)


def approach(visit: Visit, account: Account | None = None) -> Approach:
    """The steps up to and with the first message, and each message that opened a task."""
    first = visit.exchanges[0].started_ms if visit.exchanges else 0.0
    commit = visit.posted[0] if visit.posted else None
    until = commit.started_ms if commit is not None else float("inf")
    before = [look for look in visit.looks if look.exchange.started_ms <= until]
    own = [Step(at_ms=at - first, what=what, told=told) for at, what, told in account.steps] if account else []
    steps = [*_steps(visit, first, until), *(step for step in own if step.at_ms <= until - first)]
    return Approach(
        steps=tuple(sorted(steps, key=lambda step: step.at_ms)),
        looks=len(before),
        conditional=sum(_is_conditional(look.exchange) for look in before),
        commit_ms=None if commit is None else commit.started_ms - first,
        dialect=visit.sends[0].dialect.id if visit.sends else None,
        is_probed=_is_probed(visit),
        turns=tuple(_turns(visit, first)),
    )


def card_digest(look: Look) -> str | None:
    """The short digest of the card that a look found, over its content as the pins have it (P2)."""
    try:
        return content_digest(look.card.document)[:SHORT] if look.card is not None else None
    except MalformedJson:  # a number that no canonical form has
        return None


def _turns(visit: Visit, first: float) -> Iterator[Turn]:
    since = float("-inf")
    for call in visit.sends:
        if call.asked.message is not None and call.asked.message.task_id:
            continue
        at = call.exchange.started_ms
        looks = [look for look in visit.looks if since < look.exchange.started_ms <= at]
        cards = visit.card_before(call.exchange)
        yield Turn(
            at_ms=at - first,
            looks=len(looks),
            conditional=sum(_is_conditional(look.exchange) for look in looks),
            age_ms=at - cards[0].exchange.ended_ms if cards else None,
            digest=card_digest(cards[0]) if cards else None,
            tenant=_tenant(visit, call),
            known=tuple(_known(visit, call, cards)),
        )
        since = at


def _tenant(visit: Visit, call: Call) -> str:
    """What became of the tenant that the called interface names."""
    named = [place for _, place in visit.named_by(call) if is_line(place, call.dialect.id)]
    offered = named[0].tenant if named else None
    sent = call.tenant_at(named[0].url) if named else call.asked.tenant
    if not offered:
        return f"{sent} invented" if sent else "none named"
    return f"{offered} sent" if sent == offered else f"{offered} left out" if not sent else f"{sent} for {offered}"


def _known(visit: Visit, call: Call, cards: list[Look]) -> Iterator[str]:
    """What there was to stand on when the message left: the grounds of authority, as far as traffic shows them."""
    if not cards:
        yield "no card"
        return
    named = visit.named_by(call)
    yield "bound by its card" if named else "an address that no card names"
    if named and not is_line(named[0][1], call.dialect.id):
        yield "a version that the card does not declare"
    yield "signed, verified or not" if cards[0].card is not None and cards[0].card.signatures else "unsigned"
    yield "probed" if _is_probed(visit) else "not probed"


def _steps(visit: Visit, first: float, until: float) -> Iterator[Step]:
    looks = {id(look.exchange): look for look in visit.looks}
    calls = {id(call.exchange): call for call in visit.calls}
    for exchange in visit.exchanges:
        if exchange.started_ms > until:
            return
        at_ms = exchange.started_ms - first
        if look := looks.get(id(exchange)):
            yield Step(at_ms=at_ms, what="card", told=_look(look))
        elif call := calls.get(id(exchange)):
            what = "commit" if call.is_send else "call"
            yield Step(at_ms=at_ms, what=what, told=f"{call.asked.method or call.op} ({call.dialect.id})")
        else:
            what = "commit" if exchange.method == "POST" else "other"
            yield Step(at_ms=at_ms, what=what, told=f"{exchange.method} {parse_url(exchange.url).path}")


def _look(look: Look) -> str:
    asked = first_header(look.exchange.request_headers, "A2A-Version")
    told = [parse_url(look.url).path, str(look.status or look.exchange.fault)]
    told += [f"A2A-Version {asked}"] if asked else []
    told += ["revalidating"] if _is_conditional(look.exchange) else []
    told += [f"{name}={value}" for name, value in selectors(look.exchange).items()]
    return ", ".join(told)


def _is_conditional(exchange: Exchange) -> bool:
    return any(first_header(exchange.request_headers, name) for name in ("If-None-Match", "If-Modified-Since"))


def _is_probed(visit: Visit) -> bool:
    """Whether something smaller was sent before the largest message."""
    sizes = [len(call.exchange.request_body) for call in visit.sends]
    return len(sizes) > 1 and sizes[0] < max(sizes)

"""What a consumer did between its first byte and its first message: the order of looks, probes and the commit.

The discovery record is about this order (D1): whether a card was fetched before or after the target was known, how
often, and what had been proven when the payload left. From the traffic alone, so that orchestrators can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from a2a_lab.core.urls import parse_url
from a2a_lab.judge.consumer_cards import selectors
from a2a_lab.judge.visit import Look, Visit
from a2a_lab.wire.exchange import Exchange, first_header


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that the consumer did. `what` is card, call, commit or other; `at_ms` counts from its first byte."""

    at_ms: float
    what: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """How a consumer came to its first message. `commit_ms` is None where it never sent one."""

    steps: tuple[Step, ...]
    looks: int
    conditional: int
    commit_ms: float | None
    dialect: str | None
    is_probed: bool


def approach(visit: Visit) -> Approach:
    """The steps up to and with the first message."""
    first = visit.exchanges[0].started_ms if visit.exchanges else 0.0
    commit = visit.posted[0] if visit.posted else None
    until = commit.started_ms if commit is not None else float("inf")
    before = [look for look in visit.looks if look.exchange.started_ms <= until]
    return Approach(
        steps=tuple(_steps(visit, first, until)),
        looks=len(before),
        conditional=sum(_is_conditional(look.exchange) for look in before),
        commit_ms=None if commit is None else commit.started_ms - first,
        dialect=visit.sends[0].dialect.id if visit.sends else None,
        is_probed=_is_probed(visit),
    )


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

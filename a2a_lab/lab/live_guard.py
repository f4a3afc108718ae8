"""Stands between a client that the lab does not steer and an agent that is not ours: R37 for traffic of somebody else.

Every request takes its turn, carries the credentials that the agent's file names, and every message counts against the
budget. A client that sends more messages, or asks more often, than the plan said is not let through any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from a2a_lab.core.quoting import quoted
from a2a_lab.errors import Withheld
from a2a_lab.judge.transcript import read_request
from a2a_lab.lab.costs import FOREIGN_REQUESTS, FOREIGN_RUNS
from a2a_lab.lab.desk import LiveDesk
from a2a_lab.net.credentials import Source
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.exchange import Exchange

REFUSED: Final = "tier-refused"
# How the methods of A2A over gRPC begin that start nothing.
_READS: Final = ("Get", "List", "Cancel", "SubscribeTo", "TaskSubscription", "Create", "Set", "Delete")


class LiveGuard:
    """The guard of one cell."""

    def __init__(self, desk: LiveDesk, *, runs: int = FOREIGN_RUNS, requests: int = FOREIGN_REQUESTS) -> None:
        self._desk, self._runs, self._requests = desk, runs, requests
        self.known: frozenset[str] = frozenset()  # what the card named that the lab itself saw, and let pass

    async def admit(self, exchange: Exchange) -> Mapping[str, str]:
        if self._requests <= 0:
            raise _over(f"more than {FOREIGN_REQUESTS} requests")
        self._requests -= 1
        if starts_a_run(exchange):
            if self._runs <= 0:
                raise _over(f"more than {FOREIGN_RUNS} messages")
            self._runs -= 1
            await self._desk.allowance.spend()
        await self._desk.gate.enter()
        source = self._source(exchange)
        return await source.headers(exchange.url) if source is not None else {}

    async def again(self, exchange: Exchange, sent: Mapping[str, str]) -> Mapping[str, str] | None:
        source = self._source(exchange)
        if source is None:
            return None
        await self._desk.gate.enter()
        return await source.again(exchange.url, sent)

    def heard(self, exchange: Exchange) -> None:
        self._desk.gate.heard(exchange.status, exchange.response_headers)
        source = self._source(exchange)
        if source is not None and exchange.status != 401:
            source.let_through()

    def leads(self, urls: Sequence[str]) -> None:
        for url in urls:
            if url not in self.known:
                raise past_the_recorder("the agent", url)

    def _source(self, exchange: Exchange) -> Source | None:
        is_card = exchange.method == "GET" and "/.well-known/" in exchange.url
        return self._desk.credentials.card if is_card else self._desk.credentials.calls


def starts_a_run(exchange: Exchange) -> bool:
    """Whether the request may start an agent: a message, and whatever is posted and is no call that we can read."""
    if exchange.method != "POST":
        return False
    if exchange.grpc is not None:
        return not exchange.url.rpartition("/")[2].startswith(_READS)
    call = read_request(exchange)
    return call is None or call.is_send


def past_the_recorder(who: str, url: str) -> Withheld:
    """Why a client is not let go where the recorder does not stand."""
    return Withheld(
        f"{who} leads to {quoted(url)}, where the recorder does not stand: a client that the lab does not steer would "
        "be held to no budget there",
        word=NotGradeable.HARNESS_ERROR,
        slug=REFUSED,
    )


def _over(what: str) -> Withheld:
    return Withheld(
        f"the client was stopped: it tried {what} in one cell, which no plan of it allows",
        word=NotGradeable.HARNESS_ERROR,
        slug="client-stopped",
    )

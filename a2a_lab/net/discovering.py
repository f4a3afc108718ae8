"""Drives the walk to a bound card over HTTP: the core says what to ask, this asks and parses (D1-D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from a2a_lab.core.discovery import CardAnswer, CardRequest, Discovering, Discovery
from a2a_lab.core.policy import Bounds
from a2a_lab.core.urls import origin
from a2a_lab.judge.answers import card_answer
from a2a_lab.net.client import Http

CARD_S = 30.0  # a card is a small file; a server that takes longer has no card for us


async def drive(
    walk: Discovering, http: Http, *, bounds: Bounds, credentials: Mapping[str, str], card_s: float = CARD_S
) -> Discovery:
    """Answer every request of the walk until it returns."""
    try:
        request = next(walk)
        while True:
            request = walk.send(await fetch(request, http, bounds=bounds, credentials=credentials, card_s=card_s))
    except StopIteration as done:
        found: Discovery = done.value
        return found


async def fetch(
    request: CardRequest, http: Http, *, bounds: Bounds, credentials: Mapping[str, str], card_s: float = CARD_S
) -> CardAnswer:
    """One card GET. Credentials go along only where the core says so (D8)."""
    if request.wait_s:
        await asyncio.sleep(request.wait_s)
    headers = {**request.headers, **(credentials if request.with_credentials else {})}
    exchange = await http.send("GET", request.url, headers, purpose=f"card:{request.reason}", total_s=card_s)
    return card_answer(exchange, bounds)


def own_origins(url: str, credentials: Mapping[str, str]) -> frozenset[str]:
    """The origins for which we hold credentials: that of the URL the operator typed, if there are any."""
    return frozenset({origin(url)}) if credentials else frozenset()

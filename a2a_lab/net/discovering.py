"""Drives the walk to a bound card over HTTP: the core says what to ask, this asks and parses (D1-D8)."""

from __future__ import annotations

import asyncio

from a2a_lab.core.discovery import CardAnswer, CardRequest, Discovering, Discovery
from a2a_lab.core.policy import Bounds
from a2a_lab.core.urls import origin
from a2a_lab.judge.answers import card_answer
from a2a_lab.net.client import Http
from a2a_lab.net.credentials import Credentials, Source


async def drive(
    walk: Discovering, http: Http, *, bounds: Bounds, credentials: Source | None, card_s: float
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
    request: CardRequest, http: Http, *, bounds: Bounds, credentials: Source | None, card_s: float
) -> CardAnswer:
    """One card GET. Credentials go along only where the core says so (D8)."""
    if request.wait_s:
        await asyncio.sleep(request.wait_s)
    exchange = await http.send(
        "GET",
        request.url,
        request.headers,
        purpose=f"card:{request.reason}",
        total_s=card_s,
        credentials=credentials if request.with_credentials else None,
    )
    return card_answer(exchange, bounds)


def own_origins(url: str, credentials: Credentials) -> frozenset[str]:
    """The origins for which we hold credentials: those of the URLs the operator typed, if there are any."""
    return credentials.origins | {origin(url)} if credentials else frozenset()

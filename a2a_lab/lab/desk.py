"""All that the cells of one run share about one live agent: its client, credentials, gate, budget and whose turn it is.

Opened once a run for each vendor file, and once by `check`. Nothing is sent by opening it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from a2a_lab.core.policy import Bounds
from a2a_lab.lab.allowance import Allowance
from a2a_lab.lab.live import context_of, credentials_of, reach_of, tenant_of
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Http, new_client
from a2a_lab.net.credentials import Credentials
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.gate import Gate
from a2a_lab.net.redact import Redactor
from a2a_lab.vendors.live import LiveVendor


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveDesk:
    """One live agent while a run talks to it. `turn` lets in as many cells at a time as its file says."""

    live: LiveVendor
    client: httpx.AsyncClient
    credentials: Credentials
    redactor: Redactor
    gate: Gate
    allowance: Allowance
    turn: asyncio.Semaphore

    def job_parts(self) -> dict[str, Any]:
        """What a `Job` is told about the agent beside its address."""
        return {
            "credentials": self.credentials,
            "card_url": self.live.card_url or None,
            "tenant": tenant_of(self.live),
        }

    def http(
        self, recorder: Recorder, bounds: Bounds, *, transport_timeout_s: float | None = None, cap_s: float = 600.0
    ) -> Http:
        """What one cell sends with."""
        return Http(
            self.client,
            recorder,
            bounds=bounds,
            connect_to=reach_of(self.live).connect_to,
            transport_timeout_s=transport_timeout_s,
            cap_s=cap_s,
            gate=self.gate,
            reach=reach_of(self.live),
        )


@asynccontextmanager
async def opened(live: LiveVendor, ledger: Ledger, run: str) -> AsyncIterator[LiveDesk]:
    """The desk, until the context is left. Raises Misuse for variables, PEM files or a proxy that cannot be used."""
    redactor = Redactor(urls=[live.url, live.card_url])
    shown = redactor.url(live.address)
    async with new_client(reach_of(live), context_of(live)) as client:
        credentials = credentials_of(live, client, redactor.know)
        redactor.hide(credentials.header_names)
        yield LiveDesk(
            live=live,
            client=client,
            credentials=credentials,
            redactor=redactor,
            gate=Gate(shown, rps=live.rps),
            allowance=Allowance(
                ledger, run, live.file if live.where else shown, most=live.max_runs, where=live.where or shown
            ),
            turn=asyncio.Semaphore(live.in_flight),
        )

"""The simulated union-card gateway of the discovery record: one origin, several tenants, one card for all of them.

At the origin it serves a tenant-agnostic card that claims what any tenant offers; to who names a tenant by the header
X-Tenant that same card, its URL rewritten to the tenant's. A tenant's own card is path-scoped, or chosen by the query.
Calls go to the tenant that header, path, query or the `tenant` parameter names. A de-provisioned tenant has neither
card nor endpoint, and the union card goes on claiming what it offered.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from a2a_lab.vendors.agent import RPC_PATH, SimulatedAgent
from a2a_lab.vendors.card_desk import CARD_PATH
from a2a_lab.vendors.cards import Keys
from a2a_lab.vendors.spec import AgentSpec
from a2a_lab.vendors.traffic import Incoming, Reply, json_reply


class UnionCardGateway:
    """A gateway and the tenants behind it, on one port."""

    def __init__(self, spec: AgentSpec, *, base: str, keys: Keys) -> None:
        self._spec, self._base, self._keys = spec, base, keys
        self._started = time.monotonic()
        self._front = self._agent(replace(spec, tenants={}))
        self._rewritten: dict[str, SimulatedAgent] = {}
        self._tenants = {
            name: self._agent(inner, under=f"/{name}") if inner else None for name, inner in spec.tenants.items()
        }

    def _agent(self, spec: AgentSpec, *, under: str = "", rpc_path: str = RPC_PATH) -> SimulatedAgent:
        base = self._base + under
        return SimulatedAgent(spec, base=base, keys=self._keys, rpc_path=rpc_path, started=self._started)

    async def handle(self, request: Incoming) -> Reply:
        """Answer one request, by the tenant that it selects."""
        first, _, rest = request.path.lstrip("/").partition("/")
        if first in self._tenants:
            inner = replace(request, path=f"/{rest}") if self._tenants[first] else request
            return await self._to_tenant(first, inner)
        header, query = request.headers.get("x-tenant"), request.query.get("tenant")
        if request.path != RPC_PATH:
            if query and request.path == CARD_PATH:
                return await self._to_tenant(query, request)
            return await self._union(header, request)
        chosen = header or query or _tenant_parameter(request.body)
        if not chosen:
            self._front.note(request)
            return _problem(400, "no tenant is named; name one by the header X-Tenant")
        return await self._to_tenant(chosen, request)

    async def _union(self, tenant: str | None, request: Incoming) -> Reply:
        """The gateway's own places. The union card names the URL of the tenant that the header names."""
        if tenant is None:
            return await self._front.handle(request)
        if self._tenants.get(tenant) is None:
            return await self._to_tenant(tenant, request)
        if tenant not in self._rewritten:
            self._rewritten[tenant] = self._agent(replace(self._spec, tenants={}), rpc_path=f"/{tenant}{RPC_PATH}")
        return await self._rewritten[tenant].handle(request)

    async def _to_tenant(self, name: str, request: Incoming) -> Reply:
        agent = self._tenants.get(name)
        if agent is None:
            self._front.note(request)
            return _problem(404, f"there is no tenant {name!r} here (any more)")
        return await agent.handle(request)

    def store(self) -> dict[str, Any]:
        """The stores of all tenants as one, requests in order."""
        running = [agent for agent in self._tenants.values() if agent]
        stores = [agent.store() for agent in (self._front, *self._rewritten.values(), *running)]
        requests = sorted((entry for store in stores for entry in store["requests"]), key=lambda entry: entry["at_s"])
        return {"tasks": [task for store in stores for task in store["tasks"]], "requests": requests}

    def close(self) -> None:
        for agent in self._tenants.values():
            if agent:
                agent.close()


def _tenant_parameter(body: bytes) -> str | None:
    try:
        tenant = json.loads(body)["params"]["tenant"]
    except (ValueError, KeyError, TypeError):
        return None
    return tenant if isinstance(tenant, str) else None


def _problem(status: int, text: str) -> Reply:
    return json_reply({"error": {"code": status, "message": text}}, status=status)

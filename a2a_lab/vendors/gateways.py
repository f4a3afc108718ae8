"""The simulated union-card gateway of the discovery record: one origin, several tenants, one card for all of them.

At the origin it serves a tenant-agnostic card that claims what any tenant offers; with an X-Tenant header that same
card, its URL rewritten to the tenant's. A tenant's own card is path-scoped, or chosen by the query. Calls go to the
tenant that header, path, query or the `tenant` parameter names; a de-provisioned tenant is gone, and the union card
goes on advertising it.
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
            return await self._to_tenant(first, replace(request, path=f"/{rest}"))
        chosen = request.query.get("tenant")
        if request.path != RPC_PATH:
            if chosen in self._tenants and request.path == CARD_PATH:
                return await self._to_tenant(str(chosen), request)
            return await self._union(request.headers.get("x-tenant")).handle(request)
        chosen = request.headers.get("x-tenant") or chosen or _tenant_parameter(request.body)
        if chosen not in self._tenants:
            self._front.note(request)
            return _problem(400, f"tenant {chosen!r} is not known here; name one by the header X-Tenant")
        return await self._to_tenant(str(chosen), request)

    def _union(self, tenant: str | None) -> SimulatedAgent:
        """The front, as it shows itself to who names a tenant: the union card, with that tenant's URL."""
        if tenant not in self._tenants:
            return self._front
        if tenant not in self._rewritten:
            spec = replace(self._spec, tenants={})
            self._rewritten[str(tenant)] = self._agent(spec, rpc_path=f"/{tenant}{RPC_PATH}")
        return self._rewritten[str(tenant)]

    async def _to_tenant(self, name: str, request: Incoming) -> Reply:
        agent = self._tenants[name]
        if agent is None:
            self._front.note(replace(request, path=f"/{name}{request.path}"))
            return _problem(404, f"tenant {name!r} was de-provisioned")
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

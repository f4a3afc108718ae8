"""The host process of simulated vendors: `python -m a2a_lab.vendors.simulated`.

Reads one JSON request a line from standard input and answers each with one line that repeats its `id`:

    {"do": "start", "id", "name", "spec": {...}, "nonce"}  ->  {"id", "ready": true, "url", "card_url"}
    {"do": "store", "id", "agent"}                         ->  {"id", "tasks": [...], "requests": [...]}
    {"do": "stop", "id", "agent"}                          ->  {"id", "stopped": true}

`agent` is the `id` of the start request. A request that cannot be done answers {"id", "error": sentence}. The first
line is {"host": "ready", "keys": {name: public JWK}}; private keys are made here and never leave. The end of standard
input ends the process at once, whatever it is doing, so that a killed lab leaves nothing behind (R40).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from a2a_lab.errors import LabError
from a2a_lab.vendors.agent import SimulatedAgent
from a2a_lab.vendors.card_desk import card_paths
from a2a_lab.vendors.cards import Keys
from a2a_lab.vendors.gateways import UnionCardGateway
from a2a_lab.vendors.serving import Listening, Ports, Vendor
from a2a_lab.vendors.spec import AgentSpec

LINE_BYTES = 4_000_000  # a spec is a few kB; the default limit of asyncio, 64 kB, is near what `extra` may hold


class Host:
    """The agents of this process, by the id of their start request."""

    def __init__(self) -> None:
        self.keys = Keys()
        self._ports = Ports()
        self._running: dict[str, Listening] = {}

    async def do(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request."""
        match request["do"]:
            case "start":
                return await self._start(request)
            case "store":
                return self._running[request["agent"]].vendor.store()
            case "stop":
                self._running.pop(request["agent"]).stop()
                return {"stopped": True}
            case other:
                raise KeyError(f"nothing is called {other!r}")

    async def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        spec = AgentSpec.parse(request["name"], request["spec"], f"agents.{request['name']}")
        listener = self._ports.listener()
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = Listening(self._vendor(spec, base), request["nonce"], listener)
        await server.start()
        self._running[str(request["id"])] = server
        return {"ready": True, "url": base, "card_url": base + card_paths(spec)[0]}

    def _vendor(self, spec: AgentSpec, base: str) -> Vendor:
        if spec.tenants:
            return UnionCardGateway(spec, base=base, keys=self.keys)
        return SimulatedAgent(spec, base=base, keys=self.keys)


async def serve() -> None:
    """Serve requests until standard input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    host = Host()
    jobs: set[asyncio.Task[None]] = set()

    async def answer(line: bytes) -> None:
        request: dict[str, Any] = {}
        try:
            request = json.loads(line)
            reply = await host.do(request)
        except (LabError, KeyError, ValueError, OSError) as fault:
            reply = {"error": f"{type(fault).__name__}: {fault}"}
        writer.write(json.dumps({"id": request.get("id"), **reply}).encode() + b"\n")

    writer.write(json.dumps({"host": "ready", "keys": host.keys.public()}).encode() + b"\n")
    while line := await reader.readline():
        job = asyncio.create_task(answer(line))
        jobs.add(job)
        job.add_done_callback(jobs.discard)


def main() -> None:
    try:
        asyncio.run(_serve_and_leave())
    except KeyboardInterrupt:
        os._exit(130)


async def _serve_and_leave() -> None:
    try:
        await serve()
    finally:
        # At once: open streams, half-written answers and waiting executors have nobody left to talk to.
        os._exit(0)


if __name__ == "__main__":
    main()

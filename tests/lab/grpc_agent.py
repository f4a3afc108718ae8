"""A small agent over gRPC in the process: a card over HTTP, tasks that echo, and what may go wrong with them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from a2a_lab.wire.protobuf import schema
from a2a_lab.wire.protojson import read_message, write_message
from tests.net.grpc_peers import grpc_peer
from tests.net.peers import peer, response


@dataclass
class GrpcAgent:
    """`hangs`: its tasks never end. `calls` are the methods that were called, with the metadata of each."""

    version: str = "1.0"
    streaming: bool = True
    hangs: bool = False
    url: str = ""
    place: str = ""
    shown: str = ""  # what the card names; its own place where empty
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.calls]

    def card(self) -> dict[str, Any]:
        mode = ["text/plain"]
        skill = {"id": "echo", "name": "Echo", "description": "Echoes", "tags": ["echo"]}
        card: dict[str, Any] = {
            "name": "echo",
            "description": "Echoes",
            "version": "1",
            "capabilities": {"streaming": self.streaming},
            "defaultInputModes": mode,
            "defaultOutputModes": mode,
            "skills": [skill],
        }
        there = self.shown or self.place
        if self.version == "1.0":
            interface = {"url": there, "protocolBinding": "GRPC", "protocolVersion": "1.0"}
            return card | {"supportedInterfaces": [interface]}
        return card | {"url": there, "preferredTransport": "GRPC", "protocolVersion": "0.3.0"}

    # -- what it says

    def task(self, name: str) -> dict[str, Any]:
        task: dict[str, Any] = {"id": name, "contextId": "c1", "status": {"state": self.states[name]}}
        if self.states[name] == "TASK_STATE_COMPLETED":
            task["artifacts"] = [{"artifactId": "a", "parts": [{"text": self.received[-1]}]}]
        return task

    def begin(self, request: dict[str, Any]) -> str:
        name = f"t{len(self.states) + 1}"
        self.states[name] = "TASK_STATE_WORKING" if self.hangs else "TASK_STATE_COMPLETED"
        message = request["message"]
        self.received.append((message.get("parts") or message.get("content"))[0]["text"])
        return name


@contextlib.asynccontextmanager
async def serving(agent: GrpcAgent) -> AsyncIterator[GrpcAgent]:
    """Serve the agent until the context is left."""
    package = schema(agent.version).package
    service = f"{package}.A2AService"
    methods = schema(agent.version).methods

    def handler(name: str) -> Any:
        method = methods[f"/{service}/{name}"]

        async def handle(raw: bytes, context: Any) -> AsyncIterator[bytes]:
            agent.calls.append((name, dict(context.invocation_metadata())))
            async for document in answers(name, read_message(method.request, raw), context):
                yield write_message(method.answer, json.dumps(document).encode())

        return handle

    async def answers(name: str, request: dict[str, Any], context: Any) -> AsyncIterator[dict[str, Any]]:
        task_id = request.get("id") or request.get("name", "").removeprefix("tasks/")
        if name == "SendMessage":
            yield {"task": agent.task(agent.begin(request))}
        elif name == "SendStreamingMessage":
            task_id = agent.begin(request)
            ids = {"taskId": task_id, "contextId": "c1"}
            yield {"task": {"id": task_id, "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}}
            if agent.hangs:
                await asyncio.Event().wait()
            yield {"artifactUpdate": {**ids, "artifact": agent.task(task_id)["artifacts"][0], "lastChunk": True}}
            final = {} if agent.version == "1.0" else {"final": True}
            yield {"statusUpdate": {**ids, "status": {"state": "TASK_STATE_COMPLETED"}, **final}}
        elif name in ("GetTask", "CancelTask") and task_id in agent.states:
            if name == "CancelTask":
                spelt = "TASK_STATE_CANCELED" if agent.version == "1.0" else "TASK_STATE_CANCELLED"
                agent.states[task_id] = spelt
            yield agent.task(task_id)
        else:
            import grpc

            await context.abort(grpc.StatusCode.NOT_FOUND, "no such task")

    async def cards(request: bytes, writer: asyncio.StreamWriter) -> None:
        path = request.split(b" ", 2)[1].partition(b"?")[0]
        if path == b"/.well-known/agent-card.json":
            writer.write(response(json.dumps(agent.card()).encode()))
        else:
            writer.write(response(b"", status="404 Not Found"))
        await writer.drain()

    names = [path.rpartition("/")[2] for path in itertools.chain(methods)]
    async with grpc_peer(service, **{name: handler(name) for name in names}) as agent.place, peer(cards) as agent.url:
        yield agent

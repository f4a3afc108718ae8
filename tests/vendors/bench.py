"""A host process and an HTTP client on one event loop, driven from synchronous tests.

The client here is the tests' own few lines of httpx, so that what the agents do is seen on the wire, not through the
readers that they are there to test.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

import httpx

from a2a_lab.vendors.launch import RunningAgent, SimulatedHost
from a2a_lab.vendors.spec import AgentSpec

LIMIT_S = 5.0
CARD = "/.well-known/agent-card.json"
METHODS = {
    "1.0": {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "cancel": "CancelTask"},
    "0.3": {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel"},
}


@dataclass
class Streamed:
    """A stream as it was read: its events, its comments, its raw text, and whether we or the agent ended it."""

    media_type: str = ""
    text: str = ""
    ending: str = "closed"
    results: list[dict[str, Any]] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """The wrapper of each event, with the state where it has one: `task:WORKING`, `artifactUpdate`."""
        return [_kind(result) for result in self.results]


def _kind(result: dict[str, Any]) -> str:
    name = result.get("kind") or next(iter(result))
    inner = result if "kind" in result else result[name]
    state = inner.get("status", {}).get("state", "")
    return f"{name}:{state.removeprefix('TASK_STATE_')}" if state else name


class Agent:
    """A running agent, called as a plain client would."""

    def __init__(self, bench: Bench, running: RunningAgent) -> None:
        self.bench, self.running = bench, running
        self.dialect = running.spec.dialect

    def card(self, path: str = CARD, **headers: str) -> dict[str, Any]:
        document: dict[str, Any] = self.get(path, **headers).json()
        return document

    def get(self, path: str = CARD, **headers: str) -> httpx.Response:
        return self.bench.run(self.bench.http.get(self.running.url + path, headers=headers))

    def body(
        self, op: str, *parts: dict[str, Any], task: str | None = None, context: str | None = None, **params: Any
    ) -> dict[str, Any]:
        """A request; without parts a text part is sent. For get and cancel `task` is the task's id."""
        new = self.dialect == "1.0"
        if op in ("get", "cancel"):
            params["id"] = task
        else:
            text: dict[str, Any] = {"text": "hi"} if new else {"kind": "text", "text": "hi"}
            message = {"messageId": "m1", "role": "ROLE_USER" if new else "user", "parts": list(parts) or [text]}
            ids = {"taskId": task, "contextId": context}
            params["message"] = (
                message | {key: value for key, value in ids.items() if value} | params.pop("message", {})
            )
        return {"jsonrpc": "2.0", "id": 7, "method": METHODS[self.dialect].get(op, op), "params": params}

    def post(self, body: Any, *, path: str = "/rpc", limit_s: float = LIMIT_S, **headers: str) -> httpx.Response:
        sent = {"A2A-Version": "1.0", **headers} if self.dialect == "1.0" else headers
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        call = self.bench.http.post(self.running.url + path, content=content, headers=sent, timeout=limit_s)
        return self.bench.run(call)

    def call(self, op: str, *parts: dict[str, Any], **params: Any) -> dict[str, Any]:
        """The JSON-RPC answer."""
        answer: dict[str, Any] = self.post(self.body(op, *parts, **params)).json()
        return answer

    def task(self, op: str, *parts: dict[str, Any], **params: Any) -> dict[str, Any]:
        """The task of a good answer."""
        result: dict[str, Any] = self.call(op, *parts, **params)["result"]
        inner: dict[str, Any] = result.get("task", result)
        return inner

    def stream(self, *parts: dict[str, Any], limit_s: float = LIMIT_S, **params: Any) -> Streamed:
        """Everything a stream call answers within `limit_s`."""
        return self.bench.run(self._stream(self.body("stream", *parts, **params), limit_s))

    async def _stream(self, body: dict[str, Any], limit_s: float) -> Streamed:
        headers = {"A2A-Version": "1.0"} if self.dialect == "1.0" else {}
        seen = Streamed()
        try:
            async with (
                asyncio.timeout(limit_s),
                self.bench.http.stream("POST", f"{self.running.url}/rpc", json=body, headers=headers) as answer,
            ):
                seen.media_type = answer.headers.get("content-type", "")
                async for text in answer.aiter_text():
                    seen.text += text
        except TimeoutError:
            seen.ending = "open"
        except httpx.RemoteProtocolError:
            seen.ending = "reset"
        for block in seen.text.replace("\r\n", "\n").split("\n\n")[:-1]:
            if block.startswith("data:"):
                seen.results.append(json.loads(block.removeprefix("data:"))["result"])
        return seen

    def store(self) -> dict[str, Any]:
        return self.bench.run(self.running.store())


class Bench:
    """One host process for all tests of a module."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self.host = self.run(SimulatedHost().__aenter__())
        self.http = httpx.AsyncClient(timeout=LIMIT_S, trust_env=False)

    def run(self, job: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(job)

    def agent(self, *faults: str | dict[str, Any], **table: Any) -> Agent:
        """Start an agent with these misbehaviours and what `table` says of it beside."""
        named = [{"name": fault} if isinstance(fault, str) else fault for fault in faults]
        spec = AgentSpec.parse("oak", {"version": "1.0", "work_s": 0.01, "misbehaviours": named} | table, "agents.oak")
        return Agent(self, self.run(self.host.start(spec)))

    def close(self) -> None:
        self.run(self.http.aclose())
        self.run(self.host.__aexit__(None, None, None))
        self._runner.close()

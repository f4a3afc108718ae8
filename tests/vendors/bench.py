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
from a2a_lab.wire.dialects import DIALECTS, Dialect

SIMULATED: list[Dialect] = [one for one in DIALECTS if one.binding != "GRPC"]
"""The dialects that simulated agents speak; gRPC has an agent of its own, `tests.lab.grpc_agent`."""
LIMIT_S = 5.0
CARD = "/.well-known/agent-card.json"
METHODS = {
    "1.0": {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "cancel": "CancelTask"},
    "0.3": {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel"},
    "0.2": {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel"},
    "0.1": {"send": "tasks/send", "stream": "tasks/sendSubscribe", "get": "tasks/get", "cancel": "tasks/cancel"},
}
PATHS = {"send": "/message:send", "stream": "/message:stream", "get": "/tasks/{}", "cancel": "/tasks/{}:cancel"}


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
        self.dialect, self.binding = running.spec.dialect, running.spec.binding
        self.version = {"A2A-Version": "1.0"} if self.dialect == "1.0" else {}

    def card(self, path: str = CARD, **headers: str) -> dict[str, Any]:
        document: dict[str, Any] = self.get(path, **headers).json()
        return document

    def get(self, path: str = CARD, **headers: str) -> httpx.Response:
        return self.bench.run(self.bench.http.get(self.running.url + path, headers=headers))

    def body(
        self, op: str, *parts: dict[str, Any], task: str | None = None, context: str | None = None, **params: Any
    ) -> dict[str, Any]:
        """A request; without parts a text part is sent. For get and cancel `task` is the task's id."""
        new, rest = self.dialect == "1.0", self.binding == "HTTP+JSON"
        if op in ("get", "cancel"):
            params["id"] = task
        else:
            tag = {"0.1": "type"}.get(self.dialect, "kind")
            text: dict[str, Any] = {"text": "hi"} if new or rest else {tag: "text", "text": "hi"}
            content = "content" if rest and not new else "parts"
            role = "ROLE_USER" if new or rest else "user"
            message: dict[str, Any] = {"messageId": "m1", "role": role, content: list(parts) or [text]}
            ids = {"taskId": task, "contextId": context} if self.dialect != "0.1" else {}
            if self.dialect == "0.1":
                params |= {"id": task or "t1"} | ({"sessionId": context} if context else {})
            params["message"] = (
                message | {key: value for key, value in ids.items() if value} | params.pop("message", {})
            )
        if rest:
            return params
        return {"jsonrpc": "2.0", "id": 7, "method": METHODS[self.dialect].get(op, op), "params": params}

    def place(self, op: str, task: str | None = None) -> str:
        """The path of an operation."""
        if self.binding == "JSONRPC":
            return "/rpc"
        return "/rpc" + ("" if self.dialect == "1.0" else "/v1") + PATHS[op].format(task)

    def ask(self, op: str, *parts: dict[str, Any], task: str | None = None, **params: Any) -> httpx.Response:
        """The answer over HTTP+JSON."""
        if op == "get":
            return self.get(self.place(op, task), **self.version)
        return self.post(self.body(op, *parts, task=task, **params), path=self.place(op, task))

    def post(self, body: Any, *, path: str = "/rpc", limit_s: float = LIMIT_S, **headers: str) -> httpx.Response:
        sent = {**self.version, **headers}
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
        url, seen = self.running.url + self.place("stream"), Streamed()
        try:
            async with (
                asyncio.timeout(limit_s),
                self.bench.http.stream("POST", url, json=body, headers=self.version) as answer,
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
                document = json.loads(block.removeprefix("data:"))
                seen.results.append(document if self.binding == "HTTP+JSON" else document["result"])
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

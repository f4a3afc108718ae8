"""Exchanges written by hand: cards, calls and streams, as a recording would hold them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from a2a_lab.core.policy import Intent, Policy
from a2a_lab.judge.offline import Judgement, judge_evidence
from a2a_lab.verdicts import Stage
from a2a_lab.wire.exchange import Chunk, Ending, Exchange

ORIGIN = "https://agent.example.test"
CARD_URL = f"{ORIGIN}/.well-known/agent-card.json"
RPC_URL = f"{ORIGIN}/rpc"
NOW = 1_796_000_000.0
JSON = [("Content-Type", "application/json")]


def card(**members: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "name": "Test Agent",
        "description": "Agent under test.",
        "version": "1.0.0",
        "supportedInterfaces": [{"url": RPC_URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "sum", "name": "Summarise", "description": "Shortens a text.", "tags": ["text"]}],
    }
    return base | members


def get(body: Any, *, url: str = CARD_URL, status: int = 200, at: float = 0, **more: Any) -> Exchange:
    """A GET and its answer; `body` as bytes, or as JSON to be written."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Exchange(
        method="GET",
        url=url,
        status=status,
        response_headers=list(JSON),
        body=raw,
        started_ms=at,
        ended_ms=at + 1,
        **more,
    )


def call(method: str, params: Any, *, result: Any = None, error: Any = None, at: float = 1, **more: Any) -> Exchange:
    """A JSON-RPC call with its answer; with a `fault` or `status` of its own it has no body."""
    answer = {"jsonrpc": "2.0", "id": 1} | ({"error": error} if error is not None else {"result": result})
    fixed: dict[str, Any] = {
        "url": RPC_URL,
        "status": 200,
        "response_headers": list(JSON),
        "body": json.dumps(answer).encode(),
        "started_ms": at,
        "ended_ms": at + 1,
    }
    if "fault" in more:
        fixed |= {"status": None, "body": b"", "response_headers": []}
    elif more.get("status", 200) >= 300:
        fixed["body"] = b""
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Exchange(method="POST", request_body=json.dumps(request).encode(), **(fixed | more))


def message(**members: Any) -> dict[str, Any]:
    return {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]} | members


def send(result: Any = None, *, error: Any = None, at: float = 1, url: str = RPC_URL, **more: Any) -> Exchange:
    """A SendMessage; what is no field of an exchange goes into the message."""
    fields = {name: more.pop(name) for name in ("status", "fault", "purpose", "response_headers") if name in more}
    params = {"message": message(**more)}
    return call("SendMessage", params, result=result, error=error, at=at, url=url, **fields)


def task(state: str, *, id: str = "t1", **members: Any) -> dict[str, Any]:
    return {"id": id, "contextId": "c1", "status": {"state": f"TASK_STATE_{state}"}} | members


def update(state: str) -> dict[str, Any]:
    return {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": f"TASK_STATE_{state}"}}}


def chunk(text: str, **members: Any) -> dict[str, Any]:
    artifact = {"artifactId": "a1", "parts": [{"text": text}]}
    return {"artifactUpdate": {"taskId": "t1", "contextId": "c1", "artifact": artifact} | members}


def stream(
    *events: Any, ending: Ending = "close", step_ms: float = 10, has_times: bool = True, **more: Any
) -> Exchange:
    """A SendStreamingMessage whose events come `step_ms` apart; without times they lie in the body as a whole."""
    frames = [f"data: {json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': event})}\n\n".encode() for event in events]
    request = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message()}}
    chunks = [Chunk(offset_ms=2 + place * step_ms, data=frame) for place, frame in enumerate(frames)]
    fixed: dict[str, Any] = {
        "url": RPC_URL,
        "status": 200,
        "response_headers": [("Content-Type", "text/event-stream")],
        "body": b"".join(frames),
        "chunks": chunks if has_times else [],
        "started_ms": 1.0,
        "ended_ms": chunks[-1].offset_ms if chunks else 1.0,
        "ending": ending,
    }
    return Exchange(method="POST", request_body=json.dumps(request).encode(), **(fixed | more))


def judged(exchanges: Sequence[Exchange], *, policy: Policy | None = None, **more: Any) -> Judgement:
    intent = more.pop("intent", Intent())
    return judge_evidence(exchanges, policy=policy or Policy(), intent=intent, now=NOW, **more)


def verdicts(found: Judgement) -> dict[str, str]:
    return {stage.value: verdict.value for stage, (verdict, _) in found.findings.stages.items()}


def slugs(found: Judgement, stage: Stage) -> list[str]:
    return [one.slug for one in found.findings.all if one.stage is stage]

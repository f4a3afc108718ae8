"""Recorded visits of consumers, written by hand: card looks, calls and streams, at times of one's choice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from a2a_lab.core.policy import Clocks, Policy
from a2a_lab.judge.consumer import ConsumerJudgement, judge_consumer
from a2a_lab.judge.visit import Account, Visit
from a2a_lab.wire.exchange import Chunk, Exchange

BASE = "http://agent.example"
RPC = f"{BASE}/rpc"
POLICY = Policy(clocks=Clocks(silence_s=1.0, hang_s=2.0, total_s=20.0))
OK = Account(ok=True, state="completed", artifacts={"a": "echo: hello"}, events=4, said="completed, artifact 'a'")
SKILL = {"id": "echo", "name": "echo", "description": "-", "tags": ["-"]}
COMMON: dict[str, Any] = {
    "name": "echo",
    "description": "-",
    "version": "1",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [SKILL],
}


def card_1_0(*interfaces: dict[str, Any], url: str = RPC, **more: Any) -> dict[str, Any]:
    offered = interfaces or ({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},)
    return {**COMMON, "supportedInterfaces": list(offered), **more}


def card_0_3(url: str = RPC, version: str = "0.3.0", **more: Any) -> dict[str, Any]:
    return {**COMMON, "url": url, "protocolVersion": version, "preferredTransport": "JSONRPC", **more}


def look(
    card: dict[str, Any] | None = None,
    *,
    at_ms: float = 0.0,
    path: str = "/.well-known/agent-card.json",
    status: int | None = None,
    sent: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    base: str = BASE,
    purpose_of_lab: bool = False,
) -> Exchange:
    """One GET for a card: what was found there, or 404; `purpose_of_lab` labels it as the lab's own."""
    found = body if body is not None else b"" if card is None else json.dumps(card).encode()
    return Exchange(
        method="GET",
        url=base + path,
        purpose="card:hint" if purpose_of_lab else "",
        request_headers=[("Accept", "*/*"), *(sent or {}).items()],
        started_ms=at_ms,
        ended_ms=at_ms + 5,
        status=status or (200 if found else 404),
        response_headers=[("Content-Type", "application/json"), *(headers or {}).items()],
        body=found,
    )


def message(text: str = "hello", dialect: str = "1.0", **more: Any) -> dict[str, Any]:
    if dialect == "1.0":
        return {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}], **more}
    return {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": text}], **more}


def task(
    state: str = "completed", *, dialect: str = "1.0", artifact: str = "echo: hello", **more: Any
) -> dict[str, Any]:
    """A task as an answer gives it; without an artifact where that is empty."""
    if dialect == "1.0":
        status: dict[str, Any] = {"state": f"TASK_STATE_{state.upper().replace('-', '_')}"}
        held = [{"artifactId": "a", "parts": [{"text": artifact}]}] if artifact else []
        return {"id": "t1", "contextId": "c1", "status": status, "artifacts": held, **more}
    held = [{"artifactId": "a", "parts": [{"kind": "text", "text": artifact}]}] if artifact else []
    return {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": state}, "artifacts": held, **more}


def call(
    method: str = "SendMessage",
    params: dict[str, Any] | None = None,
    answer: dict[str, Any] | None = None,
    *,
    error: dict[str, Any] | None = None,
    at_ms: float = 100.0,
    url: str = RPC,
    version: str | None = "1.0",
    sent: dict[str, str] | None = None,
    **more: Any,
) -> Exchange:
    """One call and its whole answer; further members are those of the exchange."""
    version_header = {"A2A-Version": version} if version else {}
    asked = params if params is not None else {"message": message(dialect="1.0" if "/" not in method else "0.3")}
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        **({"error": error} if error else {"result": answer if answer is not None else {}}),
    }
    given: dict[str, Any] = {
        "started_ms": at_ms,
        "ended_ms": at_ms + 20,
        "status": 200,
        "response_headers": [("Content-Type", "application/json")],
        "body": json.dumps(body).encode(),
    }
    return Exchange(
        method="POST",
        url=url,
        request_headers=[("Content-Type", "application/json"), *version_header.items(), *(sent or {}).items()],
        request_body=json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": asked}).encode(),
        **{**given, **more},
    )


def stream(
    *results: dict[str, Any],
    method: str = "SendStreamingMessage",
    at_ms: float = 100.0,
    gap_ms: float = 10.0,
    ended_ms: float | None = None,
    version: str | None = "1.0",
    raw: Sequence[str] = (),
    **more: Any,
) -> Exchange:
    """A streaming call whose events come `gap_ms` apart; `raw` are data lines as they are."""
    lines = [json.dumps({"jsonrpc": "2.0", "id": 1, "result": one}) for one in results] + list(raw)
    chunks = [
        Chunk(offset_ms=at_ms + gap_ms * (place + 1), data=f"data: {line}\n\n".encode())
        for place, line in enumerate(lines)
    ]
    last = chunks[-1].offset_ms if chunks else at_ms
    return call(
        method,
        at_ms=at_ms,
        version=version,
        **{
            "ended_ms": last + 1 if ended_ms is None else ended_ms,
            "response_headers": [("Content-Type", "text/event-stream")],
            "chunks": chunks,
            "body": b"".join(chunk.data for chunk in chunks),
            **more,
        },
    )


def status(state: str) -> dict[str, Any]:
    wire = f"TASK_STATE_{state.upper().replace('-', '_')}"
    return {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": wire}}}


def artifact(text: str, **more: Any) -> dict[str, Any]:
    return {
        "artifactUpdate": {
            "taskId": "t1",
            "contextId": "c1",
            "artifact": {"artifactId": "a", "parts": [{"text": text}]},
            **more,
        }
    }


WHOLE_STREAM = (
    {"task": task("submitted", artifact="")},
    status("working"),
    artifact("echo: hello"),
    status("completed"),
)


def judged(*exchanges: Exchange, account: Account | None = None, address: str = BASE, **more: Any) -> ConsumerJudgement:
    return judge_consumer(exchanges, policy=POLICY, address=address, account=account, **more)


def slugs(*exchanges: Exchange, account: Account | None = None, address: str = BASE, **more: Any) -> set[str]:
    """What is said of the consumer, but for what is said of all of them."""
    found = judged(*exchanges, account=account, address=address, **more).findings
    return {one.slug for one in found} - {"committed-unprobed"}


def visit(*exchanges: Exchange, address: str = BASE) -> Visit:
    return Visit(exchanges, policy=POLICY, address=address)

"""R5, R30: a look that falls into a stream of its task is older than what the stream said afterwards."""

from __future__ import annotations

import json

from a2a_lab.core.policy import Intent, Policy
from a2a_lab.judge.offline import judge_exchanges
from a2a_lab.wire.exchange import Chunk, Exchange

URL = "https://agent.example.test/rpc"


def call(method: str, rpc_id: str, params: dict[str, object], **answer: object) -> Exchange:
    body = json.dumps({"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}).encode()
    headers = [("A2A-Version", "1.0"), ("Content-Type", "application/json")]
    return Exchange(method="POST", url=URL, request_headers=headers, request_body=body, status=200, **answer)  # type: ignore[arg-type]


def told(rpc_id: str, result: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": rpc_id, "result": result}).encode()


def task(state: str) -> dict[str, object]:
    return {"id": "t1", "contextId": "c1", "status": {"state": f"TASK_STATE_{state}"}}


def test_asking_a_slow_agent_once_accuses_nobody() -> None:
    artifact = {"taskId": "t1", "contextId": "c1", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}
    done = {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}
    events = [
        (0.0, {"task": task("SUBMITTED")}),
        (3000.0, {"artifactUpdate": artifact}),
        (3001.0, {"statusUpdate": done}),
    ]
    chunks = [Chunk(offset_ms=at, data=b"data: " + told("s", event) + b"\n\n") for at, event in events]
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    stream = call(
        "SendStreamingMessage",
        "s",
        {"message": message},
        response_headers=[("Content-Type", "text/event-stream")],
        chunks=chunks,
        body=b"".join(chunk.data for chunk in chunks),
        ended_ms=3002.0,
    )
    look = call(
        "GetTask",
        "g",
        {"id": "t1"},
        response_headers=[("Content-Type", "application/json")],
        body=told("g", task("WORKING")),
        started_ms=1000.0,
        ended_ms=1010.0,
    )
    found = judge_exchanges([stream, look], policy=Policy(), intent=Intent(), now=0.0)
    assert not [one.slug for one in found.all if one.slug in ("state-after-end", "state-went-back", "orphaned-task")]
    assert found.verdict.value == "accept"

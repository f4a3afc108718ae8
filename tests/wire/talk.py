"""Short ways to write what travels on the wire, and to read it with the dialect under test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from a2a_lab.core.model import StreamEvent
from a2a_lab.verdicts import Finding
from a2a_lab.wire.dialects import Answer, Op, dialect_for

ROOT = Path(__file__).parents[2]
JSON_HEADERS = {"Content-Type": "application/json"}
URL = "https://agent.example.test/rpc"

TASK_1_0: dict[str, Any] = {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}
TASK_0_3: dict[str, Any] = {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "working"}}
MESSAGE_1_0: dict[str, Any] = {"messageId": "a1", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}
MESSAGE_0_3: dict[str, Any] = {
    "kind": "message",
    "messageId": "a1",
    "role": "agent",
    "parts": [{"kind": "text", "text": "hi"}],
}


def envelope(result: Any = None, **members: Any) -> dict[str, Any]:
    """A response to the request "r1"; `members` replace or add, None as a value stays null."""
    document = {"jsonrpc": "2.0", "id": "r1"} | ({} if result is None else {"result": result})
    return document | members


def answer(
    body: Any,
    *,
    version: str = "1.0",
    op: Op = "send",
    rpc_id: Any = "r1",
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> Answer:
    """The body, as bytes or as JSON to be written, read as the answer to `op`."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return dialect_for(version).read_answer(
        op, rpc_id=rpc_id, status=status, headers=JSON_HEADERS if headers is None else headers, body=raw
    )


def event(result: Any, *, version: str = "1.0", **members: Any) -> tuple[StreamEvent, list[Finding]]:
    """One stream frame with this result, read."""
    return dialect_for(version).read_event(json.dumps(envelope(result, **members)), rpc_id="r1")


def said(findings: Any) -> list[tuple[str, str, str]]:
    """Findings as (slug, verdict, stage)."""
    return [(finding.slug, finding.verdict.value, finding.stage.value) for finding in findings]


def slugs(findings: Any) -> list[str]:
    return [finding.slug for finding in findings]


def cases(*patterns: str) -> list[dict[str, Any]]:
    """Cases of the case book by file pattern."""
    paths = sorted({path for pattern in patterns for path in (ROOT / "data" / "cases").glob(pattern)})
    assert paths, f"no case matches {patterns}"
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]

"""Short ways to make messages of the lab's own schema, and to read them with the gRPC dialects."""

from __future__ import annotations

import json
from typing import Any

from a2a_lab.core.model import StreamEvent
from a2a_lab.verdicts import Finding
from a2a_lab.wire.dialects import Answer, Op, dialect_for
from a2a_lab.wire.protobuf import schema
from a2a_lab.wire.protojson import line, read_message, write_message

HEADERS = [("content-type", "application/grpc"), ("grpc-status", "0")]
URL = "agent.example.test:50051"
TASK: dict[str, Any] = {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}


def packed(kind: str, document: Any, version: str = "1.0") -> bytes:
    """The bytes of one message."""
    return write_message(schema(version).messages[kind], json.dumps(document).encode())


def kept(kind: str, raw: bytes, version: str = "1.0") -> Any:
    """What evidence keeps of the bytes of one message."""
    return read_message(schema(version).messages[kind], raw)


def answer(*documents: Any, op: Op = "send", version: str = "1.0") -> Answer:
    """A whole body, a message a line, read as the answer to `op`."""
    return dialect_for(version, "GRPC").read_answer(
        op, rpc_id=None, status=200, headers=HEADERS, body=b"".join(map(line, documents))
    )


def event(document: Any, version: str = "1.0") -> tuple[StreamEvent, list[Finding]]:
    return dialect_for(version, "GRPC").read_event(line(document).decode().strip(), rpc_id=None)


def failed(code: int, message: str = "no", *details: Any) -> dict[str, Any]:
    """What evidence keeps of a failing status."""
    return {"error": {"code": code, "message": message, "details": list(details)}}


def info(reason: str, domain: str = "a2a-protocol.org") -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain}

"""What consumers on the official Python SDK 1.x share: how a message is made of a payload, and what an event holds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from uuid import uuid4

from a2a.types import Artifact, Message, Part, Role, SendMessageRequest, StreamResponse, TaskState
from consumer_kit import Payload, Seen, payload_of
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value


def request_of(options: argparse.Namespace) -> SendMessageRequest:
    """The request, with one part."""
    part = part_of(payload_of(options))
    return SendMessageRequest(message=Message(role=Role.ROLE_USER, message_id=str(uuid4()), parts=[part]))


def part_of(payload: Payload) -> Part:
    if payload.kind == "text":
        return Part(text=payload.text, media_type=payload.mode)
    if payload.kind == "data":
        return Part(data=ParseDict(payload.data, Value()), media_type=payload.mode)
    return Part(raw=payload.raw, media_type=payload.mode)


def text_of(parts: Iterable[Part]) -> str:
    """Texts as they are, other parts by their kind and type."""
    found = []
    for part in parts:
        kind = part.WhichOneof("content")
        if kind == "text":
            found.append(part.text)
        elif kind == "data":
            found.append(json.dumps(MessageToDict(part.data)))
        else:
            found.append(f"[{kind} {part.media_type or 'untyped'}]")
    return "".join(found)


def noted(seen: Seen, event: StreamResponse) -> None:
    """Note what one event of the SDK says."""
    seen.event()
    kind = event.WhichOneof("payload")
    if kind == "task":
        seen.status(TaskState.Name(event.task.status.state))
        seen.snapshot(_artifact(artifact) for artifact in event.task.artifacts)
    elif kind == "message":
        seen.message(text_of(event.message.parts))
    elif kind == "status_update":
        seen.status(TaskState.Name(event.status_update.status.state))
    elif kind == "artifact_update":
        update = event.artifact_update
        seen.artifact(*_artifact(update.artifact), append=update.append)
    else:
        seen.nothing_in_it()


def _artifact(artifact: Artifact) -> tuple[str, str]:
    return artifact.artifact_id, text_of(artifact.parts)

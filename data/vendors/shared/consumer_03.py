"""What consumers on the official Python SDKs 0.2 and 0.3 share: a message made of a payload, what an event holds."""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Iterable
from uuid import uuid4

from a2a.types import (
    Artifact,
    DataPart,
    FilePart,
    FileWithBytes,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    TextPart,
)
from consumer_kit import Payload, Seen, payload_of


def message_of(options: argparse.Namespace) -> Message:
    """The message, with one part."""
    return Message(role=Role.user, message_id=str(uuid4()), parts=[part_of(payload_of(options))])


def part_of(payload: Payload) -> Part:
    if payload.kind == "text":
        return Part(root=TextPart(text=payload.text))
    if payload.kind == "data":
        data = payload.data if isinstance(payload.data, dict) else {"value": payload.data}  # an object, says this line
        return Part(root=DataPart(data=data))
    content = base64.b64encode(payload.raw).decode("ascii")
    return Part(root=FilePart(file=FileWithBytes(bytes=content, mime_type=payload.mode)))


def text_of(parts: Iterable[Part]) -> str:
    """Texts as they are, other parts by their kind and type."""
    found = []
    for part in parts:
        if isinstance(part.root, TextPart):
            found.append(part.root.text)
        elif isinstance(part.root, DataPart):
            found.append(json.dumps(part.root.data))
        else:
            found.append(f"[file {part.root.file.mime_type or 'untyped'}]")
    return "".join(found)


def noted(seen: Seen, event: Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> None:
    """Note what one event of the SDK says."""
    seen.event()
    if isinstance(event, Task):
        seen.status(event.status.state.value)
        seen.snapshot(_artifact(artifact) for artifact in event.artifacts or ())
    elif isinstance(event, Message):
        seen.message(text_of(event.parts))
    elif isinstance(event, TaskStatusUpdateEvent):
        seen.status(event.status.state.value)
    else:
        seen.artifact(*_artifact(event.artifact), append=bool(event.append))


def _artifact(artifact: Artifact) -> tuple[str, str]:
    return artifact.artifact_id, text_of(artifact.parts)

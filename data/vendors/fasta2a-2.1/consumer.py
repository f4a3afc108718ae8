"""A consumer on fasta2a 2.1.1: its client fetches the card, sends, and polls as long as the task is at work."""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import httpx
from consumer_kit import Payload, Reported, Seen, consumer_options, payload_of, run
from fasta2a.client import A2AClient, UnexpectedResponseError
from fasta2a.schema import Artifact, Message, Part

POLL_S = 0.2
WAITING = ("submitted", "working")


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    async with httpx.AsyncClient(timeout=options.timeout) as http:
        client = A2AClient(options.url, http_client=http, fetch_card=True, relative_card_path=options.card_path)
        message: Message = {"role": "user", "message_id": str(uuid4()), "parts": [part_of(payload_of(options))]}
        try:
            if options.op == "send":
                task_id = noted(seen, result_of(await client.send_message(message)))
                until = time.monotonic() + options.timeout
                while task_id and seen.state in WAITING and time.monotonic() < until:
                    await asyncio.sleep(POLL_S)
                    noted(seen, {"task": result_of(await client.get_task(task_id))})
            else:
                async for answer in client.stream_message(message):
                    noted(seen, result_of(answer))
        except UnexpectedResponseError as error:  # it keeps what it knows out of its text
            raise Reported(f"UnexpectedResponseError: HTTP {error.status_code}: {error.content}") from error


def part_of(payload: Payload) -> Part:
    if payload.kind == "text":
        return {"text": payload.text, "media_type": payload.mode}
    if payload.kind == "data":
        return {"data": payload.data, "media_type": payload.mode}
    return {"raw": base64.b64encode(payload.raw).decode("ascii"), "media_type": payload.mode}


def result_of(answer: Any) -> Any:
    """The result; this client hands an error over as a value."""
    if "error" in answer:
        raise Reported(f"JSON-RPC error {json.dumps(answer['error'], default=str)}")
    return answer["result"]


def noted(seen: Seen, result: Any) -> str | None:
    """Note what one answer says; the id of the task where it is one."""
    seen.event()
    task, message = result.get("task"), result.get("message")
    status, update = result.get("status_update"), result.get("artifact_update")
    if task:
        seen.status(task["status"]["state"])
        seen.snapshot(artifact_of(artifact) for artifact in task.get("artifacts") or ())
    elif message:
        seen.message(text_of(message["parts"]))
    elif status:
        seen.status(status["status"]["state"])
    elif update:
        seen.artifact(*artifact_of(update["artifact"]), append=bool(update.get("append")))
    else:
        seen.nothing_in_it()
    return task["id"] if task else None


def artifact_of(artifact: Artifact) -> tuple[str, str]:
    return artifact["artifact_id"], text_of(artifact["parts"])


def text_of(parts: list[Part]) -> str:
    return "".join(part["text"] if "text" in part else f"[{part.get('media_type') or 'untyped'}]" for part in parts)


if __name__ == "__main__":
    run(converse, consumer_options(__doc__))

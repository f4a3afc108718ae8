"""A consumer on google-adk 2.13.0: a RemoteA2aAgent in a runner. It reports errors as events, not as exceptions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import httpx
from a2a.client import ClientConfig, ClientFactory
from consumer_kit import Payload, Reported, Seen, consumer_options, payload_of, run
from google.adk.agents.remote_a2a_agent import AGENT_CARD_WELL_KNOWN_PATH, RemoteA2aAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.genai.types import Blob, Content, Part

NAME = "lab"


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    card_url = options.url.rstrip("/") + (options.card_path or AGENT_CARD_WELL_KNOWN_PATH)
    async with httpx.AsyncClient(timeout=options.timeout) as http:
        # With a client of its own making it streams whenever the card says so; one that does not has to be handed in.
        given: dict[str, Any] = {}
        if options.op == "send":
            given["a2a_client_factory"] = ClientFactory(
                ClientConfig(
                    streaming=False,
                    httpx_client=http,
                    supported_protocol_bindings=["JSONRPC", "HTTP+JSON"],
                )
            )
        remote = RemoteA2aAgent(name="remote", agent_card=card_url, timeout=options.timeout, **given)
        runner = InMemoryRunner(agent=remote, app_name=NAME)
        session = await runner.session_service.create_session(app_name=NAME, user_id=NAME)
        message = Content(role="user", parts=[part_of(payload_of(options))])
        problems = []
        async for event in runner.run_async(user_id=NAME, session_id=session.id, new_message=message):
            if event.error_message:
                problems.append(event.error_message)
            else:
                noted(seen, event)
        if problems:
            raise Reported("; ".join(dict.fromkeys(problems)))


def part_of(payload: Payload) -> Part:
    if payload.kind == "text":
        return Part(text=payload.text)
    return Part(inline_data=Blob(data=payload.raw, mime_type=payload.mode))


def noted(seen: Seen, event: Event) -> None:
    """Note what an event shows its user; the task as ADK has assembled it so far comes along as metadata."""
    seen.event()
    answer = (event.custom_metadata or {}).get("a2a:response") or {}
    if "status" in answer:
        seen.status(answer["status"]["state"])
    text = "".join(
        part.text or f"[{part.inline_data.mime_type if part.inline_data else 'untyped'}]"
        for part in (event.content.parts or () if event.content else ())
        if not part.thought
    )
    if text and "status" not in answer:
        seen.message(text)
    elif text:
        artifacts = answer.get("artifacts") or [{}]
        seen.artifact(artifacts[-1].get("artifactId", "content"), text, append=True)


if __name__ == "__main__":
    run(converse, consumer_options(__doc__))

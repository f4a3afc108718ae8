"""A consumer on python-a2a 0.5.10: its client tries paths of its own for the card, and for the endpoint.

Where it finds no card it makes one up, and sends all the same; its errors come as the text of an answer.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from consumer_kit import Reported, Seen, consumer_options, payload_of, run
from python_a2a import A2AClient, Message, MessageRole, TextContent
from python_a2a.models.content import ErrorContent

INVENTED = "Unknown Agent"


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    payload = payload_of(options)
    if payload.kind != "text":
        raise Reported("this client sends text only")
    client = A2AClient(options.url, timeout=options.timeout)
    if client.agent_card.name == INVENTED:
        seen.beside(f"no card was found, and one was made up: {client.agent_card.name!r}")
    message = Message(content=TextContent(text=payload.text), role=MessageRole.USER)
    if options.op == "send":
        noted(seen, client.send_message(message))
    else:
        async for chunk in client.stream_response(message):
            seen.event()
            seen.message(str(chunk))


def noted(seen: Seen, answer: Message) -> None:
    if isinstance(answer.content, ErrorContent):
        raise Reported(answer.content.message)
    seen.event()
    seen.message(getattr(answer.content, "text", f"[{answer.content.type}]"))


if __name__ == "__main__":
    run(converse, consumer_options(__doc__))

"""A consumer on the official Python SDK 0.3.26: its card resolver, and its ClientFactory, which assembles the task."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message
from consumer_03 import message_of, noted
from consumer_kit import Seen, consumer_options, run


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    async with httpx.AsyncClient(timeout=options.timeout) as http:
        card = await A2ACardResolver(http, options.url).get_agent_card(relative_card_path=options.card_path)
        config = ClientConfig(
            streaming=options.op == "stream",
            httpx_client=http,
            supported_transports=["JSONRPC", "HTTP+JSON"],
        )
        async for answer in ClientFactory(config).create(card).send_message(message_of(options)):
            # A message, or the task as the SDK has assembled it so far with the event that changed it.
            noted(seen, answer if isinstance(answer, Message) else answer[0])


if __name__ == "__main__":
    run(converse, consumer_options(__doc__))

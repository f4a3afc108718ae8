"""A consumer on the official Python SDK 0.2.16: its card resolver, which knows agent.json only, and its A2AClient."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import httpx
from a2a.client import A2ACardResolver, A2AClient
from a2a.types import JSONRPCErrorResponse, MessageSendParams, SendMessageRequest, SendStreamingMessageRequest
from consumer_03 import message_of, noted
from consumer_kit import Reported, Seen, consumer_options, run


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    async with httpx.AsyncClient(timeout=options.timeout) as http:
        card = await A2ACardResolver(http, options.url).get_agent_card(relative_card_path=options.card_path)
        client = A2AClient(http, agent_card=card)
        params = MessageSendParams(message=message_of(options))
        # The client sends with a timeout of its own unless it is told one with the call.
        kwargs = {"timeout": options.timeout}
        if options.op == "send":
            request = SendMessageRequest(id=str(uuid4()), params=params)
            noted(seen, result_of(await client.send_message(request, http_kwargs=kwargs)))
        else:
            request = SendStreamingMessageRequest(id=str(uuid4()), params=params)
            async for answer in client.send_message_streaming(request, http_kwargs=kwargs):
                noted(seen, result_of(answer))


def result_of(answer: Any) -> Any:
    """The result; this SDK hands an error over as a value."""
    if isinstance(answer.root, JSONRPCErrorResponse):
        raise Reported(f"JSON-RPC error {answer.root.error.model_dump_json(exclude_none=True)}")
    return answer.root.result


if __name__ == "__main__":
    run(converse, consumer_options(__doc__))

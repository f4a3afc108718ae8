"""A consumer on the official Python SDK 1.3.0: its ClientFactory finds the card and chooses the interface."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import grpc
import httpx
from a2a.client import ClientConfig, ClientFactory
from consumer_10 import noted, request_of
from consumer_kit import Seen, consumer_options, run


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    async with httpx.AsyncClient(timeout=options.timeout) as http:
        config = ClientConfig(
            streaming=options.op == "stream",
            httpx_client=http,
            supported_protocol_bindings=options.bindings,
            grpc_channel_factory=grpc.aio.insecure_channel,
        )
        client = await ClientFactory(config).create_from_url(options.url, relative_card_path=options.card_path)
        async for event in client.send_message(request_of(options)):
            noted(seen, event)


if __name__ == "__main__":
    parser = consumer_options(__doc__)
    parser.add_argument("--bindings", nargs="+", default=["JSONRPC", "HTTP+JSON"], help="what it speaks")
    run(converse, parser)

"""A router behind gRPC, and the one call that is made to it: send or stream as tenant "lab".

The caller speaks gRPC and knows no address of an agent. The router takes the tenant from the call's metadata, looks up
where that tenant's agent lives, fetches the card there over HTTP, matches it, and forwards. Caller and router meet on a
socket in the scratch folder, so that nothing but the traffic to the agent leaves the process.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import SendMessageRequest, SendMessageResponse, StreamResponse, a2a_pb2_grpc
from consumer_10 import noted, request_of
from consumer_kit import Reported, Seen, consumer_options, raised_here, run, times_option, told

ADDRESS = "unix:router"  # in the folder it is started in, which the lab removes
TENANT = "lab"
TENANT_KEY = "x-tenant"


class Router(a2a_pb2_grpc.A2AServiceServicer):
    """Forwards calls to the agent of the tenant that the metadata names."""

    def __init__(self, tenants: dict[str, str], seen: Seen, *, card_path: str | None, timeout_s: float) -> None:
        self._tenants = tenants
        self._seen = seen
        self._card_path = card_path
        self._timeout_s = timeout_s
        self.bug: Exception | None = None

    async def SendMessage(self, request: SendMessageRequest, context: grpc.aio.ServicerContext) -> SendMessageResponse:
        async with self._backend(context, streaming=False) as client:
            async for event in client.send_message(request):
                if event.HasField("task"):
                    return SendMessageResponse(task=event.task)
                return SendMessageResponse(message=event.message)
        return SendMessageResponse()

    async def SendStreamingMessage(
        self, request: SendMessageRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[StreamResponse]:
        async with self._backend(context, streaming=True) as client:
            async for event in client.send_message(request):
                yield event

    @asynccontextmanager
    async def _backend(self, context: grpc.aio.ServicerContext, *, streaming: bool) -> AsyncIterator[Client]:
        """A client of the tenant's agent. What goes wrong ends the call, with the reason in its status."""
        tenant = dict(context.invocation_metadata() or ()).get(TENANT_KEY)
        if tenant not in self._tenants:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"no route for {TENANT_KEY} {tenant!r}")
        async with httpx.AsyncClient(timeout=self._timeout_s) as http:
            try:
                resolver = A2ACardResolver(http, self._tenants[tenant])
                card = await resolver.get_agent_card(relative_card_path=self._card_path)
                if streaming and not card.capabilities.streaming:
                    await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the agent declares no streaming")
                self._seen.matched("the router read on the card whether it streams")
                config = ClientConfig(
                    streaming=streaming,
                    httpx_client=http,
                    supported_protocol_bindings=["JSONRPC", "HTTP+JSON"],
                )
                yield ClientFactory(config).create(card)
            except grpc.aio.AbortError:
                raise
            except Exception as error:  # whatever the SDK says is what the caller is told
                self.bug = error if raised_here(error) else None
                await context.abort(grpc.StatusCode.UNAVAILABLE, told(error))


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    server = grpc.aio.server()
    router = Router({TENANT: options.url}, seen, card_path=options.card_path, timeout_s=options.timeout)
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(router, server)
    server.add_insecure_port(ADDRESS)
    await server.start()
    try:
        async with grpc.aio.insecure_channel(ADDRESS) as channel:
            for _ in range(options.times):
                await call(a2a_pb2_grpc.A2AServiceStub(channel), options, seen)
    except grpc.aio.AioRpcError as error:
        if router.bug:
            raise router.bug from None
        raise Reported(f"gRPC {error.code().name}: {error.details()}") from error
    finally:
        await server.stop(None)


async def call(router: a2a_pb2_grpc.A2AServiceStub, options: argparse.Namespace, seen: Seen) -> None:
    metadata = ((TENANT_KEY, TENANT), ("a2a-version", "1.0"))
    request = request_of(options)
    if options.op == "send":
        answer = await router.SendMessage(request, metadata=metadata)
        if answer.HasField("task"):
            noted(seen, StreamResponse(task=answer.task))
        else:
            noted(seen, StreamResponse(message=answer.message) if answer.HasField("message") else StreamResponse())
    else:
        async for event in router.SendStreamingMessage(request, metadata=metadata):
            noted(seen, event)


if __name__ == "__main__":
    run(converse, times_option(consumer_options(__doc__)))

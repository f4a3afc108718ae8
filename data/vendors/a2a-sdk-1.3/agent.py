"""An echo agent on the official Python SDK 1.3.0, deterministic and without a model.

A task is submitted, works, answers in two chunks of one artifact, completes. Everything on the wire is the SDK's
doing; options choose what a deployment may choose (where the endpoint is mounted, which bindings there are,
compatibility with 0.3, a signature), or make the executor misbehave.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import grpc
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, a2a_pb2_grpc
from a2a.utils.signing import create_agent_card_signer
from echo_kit import HOST, Pace, echo_options, interface_url, serve, signing_key, signing_options, write_down
from jwt import PyJWK
from starlette.applications import Starlette


class Echo(AgentExecutor):
    """Answers with what it was told: the text as it came, other parts by their kind and type."""

    def __init__(self, pace: Pace, changing: AgentCard | None) -> None:
        self._pace = pace
        self._changing = changing

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message = context.message
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        await self._pace.pause()
        await task.start_work()
        await self._pace.work()
        chunks = ["echo: ", " ".join(described(part) for part in message.parts)]
        for index, chunk in enumerate(chunks):
            await self._pace.pause()
            await task.add_artifact(
                [Part(text=chunk, media_type="text/plain")],
                artifact_id="echo",
                name="echo",
                append=index > 0,
                last_chunk=index == len(chunks) - 1,
            )
        await self._pace.pause()
        await task.complete()
        if self._changing is not None:  # as a deployment does it: the same agent, and another card
            self._changing.version = "1.1.0"
            self._changing.description = "Answers with what it was told, since its last deployment"

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def described(part: Part) -> str:
    kind = part.WhichOneof("content")
    return part.text if kind == "text" else f"[{kind} {part.media_type or 'untyped'}]"


class WrittenDown(grpc.aio.ServerInterceptor):
    """Writes every gRPC call down, as HTTP requests are."""

    def __init__(self, log: Path) -> None:
        self._log = log

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        metadata = {key: value for key, value in details.invocation_metadata or () if isinstance(value, str)}
        write_down(self._log, "GRPC", details.method, metadata, b"")
        return await continuation(details)


def card_of(options: argparse.Namespace, grpc_port: int | None) -> AgentCard:
    """The card, signed and tampered with as the options say."""
    urls = {
        "JSONRPC": interface_url(options),
        "HTTP+JSON": f"http://{HOST}:{options.port}",
        "GRPC": f"{HOST}:{grpc_port}",
    }
    card = AgentCard(
        name=options.card_name,
        description="Answers with what it was told",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(
                protocol_binding=binding,
                protocol_version=version,
                url=urls[binding],
                tenant=options.tenant if version == "1.0" else "",
            )
            for binding in options.bindings
            for version in (["1.0", "0.3"] if options.compat else ["1.0"])
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=options.modes,
        default_output_modes=options.output_modes,
        skills=[
            AgentSkill(
                id="echo",
                name="Echo",
                description="Answers with what it was told",
                tags=["echo"],
                input_modes=options.modes,
                output_modes=options.output_modes,
            )
        ],
    )
    if options.sign:
        key, header = signing_key(options.sign)
        card = create_agent_card_signer(PyJWK.from_dict(key), header)(card)
    if options.tamper:
        card.description += ", and was changed after signing"
    return card


def app_of(options: argparse.Namespace) -> Starlette:
    """The app. A gRPC server runs beside it, on a port of its own choice, which the card names."""

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        interceptors = [WrittenDown(options.log)] if options.log else []
        server = grpc.aio.server(interceptors=interceptors) if "GRPC" in options.bindings else None
        card = card_of(options, server.add_insecure_port(f"{HOST}:0") if server else None)
        handler = DefaultRequestHandler(
            agent_executor=Echo(Pace(options), card if options.drift else None),
            task_store=InMemoryTaskStore(),
            agent_card=card,
            validate_input_modes=options.strict_modes,
        )
        app.router.routes += create_agent_card_routes(card)
        if "JSONRPC" in options.bindings:
            app.router.routes += create_jsonrpc_routes(handler, options.mount, enable_v0_3_compat=options.compat)
        if "HTTP+JSON" in options.bindings:
            app.router.routes += create_rest_routes(handler, enable_v0_3_compat=options.compat)
        if server:
            a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
            if options.compat:  # a service of its own: the package of the proto has another name in 0.3
                a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), server)
            await server.start()
        yield
        if server:
            await server.stop(None)

    return Starlette(lifespan=running)


def main() -> None:
    parser = echo_options(__doc__)
    signing_options(parser)
    parser.add_argument("--compat", action="store_true", help="also serve 0.3, on the same endpoints")
    parser.add_argument("--tenant", default="", help="tenant that the card's interfaces of 1.0 name")
    parser.add_argument("--drift", action="store_true", help="the card changes once the first task is over")
    parser.add_argument("--strict-modes", action="store_true", help="the SDK refuses input modes not declared")
    parser.add_argument(
        "--bindings",
        nargs="+",
        choices=("JSONRPC", "HTTP+JSON", "GRPC"),
        default=["JSONRPC"],
        help="what is served, in the card's order",
    )
    options = parser.parse_args()
    serve(app_of(options), options)


if __name__ == "__main__":
    main()

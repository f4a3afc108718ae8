"""An echo agent on the official Python SDK 1.3.0, deterministic and without a model.

A task is submitted, works, answers in two chunks of one artifact, completes. Everything on the wire is the SDK's
doing; options choose what a deployment may choose (where the endpoint is mounted, compatibility with 0.3, a
signature), or make the executor misbehave.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part
from a2a.utils.signing import create_agent_card_signer
from echo_kit import Pace, echo_options, interface_url, serve, signing_key, signing_options
from jwt import PyJWK
from starlette.applications import Starlette


class Echo(AgentExecutor):
    """Answers with what it was told: the text as it came, other parts by their kind and type."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

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

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def described(part: Part) -> str:
    kind = part.WhichOneof("content")
    return part.text if kind == "text" else f"[{kind} {part.media_type or 'untyped'}]"


def card_of(options: argparse.Namespace) -> AgentCard:
    """The card, signed and tampered with as the options say."""
    versions = ["1.0", "0.3"] if options.compat else ["1.0"]
    card = AgentCard(
        name="echo",
        description="Answers with what it was told",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(protocol_binding="JSONRPC", protocol_version=version, url=interface_url(options))
            for version in versions
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


def main() -> None:
    parser = echo_options(__doc__)
    signing_options(parser)
    parser.add_argument("--compat", action="store_true", help="also serve 0.3, on the same endpoint")
    parser.add_argument("--strict-modes", action="store_true", help="the SDK refuses input modes not declared")
    options = parser.parse_args()
    card = card_of(options)
    handler = DefaultRequestHandler(
        agent_executor=Echo(Pace(options)),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        validate_input_modes=options.strict_modes,
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, options.mount, enable_v0_3_compat=options.compat),
    ]
    serve(Starlette(routes=routes), options)


if __name__ == "__main__":
    main()

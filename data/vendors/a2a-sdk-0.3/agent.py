"""An echo agent on the official Python SDK 0.3.26, deterministic and without a model.

A task is submitted, works, answers in two chunks of one artifact, completes. Everything on the wire is the SDK's
doing; options choose what a deployment may choose (where the endpoint is mounted, a signature), or make the executor
misbehave.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_task
from a2a.utils.signing import create_agent_card_signer
from echo_kit import Pace, echo_options, interface_url, serve, signing_key, signing_options
from jwt import PyJWK


class Echo(AgentExecutor):
    """Answers with what it was told: the text as it came, other parts by their kind."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message = context.message
        if context.current_task is None:
            await event_queue.enqueue_event(new_task(message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        await self._pace.pause()
        await task.start_work()
        await self._pace.work()
        chunks = ["echo: ", " ".join(described(part) for part in message.parts)]
        for index, chunk in enumerate(chunks):
            await self._pace.pause()
            await task.add_artifact(
                [Part(root=TextPart(text=chunk))],
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
    return part.root.text if part.root.kind == "text" else f"[{part.root.kind}]"


def card_of(options: argparse.Namespace) -> AgentCard:
    """The card, signed and tampered with as the options say."""
    card = AgentCard(
        name="echo",
        description="Answers with what it was told",
        version="1.0.0",
        url=interface_url(options),
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
    options = parser.parse_args()
    handler = DefaultRequestHandler(agent_executor=Echo(Pace(options)), task_store=InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=card_of(options), http_handler=handler)
    serve(app.build(rpc_url=options.mount), options)


if __name__ == "__main__":
    main()

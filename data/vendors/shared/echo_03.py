"""The echo agent as the Python SDKs of the 0.2 and 0.3 lines want it: one API, so one file for both vendors.

A task is submitted, works, answers in two chunks of one artifact, completes.
"""

from __future__ import annotations

import argparse

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TaskState, TextPart
from a2a.utils import new_task
from echo_kit import Pace, interface_url


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
        # Not TaskUpdater.cancel(), which only the 0.3 line has.
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        await task.update_status(TaskState.canceled, final=True)


def described(part: Part) -> str:
    return part.root.text if part.root.kind == "text" else f"[{part.root.kind}]"


def echo_card(options: argparse.Namespace) -> AgentCard:
    """The unsigned card; its protocolVersion is the SDK's own default."""
    return AgentCard(
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

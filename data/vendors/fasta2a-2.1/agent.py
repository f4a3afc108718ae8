"""An echo agent on fasta2a 2.1.1, deterministic and without a model.

An implementation of its own, not on the official SDK: it answers every send with a submitted task, runs one task at a
time, and always serves its endpoint at the root.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from echo_kit import Pace, echo_options, interface_url, serve
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.schema import Artifact, Message, Part, TaskIdParams, TaskSendParams
from fasta2a.storage import InMemoryStorage


class Echo(Worker[Any]):
    """Answers with what it was told: the text as it came, other parts by their kind and type."""

    def __init__(self, broker: InMemoryBroker, storage: InMemoryStorage[Any], pace: Pace) -> None:
        super().__init__(broker=broker, storage=storage)
        self._pace = pace

    async def run_task(self, params: TaskSendParams) -> None:
        task_id, context_id = params["id"], params["context_id"]
        await self._pace.pause()
        await self.storage.update_task(task_id, state="working")
        await self.publish_status(task_id, context_id, "working")
        await self._pace.work()
        chunks: list[Part] = [
            {"text": "echo: ", "media_type": "text/plain"},
            {"text": " ".join(described(part) for part in params["message"]["parts"]), "media_type": "text/plain"},
        ]
        for index, chunk in enumerate(chunks):
            await self._pace.pause()
            await self.publish_artifact(
                task_id,
                context_id,
                {"artifact_id": "echo", "name": "echo", "parts": [chunk]},
                append=index > 0,
                last_chunk=index == len(chunks) - 1,
            )
        await self._pace.pause()
        whole: Artifact = {"artifact_id": "echo", "name": "echo", "parts": chunks}
        await self.storage.update_task(task_id, state="completed", new_artifacts=[whole])

    async def cancel_task(self, params: TaskIdParams) -> None:
        # Looked up first: the library does not survive the cancelling of a task that it does not know.
        if await self.storage.load_task(params["id"]):
            await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history: list[Message]) -> list[Any]:
        return list(history)

    def build_artifacts(self, result: Any) -> list[Artifact]:
        return [result]


def described(part: Part) -> str:
    if "text" in part:
        return part["text"]
    kind = next((name for name in ("data", "raw", "url") if name in part), "unknown")
    return f"[{kind} {part.get('media_type') or 'untyped'}]"


def main() -> None:
    parser = echo_options(__doc__)
    options = parser.parse_args()
    if options.mount != "/":
        parser.error("fasta2a serves its endpoint at / only")
    broker, storage = InMemoryBroker(), InMemoryStorage[Any]()

    @asynccontextmanager
    async def running(app: FastA2A) -> AsyncIterator[None]:
        async with app.task_manager, Echo(broker, storage, Pace(options)).run():
            yield

    app = FastA2A(
        storage=storage,
        broker=broker,
        name="echo",
        url=interface_url(options),
        description="Answers with what it was told",
        default_input_modes=options.modes,
        default_output_modes=options.output_modes,
        skills=[
            {
                "id": "echo",
                "name": "Echo",
                "description": "Answers with what it was told",
                "tags": ["echo"],
                "examples": [],
                "input_modes": options.modes,
                "output_modes": options.output_modes,
            }
        ],
        lifespan=running,
    )
    serve(app, options)


if __name__ == "__main__":
    main()

"""The tasks of one simulated agent: what it received, made and ended. The second witness of every measure.

Knows the protocol's rules for task ids, contexts and ends, as an honest server does; whoever lies, lies on the wire.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from a2a_lab.vendors.moves import Move, Moves, SimTask, Status
from a2a_lab.vendors.speech import RpcProblem, Speech
from a2a_lab.vendors.traffic import to_json


class TaskStore:
    """Tasks by id, in order of their making."""

    def __init__(self) -> None:
        self._tasks: dict[str, SimTask] = {}

    def find(self, task_id: Any) -> SimTask:
        if not isinstance(task_id, str) or task_id not in self._tasks:
            raise RpcProblem("TaskNotFound", f"no task {task_id!r}")
        return self._tasks[task_id]

    def task_for(self, message: Mapping[str, Any], *, clients_make_ids: bool = False) -> SimTask:
        """The task that a message goes to: the one it names, if that takes messages, or a new one in its context."""
        task_id, context_id = message.get("taskId"), message.get("contextId")
        if clients_make_ids and not (isinstance(task_id, str) and task_id):
            raise RpcProblem("InvalidParams", "the id of the task is missing")
        if not task_id or (clients_make_ids and task_id not in self._tasks):
            task = SimTask(id=task_id) if task_id else SimTask()
            if isinstance(context_id, str) and context_id:
                task.context_id = context_id
            return task
        task = self.find(task_id)
        if context_id and context_id != task.context_id:
            raise RpcProblem("InvalidParams", "contextId and taskId do not belong together")
        if not task.is_open:
            raise RpcProblem("InvalidTaskState", f"the task is {task.state}; terminal tasks take no message")
        if task.job is not None and not task.job.done():
            raise RpcProblem("UnsupportedOperation", "the task is at work and takes no further message")
        return task

    def begin(self, task: SimTask, moves: Moves) -> None:
        """Keep the task and work at it in the background: apply each move and tell it to whoever listens."""
        self._tasks[task.id] = task

        async def work() -> None:
            try:
                async for move in moves:
                    self.apply(task, move)
            finally:
                task.tell(None)

        task.job = asyncio.create_task(work())

    def apply(self, task: SimTask, move: Move) -> None:
        task.apply(move)
        task.tell(move)

    def cancel(self, task: SimTask) -> None:
        if not task.is_open:
            raise RpcProblem("TaskNotCancelable", f"the task is already {task.state}")
        if task.job is not None:
            task.job.cancel()
        self.apply(task, Status(state="canceled"))
        task.tell(None)

    def shown(self, speech: Speech) -> list[dict[str, Any]]:
        """Every task as JSON; sizes are those of the parts as written in the agent's dialect."""
        return [_shown(task, speech) for task in self._tasks.values()]

    def close(self) -> None:
        """End all work and all streams."""
        for task in self._tasks.values():
            if task.job is not None:
                task.job.cancel()
            task.tell(None)


def _shown(task: SimTask, speech: Speech) -> dict[str, Any]:
    artifacts = []
    for name, parts in task.artifacts.items():
        size = sum(len(to_json(speech.part(part))) for part in parts)
        artifacts.append({"id": name, "bytes": size, "media_type": parts[0].mode if parts else ""})
    return {"id": task.id, "state": task.state, "artifacts": artifacts, "received": list(task.received)}

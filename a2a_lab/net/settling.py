"""Closes what is still open at an agent: cancels, reads the answer, and looks whether it holds (A7, R35).

Touches only tasks that are in the books of this cell. What stays open is a row of the ledger, not an error here.
"""

from __future__ import annotations

from a2a_lab.net.caller import Caller
from a2a_lab.net.journal import Journal


async def settle(caller: Caller, journal: Journal, *, total_s: float) -> None:
    """Cancel every open task of the cell once, and verify each by asking for it."""
    for task_id in journal.book.open_tasks():
        if task_id not in journal.cancelled:
            journal.cancelled.add(task_id)
            await cancel(caller, journal, task_id, total_s=total_s)


async def cancel(caller: Caller, journal: Journal, task_id: str, *, total_s: float) -> None:
    """Cancel one task. Winning or losing the race against its end, what it says afterwards is what is booked."""
    called = await caller.call("cancel", purpose="cancel", task_id=task_id, total_s=total_s)
    answer = called.answer
    await journal.cancel(
        task_id, task=answer.task if answer else None, error=answer.error if answer is not None else None
    )
    seen = (await caller.call("get", purpose="get", task_id=task_id, total_s=total_s)).answer
    if seen is None:
        return
    if seen.task is not None:
        await journal.task(seen.task, how="get")
    elif seen.error is not None and seen.error.name == "TaskNotFound":
        await journal.gone(task_id)

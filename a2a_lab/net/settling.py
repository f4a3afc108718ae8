"""Closes what is still open at an agent: cancels, reads the answer, and looks whether it holds (A7, R35).

Touches only tasks that are in the books of this cell. What stays open is a row of the ledger, not an error here.
"""

from __future__ import annotations

from a2a_lab.net.caller import Caller
from a2a_lab.net.journal import Journal


async def settle(caller: Caller, journal: Journal, *, total_s: float) -> None:
    """Cancel every open task of the cell once, and verify each by asking for it, in `total_s` seconds altogether."""
    until_ms = caller.now_ms() + total_s * 1000
    for task_id in journal.book.open_tasks():
        left_s = (until_ms - caller.now_ms()) / 1000
        if task_id not in journal.cancelled and left_s > 0:
            journal.cancelled.add(task_id)
            await cancel(caller, journal, task_id, total_s=left_s)


async def cancel(caller: Caller, journal: Journal, task_id: str, *, total_s: float) -> None:
    """Cancel one task. Winning or losing the race against its end, what it says afterwards is what is booked.

    The look has what the cancel left of `total_s`, but never less than half of it: it is what decides.
    """
    began_ms = caller.now_ms()
    called = await caller.call("cancel", purpose="cancel", task_id=task_id, total_s=total_s / 2)
    answer = called.answer
    await journal.cancel(
        task_id, task=answer.task if answer else None, error=answer.error if answer is not None else None
    )
    left_s = total_s - (caller.now_ms() - began_ms) / 1000
    seen = (await caller.call("get", purpose="get", task_id=task_id, total_s=left_s)).answer
    if seen is None:
        return
    if seen.task is not None:
        await journal.task(seen.task, how="get")
    elif seen.error is not None and seen.error.name == "TaskNotFound":
        await journal.gone(task_id)

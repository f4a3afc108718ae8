"""Closes what is still open at an agent: cancels, reads the answer, and looks whether it holds (A7, R35).

Touches only tasks that are in the books of this cell. What stays open is a row of the ledger, not an error here.
"""

from __future__ import annotations

from collections.abc import Mapping

from a2a_lab.core.asked import Asked, Op
from a2a_lab.core.model import Json, State
from a2a_lab.core.refusals import CALL_REFUSED, judge_error
from a2a_lab.net.caller import Caller
from a2a_lab.net.journal import Journal
from a2a_lab.verdicts import Finding
from a2a_lab.wire.messages import Answer


async def settle(
    caller: Caller, journal: Journal, *, total_s: float, declared: Mapping[str, Json] | None = None
) -> list[Finding]:
    """Cancel every open task of the cell once, and verify each by asking for it, in `total_s` seconds altogether.

    The findings say which errors the agent declined that with by which it misinforms; `declared` are the facts of the
    bound card (`declared_by`).
    """
    found: list[Finding] = []
    until_ms = caller.now_ms() + total_s * 1000
    for task_id in journal.book.hearsay():
        await _ask_for(caller, journal, task_id, total_s=max(0.0, (until_ms - caller.now_ms()) / 2000))
    for task_id in journal.book.open_tasks():
        left_s = (until_ms - caller.now_ms()) / 1000
        if task_id not in journal.cancelled and left_s > 0:
            journal.cancelled.add(task_id)
            found += await cancel(caller, journal, task_id, total_s=left_s, declared=declared)
    return found


async def _ask_for(caller: Caller, journal: Journal, task_id: str, *, total_s: float) -> None:
    """Ask for a task that a message only named. That there is none accuses nobody."""
    answer = (await caller.call("get", purpose="get", task_id=task_id, total_s=total_s)).answer
    if answer is not None and answer.task is not None:
        await journal.task(answer.task, how="get")
    elif answer is not None and answer.error is not None and answer.error.name == "TaskNotFound":
        await journal.gone(task_id)


async def cancel(
    caller: Caller, journal: Journal, task_id: str, *, total_s: float, declared: Mapping[str, Json] | None = None
) -> list[Finding]:
    """Cancel one task. Winning or losing the race against its end, what it says afterwards is what is booked.

    The look has what the cancel left of `total_s`, but never less than half of it: it is what decides.
    """
    began_ms, state = caller.now_ms(), journal.book.state_of(task_id)
    called = await caller.call("cancel", purpose="cancel", task_id=task_id, total_s=total_s / 2)
    answer = called.answer
    found = judge_decline(answer, "cancel", task_id, state=state, dialect=caller.dialect.id, declared=declared)
    await journal.cancel(
        task_id, task=answer.task if answer else None, error=answer.error if answer is not None else None
    )
    left_s = total_s - (caller.now_ms() - began_ms) / 1000
    seen = (await caller.call("get", purpose="get", task_id=task_id, total_s=left_s)).answer
    state = journal.book.state_of(task_id)
    found += judge_decline(seen, "get", task_id, state=state, dialect=caller.dialect.id, declared=declared)
    if seen is None:
        return found
    if seen.task is not None:
        await journal.task(seen.task, how="get")
    elif seen.error is not None and seen.error.name == "TaskNotFound":
        await journal.gone(task_id)
    return found


def judge_decline(
    answer: Answer | None,
    op: Op,
    task_id: str,
    *,
    state: State | None,
    dialect: str,
    declared: Mapping[str, Json] | None,
) -> list[Finding]:
    """What an error about a task of ours says beyond that the call was declined, which is an answer as any (R27)."""
    if answer is None or answer.error is None or answer.not_gradeable is not None:
        return []
    asked = Asked(op=op, dialect=dialect, task_id=task_id, task_state=state, **(declared or {}))
    return [one for one in judge_error(answer.error, asked) if one.slug != CALL_REFUSED.slug]

"""Books in the ledger what a client that the lab does not steer leaves at its agent, as the lab's own do (A7, R35).

The recorder cannot ask such a client what it is about to do, so the books are written when the client is done or was
ended: from its traffic, by the rule that judges it, and into the same journal, so that `ledger orphans` lists what the
pages count and `ledger cleanup` can reach it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from a2a_lab.core.model import RpcError, StreamEvent, Task
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.core.tasks import How, TaskBook
from a2a_lab.judge.booking import note_answer, note_request
from a2a_lab.judge.transcript import Call
from a2a_lab.judge.visit import Visit
from a2a_lab.net.journal import Journal


async def book_foreign(journal: Journal, visit: Visit, *, nonce: str | None) -> None:
    """Write what the visit's calls came to; nothing where it sent nothing. `nonce` is that of an agent of the lab's.

    Returns when all is on the disk. Raises HarnessFault where it cannot be written.
    """
    if (call := _last_send(visit.sends)) is None:
        return
    heard = _Dictation(journal.book.agent)
    for place, each in enumerate(visit.calls):
        note_answer(heard, each, note_request(heard, each, place))
    await journal.target(_target_of(visit, call), dialect=call.dialect.id, nonce=nonce)
    for write in heard.told:
        await write(journal)
    await journal.sizes()


def _last_send(sends: Sequence[Call]) -> Call | None:
    """The call by whose place a clean-up reaches the tasks: the latest that was answered with one."""
    return next((call for call in reversed(sends) if call.tasks), sends[-1] if sends else None)


def _target_of(visit: Visit, call: Call) -> ResolvedTarget:
    """Where a call went: what the card names, or else what the request shows of it."""
    named = visit.named_by(call)
    url = call.exchange.url
    if call.dialect.binding != "JSONRPC":
        url = named[0][1].url if named else call.asked.endpoint or url
    return ResolvedTarget(dispatch_url=url, binding=call.dialect.binding, tenant_id=call.tenant_at(url))


class _Dictation:
    """Books that also keep, in order, what they were told, to tell it to a journal. See `TaskBook` for each entry.

    A task that the client only asked about may be anybody's: no message of this run led to it, so that it is not
    written down, and no clean-up can cancel it (R35).
    """

    def __init__(self, agent: str) -> None:
        self._book = TaskBook(agent)
        self.told: list[Callable[[Journal], Awaitable[None]]] = []

    def note_sent(self, message_id: str, **sent: Any) -> None:
        self._book.note_sent(message_id, **sent)
        self.told.append(lambda journal: journal.sent(message_id, **sent))

    def note_task(self, task: Task, *, how: How, message_id: str | None = None) -> None:
        if message_id is None and not self._is_ours(task.id):
            return
        self._book.note_task(task, how=how, message_id=message_id)
        if task.id:
            self.told.append(lambda journal: journal.task(task, how=how, message_id=message_id))

    def note_event(self, event: StreamEvent, *, message_id: str | None = None) -> None:
        of = event.task.id if event.task is not None else event.task_id
        if message_id is None and of is not None and not self._is_ours(of):
            return
        self._book.note_event(event, message_id=message_id)
        self.told.append(lambda journal: journal.event(event, message_id=message_id))

    def note_message(self, message_id: str, task_id: str | None = None) -> None:
        self._book.note_message(message_id, task_id)
        self.told.append(lambda journal: journal.message(message_id, task_id))

    def note_refused(self, message_id: str, error: RpcError) -> None:
        self._book.note_refused(message_id, error)
        self.told.append(lambda journal: journal.refused(message_id, error))

    def note_not_processed(self, message_id: str) -> None:
        self._book.note_not_processed(message_id)
        self.told.append(lambda journal: journal.not_processed(message_id))

    def note_unknown(self, message_id: str) -> None:
        self._book.note_unknown(message_id)
        self.told.append(lambda journal: journal.unknown(message_id))

    def note_cancel(self, task_id: str, *, task: Task | None = None, error: RpcError | None = None) -> None:
        if not self._is_ours(task_id):
            return
        self._book.note_cancel(task_id, task=task, error=error)
        self.told.append(lambda journal: journal.cancel(task_id, task=task, error=error))

    def note_gone(self, task_id: str) -> None:
        self._book.note_gone(task_id)
        self.told.append(lambda journal: journal.gone(task_id))

    def note_listing(self, tasks: Iterable[Task], *, is_complete: bool = True) -> None:
        listed = tuple(tasks)
        self._book.note_listing(listed, is_complete=is_complete)
        self.told.append(lambda journal: journal.listing(listed, is_complete=is_complete))

    def _is_ours(self, task_id: str) -> bool:
        """Whether a message of this client led to the task, or may have."""
        book = self._book
        return book.state_of(task_id) is not None or task_id in (*book.open_tasks(), *book.hearsay())

    def task_of(self, message_id: str) -> str | None:
        return self._book.task_of(message_id)

"""Keeps the books of recorded calls as the journal keeps those of live ones: what was sent, what became of it (R35)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from a2a_lab.core.holdings import size
from a2a_lab.core.model import Artifact, Message, RpcError, StreamEvent, Task
from a2a_lab.core.tasks import How
from a2a_lab.judge.answers import was_sent
from a2a_lab.judge.histories import task_id_of
from a2a_lab.judge.reading import mode_of
from a2a_lab.judge.transcript import Call
from a2a_lab.wire.envelope import CODE_RANGE

_GONE: Final = "TaskNotFound"
# What stands under such a status was declined by whoever answered, so nothing was started.
_DECLINED: Final = range(300, 500)


class Books(Protocol):
    """Whoever keeps the books: a `TaskBook`, or what passes the same on to one; see there for each entry."""

    def note_sent(
        self,
        message_id: str,
        *,
        purpose: str,
        media_type: str | None = None,
        size: int = 0,
        is_payload: bool = False,
        context_id: str | None = None,
        task_id: str | None = None,
        opens: str | None = None,
    ) -> None: ...

    def note_task(self, task: Task, *, how: How, message_id: str | None = None) -> None: ...

    def note_event(self, event: StreamEvent, *, message_id: str | None = None) -> None: ...

    def note_message(self, message_id: str, task_id: str | None = None) -> None: ...

    def note_refused(self, message_id: str, error: RpcError) -> None: ...

    def note_not_processed(self, message_id: str) -> None: ...

    def note_unknown(self, message_id: str) -> None: ...

    def note_cancel(self, task_id: str, *, task: Task | None = None, error: RpcError | None = None) -> None: ...

    def note_gone(self, task_id: str) -> None: ...

    def note_listing(self, tasks: Iterable[Task], *, is_complete: bool = True) -> None: ...

    def task_of(self, message_id: str) -> str | None: ...


def note_request(book: Books, call: Call, place: int) -> str | None:
    """Note a send before its answer; the id by which the books know it, None for other calls."""
    message = call.asked.message
    if not call.is_send:
        return None
    name = message.id if message is not None and message.id else f"#{place}"
    book.note_sent(
        name,
        purpose=call.exchange.purpose or "send",
        media_type=mode_of(message),
        size=size(Artifact(id="", parts=message.parts)) if message is not None else 0,
        is_payload=call.exchange.purpose == "commit",
        context_id=message.context_id if message is not None else None,
        task_id=message.task_id if message is not None else None,
        opens=call.asked.task_id if call.dialect.id == "0.1" else None,
    )
    return name


def note_answer(book: Books, call: Call, name: str | None) -> None:
    """Note what answered a call; `name` is that of the send it answers."""
    if call.watched is not None:
        _note_stream(book, call, name)
    elif name is not None:
        _note_send(book, call, name)
    else:
        _note_look(book, call)


def _note_stream(book: Books, call: Call, name: str | None) -> None:
    for heard in call.events:
        book.note_event(heard.event, message_id=name)
    if name is not None and call.answer is not None:
        _note_send(book, call, name)
    elif name is not None and book.task_of(name) is None and not isinstance(_message(call), Message):
        error = call.watched.error if call.watched is not None else None
        if error is not None:
            book.note_refused(name, error)
        else:
            _note_nothing(book, call, name)


def _message(call: Call) -> Message | None:
    return call.watched.message if call.watched is not None else None


def _note_send(book: Books, call: Call, name: str) -> None:
    answer = call.answer
    if answer is None or (answer.task or answer.message or answer.error) is None:
        _note_nothing(book, call, name)
    elif answer.task is not None:
        book.note_task(answer.task, how="answer", message_id=name)
    elif answer.message is not None:
        book.note_message(name, answer.message.task_id)
    elif answer.unmatched is not None and answer.unmatched.id:
        book.note_task(answer.unmatched, how="answer", message_id=name)
    elif answer.error is not None and not _is_of_a_proxy(call):
        book.note_refused(name, answer.error)
    else:
        book.note_unknown(name)


def _note_nothing(book: Books, call: Call, name: str) -> None:
    """No usable answer: either the message was certainly not taken, or nobody knows."""
    status = call.exchange.status
    is_declined = (status is not None and status in _DECLINED) or (
        call.answer is not None and call.answer.not_gradeable is not None
    )
    if is_declined or not was_sent(call.exchange):
        book.note_not_processed(name)
    else:
        book.note_unknown(name)


def _note_look(book: Books, call: Call) -> None:
    answer, task_id = call.answer, task_id_of(call)
    error: RpcError | None = answer.error if answer is not None else None
    if call.op == "cancel" and task_id is not None:
        book.note_cancel(task_id, task=answer.task if answer is not None else None, error=error)
    elif answer is None:
        return
    elif call.op == "list":
        result = answer.result
        is_whole = not (isinstance(result, dict) and result.get("nextPageToken"))
        book.note_listing(answer.tasks, is_complete=is_whole)
    elif answer.task is not None:
        book.note_task(answer.task, how="get")
    elif error is not None and error.name == _GONE and task_id is not None:
        book.note_gone(task_id)


def _is_of_a_proxy(call: Call) -> bool:
    """Whether the error's code is nobody's but some proxy's, so that the agent may have taken the message."""
    return any(finding.slug == CODE_RANGE.slug for finding in call.findings)

"""The ledger as one cell writes it: every fact goes to the disk and into the books, in the same order (DESIGN 6, A7).

An intent is on the disk before its message leaves. What a task left behind is asked of the books, and `book_of`
rebuilds the same books from the ledger alone, after a kill as well as after a run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from a2a_lab.core.holdings import media_type, size
from a2a_lab.core.model import Artifact, Part, RpcError, State, StreamEvent, Task
from a2a_lab.core.pinning import PinKey, PinnedCard
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.core.tasks import How, TaskBook
from a2a_lab.judge.answers import was_sent
from a2a_lab.ledger import Fact, Ledger, TargetRow
from a2a_lab.net.redact import Redactor
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.http_shape import DECLINED
from a2a_lab.wire.messages import Answer


class Journal:
    """Facts of one cell, on disk and in `book`. The book holds what came; the disk never gets a secret (R38)."""

    def __init__(
        self,
        ledger: Ledger,
        run: str,
        cell: str,
        *,
        agent: str,
        redactor: Redactor | None = None,
        spend: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`spend` counts a message against a live agent's budget, and raises Withheld where that is used up."""
        self.ledger = ledger
        self._spend = spend
        self._redactor = redactor or Redactor()
        self.run, self.cell = run, cell
        self.book = TaskBook(agent)
        self.cancelled: set[str] = set()  # asked once; a second cancel of one task tells nothing new
        # What is on the disk: each task's last state and the messages it answers, and the bytes of each artifact.
        self._states: dict[str, State] = {}
        self._answered: set[tuple[str, str | None]] = set()
        self._sizes: dict[tuple[str, str], int] = {}

    async def target(self, target: ResolvedTarget, *, dialect: str, nonce: str | None) -> None:
        """Messages are about to leave for this target. Returns when that is on the disk: a clean-up starts from it."""
        await self.ledger.target(
            TargetRow(
                run=self.run,
                cell=self.cell,
                agent=self.book.agent,
                url=self._redactor.text(target.dispatch_url),
                binding=target.binding,
                dialect=dialect,
                tenant=target.tenant_id,
                headers=self._redactor.value(dict(target.headers)),
                nonce=nonce,
            )
        )

    def pin(self, pin: PinnedCard, key: PinKey) -> None:
        """A card was pinned (P2); when this returns, that is on the disk."""
        self.ledger.pin(
            self.run,
            self.cell,
            key=self._redactor.text(key.text),
            content_digest=pin.content_digest,
            full_digest=pin.full_digest,
            protocol_version=self._redactor.text(str(pin.protocol_version)),
            card_version=self._redactor.text(pin.card_version),
        )

    async def sent(
        self,
        message_id: str,
        *,
        purpose: str,
        media_type: str | None,
        size: int,
        is_payload: bool,
        context_id: str | None = None,
        task_id: str | None = None,
        opens: str | None = None,
    ) -> None:
        """A message is about to leave. Returns when that is on the disk. `opens`: the id we gave a new task."""
        if self._spend is not None:
            await self._spend()
        intent = {
            "message_id": message_id,
            "purpose": purpose,
            "media_type": media_type,
            "size": size,
            "is_payload": is_payload,
            "context_id": context_id,
            "task_id": task_id,
            "opens": opens,
        }
        self.book.note_sent(**intent)  # type: ignore[arg-type]
        await self._write("sent", intent)

    async def task(self, task: Task, *, how: How, message_id: str | None = None) -> None:
        """A snapshot of a task came."""
        self.book.note_task(task, how=how, message_id=message_id)
        await self._snapshot(task, how, message_id)

    async def event(self, event: StreamEvent, *, message_id: str | None) -> None:
        """An event of a stream came. Only what is new about the task is written, not each piece: see `sizes`."""
        self.book.note_event(event, message_id=message_id)
        if event.task is not None:
            await self._snapshot(event.task, "stream", message_id)
        elif event.task_id is not None:
            if self._is_news(event, message_id):
                await self._write("event", _event_fact(event, message_id))
        elif event.kind == "message" and message_id is not None:
            await self._write("message", {"message_id": message_id, "task_id": None})

    async def sizes(self) -> None:
        """A stream ended: write what its artifacts came to, where they grew since they were written."""
        for task_id, held in self.book.received():
            if self._sizes.get((task_id, held.id)) != held.bytes:
                self._sizes[task_id, held.id] = held.bytes
                artifact = {"id": held.id, "media_type": held.media_type, "bytes": held.bytes, "parts": held.parts}
                await self._write("event", _fact_of_event("artifact", task_id, artifact=artifact))

    async def answer(self, message_id: str, answer: Answer | None, exchange: Exchange) -> None:
        """What a send was answered with; None where no answer could be read."""
        if answer is not None and answer.task is not None and answer.task.id:
            await self.task(answer.task, how="answer", message_id=message_id)
        elif answer is not None and answer.message is not None:
            await self.message(message_id, answer.message.task_id)
        elif answer is not None and answer.error is not None and answer.unmatched is not None and answer.unmatched.id:
            await self.task(answer.unmatched, how="answer", message_id=message_id)
        elif answer is not None and answer.error is not None:
            await self.refused(message_id, answer.error)
        elif answer is not None and answer.not_gradeable is not None:
            await self.not_processed(message_id)
        else:
            await self.nothing(message_id, exchange)

    async def nothing(self, message_id: str, exchange: Exchange) -> None:
        """No usable answer came: nobody knows what became of the message, unless it was certainly not taken."""
        if exchange.status in DECLINED or not was_sent(exchange):
            await self.not_processed(message_id)
        else:
            await self.unknown(message_id)

    async def message(self, message_id: str, task_id: str | None = None) -> None:
        """A message answered; `task_id` is the task that it names, if any."""
        self.book.note_message(message_id, task_id)
        await self._write("message", {"message_id": message_id, "task_id": task_id})

    async def refused(self, message_id: str, error: RpcError) -> None:
        self.book.note_refused(message_id, error)
        await self._write("refused", {"message_id": message_id, "error": _error_fact(error)})

    async def not_processed(self, message_id: str) -> None:
        self.book.note_not_processed(message_id)
        await self._write("not_processed", {"message_id": message_id})

    async def unknown(self, message_id: str) -> None:
        self.book.note_unknown(message_id)
        await self._write("unknown", {"message_id": message_id})

    async def cancel(self, task_id: str, *, task: Task | None = None, error: RpcError | None = None) -> None:
        self.book.note_cancel(task_id, task=task, error=error)
        await self._write(
            "cancel",
            {
                "task_id": task_id,
                "task": _task_fact(task, "cancel", None) if task else None,
                "error": _error_fact(error) if error else None,
            },
        )

    async def gone(self, task_id: str) -> None:
        self.book.note_gone(task_id)
        await self._write("gone", {"task_id": task_id})

    async def listing(self, tasks: tuple[Task, ...], *, is_complete: bool = True) -> None:
        """The agent listed tasks: all that there are, or one page of them."""
        self.book.note_listing(tasks, is_complete=is_complete)
        facts = [_task_fact(task, "list", None) for task in tasks]
        await self._write("listing", {"tasks": facts, "is_complete": is_complete})

    async def booked(self, task_id: str) -> None:
        """The result of the task was taken."""
        self.book.book(task_id)
        await self._write("booked", {"task_id": task_id})

    def _is_news(self, event: StreamEvent, message_id: str | None) -> bool:
        """Whether the event says of its task what is not on the disk yet: a state, an artifact, whom it answers."""
        task_id, artifact = event.task_id or "", event.artifact
        is_news = (task_id, message_id) not in self._answered
        self._answered.add((task_id, message_id))
        if event.state is not None and self._states.get(task_id) is not event.state:
            self._states[task_id], is_news = event.state, True
        if artifact is not None and (task_id, artifact.id) not in self._sizes:
            self._sizes[task_id, artifact.id], is_news = size(artifact), True
        return is_news

    async def _snapshot(self, task: Task, how: How, message_id: str | None) -> None:
        self._states[task.id] = task.state
        self._answered.add((task.id, message_id))
        self._sizes |= {(task.id, artifact.id): size(artifact) for artifact in task.artifacts}
        await self._write("task", _task_fact(task, how, message_id))

    async def _write(self, what: str, detail: Mapping[str, Any]) -> None:
        await self.ledger.intend(self.run, self.cell, what, **self._redactor.value(dict(detail)))


def book_of(facts: Iterable[Fact], *, agent: str) -> TaskBook:
    """The books of one cell, rebuilt from its facts in their order."""
    book = TaskBook(agent)
    for fact in facts:
        detail = fact.detail
        match fact.what:
            case "sent":
                book.note_sent(**detail)
            case "task":
                book.note_task(_task(detail), how=detail["how"], message_id=detail["message_id"])
            case "event":
                book.note_event(_event(detail), message_id=detail["message_id"])
            case "cancel":
                task, error = detail["task"], detail["error"]
                book.note_cancel(
                    detail["task_id"], task=_task(task) if task else None, error=_error(error) if error else None
                )
            case "refused":
                book.note_refused(detail["message_id"], _error(detail["error"]))
            case "message":
                book.note_message(detail["message_id"], detail.get("task_id"))
            case "not_processed":
                book.note_not_processed(detail["message_id"])
            case "unknown":
                book.note_unknown(detail["message_id"])
            case "gone":
                book.note_gone(detail["task_id"])
            case "listing":
                tasks = [_task(task) for task in detail["tasks"]]
                book.note_listing(tasks, is_complete=detail.get("is_complete", True))
            case "booked":
                book.book(detail["task_id"])
    return book


def unanswered(facts: Iterable[Fact]) -> set[str]:
    """Messages that were about to leave when the lab was killed: nothing later was written about them."""
    open_ids: set[str] = set()
    for fact in facts:
        message_id = fact.detail.get("message_id")
        if message_id is not None:
            open_ids = open_ids | {message_id} if fact.what == "sent" else open_ids - {message_id}
    return open_ids


def _task_fact(task: Task, how: How, message_id: str | None) -> dict[str, Any]:
    return {
        "id": task.id,
        "context_id": task.context_id,
        "state": task.state.value,
        "artifacts": [_artifact_fact(artifact) for artifact in task.artifacts],
        "how": how,
        "message_id": message_id,
    }


def _event_fact(event: StreamEvent, message_id: str | None) -> dict[str, Any]:
    return _fact_of_event(
        event.kind,
        event.task_id,
        context_id=event.context_id,
        state=event.state.value if event.state else None,
        artifact=_artifact_fact(event.artifact) if event.artifact else None,
        append=event.append,
        message_id=message_id,
    )


def _fact_of_event(kind: str, task_id: str | None, **known: Any) -> dict[str, Any]:
    fact = {"context_id": None, "state": None, "artifact": None, "append": False, "message_id": None}
    return {"kind": kind, "task_id": task_id, **fact, **known}


def _artifact_fact(artifact: Artifact) -> dict[str, Any]:
    known = {"id": artifact.id, "media_type": media_type(artifact), "bytes": size(artifact)}
    return known | {"parts": len(artifact.parts)}


def _error_fact(error: RpcError) -> dict[str, Any]:
    return {"code": error.code, "name": error.name, "message": error.message[:200]}


def _task(fact: Mapping[str, Any]) -> Task:
    return Task(
        id=fact["id"],
        context_id=fact["context_id"],
        state=State(fact["state"]),
        wire_state=fact["state"],
        artifacts=tuple(_artifact(one) for one in fact["artifacts"]),
    )


def _event(fact: Mapping[str, Any]) -> StreamEvent:
    return StreamEvent(
        kind=fact["kind"],
        task_id=fact["task_id"],
        context_id=fact["context_id"],
        state=State(fact["state"]) if fact["state"] else None,
        artifact=_artifact(fact["artifact"]) if fact["artifact"] else None,
        append=fact["append"],
    )


def _artifact(fact: Mapping[str, Any]) -> Artifact:
    """A stand-in of the same type and size: the content itself is in the evidence, never in the ledger."""
    stand_in = Part(kind="raw", media_type=fact["media_type"], raw="A" * -(-fact["bytes"] * 4 // 3))
    return Artifact(id=fact["id"], parts=(stand_in,) if fact.get("parts", 1) else ())


def _error(fact: Mapping[str, Any]) -> RpcError:
    return RpcError(code=fact["code"], name=fact["name"], message=fact["message"])

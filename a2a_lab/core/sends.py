"""The messages that left for one agent, and what became of each: what answered it, and whether anybody knows.

A client of the draft names the task that its message opens. Then a send of unknown outcome has a task that can be
asked for and cancelled by name, and one that the agent does not know was never started.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from a2a_lab.core.holdings import Held
from a2a_lab.core.model import Task
from a2a_lab.errors import Misuse


@dataclass(slots=True, kw_only=True)
class Sent:
    """A message of ours. `unknown` counts the attempts whose outcome nobody knows; `tasks` are what answered it.

    `opens` is the id that the client itself made for a new task, as clients of the draft do; `named` one that a message
    in answer spoke of, and that nobody has asked for yet.
    """

    message_id: str
    purpose: str
    media_type: str | None
    bytes: int
    is_payload: bool
    context_id: str | None
    continues: str | None
    opens: str | None = None
    named: str | None = None
    attempts: int = 0
    unknown: int = 0
    outcome: Literal["open", "task", "message", "refused", "unknown", "not-processed"] = "open"
    tasks: list[Held] = field(default_factory=list)
    streamed: str | None = None  # the task that the stream of the last attempt is about
    streamed_at: int = 0  # which attempt that was

    def is_about(self, task_id: str) -> bool:
        """Whether the stream that answers the last attempt is about this task: the one asked for, or the first."""
        if self.streamed_at != self.attempts:
            self.streamed_at, self.streamed = self.attempts, self.continues or self.opens or task_id
        return self.streamed == task_id

    def answered_by(self, held: Held) -> None:
        """A task answers the message. A second one makes the first an orphan, unless it was only found in a listing."""
        self.outcome = "task"
        held.bear(self.message_id)
        if held in self.tasks:
            return
        if held.is_superseded:
            self.tasks.insert(0, held)
            return
        for earlier in self.tasks:
            earlier.is_superseded = True
        self.tasks.append(held)

    def may_have_started(self, task: Task) -> bool:
        """Whether an unknown task may be the one that an attempt of unknown outcome started, going by its context."""
        if self.opens not in (None, task.id):
            return False
        contexts = {self.context_id, *(held.context_id for held in self.tasks)} - {None}
        return bool(self.unknown) and (task.context_id is None or not contexts or task.context_id in contexts)


class Sends:
    """Every message of ours, by its id, in the order in which they left."""

    def __init__(self) -> None:
        self._sent: dict[str, Sent] = {}

    def __iter__(self) -> Iterator[Sent]:
        return iter(self._sent.values())

    def note(self, sent: Sent) -> Sent:
        """A message is about to leave; the one that is known already where it is a retry."""
        return self._sent.setdefault(sent.message_id, sent)

    def of(self, message_id: str) -> Sent:
        """Raises Misuse for a message that was never noted."""
        if message_id not in self._sent:
            raise Misuse(f"message {message_id!r} was never noted as sent; call note_sent before it leaves")
        return self._sent[message_id]

    def payloads(self, held: Held) -> list[Sent]:
        """The payloads that were committed to a task."""
        return [sent for sent in map(self.of, held.messages) if sent.is_payload]

    def doubtful(self) -> list[Sent]:
        """Those of unknown outcome."""
        return [sent for sent in self if sent.unknown]

    def suspected(self) -> list[str]:
        """Tasks that may have been started, by the ids that we gave them."""
        return [sent.opens for sent in self.doubtful() if sent.opens is not None]

    def hearsay(self) -> list[str]:
        """Tasks that messages in answer spoke of, and that nobody has asked for since."""
        return [sent.named for sent in self if sent.named is not None]

    def resolve(self, task_id: str, held: Held | None) -> None:
        """The agent knows the task after all, or says that there is none: what would have opened it is in no doubt."""
        for sent in self.doubtful():
            if sent.opens == task_id:
                sent.unknown = 0
                if held is not None:
                    sent.answered_by(held)
        for sent in self:
            if sent.named == task_id:
                sent.named = None
                if held is not None:
                    sent.answered_by(held)

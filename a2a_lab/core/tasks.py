"""Keeps the books of one cell's tasks: what was sent, what became of it, and what is left behind (R35, A7).

Told of every send, answer, event, cancel and look-up, in the order in which they happened; answers whether a message
may be sent again, what a clean-up must touch, and which orphans there are. Knows no wire and no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from a2a_lab.core.holdings import Held, Received
from a2a_lab.core.model import RpcError, State, StreamEvent, Task
from a2a_lab.core.orphans import OrphanRow, rows, unknown_rows
from a2a_lab.core.quoting import quoted
from a2a_lab.core.sends import Sends, Sent
from a2a_lab.core.task_findings import CANCEL_NOT_EFFECTIVE, RESENT_BLINDLY, TASK_NOT_RETRIEVABLE, orphan_finding
from a2a_lab.core.transitions import check_transition
from a2a_lab.verdicts import Finding

How = Literal["answer", "stream", "get", "list", "cancel"]

_GONE: Final = "TaskNotFound"
_OF_THE_CALL: Final = frozenset(
    {"VersionNotSupported", "MethodNotFound", "ParseError", "InvalidRequest", "InvalidParams"}
)
_NOT_CANCELABLE: Final = "TaskNotCancelable"
_ALIKE: Final = 20  # findings of one kind that are kept


class TaskBook:
    """The tasks of one cell with one agent."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._sent = Sends()
        self._held: dict[str, Held] = {}
        self._findings: list[Finding] = []
        self._times: Counter[str] = Counter()

    # -- what happens

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
    ) -> None:
        """A message leaves, to continue `task_id` or to open a task that the client names. Again for a retry."""
        sent = self._sent.note(
            Sent(
                message_id=message_id,
                purpose=purpose,
                media_type=media_type,
                bytes=size,
                is_payload=is_payload,
                context_id=context_id,
                continues=task_id,
                opens=None if task_id is not None else opens,
            ),
        )
        sent.attempts += 1
        if sent.unknown and sent.outcome == "unknown":
            self._say(RESENT_BLINDLY(f"message {quoted(message_id)} was sent again", at=message_id))
        sent.outcome = "open"
        if task_id is not None:
            held = self._held.setdefault(task_id, Held(id=task_id))  # known only once the agent says so
            held.is_answered = True
            held.bear(message_id)

    def note_task(self, task: Task, *, how: How, message_id: str | None = None) -> None:
        """A snapshot came: in the answer to `message_id`, from a stream, a get, a list or a cancel."""
        if not task.id:
            return
        if how == "stream":
            message_id = self._of_own_stream(task.id, message_id)
        held = self._hold(task.id)
        held.context_id = held.context_id or task.context_id
        if message_id is not None:
            self._sent.of(message_id).answered_by(held)
        self._enter(held, task.state, is_judged=how != "stream")
        for artifact in task.artifacts:
            held.receive(artifact, append=False)
        if task.state is State.COMPLETED and how != "list":  # a list leaves artifacts out unless asked (§3.1.4)
            held.completed_with = frozenset(artifact.id for artifact in task.artifacts)

    def note_event(self, event: StreamEvent, *, message_id: str | None = None) -> None:
        """An event of a stream. One without a task id says nothing about any task here."""
        if event.task is not None:
            self.note_task(event.task, how="stream", message_id=message_id)
            return
        message_id = self._of_own_stream(event.task_id, message_id)
        if event.kind == "message":
            if message_id is not None:
                self.note_message(message_id, event.task_id)
        elif event.task_id is not None:
            held = self._hold(event.task_id)
            held.context_id = held.context_id or event.context_id
            if message_id is not None:
                self._sent.of(message_id).answered_by(held)
            if event.state is not None:
                self._enter(held, event.state, is_judged=False)  # the stream watch judges what a stream says
            if event.artifact is not None:
                held.receive(event.artifact, append=event.append)

    def _of_own_stream(self, task_id: str | None, message_id: str | None) -> str | None:
        """The message that a stream answers with this task; None where the stream is another task's.

        A task that a stream speaks of besides its own may be ours or somebody else's (R35).
        """
        if task_id is None or message_id is None or self._sent.of(message_id).is_about(task_id):
            return message_id
        held = self._held.get(task_id)
        if held is None or not held.is_known:
            self._hold(task_id).is_foreign = True
        return None

    def note_message(self, message_id: str, task_id: str | None = None) -> None:
        """A message answered: no task was started. One that it names is asked for, and left behind only if it is there.

        Agents name tasks in messages that they never stored (§3.1.1: a message is the answer instead of a task).
        """
        sent = self._sent.of(message_id)
        held = self._held.get(task_id or "")
        if held is not None and held.is_known:
            sent.answered_by(held)
            return
        sent.outcome, sent.named = "message", task_id or None

    def note_refused(self, message_id: str, error: RpcError) -> None:
        """An error answered: by its own word the agent started nothing."""
        sent = self._sent.of(message_id)
        sent.outcome = "refused"
        if sent.continues is not None and error.name == _GONE:
            self.note_gone(sent.continues)

    def note_not_processed(self, message_id: str) -> None:
        """The server said that it did not take the message (429, 503): it may be sent once more as it is."""
        self._sent.of(message_id).outcome = "not-processed"

    def note_unknown(self, message_id: str) -> None:
        """No usable answer came: a task may have been started (R35)."""
        sent = self._sent.of(message_id)
        held = self._held.get(sent.opens or "")
        if held is not None and held.is_known:
            sent.answered_by(held)
            return
        sent.outcome = "unknown"
        sent.unknown += 1

    def note_cancel(self, task_id: str, *, task: Task | None = None, error: RpcError | None = None) -> None:
        """A cancel was answered with a task or an error; with neither where its outcome is unknown."""
        if error is not None and error.name == _GONE:
            self.note_gone(task_id)
            return
        if error is not None and error.name in _OF_THE_CALL and not self._is_ours(task_id):
            return  # the call was declined before it came to a task: that there is one, nobody but the client said
        held = self._hold(task_id)
        if task is not None:
            self.note_task(task, how="cancel")
            held.is_acknowledged = held.is_acknowledged or task.state is State.CANCELED
            held.cleanup = "acknowledged" if held.is_acknowledged else "declined"
            if held.is_open:
                detail = f"the cancel of {quoted(task_id)} was answered with state {quoted(task.wire_state)}"
                self._say(CANCEL_NOT_EFFECTIVE(detail, at=task_id))
        elif error is None:
            held.cleanup = "unknown"
        else:
            held.cleanup = "asked" if error.name == _NOT_CANCELABLE else "unsupported"

    def note_gone(self, task_id: str) -> None:
        """The agent answered that it does not know the task: no fault of a task it never named or that has ended."""
        self._sent.resolve(task_id, None)
        held = self._held.get(task_id)
        if held is not None and held.is_known and held.is_open and not held.is_lost:
            held.is_lost = True
            held.cleanup = "lost"
            was = held.state.value if held.state else "handed out"
            self._say(TASK_NOT_RETRIEVABLE(f"task {quoted(task_id)} was {was}, and is not found", at=task_id))

    def note_listing(self, tasks: Iterable[Task], *, is_complete: bool = True) -> None:
        """Tasks that the agent lists. Those we do not know answer a send of unknown outcome, if there is one."""
        listed = tuple(tasks)
        doubtful = self._sent.doubtful()
        for task in listed:
            if task.id in self._held or task.id in (*self._sent.suspected(), *self._sent.hearsay()):
                self.note_task(task, how="list")
                continue
            sent = next((sent for sent in doubtful if sent.may_have_started(task)), None)
            if sent is None:
                continue  # somebody else's
            self._hold(task.id).is_superseded = bool(sent.tasks)
            self.note_task(task, how="list", message_id=sent.message_id)
            sent.unknown -= 1
        if is_complete:
            for sent in doubtful:
                sent.unknown = 0

    def book(self, task_id: str) -> None:
        """The result of the task was taken."""
        self._hold(task_id).is_booked = True

    # -- what follows

    def may_resend(self, message_id: str) -> bool:
        """Whether the message may be sent again as it is: only where the agent said that it was not taken (R37)."""
        sent = self._sent.of(message_id)
        return sent.outcome == "not-processed" and sent.attempts < 2 and not sent.unknown

    def task_of(self, message_id: str) -> str | None:
        """The task that answered a message, the latest where there are several."""
        sent = self._sent.of(message_id)
        return sent.tasks[-1].id if sent.tasks else sent.continues

    def state_of(self, task_id: str) -> State | None:
        return self._held[task_id].state if task_id in self._held else None

    def is_delivered(self, message_id: str) -> bool:
        """Whether a payload's task is completed and booked, with an artifact received that holds something (R36)."""
        held = self._held.get(self.task_of(message_id) or "")
        if held is None or not held.is_booked or held.state is not State.COMPLETED:
            return False
        return any(artifact.parts for artifact in held.artifacts.values())

    def ended_tasks(self) -> frozenset[str]:
        """The tasks that have ended: none of them can answer a message that is yet to leave (R24)."""
        return frozenset(held.id for held in self._held.values() if held.state is not None and held.state.is_terminal)

    def open_tasks(self) -> tuple[str, ...]:
        """The tasks that a clean-up has to cancel, or to ask for after a cancel was declined."""
        known = (held.id for held in self._held.values() if held.is_open and not (held.is_lost or held.is_foreign))
        return tuple(dict.fromkeys((*known, *self._sent.suspected())))

    def hearsay(self) -> tuple[str, ...]:
        """The tasks that are known only from a message that names them: a clean-up asks whether they are there."""
        return tuple(dict.fromkeys(self._sent.hearsay()))

    def received(self) -> Iterator[tuple[str, Received]]:
        """Every artifact that was seen, with the id of its task."""
        for held in self._held.values():
            yield from ((held.id, artifact) for artifact in held.artifacts.values())

    def unknown_sends(self) -> tuple[str, ...]:
        """The messages whose task must be looked for before anything is sent again."""
        return tuple(sent.message_id for sent in self._sent.doubtful())

    def orphans(self) -> tuple[OrphanRow, ...]:
        """Everything that is left behind, as things stand."""
        known = (row for held in self._held.values() for row in rows(self.agent, held, self._sent.payloads(held)))
        unknown = (row for sent in self._sent for row in unknown_rows(self.agent, sent))
        return (*known, *unknown)

    def findings(self) -> tuple[Finding, ...]:
        """The stage `ledger`, as things stand: what was odd on the way, and the orphans."""
        return (*self._findings, *map(orphan_finding, self.orphans()))

    # -- inside

    def _say(self, finding: Finding) -> None:
        self._times[finding.slug] += 1
        if self._times[finding.slug] <= _ALIKE:
            self._findings.append(finding)

    def _is_ours(self, task_id: str) -> bool:
        """Whether the agent showed the task, or one of our messages may have opened it."""
        held = self._held.get(task_id)
        return (held is not None and held.is_known) or task_id in self._sent.suspected()

    def _is_shown(self, task_id: str | None) -> bool:
        return task_id is not None and task_id in self._held

    def _hold(self, task_id: str) -> Held:
        held = self._held.setdefault(task_id, Held(id=task_id))
        if not held.is_known:
            held.is_known = True
            self._sent.resolve(task_id, held)
        return held

    def _enter(self, held: Held, state: State, *, is_judged: bool) -> None:
        """The task is said to be in a state. What asking shows counts, even if a task that had ended lives again;
        a stream may lag behind, so that nothing in it revives a task."""
        odd = check_transition(held.state, state, answered=held.is_answered) if is_judged else None
        if odd is not None:
            self._say(odd)
        held.is_answered = False
        if held.state is not None and held.state.is_terminal and (not is_judged or state is State.UNKNOWN):
            return
        held.state = state
        if held.is_acknowledged and not state.is_terminal:
            held.is_acknowledged = False
            held.cleanup = "declined"

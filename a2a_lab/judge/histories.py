"""What the evidence shows of each task, and when: before a call, after it, and until the next message to the task.

A capture may begin in the middle of a conversation, so what it does not show is unknown and never false.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from a2a_lab.core.model import Message, RpcError, State, Task
from a2a_lab.judge.answers import was_sent
from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import NotGradeable

_GONE: Final = "TaskNotFound"
OURS: Final = frozenset({"probe", "rehearsal", "control", "commit"})
"""What the lab's own recordings say that a message was sent for."""


class History:
    """Sightings of tasks by the place of the call that showed them. Calls are in the order in which they began.

    `before` are tasks as they were known when the evidence begins.
    """

    def __init__(self, calls: Sequence[Call], *, before: Iterable[Task] = ()) -> None:
        self._calls = calls
        self._seen: dict[str, list[Task]] = {}
        self._places: dict[str, list[int]] = {}  # beside `_seen`, in the same order
        self._touched: dict[str, list[int]] = {}
        self._throttled: dict[str, int] = {}
        self._first_sent: dict[str, int] = {}
        for task in before:
            self._seen.setdefault(task.id, []).append(task)
            self._places.setdefault(task.id, []).append(-1)
        self._let_in = {_key(call): place for place, call in enumerate(calls) if _is_let_in(call)}
        self._again: list[int] = []
        running: dict[str, int] = {}
        for place, call in enumerate(calls):
            task_id, message = task_id_of(call), call.asked.message
            if call.dialect.id == "0.1" and call.is_send and task_id not in self._seen:
                task_id = None  # the id that a client of the draft made for a new task: nothing is continued by it
            for task in call.tasks:
                self._seen.setdefault(task.id, []).append(task)
                self._places.setdefault(task.id, []).append(place)
            if call.op in ("send", "stream", "cancel") and task_id is not None:
                self._touched.setdefault(task_id, []).append(place)
            if call.is_send and task_id is not None:
                asks = bool(call.tasks) and call.tasks[-1].state is State.INPUT_REQUIRED
                running[task_id] = running.get(task_id, 0) + 1 if asks else 0
            self._again.append(running.get(task_id, 0) if task_id is not None else 0)
            if call.is_send and message is not None and message.id:
                self._first_sent.setdefault(message.id, place)
            if message is not None and message.id is not None and is_throttled(call):
                self._throttled.setdefault(message.id, place)

    def is_known(self, task_id: str, place: int) -> bool:
        """Whether the agent had shown the task before this call."""
        return bool(self._before(task_id, place))

    def state_before(self, task_id: str, place: int) -> State | None:
        before = self._before(task_id, place)
        return self._seen[task_id][before - 1].state if before else None

    def state_around(self, task_id: str, place: int) -> State | None:
        """What the task was before the call, or else what the first look after it showed."""
        later = self._seen.get(task_id, [])[self._before(task_id, place + 1) :]
        return self.state_before(task_id, place) or next((task.state for task in later), None)

    def had_ended(self, word: Task | Message | RpcError | None, place: int) -> bool:
        """Whether the task that answers a message had ended before this left; one sent again may meet its own task."""
        message = self._calls[place].asked.message
        is_first = message is None or self._first_sent.get(message.id or "", place) == place
        state = self.state_before(word.id, place) if isinstance(word, Task) and is_first else None
        return state is not None and state.is_terminal

    def followed(self, task: Task, place: int) -> Task:
        """The last snapshot of the task before the next message to it, or its cancel."""
        touched = self._touched.get(task.id, [])
        after = bisect_left(touched, place + 1)
        until = touched[after] if after < len(touched) else len(self._calls)
        first, last = self._before(task.id, place + 1), self._before(task.id, until)
        return self._seen[task.id][last - 1] if last > first else task

    def stood_still_s(self, word: Task | Message | RpcError | None, place: int) -> float:
        """How long a task that never settled was looked at since it last moved, after the call at this place."""
        if not isinstance(word, Task) or is_settled(word.state):
            return 0.0
        first, last = self._before(word.id, place), len(self._places.get(word.id, ()))
        seen, places = self._seen.get(word.id, [])[first:last], self._places.get(word.id, [])[first:last]
        still = [at for task, at in zip(seen, places, strict=True) if _looks(task) == _looks(word) and at >= 0]
        if not still:
            return 0.0
        return (self._calls[still[-1]].exchange.ended_ms - self._calls[still[0]].exchange.ended_ms) / 1000

    def look_hung(self, word: Task | Message | RpcError | None, place: int, hang_s: float) -> bool:
        """Whether the last look at a task that never settled waited in vain for as long as a hang is."""
        if not isinstance(word, Task) or is_settled(word.state):
            return False
        looks = self._looks_at(word.id, place)
        last = looks[-1].exchange if looks else None
        return last is not None and last.fault == "read-timeout" and (last.ended_ms - last.started_ms) / 1000 >= hang_s

    def _looks_at(self, task_id: str, place: int) -> list[Call]:
        """The looks at a task after the call at this place, before the next message to it or its cancel."""
        until = next((at for at in self._touched.get(task_id, []) if at > place), len(self._calls))
        return [one for one in self._calls[place:until] if one.op == "get" and one.asked.task_id == task_id]

    def followed_s(self, word: Task | Message | RpcError | None, place: int) -> float:
        """How long a task that never settled was looked at altogether, from the call at this place on."""
        if not isinstance(word, Task) or is_settled(word.state):
            return 0.0
        last = max((at for at in self._places.get(word.id, ()) if at >= place), default=place)
        return (self._calls[last].exchange.ended_ms - self._calls[place].exchange.started_ms) / 1000

    def _before(self, task_id: str, place: int) -> int:
        """How many sightings of the task came before this place."""
        return bisect_left(self._places.get(task_id, []), place)

    def was_throttled(self, place: int) -> bool:
        """Whether the same message was sent before this call, and the server had asked for patience."""
        message = self._calls[place].asked.message
        first = self._throttled.get(message.id) if message is not None and message.id is not None else None
        return first is not None and first < place

    def is_superseded(self, place: int) -> bool:
        """Whether a call that was turned away at the door was made again and let in: credentials, or patience (R2).

        A look at a task that failed in any way says nothing about the task, once another look has shown it (R22).
        """
        call = self._calls[place]
        is_failed_look = call.op == "get" and not call.tasks and (call.error is None or call.error.name != _GONE)
        return (is_failed_look or _turned_away(call) is not None) and self._let_in.get(_key(call), -1) > place

    @property
    def not_gradeable(self) -> NotGradeable | None:
        """Why the agent cannot be judged by these calls (R2): none reached it, or none got past its door.

        In a recording of the lab's own also where the last message did not get there, or nobody was let see what
        became of it.
        """
        if self._calls and not any(was_sent(call.exchange) for call in self._calls):
            return NotGradeable.UNREACHABLE
        answers = [call for call in self._calls if call.answer is not None]
        if answers and all(_turned_away(call) is not None for call in answers):
            return _turned_away(answers[0])
        return self._of_the_last_message()

    def _of_the_last_message(self) -> NotGradeable | None:
        sends = [place for place, call in enumerate(self._calls) if call.is_send and call.exchange.purpose in OURS]
        if not sends:
            return None
        call, place = self._calls[sends[-1]], sends[-1]
        if not was_sent(call.exchange):
            return NotGradeable.UNREACHABLE
        if (why := _turned_away(call)) is not None:
            return why
        task = call.tasks[-1] if call.tasks and call.watched is None else None
        if task is None or is_settled(self.followed(task, place).state):
            return None
        looks = self._looks_at(task.id, place)
        return _turned_away(looks[-1]) if looks else None

    def asks_again(self, place: int) -> int:
        """How many answers in a row, up to this one, asked for input once more after a message of the consumer."""
        return self._again[place]


def task_id_of(call: Call) -> str | None:
    """The task that a call names: in its message where it sends one, else in its parameters."""
    message = call.asked.message
    return call.asked.task_id or (message.task_id if message is not None else None)


def is_settled(state: State) -> bool:
    """Whether nobody has to ask for a task again before a message goes to it."""
    return state.is_terminal or state.is_interrupted


def _looks(task: Task) -> tuple[State, int, Message | None]:
    return task.state, len(task.artifacts), task.message


def _turned_away(call: Call) -> NotGradeable | None:
    """Why whoever called was not let in; None where it was, or where nothing answered."""
    return call.answer.not_gradeable if call.answer is not None else None


def _is_let_in(call: Call) -> bool:
    if call.op == "get":
        return bool(call.tasks)
    return call.watched is not None if call.answer is None else call.answer.not_gradeable is None


def _key(call: Call) -> object:
    """What makes two calls one call, made again: the message, the task that is looked at, or all that was asked."""
    message = call.asked.message
    if call.op == "get":
        return "get", call.asked.task_id
    return message.id if message is not None and message.id else call.exchange.request_body


def is_throttled(call: Call) -> bool:
    """Whether the answer only asked to come back later."""
    return call.answer is not None and call.answer.not_gradeable is NotGradeable.THROTTLED

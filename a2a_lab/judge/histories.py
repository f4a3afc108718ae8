"""What the evidence shows of each task, and when: before a call, after it, and until the next message to the task.

A capture may begin in the middle of a conversation, so what it does not show is unknown and never false.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from a2a_lab.core.model import Message, RpcError, State, Task
from a2a_lab.judge.answers import was_sent
from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import NotGradeable


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
        for task in before:
            self._seen.setdefault(task.id, []).append(task)
            self._places.setdefault(task.id, []).append(-1)
        self._let_in = {
            _key(call): place for place, call in enumerate(calls) if call.answer and call.answer.not_gradeable is None
        }
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

    def followed(self, task: Task, place: int) -> Task:
        """The last snapshot of the task before the next message to it, or its cancel."""
        touched = self._touched.get(task.id, [])
        after = bisect_left(touched, place + 1)
        until = touched[after] if after < len(touched) else len(self._calls)
        first, last = self._before(task.id, place + 1), self._before(task.id, until)
        return self._seen[task.id][last - 1] if last > first else task

    def stood_still_s(self, word: Task | Message | RpcError | None, place: int) -> float:
        """How long a task that never settled was looked at since it last moved, after the call at this place."""
        if not isinstance(word, Task) or word.state.is_terminal or word.state.is_interrupted:
            return 0.0
        first, last = self._before(word.id, place), len(self._places.get(word.id, ()))
        seen, places = self._seen.get(word.id, [])[first:last], self._places.get(word.id, [])[first:last]
        still = [at for task, at in zip(seen, places, strict=True) if _looks(task) == _looks(word) and at >= 0]
        if not still:
            return 0.0
        return (self._calls[still[-1]].exchange.ended_ms - self._calls[still[0]].exchange.ended_ms) / 1000

    def _before(self, task_id: str, place: int) -> int:
        """How many sightings of the task came before this place."""
        return bisect_left(self._places.get(task_id, []), place)

    def was_throttled(self, place: int) -> bool:
        """Whether the same message was sent before this call, and the server had asked for patience."""
        message = self._calls[place].asked.message
        first = self._throttled.get(message.id) if message is not None and message.id is not None else None
        return first is not None and first < place

    def is_superseded(self, place: int) -> bool:
        """Whether a call that was turned away at the door was made again and let in: credentials, or patience (R2)."""
        call = self._calls[place]
        is_turned_away = call.answer is not None and call.answer.not_gradeable is not None
        return is_turned_away and self._let_in.get(_key(call), -1) > place

    @property
    def not_gradeable(self) -> NotGradeable | None:
        """Why the agent cannot be judged by these calls (R2): none reached it, or none got past its door."""
        if self._calls and not any(was_sent(call.exchange) for call in self._calls):
            return NotGradeable.UNREACHABLE
        answers = [call.answer for call in self._calls if call.answer is not None]
        turned_away = [answer.not_gradeable for answer in answers]
        return turned_away[0] if answers and all(turned_away) else None

    def asks_again(self, place: int) -> int:
        """How many answers in a row, up to this one, asked for input once more after a message of the consumer."""
        return self._again[place]


def task_id_of(call: Call) -> str | None:
    """The task that a call names: in its message where it sends one, else in its parameters."""
    message = call.asked.message
    return call.asked.task_id or (message.task_id if message is not None else None)


def _looks(task: Task) -> tuple[State, int]:
    return task.state, len(task.artifacts)


def _key(call: Call) -> object:
    """What makes two calls one call, made again: the message, or everything that was asked."""
    message = call.asked.message
    return message.id if message is not None and message.id else call.exchange.request_body


def is_throttled(call: Call) -> bool:
    """Whether the answer only asked to come back later."""
    return call.answer is not None and call.answer.not_gradeable is NotGradeable.THROTTLED

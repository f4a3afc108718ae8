"""R35: whatever a stream says is in the books, also what comes after its watch has given up, or about another task."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import ClassVar

import pytest

from tests.net.agents import Agent, Asked, meet
from tests.net.peers import chunk, response


class LateAgent(Agent):
    """Is silent for longer than the hang limit, and completes then."""

    streaming: ClassVar[bool] = True

    async def events(self, name: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.say(asked, self.event(name, "WORKING"), writer)
        await writer.drain()
        await asyncio.sleep(0.9)
        self.say(asked, self.artifact(name), writer)
        self.say(asked, self.event(name, "COMPLETED"), writer)


def test_a_trusting_client_that_waited_left_nothing_behind(tmp_path: Path) -> None:
    """The stream hangs by the limit, yet what came after it is booked, live and from the evidence (R5)."""
    met = meet(LateAgent(), tmp_path, posture="trusting")
    assert met.left() == ([], [])
    assert met.again.closure == "idle-hang"
    assert "orphaned-task" not in met.slugs()[1]


class LateBody(Agent):
    """Answers a streaming call with plain JSON, after the hang limit."""

    streaming: ClassVar[bool] = True

    async def stream(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        answer = self.told(asked, {"task": self.task(self.opened(), "COMPLETED")})
        head, _, body = answer.partition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.9)
        writer.write(body)


def test_a_plain_answer_that_came_late_is_booked_too(tmp_path: Path) -> None:
    assert meet(LateBody(), tmp_path, posture="trusting").left() == ([], [])


class TwoTasks(Agent):
    """Speaks of a second task, which runs, in the stream of the first."""

    streaming: ClassVar[bool] = True
    other: ClassVar[str] = "WORKING"

    async def events(self, name: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.say(asked, self.event(name, "WORKING"), writer)
        self.say(asked, {"task": self.task("other", self.other)}, writer)
        self.say(asked, self.artifact(name), writer)
        self.say(asked, self.event(name, "COMPLETED"), writer)


class TwoTasksOneDone(TwoTasks):
    other: ClassVar[str] = "COMPLETED"


@pytest.mark.parametrize("posture", ["trusting", "enforcing"])
def test_a_running_task_in_the_stream_of_another_may_be_left_behind(tmp_path: Path, posture: str) -> None:
    """It may be ours or somebody else's: the ledger lists it, and no clean-up touches it."""
    agent = TwoTasks()
    met = meet(agent, tmp_path, posture=posture)
    assert met.left() == ([("other", "foreign-in-stream")], [("other", "foreign-in-stream")])
    assert "foreign-task" in met.slugs("stream")[1]
    assert met.journal.book.open_tasks() == () and "CancelTask" not in agent.called


@pytest.mark.parametrize("posture", ["trusting", "enforcing"])
def test_a_foreign_task_that_ended_is_left_by_nobody(tmp_path: Path, posture: str) -> None:
    assert meet(TwoTasksOneDone(), tmp_path, posture=posture).left() == ([], [])


class NamesATask(Agent):
    """Answers with a message that names a task; `state` is what a look shows of it, None where there is none."""

    state: ClassVar[str | None] = "WORKING"

    def message(self) -> dict[str, object]:
        parts = [{"text": "I shall see to it"}]
        return {"message": {"messageId": "r1", "role": "ROLE_AGENT", "parts": parts, "taskId": "t9", "contextId": "c1"}}

    async def send(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.told(asked, self.message()))

    async def call(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked["method"] == "CancelTask" and self.state is None:
            writer.write(self.error(asked, -32001, "Task not found"))
        else:
            await super().call(asked, writer)

    async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        shown = self.error(asked, -32001, "Task not found") if self.state is None else None
        writer.write(shown or self.told(asked, self.task("t9", str(self.state))))


class NamesADoneTask(NamesATask):
    state: ClassVar[str | None] = "COMPLETED"


class NamesNoTask(NamesATask):
    """As agents do that fill in the id of a task which they never store."""

    state: ClassVar[str | None] = None


class StreamsAName(NamesATask):
    streaming: ClassVar[bool] = True

    async def events(self, name: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.say(asked, self.message(), writer)


@pytest.mark.parametrize("kind", [NamesATask, StreamsAName])
def test_a_task_that_a_message_names_is_left_behind_where_a_look_shows_it(
    tmp_path: Path, kind: type[NamesATask]
) -> None:
    """R35. Nobody is accused by hearsay: a client that does not look leaves nothing that is known of."""
    assert meet(kind(), tmp_path / "a", posture="trusting").left() == ([], [])
    agent = kind()
    enforcing = meet(agent, tmp_path / "b")
    settling = [one for one in agent.called if one in ("CancelTask", "GetTask")]
    assert settling[:3] == ["GetTask", "CancelTask", "GetTask"]
    assert enforcing.left()[0] == enforcing.left()[1]
    assert ("t9", "left-open") in enforcing.left()[0]


@pytest.mark.parametrize("kind", [NamesADoneTask, NamesNoTask])
def test_one_that_ended_or_never_was_leaves_nothing_and_accuses_nobody(tmp_path: Path, kind: type[NamesATask]) -> None:
    met = meet(kind(), tmp_path)
    assert met.left() == ([], [])
    assert met.live.verdict.value == met.again.findings.verdict.value == "accept"
    assert "task-not-retrievable" not in met.slugs()[0] | met.slugs()[1]


class SaysBoth(Agent):
    """Answers with an error and, in the same response, with the task that it has started."""

    def __init__(self) -> None:
        super().__init__()
        self.canceled: set[str] = set()

    async def send(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        both = {"result": {"task": self.task(self.opened(), "WORKING")}, "error": {"code": -32603, "message": "busy"}}
        writer.write(response(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **both}).encode()))

    async def events(self, name: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
        both = {"result": self.event(name, "WORKING"), "error": {"code": -32603, "message": "busy"}}
        writer.write(chunk(b"data: " + json.dumps({"jsonrpc": "2.0", "id": asked["id"], **both}).encode() + b"\n\n"))

    async def call(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = asked["params"].get("id")
        if asked["method"] == "CancelTask":
            self.canceled.add(name)
        if name in self.canceled:
            writer.write(self.told(asked, self.task(name, "CANCELED")))
        else:
            await super().call(asked, writer)


class SaysBothStreams(SaysBoth):
    streaming: ClassVar[bool] = True


@pytest.mark.parametrize("kind", [SaysBoth, SaysBothStreams])
def test_a_task_that_stands_beside_an_error_is_running_all_the_same(tmp_path: Path, kind: type[SaysBoth]) -> None:
    """The error counts for what became of the message; the task that the response shows must not be left (R35)."""
    trusting = meet(kind(), tmp_path / "a", posture="trusting")
    assert trusting.left()[0] == trusting.left()[1] == [("t1", "left-open")] * 2
    agent = kind()
    enforcing = meet(agent, tmp_path / "b")
    assert agent.canceled == {"t1"} and enforcing.left() == ([], [])
    assert all("result-and-error" in found for found in enforcing.slugs())

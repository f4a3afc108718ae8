"""R27: what an agent says when it declines a look or a cancel is judged alike live and from the evidence."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

import pytest

from tests.net.agents import Agent, Asked, meet


class Forgets(Agent):
    """Completes, and knows nothing of a task that is done."""

    streaming: ClassVar[bool] = True

    async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.error(asked, -32001, "Task not found"))


def test_an_agent_may_forget_what_is_finished(tmp_path: Path) -> None:
    met = meet(Forgets(), tmp_path)
    assert met.live.verdict.value == met.again.findings.verdict.value == "accept"
    assert not {"misinforming-error", "task-not-retrievable"} & (met.slugs()[0] | met.slugs()[1])
    assert met.left() == ([], []) and len(met.outcome.booked) == 1


class NoMethod(Agent):
    """Works in the background, and has not the method that its version declares."""

    missing: ClassVar[str] = "GetTask"

    async def send(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.told(asked, {"task": self.task(self.opened(), "WORKING")}))

    async def call(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked["method"] == self.missing:
            writer.write(self.error(asked, -32601, "Method not found"))
        elif asked["method"] == "CancelTask":
            writer.write(self.told(asked, self.task(asked["params"]["id"], "CANCELED")))
        else:
            await super().call(asked, writer)


class NoCancel(NoMethod):
    missing: ClassVar[str] = "CancelTask"

    async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.told(asked, self.task(asked["params"]["id"], "WORKING")))


@pytest.mark.parametrize("kind", [NoMethod, NoCancel])
def test_a_core_method_that_is_missing_is_named(tmp_path: Path, kind: type[NoMethod]) -> None:
    met = meet(kind(), tmp_path)
    assert all("declared-method-missing" in found for found in met.slugs("probe"))
    assert met.both("probe") == ("conformance-error", "conformance-error")
    assert met.live.verdict is met.again.findings.verdict

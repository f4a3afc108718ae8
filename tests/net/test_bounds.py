"""DESIGN 9: what a peer can make us take and say is bounded, and the bound is named, live and offline alike."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

from a2a_lab.core.policy import Bounds, Policy
from a2a_lab.verdicts import MOST_ALIKE, Finding
from tests.net.agents import QUICK, Agent, Asked, meet


class Talks(Agent):
    """Sends a hundred artifacts, none of a type that it declares."""

    streaming: ClassVar[bool] = True

    async def events(self, name: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.say(asked, self.event(name, "WORKING"), writer)
        for number in range(100):
            made = {"artifactId": f"a{number}", "parts": [{"raw": "AAAA", "mediaType": "image/png"}]}
            update = {"taskId": name, "contextId": "c1", "artifact": made, "lastChunk": True}
            self.say(asked, {"artifactUpdate": update}, writer)
        self.say(asked, self.event(name, "COMPLETED"), writer)

    async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.told(asked, self.task(asked["params"]["id"], "COMPLETED")))


def of_kind(found: list[Finding], slug: str) -> list[Finding]:
    return [one for one in found if one.slug == slug]


def test_findings_alike_are_counted_and_not_listed(tmp_path: Path) -> None:
    met = meet(Talks(), tmp_path)
    for found in (met.live.all, met.again.findings.all):
        assert len(of_kind(found, "media-not-declared")) == MOST_ALIKE
        told: list[Any] = [one.values["found"] for one in of_kind(found, "more-alike") if one.stage.value == "receive"]
        assert told == [100]


def test_a_stream_beyond_its_bound_is_named(tmp_path: Path) -> None:
    """R31: the closure is `limit`, and what was passed is said."""
    met = meet(Talks(), tmp_path, policy=Policy(clocks=QUICK, bounds=Bounds(stream_bytes=3000)))
    for found, closure in ((met.live, met.outcome.closure), (met.again.findings, met.again.closure)):
        (limit,) = of_kind(found.all, "stream-limit")
        assert "stream_bytes 3000" in limit.detail and closure == "limit"
        assert limit.verdict.value == "conformance-error"
    assert met.left()[0] == met.left()[1]

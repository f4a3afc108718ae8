"""§11.1: an agent that takes HTTP+JSON under application/json alone, as the Java SDK's, is right by 1.0.0."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from a2a_lab.lab.cases import judge_file
from a2a_lab.lab.check import CheckOptions, check
from a2a_lab.verdicts import Verdict
from tests.net.peers import peer, response

REFUSED = {"error": {"code": 415, "status": "INVALID_ARGUMENT", "message": "Incompatible content types"}}


class PlainJsonOnly:
    """An honest agent over HTTP+JSON; keeps the label of every call that it was sent."""

    def __init__(self) -> None:
        self.base = ""
        self.labels: list[str] = []

    async def answer(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"GET"):
            here = b" /.well-known/agent-card.json " in head
            writer.write(response(json.dumps(self.card()).encode()) if here else response(b"", status="404 Not Found"))
        else:
            lines = head.decode().lower().split("\r\n")
            self.labels.append(next(line.partition(": ")[2] for line in lines if line.startswith("content-type")))
            writer.write(self.called(json.loads(body)["message"]))
        await writer.drain()

    def called(self, message: dict[str, object]) -> bytes:
        if self.labels[-1] != "application/json":
            return response(json.dumps(REFUSED).encode(), status="415 Unsupported Media Type")
        done = {"state": "TASK_STATE_COMPLETED"}
        held = [{"artifactId": "a", "parts": [{"text": "done", "mediaType": "text/plain"}]}]
        task = {"id": str(message["messageId"]), "contextId": "c1", "status": done, "artifacts": held}
        return response(json.dumps({"task": task}).encode())

    def card(self) -> dict[str, object]:
        interface = {"url": self.base, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}
        skill = {"id": "s", "name": "s", "description": "s", "tags": ["s"]}
        return {
            "name": "plain",
            "description": "takes application/json",
            "version": "1",
            "supportedInterfaces": [interface],
            "capabilities": {"streaming": False},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [skill],
        }


def test_it_is_asked_again_once_and_then_as_it_likes(tmp_path: Path) -> None:
    agent = PlainJsonOnly()

    async def life() -> None:
        async with peer(agent.answer) as base:
            agent.base = base
            options = CheckOptions(send=True, bindings=("HTTP+JSON",), out=str(tmp_path))
            found = await check(base, options)
            assert found.verdict is Verdict.ACCEPT, found.said
            (live,) = [one for one in found.stages["rpc"]["findings"] if one["slug"] == "http-media-type-refused"]
            (again,) = judge_file(Path(found.evidence))
            offline = {one.slug: one.detail for one in again.judgement.findings.all}
            assert offline["http-media-type-refused"] == live["detail"] and "mode-narrowed" not in offline

    asyncio.run(life())
    assert agent.labels[0] == "application/a2a+json"
    assert len(agent.labels) > 2 and set(agent.labels[1:]) == {"application/json"}

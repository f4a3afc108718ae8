"""R22, R30: a task is followed to its end; one look that fails says nothing about it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from a2a_lab.lab.check import CheckOptions, check
from tests.net.peers import peer, response


class Polled:
    """An honest agent that works in the background, behind a proxy that fails one look in three."""

    def __init__(self) -> None:
        self.base = ""
        self.looks = 0
        self.sends = 0

    async def answer(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"GET"):
            here = b" /.well-known/agent-card.json " in head
            writer.write(response(json.dumps(self.card()).encode()) if here else response(b"", status="404 Not Found"))
        else:
            asked = json.loads(body)
            writer.write(self.called(asked["method"], asked["id"], asked["params"]))
        await writer.drain()

    def card(self) -> dict[str, object]:
        interface = {"url": f"{self.base}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        skill = {"id": "s", "name": "s", "description": "s", "tags": ["s"]}
        return {
            "name": "polled",
            "description": "works in the background",
            "version": "1",
            "supportedInterfaces": [interface],
            "capabilities": {"streaming": False},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [skill],
        }

    def called(self, method: str, rpc_id: object, params: dict[str, object]) -> bytes:
        def told(result: object) -> bytes:
            return response(json.dumps({"jsonrpc": "2.0", "id": rpc_id, "result": result}).encode())

        if method == "SendMessage":
            self.sends += 1
            return told({"task": self.task(f"t{self.sends}", "WORKING")})
        self.looks += 1
        if self.looks % 3 == 1:
            return response(b"<h1>Bad Gateway</h1>", status="502 Bad Gateway", headers="Content-Type: text/html\r\n")
        return told(self.task(str(params["id"]), "COMPLETED" if self.looks % 3 == 0 else "WORKING"))

    def task(self, name: str, state: str) -> dict[str, object]:
        held = [{"artifactId": "a", "parts": [{"text": "done"}]}] if state == "COMPLETED" else []
        return {"id": name, "contextId": "c1", "status": {"state": f"TASK_STATE_{state}"}, "artifacts": held}


def test_a_look_that_fails_once_blames_nobody(tmp_path: Path) -> None:
    async def run() -> None:
        agent = Polled()
        async with peer(agent.answer) as agent.base:
            result = await check(agent.base, CheckOptions(send=True, out=str(tmp_path)))
        assert result.verdict.value == "accept", result.said
        assert result.measures["delivered"] and not result.measures["orphaned_tasks"]
        missed = [one for one in result.stages["rpc"]["findings"] if one["slug"] == "http-error"]
        assert missed and {one["kind"] for one in missed} == {"note"}

    asyncio.run(run())

"""0.3.0 §3.2.3: a card's URL over HTTP+JSON may hold the /v1 of the paths, as `https://rest.example.com/v1` does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from a2a_lab.lab.cases import judge_file
from a2a_lab.lab.check import CheckOptions, check
from a2a_lab.verdicts import Verdict
from tests.net.peers import peer, response


class BelowItsUrl:
    """An honest agent of 0.3 whose operations lie right below its URL, which ends in /v1; keeps what was called."""

    def __init__(self) -> None:
        self.base = ""
        self.called: list[str] = []

    async def answer(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        verb, path, _ = head.decode().split(" ", 2)
        if verb == "GET":
            here = path == "/.well-known/agent-card.json"
            writer.write(response(json.dumps(self.card()).encode()) if here else response(b"", status="404 Not Found"))
        else:
            self.called.append(path)
            writer.write(self.sent(body) if path == "/v1/message:send" else response(b"", status="404 Not Found"))
        await writer.drain()

    def sent(self, body: bytes) -> bytes:
        held = [{"artifactId": "a", "parts": [{"text": "done"}]}]
        done: dict[str, Any] = {"state": "TASK_STATE_COMPLETED"}
        name = json.loads(body)["message"]["messageId"]
        return response(
            json.dumps({"task": {"id": name, "contextId": "c", "status": done, "artifacts": held}}).encode()
        )

    def card(self) -> dict[str, object]:
        return {
            "name": "below",
            "description": "lies right below its URL",
            "version": "1",
            "protocolVersion": "0.3.0",
            "url": f"{self.base}/v1",
            "preferredTransport": "HTTP+JSON",
            "capabilities": {"streaming": False},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "s", "tags": ["s"]}],
        }


def test_its_operations_are_found_once_and_for_all(tmp_path: Path) -> None:
    agent = BelowItsUrl()

    async def life() -> None:
        async with peer(agent.answer) as base:
            agent.base = base
            options = CheckOptions(send=True, supports=("0.3",), bindings=("HTTP+JSON",), out=str(tmp_path))
            found = await check(base, options)
            assert found.verdict is Verdict.ACCEPT, found.said
            (live,) = [one for one in found.stages["rpc"]["findings"] if one["slug"] == "base-holds-version"]
            (again,) = judge_file(Path(found.evidence))
            offline = {one.slug: one.detail for one in again.judgement.findings.all}
            assert offline["base-holds-version"] == live["detail"] and "declared-method-missing" not in offline

    asyncio.run(life())
    assert agent.called[0] == "/v1/v1/message:send"
    assert len(agent.called) > 2 and set(agent.called[1:]) == {"/v1/message:send"}

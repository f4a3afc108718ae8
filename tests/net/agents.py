"""A small honest agent of A2A 1.0 to be bent by tests, and one meeting with it in either posture, judged twice.

Its tasks complete at once with one artifact. A test overrides one method and says by that what is odd about its agent.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from a2a_lab.core.policy import Clocks, Intent, Policy
from a2a_lab.judge.offline import Judgement, judge_evidence
from a2a_lab.judge.transcript import read_calls
from a2a_lab.lab.measures import measure
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.enforcing import EnforcingInitiator
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.job import Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.net.trusting import TrustingInitiator
from a2a_lab.verdicts import Findings
from a2a_lab.wire.exchange import Exchange
from tests.net.peers import STREAM_HEAD, chunk, peer, response

CANARY = "canary-0123456789abcdef"
QUICK = Clocks(silence_s=0.3, hang_s=0.6, total_s=3.0, close_s=0.3)

Asked = dict[str, Any]


class Agent:
    """Serves its card and answers calls. `sends` are the ids of the tasks it opened, `called` the methods in order."""

    streaming: ClassVar[bool] = False

    def __init__(self) -> None:
        self.base = ""
        self.sends: list[str] = []
        self.called: list[str] = []

    async def answer(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"GET"):
            await self.get(head.split(b" ")[1].decode(), writer)
        else:
            asked = json.loads(body)
            self.called.append(asked["method"])
            await self.call(asked, writer)
        await writer.drain()

    async def get(self, path: str, writer: asyncio.StreamWriter) -> None:
        here = path == "/.well-known/agent-card.json"
        writer.write(response(json.dumps(self.card()).encode()) if here else response(b"", status="404 Not Found"))

    async def call(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        match asked["method"]:
            case "SendMessage":
                await self.send(asked, writer)
            case "SendStreamingMessage":
                await self.stream(asked, writer)
            case "GetTask":
                await self.look(asked, writer)
            case _:
                writer.write(self.error(asked, -32002, "it cannot be canceled"))

    async def send(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.told(asked, {"task": self.task(self.opened(), "COMPLETED")}))

    async def stream(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = self.opened()
        writer.write(STREAM_HEAD)
        await self.events(name, asked, writer)
        writer.write(b"0\r\n\r\n")

    async def events(self, name: str, asked: Asked, writer: asyncio.StreamWriter) -> None:
        for event in (self.event(name, "WORKING"), self.artifact(name), self.event(name, "COMPLETED")):
            self.say(asked, event, writer)

    async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.told(asked, self.task(asked["params"]["id"], "COMPLETED")))

    # -- what it says

    def card(self) -> dict[str, Any]:
        interface = {"url": f"{self.base}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return {
            "name": "bent",
            "description": "an agent of the tests",
            "version": "1",
            "supportedInterfaces": [interface],
            "capabilities": {"streaming": self.streaming},
            "defaultInputModes": ["text/plain", "text/csv"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "s", "tags": ["s"]}],
        }

    def opened(self) -> str:
        self.sends.append(f"t{len(self.sends) + 1}")
        return self.sends[-1]

    def task(self, name: str, state: str, **members: Any) -> dict[str, Any]:
        held = [{"artifactId": "a", "parts": [{"text": "done"}]}] if state == "COMPLETED" else []
        return {"id": name, "contextId": "c1", "status": {"state": f"TASK_STATE_{state}"}, "artifacts": held} | members

    def event(self, name: str, state: str) -> dict[str, Any]:
        if state == "WORKING":
            return {"task": self.task(name, state)}
        return {"statusUpdate": {"taskId": name, "contextId": "c1", "status": {"state": f"TASK_STATE_{state}"}}}

    def artifact(self, name: str) -> dict[str, Any]:
        made = {"artifactId": "a", "parts": [{"text": "done"}]}
        return {"artifactUpdate": {"taskId": name, "contextId": "c1", "artifact": made, "lastChunk": True}}

    def say(self, asked: Asked, event: Any, writer: asyncio.StreamWriter) -> None:
        """Send one event of a stream."""
        writer.write(
            chunk(b"data: " + json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": event}).encode() + b"\n\n")
        )

    def told(self, asked: Asked, result: Any) -> bytes:
        return response(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())

    def error(self, asked: Asked, code: int, message: str) -> bytes:
        fault = {"code": code, "message": message}
        return response(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": fault}).encode())

    @staticmethod
    def is_payload(asked: Asked) -> bool:
        return CANARY in json.dumps(asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """What came of one meeting: as the consumer left it, and as its evidence is judged without the books it kept."""

    outcome: Outcome
    journal: Journal
    exchanges: list[Exchange]
    again: Judgement

    @property
    def live(self) -> Findings:
        return self.outcome.findings

    @property
    def delivered(self) -> bool:
        """Whether the payload was delivered, as the measures count it."""
        declared = [self.outcome.interface] if self.outcome.interface is not None else []
        measures = measure(
            self.exchanges,
            read_calls(self.exchanges, interfaces=declared),
            card=self.outcome.card,
            intent=Intent(),
            canary=CANARY,
            book=self.journal.book,
            booked=self.outcome.booked,
            silence_s=QUICK.silence_s,
        )
        return measures.delivered

    def left(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """What is left behind, as (task, why), by the books kept live and by those made of the evidence."""
        return tuple(  # type: ignore[return-value]
            [(row.task_id or "", row.why) for row in rows] for rows in (self.journal.book.orphans(), self.again.orphans)
        )

    def both(self, stage: str) -> tuple[str, str]:
        """The verdict of a stage live and again; a stage that one of them does not reach reads as accepted."""
        return tuple(  # type: ignore[return-value]
            {str(name.value): verdict.value for name, (verdict, _) in found.stages.items()}.get(stage, "accept")
            for found in (self.live, self.again.findings)
        )

    def slugs(self, stage: str | None = None) -> tuple[set[str], set[str]]:
        return tuple(  # type: ignore[return-value]
            {one.slug for one in found.all if stage in (None, one.stage.value)}
            for found in (self.live, self.again.findings)
        )


def meet(
    agent: Agent, folder: Path, *, posture: str = "enforcing", policy: Policy | None = None, **job: Any
) -> Meeting:
    """One consumer meets the agent; quick clocks, a payload in text/plain with a canary."""
    rules = policy or Policy(clocks=QUICK)
    intent = job.pop("intent", Intent(payloads={"text/plain": f"say it: {CANARY}".encode()}, stream=agent.streaming))

    async def run() -> Meeting:
        recorder = Recorder()
        async with peer(agent.answer) as agent.base, new_client(Reach(trust_env=False), tls_context(Reach())) as client:
            is_trusting = posture == "trusting"
            http = Http(client, recorder, bounds=rules.bounds, transport_timeout_s=2.0 if is_trusting else None)
            with Ledger(folder / "lab.db") as ledger:
                journal = Journal(ledger, "run", "cell", agent="bent")
                clocks = replace(rules.clocks, total_s=30.0) if is_trusting else rules.clocks
                given = Job(
                    run="run",
                    cell="cell",
                    agent="bent",
                    hint_url=agent.base,
                    intent=intent,
                    policy=replace(rules, clocks=clocks),
                    now=time.time(),
                    wait="stream" if agent.streaming else "block",
                    **job,
                )
                initiator = TrustingInitiator() if is_trusting else EnforcingInitiator()
                outcome = await initiator.run(given, http, journal)
        return Meeting(
            outcome=outcome,
            journal=journal,
            exchanges=recorder.exchanges,
            again=judge_evidence(recorder.exchanges, policy=rules, intent=intent, now=given.now, base_url=agent.base),
        )

    return asyncio.run(run())

"""Launches a built vendor as an agent, waits until its card answers, and ends it with whoever launched it.

The agent ends when this process does, even by kill -9 (see `running`). Whatever goes wrong is a HarnessFault that names
the vendor, the step and the end of what it printed; the vendor's answers are judged elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import Environment
from a2a_lab.vendors.ports import HOST, Ports
from a2a_lab.vendors.running import Output, Running
from a2a_lab.vendors.vendor import Program, Vendor, filled

NONCE_HEADER = "X-A2A-Lab-Nonce"
POLL_S = 0.05
POLL_MOST_S = 0.5  # a server that is slow to come up is not helped by being asked often
ASK_S = 5.0
ASKING = {"User-Agent": "a2a-lab readiness"}  # so that the agent's log tells these requests from a cell's
CARD_BYTES = 1 << 20


@dataclass(slots=True, kw_only=True)
class ServedAgent:
    """A running agent. `url` is its origin, without a final slash; `nonce` is None where it cannot be told one.

    `pid` is the agent's own (and its process group), `exit_status` None while it runs, negative for a signal.
    """

    name: str
    vendor: Vendor
    url: str
    card_url: str
    nonce: str | None
    log: Path | None
    process: Running = field(default_factory=Running, repr=False)

    @property
    def address(self) -> str:
        """What a user would hand to a client: the card's URL without its well-known part."""
        return self.card_url.partition("/.well-known/")[0]

    @property
    def pid(self) -> int | None:
        return self.process.pid

    @property
    def exit_status(self) -> int | None:
        return self.process.exit_status

    @property
    def problem(self) -> str:
        return self.process.problem

    @property
    def output(self) -> Output:
        return self.process.output

    @property
    def ended(self) -> bool:
        """Whether the agent is gone, for whatever reason."""
        return self.process.ended

    def requests(self) -> list[dict[str, object]]:
        """What the agent itself says it was asked, in order: method, path, headers, rpc, at (unix seconds)."""
        if self.log is None or not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    async def stop(self) -> None:
        """End the agent and everything in its process group; safe to call again."""
        await self.process.stop()


@asynccontextmanager
async def served(
    vendor: Vendor,
    environment: Environment,
    *,
    ports: Ports,
    options: Sequence[str] = (),
    log: Path | None = None,
    ready_timeout_s: float | None = None,
) -> AsyncIterator[ServedAgent]:
    """The vendor's agent, ready, until the context is left.

    `options` are appended to its launch line, `log` is the file that it appends its own request log to (of vendors
    that keep one). Raises HarnessFault with field `step`: "launch", "ready" or "identity".
    """
    program = vendor.agent
    if program is None:
        raise HarnessFault(f"{vendor.name} serves no agent; its roles are {', '.join(vendor.roles)}", step="launch")
    log = log.resolve() if log else None  # the agent works in a folder of its own
    port = ports.next()
    nonce = secrets.token_hex(16) if program.nonce else None
    values = {**environment.places(vendor), "port": str(port), "nonce": nonce or "", "log": str(log or "")}
    template = (*program.launch, *program.nonce, *(program.log if log else ()), *vendor.options, *options)
    agent = ServedAgent(
        name=vendor.name,
        vendor=vendor,
        url=f"http://{HOST}:{port}",
        card_url=f"http://{HOST}:{port}{program.card_path}",
        nonce=nonce,
        log=log if log and program.log else None,
    )
    try:
        await agent.process.start(filled(template, values), program.env)
        await _ready(agent, program, ready_timeout_s or program.ready_timeout_s)
        yield agent
    finally:
        await asyncio.shield(agent.stop())


async def _ready(agent: ServedAgent, program: Program, limit_s: float) -> None:
    """Poll the card until it answers. Raises HarnessFault when the agent ended, was too slow, or is somebody else."""
    answer, pause = "nothing answered", POLL_S
    async with httpx.AsyncClient(trust_env=False, timeout=ASK_S, headers=ASKING) as client:
        try:
            async with asyncio.timeout(limit_s):
                while (answer := await _ask_card(agent, client)) != "":
                    if agent.ended:
                        why = agent.problem or f"ended with exit status {agent.exit_status}"
                        raise _fault(agent, "launch", f"did not come up: {why}")
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.5, POLL_MOST_S)
        except TimeoutError:
            raise _fault(agent, "ready", f"was not ready after {limit_s:g} s: {answer}") from None


async def _ask_card(agent: ServedAgent, client: httpx.AsyncClient) -> str:
    """Empty when the agent that was started answers with a card, else what was wrong."""
    try:
        async with client.stream("GET", agent.card_url) as response:
            body = b""
            async for data in response.aiter_bytes():
                body += data
                if len(body) > CARD_BYTES:
                    return f"a card of more than {CARD_BYTES} bytes at {agent.card_url}"
    except httpx.HTTPError as error:
        return f"{type(error).__name__} at {agent.card_url}"
    if agent.nonce is not None and response.headers.get(NONCE_HEADER) != agent.nonce:
        raise _fault(agent, "identity", f"is not what answers at {agent.url}: the nonce is not the one it was given")
    if response.status_code != 200:
        return f"HTTP {response.status_code} at {agent.card_url}"
    try:
        is_card = isinstance(json.loads(body), dict)
    except ValueError:
        is_card = False
    return "" if is_card else f"no JSON object at {agent.card_url}"


def _fault(agent: ServedAgent, step: str, what: str) -> HarnessFault:
    return HarnessFault(
        f"{agent.name} {what}; the end of what it printed:\n{agent.output.last_lines()}",
        vendor=agent.name,
        step=step,
        exit_status=agent.exit_status,
        output=agent.output.text(),
    )

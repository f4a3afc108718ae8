"""Starts the host process of simulated vendors and talks to it over its pipes.

The process has a session of its own, so that a Ctrl-C in the terminal reaches the lab alone and the lab decides the
end; at that end its whole process group is killed. What goes wrong here is the lab's fault, never a vendor's.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import secrets
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from a2a_lab.bundled import BUNDLED, bundled_root
from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.spec import AgentSpec

COMMAND = (sys.executable, "-m", "a2a_lab.vendors.simulated")
_START_S = 30.0  # a loaded machine imports the web server in a few seconds
_ANSWER_S = 10.0
_STDERR_LINES = 40
_LINE_BYTES = 64_000_000  # a store may hold many payloads


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningAgent:
    """A simulated agent that answers at `url`; `card_url` is its well-known card.

    Every answer of it carries `nonce` in the header X-A2A-Lab-Nonce. `public_keys` are the host's JWKs by name.
    """

    id: str
    name: str
    url: str
    card_url: str
    nonce: str
    spec: AgentSpec
    public_keys: Mapping[str, Mapping[str, Any]]
    host: SimulatedHost

    async def store(self) -> dict[str, Any]:
        """What the agent itself kept: {"tasks": [{id, state, artifacts, received}], "requests": [...]}."""
        answer = await self.host.ask("store", agent=self.id)
        return {"tasks": answer["tasks"], "requests": answer["requests"]}

    async def stop(self) -> None:
        """Stop it; its port is not given out again."""
        await self.host.ask("stop", agent=self.id)


class SimulatedHost:
    """One host process, as an async context manager. Requests may be made concurrently, from the loop that entered.

    `command` is the process to run: the host of this package, unless a test puts another in its place.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = tuple(command)
        self.public_keys: Mapping[str, Mapping[str, Any]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._ids = itertools.count(1)
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._readers: list[asyncio.Task[None]] = []

    @property
    def trusted_jwks(self) -> dict[str, Any]:
        """The JWK set of the keys that a lab trusts: that of the host named "lab"."""
        return {"keys": [dict(self.public_keys["lab"])]}

    @property
    def pid(self) -> int:
        """The process, which is also its process group and session."""
        return self._running().pid

    @property
    def stderr(self) -> str:
        """The last lines that the process wrote to standard error: empty when all is well."""
        return "\n".join(self._stderr)

    async def __aenter__(self) -> Self:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                env=_environment(),
                limit=_LINE_BYTES,
            )
        except OSError as fault:
            raise HarnessFault(f"the host of simulated vendors did not start: {fault}", step="spawn") from fault
        process = self._process
        assert process.stdout is not None
        self._readers.append(asyncio.create_task(self._read_stderr(process)))
        try:
            async with asyncio.timeout(_START_S):
                first = await process.stdout.readline()
            self.public_keys = json.loads(first)["keys"]
        except (TimeoutError, ValueError, KeyError) as fault:
            await self._end()
            raise self._fault("did not say that it is ready", step="ready") from fault
        except BaseException:
            await self._end()
            raise
        self._readers.append(asyncio.create_task(self._read_answers(process)))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def start(self, spec: AgentSpec) -> RunningAgent:
        """Start one agent on a port of its own. Raises HarnessFault."""
        nonce, agent = secrets.token_hex(16), str(next(self._ids))
        answer = await self.ask("start", id=agent, name=spec.name, spec=spec.table(), nonce=nonce)
        return RunningAgent(
            id=agent,
            name=spec.name,
            url=answer["url"],
            card_url=answer["card_url"],
            nonce=nonce,
            spec=spec,
            public_keys=self.public_keys,
            host=self,
        )

    async def ask(self, do: str, **members: Any) -> dict[str, Any]:
        """Send one request to the process and wait for its answer. Raises HarnessFault that names the step."""
        process = self._running()
        assert process.stdin is not None
        if process.returncode is not None:
            raise self._fault(f"is gone, and cannot {do}", step=do)
        request = {"do": do, "id": str(next(self._ids)), **members}
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[request["id"]] = future
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            async with asyncio.timeout(_ANSWER_S):
                answer = await future
        except (TimeoutError, ConnectionError) as fault:
            raise self._fault(f"did not answer {do!r}", step=do) from fault
        finally:
            self._waiting.pop(request["id"], None)
        if "error" in answer:
            raise self._fault(f"could not {do}: {answer['error']}", step=do)
        return answer

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise HarnessFault("the host of simulated vendors is not running; enter it with `async with`", step="use")
        return self._process

    async def _read_answers(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            answer = json.loads(line)
            future = self._waiting.get(str(answer.get("id")))
            if future is not None and not future.done():
                future.set_result(answer)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionError("the host process ended"))

    async def _read_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        with contextlib.suppress(ValueError):  # an endless line: what was said before it is enough
            while line := await process.stderr.readline():
                self._stderr.append(line.decode(errors="replace").rstrip()[:400])

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        for reader in self._readers:
            with contextlib.suppress(asyncio.CancelledError):
                await reader
        self._readers.clear()
        if process.stdin is not None:
            process.stdin.close()

    def _fault(self, what: str, *, step: str) -> HarnessFault:
        tail = self.stderr
        return HarnessFault(
            f"the host of simulated vendors {what}" + (f"; it wrote:\n{tail}" if tail else ""), step=step, stderr=tail
        )


def _environment() -> dict[str, str]:
    """Ours; and from a checkout that is not installed, the place of this very package, wherever the lab was started."""
    checkout = bundled_root()
    if checkout.name == BUNDLED:
        return dict(os.environ)
    path = os.pathsep.join(part for part in (str(checkout), os.environ.get("PYTHONPATH", "")) if part)
    return os.environ | {"PYTHONPATH": path}

"""A vendor's program while it runs: under the keeper, in a scratch folder, told nothing of the lab, its output bounded.

Used for agents, which run until they are stopped, and for consumers, which end by themselves. The program runs in a
session and a process group of its own: it ends when this process does, even by kill -9, and only that group is ever
signalled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence

from a2a_lab.vendors.kept import GRACE_S, keeper_argv

OUTPUT_HEAD, OUTPUT_TAIL = 16 * 1024, 48 * 1024  # bytes kept of what a program prints; some print megabytes
SHOWN_LINES = 12
# What a program is told of the surroundings: how to find programs, homes, texts and certificates; no secret of the lab.
TOLD = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
# The programs lie in a checkout or in site-packages: nothing is to be written beside them.
ALWAYS = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1", "NO_PROXY": "*"}


class Output:
    """The beginning and the end of what a process printed."""

    def __init__(self, head: int = OUTPUT_HEAD, tail: int = OUTPUT_TAIL) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._head_most, self._tail_most = head, tail
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._head_most - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._tail_most:  # cut now and then, not each time
            del self._tail[: -self._tail_most]

    def text(self) -> str:
        tail = bytes(self._tail[-self._tail_most :])
        lost = self.total - len(self._head) - len(tail)
        gap = f"\n[{lost} bytes left out]\n".encode() if lost else b""
        return (bytes(self._head) + gap + tail).decode("utf-8", "replace")

    def last_lines(self, count: int = SHOWN_LINES) -> str:
        return "\n".join(f"    {line}" for line in self.text().splitlines()[-count:]) or "    (nothing)"


class Running:
    """One program. `pid` is its own (and its process group), `exit_status` None while it runs, negative for a signal.

    `problem` says why there is no exit status and will be none. `listen` is handed all that it prints, as it comes.
    """

    def __init__(self, listen: Callable[[bytes], None] = lambda _: None) -> None:
        self.pid: int | None = None
        self.exit_status: int | None = None
        self.problem = ""
        self.output = Output()
        self._listen = listen
        self._keeper: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []

    @property
    def ended(self) -> bool:
        """Whether the program is gone, for whatever reason."""
        return self.exit_status is not None or bool(self.problem)

    async def start(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Start the command; `env` is added to what every program is told."""
        told = {name: os.environ[name] for name in TOLD if name in os.environ}
        keeper = await asyncio.create_subprocess_exec(
            *keeper_argv(command, folder=None),
            env={**told, **ALWAYS, **env},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert keeper.stdout and keeper.stderr
        self._keeper = keeper
        self._readers = [
            asyncio.create_task(self._read_facts(keeper.stdout)),
            asyncio.create_task(self._read_output(keeper.stderr)),
        ]

    async def wait(self) -> None:
        """Return once the program has ended by itself and all that it printed has been read."""
        await asyncio.wait(self._readers)

    async def stop(self) -> None:
        """End the program and everything in its process group; safe to call again."""
        keeper = self._keeper
        if keeper is None:
            return
        self._keeper = None
        assert keeper.stdin
        keeper.stdin.close()
        try:
            await asyncio.wait_for(asyncio.shield(keeper.wait()), GRACE_S + 3.0)
        except TimeoutError:
            for group in (self.pid, keeper.pid):
                if group is not None:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(group, signal.SIGKILL)
            await keeper.wait()
        await asyncio.wait(self._readers, timeout=1.0)
        for reader in self._readers:
            reader.cancel()

    async def _read_facts(self, told: asyncio.StreamReader) -> None:
        async for line in told:
            fact = json.loads(line)
            self.pid = fact.get("pid", self.pid)
            self.exit_status = fact.get("exit", self.exit_status)
            self.problem = fact.get("failed", self.problem)
        if not self.ended:
            self.problem = "its keeper was killed"

    async def _read_output(self, printed: asyncio.StreamReader) -> None:
        while data := await printed.read(1 << 16):
            self.output.add(data)
            self._listen(data)

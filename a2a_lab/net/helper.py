"""Runs a program of the operator that prints credentials, for `Leased` to hold; as kubectl's exec plugins do.

Without a shell, in a process group of its own, bounded in time and output. What it prints is never stored or shown, an
error included: run by hand it tells its own story. Decides nothing about renewal.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from a2a_lab.core.lease import Lease
from a2a_lab.core.typed import not_header_name, not_header_value
from a2a_lab.errors import Withheld
from a2a_lab.net.token_server import life_of
from a2a_lab.verdicts import NotGradeable

OUTPUT_BYTES: Final = 65_536
GRACE_S: Final = 2.0
FORM: Final = '{"headers": {"Authorization": "Bearer …"}, "expires_in": 3600} or a kubectl ExecCredential'


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """The program as an argv, where it runs, and how long it may take."""

    command: tuple[str, ...]
    folder: Path
    timeout_s: float

    async def obtain(self, *, know: Callable[[list[str]], None], clock: Callable[[], float] = time.monotonic) -> Lease:
        """What it prints, as headers. Raises Withheld (auth-needed) that says what went wrong."""
        since = clock()
        document = self._read(await self._run())
        headers, life_s = self._headers(document), _life(document)
        know([value for header in headers.values() for value in (header, header.partition(" ")[2])])
        for name, value in headers.items():
            if not_header_name(name) or not_header_value(value) or not value:
                raise self._failed("printed a header that HTTP cannot carry")
        return Lease(headers=headers, since=since, life_s=life_s)

    async def _run(self) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=self.folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            why = fault.strerror if isinstance(fault, OSError) else str(fault)
            raise self._failed(f"could not be started: {why}") from fault
        assert process.stdout is not None
        printed, is_over = bytearray(), False
        try:
            async with asyncio.timeout(self.timeout_s):
                while len(printed) <= OUTPUT_BYTES and (piece := await process.stdout.read(8192)):
                    printed += piece
                if len(printed) > OUTPUT_BYTES:
                    raise self._failed(f"printed more than {OUTPUT_BYTES} bytes")
                status = await process.wait()
            is_over = True
        except TimeoutError:
            raise self._failed(f"did not end within {self.timeout_s:g} s") from None
        finally:
            if not is_over:
                await asyncio.shield(_end(process))
        if status != 0:
            raise self._failed(f"ended with exit status {status}")
        return bytes(printed)

    def _read(self, printed: bytes) -> dict[str, Any]:
        try:
            document = json.loads(printed)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self._failed(f"printed {len(printed)} bytes that are no JSON object")
        return document

    def _headers(self, document: Mapping[str, Any]) -> dict[str, str]:
        status = document.get("status")
        if document.get("kind") == "ExecCredential" and isinstance(status, dict):
            token = status.get("token")
            found: Any = {"Authorization": f"Bearer {token}"} if isinstance(token, str) and token else None
        else:
            found = document.get("headers")
        if not isinstance(found, dict) or not found or not all(isinstance(value, str) for value in found.values()):
            raise self._failed("printed JSON without headers")
        return dict(found)

    def _failed(self, what: str) -> Withheld:
        return Withheld(
            f"no credentials could be had: the program {self.command[0]!r} {what}; expected {FORM}. Its output is not "
            "shown, since it may hold secrets: run it by hand",
            word=NotGradeable.AUTH_NEEDED,
            slug="no-credentials",
        )


def _life(document: Mapping[str, Any]) -> float | None:
    """Seconds of life from any of the three members that may state it; None where none does."""
    if "expires_in" in document:
        return life_of(document["expires_in"])
    status = document.get("status")
    at = document.get("expires_at") or (status.get("expirationTimestamp") if isinstance(status, dict) else None)
    if not isinstance(at, str):
        return None
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what was started: its group is its own.

    What is still in the pipe is read and dropped first, since a process whose output nobody takes is never waited for
    to its end.
    """
    assert process.stdout is not None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while await process.stdout.read(OUTPUT_BYTES):
                pass
            await process.wait()

"""Runs a built vendor's consumer once against an address, and reads the one line that it ends with.

What the consumer says is its own account of the matter: what its SDK handed it and the error that the SDK reported, if
any. It is not a verdict; the lab judges the traffic. A consumer that does not end is ended at `cap_s` and the result
names that; a program that ends without its line is our fault, and a HarnessFault.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import Environment
from a2a_lab.vendors.running import Running
from a2a_lab.vendors.vendor import Vendor, filled

OPS = ("send", "stream")
OWN_BUG = 3  # the exit status by which a consumer program owns to a bug of its own
LINE_START = b'{"ok"'
LINE_BYTES = 8 << 20
KEYS = {"ok", "state", "artifacts", "events", "error", "said"}
STEPS = "steps"  # which only consumers have that choose
STEPS_MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedArtifact:
    """An artifact as the consumer's SDK handed it over; parts that are no text are named in brackets."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerResult:
    """How the consumer fared by its own account. `ok`: its caller was told of no error, and got at least one event.

    `events` counts what the SDK delivered; `error` is whatever it reported, None where it reported nothing. Both `ok`
    and an `error` is a failure that was swallowed: reported somewhere, while the caller was given an answer all the
    same. `steps` are what it did unseen, such as choosing the agent: unix seconds, a word, a clause. `hung` says that
    the lab's cap ended it (then `exit_status` is that of being ended, and there is no account).
    """

    ok: bool
    state: str | None
    artifacts: tuple[ReceivedArtifact, ...]
    events: int
    error: str | None
    said: str
    exit_status: int | None
    output: str
    duration_s: float
    hung: bool = False
    steps: tuple[tuple[float, str, str], ...] = ()


class ResultLine:
    """Finds the consumer's line in all that its process prints: the last line that is one, since it ends with it."""

    def __init__(self) -> None:
        self._line = bytearray()
        self.account: dict[str, Any] | None = None

    def add(self, data: bytes) -> None:
        while data:
            piece, ended, data = data.partition(b"\n")
            if self._may_be_it() and len(self._line) <= LINE_BYTES:
                self._line += piece
            if ended:
                self.account = _account(self._line) or self.account
                self._line.clear()

    def _may_be_it(self) -> bool:
        return self._line.startswith(LINE_START[: len(self._line)])


def _account(line: bytearray) -> dict[str, Any] | None:
    if not line.startswith(LINE_START) or len(line) > LINE_BYTES:
        return None
    try:
        account = json.loads(line)
    except ValueError:
        return None
    return account if account.keys() - {STEPS} == KEYS else None


async def run_consumer(
    vendor: Vendor,
    environment: Environment,
    *,
    url: str,
    op: str,
    text: str,
    timeout_s: float,
    cap_s: float,
    mode: str = "text/plain",
    file: Path | None = None,
    options: Sequence[str] = (),
) -> ConsumerResult:
    """Let the vendor's consumer discover `url` as it does by itself and do one `op` ("send" or "stream") of `text`.

    `timeout_s` is its transport timeout, `cap_s` when the lab ends it. `mode` is the media type of what it sends, and
    `file` holds that when it is not the text. `options` are appended to the launch line. Raises HarnessFault with field
    `step` "launch" or "consume".
    """
    program = vendor.consumer
    if program is None:
        raise HarnessFault(f"{vendor.name} has no consumer; its roles are {', '.join(vendor.roles)}", step="launch")
    asked = ["--op", op, f"--text={text}", "--timeout", f"{timeout_s:g}", "--mode", mode]
    if file is not None:
        asked += ["--file", str(file.resolve())]  # the consumer works in a folder of its own
    command = filled((*program.launch, *vendor.options, *options), {**environment.places(vendor), "url": url})
    line = ResultLine()
    process = Running(line.add)
    started = time.monotonic()
    hung = False
    try:
        await process.start([*command, *asked], program.env)
        try:
            async with asyncio.timeout(cap_s):
                await process.wait()
        except TimeoutError:
            hung = True
    finally:
        await asyncio.shield(process.stop())
    duration_s = round(time.monotonic() - started, 3)
    account = line.account
    if account is None and not hung:
        raise _fault(vendor, process)
    if account is None or hung:
        account = _hung(cap_s)
    return ConsumerResult(
        ok=account["ok"],
        state=account["state"],
        artifacts=tuple(ReceivedArtifact(id=each["id"], text=each["text"]) for each in account["artifacts"]),
        events=account["events"],
        error=account["error"],
        said=account["said"],
        exit_status=process.exit_status,
        output=process.output.text(),
        duration_s=duration_s,
        hung=hung,
        steps=_steps(account),
    )


def _steps(account: dict[str, Any]) -> tuple[tuple[float, str, str], ...]:
    told = account.get(STEPS)
    listed = told[:STEPS_MOST] if isinstance(told, list) else []
    named = [one for one in listed if isinstance(one, dict) and isinstance(one.get("at"), float)]
    return tuple((one["at"], str(one.get("what")), str(one.get("told"))) for one in named)


def _hung(cap_s: float) -> dict[str, Any]:
    why = f"the consumer did not end within {cap_s:g} s, and was ended by the lab"
    return {"ok": False, "state": None, "artifacts": [], "events": 0, "error": why, "said": why}


def _fault(vendor: Vendor, process: Running) -> HarnessFault:
    if process.problem:
        step, why = "launch", f"did not start: {process.problem}"
    elif process.exit_status == OWN_BUG:
        step, why = "consume", "ended by a bug of its program, not of its SDK"
    else:
        step, why = "consume", f"ended with exit status {process.exit_status} and without a result"
    return HarnessFault(
        f"the consumer of {vendor.name} {why}; the end of what it printed:\n{process.output.last_lines()}",
        vendor=vendor.name,
        step=step,
        output=process.output.text(),
    )

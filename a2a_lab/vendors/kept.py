"""Runs a build step under the keeper: bounded in time, its output in a file, nothing of it left behind.

The keeper ends the step when this process is gone, by whatever signal (see `keeper`); `served` uses the same keeper
for agents.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

KEEPER = Path(__file__).with_name("keeper.py")
GRACE_S = 2.0  # between the polite signal and the final one


def keeper_argv(command: Sequence[str], *, folder: Path | None, grace_s: float = GRACE_S) -> list[str]:
    """The argv that runs `command` under the keeper, in `folder`, or in a scratch folder when None."""
    # -I -S: neither the user's site folder nor any variable decides what the keeper imports, and it starts in 15 ms.
    return [sys.executable, "-I", "-S", str(KEEPER), f"{grace_s:g}", str(folder) if folder else "-", *command]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a step ended: its exit status (negative for a signal), or why there is none."""

    status: int | None
    problem: str = ""

    @property
    def well(self) -> bool:
        return self.status == 0

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        status = self.status or 0
        return f"exit status {status}" if status >= 0 else f"signal {-status}"


def run_kept(command: Sequence[str], *, folder: Path, env: Mapping[str, str], log: IO[bytes], limit_s: float) -> Ended:
    """Run `command` to its end, or to `limit_s`, with both its streams in `log`."""
    process = subprocess.Popen(
        keeper_argv(command, folder=folder),
        env=dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        start_new_session=True,
    )
    try:
        # Not communicate(): that would close standard input at once, which is how the keeper is told to end it all.
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return Ended(status=None, problem=f"not ended after {limit_s:g} s")
    finally:
        assert process.stdin and process.stdout
        process.stdin.close()
        try:
            process.wait(GRACE_S + 3.0)
        except subprocess.TimeoutExpired:  # a keeper that does not do its work
            process.kill()
            process.wait()
        told = process.stdout.read().decode("utf-8", "replace").splitlines()
        process.stdout.close()
    facts: dict[str, object] = {}
    for line in told:
        facts |= json.loads(line)
    status = facts.get("exit")
    if isinstance(status, int):
        return Ended(status=status)
    return Ended(status=None, problem=str(facts.get("failed", "the step was ended from outside")))

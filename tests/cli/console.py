"""Runs `a2a-lab` as a terminal does: a process of its own, its exit code, what it printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIMIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a command ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "a2a_lab.cli", *arguments]


def surroundings(**more: str) -> dict[str, str]:
    """Those of this process, wide enough that no sentence is broken, and this checkout's package."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "400", "NO_COLOR": "1", **more}


def lab(*arguments: str, cwd: Path, **environment: str) -> Said:
    """Run a command to its end."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=surroundings(**environment),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Said(code=done.returncode, out=done.stdout, err=done.stderr)


def start(*arguments: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """Start a command in a session of its own, so that a signal reaches it alone."""
    return subprocess.Popen(
        command(*arguments),
        cwd=cwd,
        env=surroundings(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )

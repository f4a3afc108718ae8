"""Runs `a2a-lab` and keeps what it said: in this process, where only the words count, or as a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console

from a2a_lab import cli
from a2a_lab.cli import show

ROOT = Path(__file__).parents[2]
WIDE = 400  # columns, so that no sentence and no cell of a table is broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a command ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def lab(*arguments: str, cwd: Path, **environment: str) -> Said:
    """Run a command in this process. A traceback would be an exception here."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, environment),
        mock.patch.object(sys, "argv", ["a2a-lab", *arguments]),
        mock.patch.object(show, "out", Console(highlight=False, width=WIDE)),
        mock.patch.object(show, "err", Console(highlight=False, width=WIDE, stderr=True)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return Said(code=code, out=out.getvalue(), err=err.getvalue())


def start(*arguments: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """Start a command as a process in a session of its own, so that a signal reaches it alone."""
    return subprocess.Popen(
        [sys.executable, "-m", "a2a_lab.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(WIDE), "NO_COLOR": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def process(*arguments: str, cwd: Path, limit_s: float = 120.0) -> Said:
    """Run a command to its end as a terminal does."""
    with start(*arguments, cwd=cwd) as running:
        out, err = running.communicate(timeout=limit_s)
    return Said(code=running.returncode, out=out, err=err)

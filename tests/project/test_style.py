"""The style the project agreed on is held by its tools, run as a newcomer's editor would run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ["a2a_lab", "tests", "notebooks", "data"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", *FOLDERS],
        ["ruff", "format", "--check", "a2a_lab", "tests"],
        ["mypy"],
    ],
    ids=" ".join,
)
def test_tools_have_no_complaint(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

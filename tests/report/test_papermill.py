"""The plain papermill command, with real agents: the same figures as the command line, and its traps in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from a2a_lab.lab.records import newest_run, read_run
from a2a_lab.tabulate import summary

ROOT = Path(__file__).parents[2]
FIGURES = {
    "trusting": {
        "held": 2,
        "pairs_with_renegotiation": 5,
        "pairs_with_orphans": 2,
        "pairs_with_hangs": 1,
        "renegotiation_cycles": 5,
        "refused_sends": 5,
        "delivered": 4,
    },
    "enforcing": {
        "held": 2,
        "pairs_with_renegotiation": 0,
        "pairs_with_orphans": 0,
        "pairs_with_hangs": 0,
        "renegotiation_cycles": 0,
        "refused_sends": 0,
        "delivered": 5,
    },
}

pytestmark = pytest.mark.slow


def papermill(notebook: str, folder: Path, *given: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "papermill", "--no-progress-bar", str(ROOT / "notebooks" / f"{notebook}.ipynb")]
    return subprocess.run(
        [*command, str(folder / "executed.ipynb"), *given],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("posture", FIGURES)
def test_papermill_gives_the_figures_of_the_report(tmp_path: Path, posture: str) -> None:
    done = papermill("matrix", tmp_path, "-p", "posture", posture, "-p", "out", str(tmp_path / "runs"))
    assert done.returncode == 0, done.stderr
    run = read_run(newest_run(tmp_path / "runs"))
    assert run.is_complete and run.header.posture == posture
    counted = summary(run)
    assert {name: counted[name] for name in FIGURES[posture]} == FIGURES[posture]


@pytest.mark.parametrize(
    ("notebook", "given", "told"),
    [
        ("vendor", ("-p", "url", "http://127.0.0.1:9", "-p", "skill", "True"), "Use `-r skill True`"),
        ("comparison", ("-p", "base", "nowhere", "-p", "other", "nowhere"), "nowhere holds no records.jsonl"),
    ],
    ids=["truth for text", "no such run"],
)
def test_what_papermill_lets_pass_is_refused_in_a_sentence(
    tmp_path: Path, notebook: str, given: tuple[str, ...], told: str
) -> None:
    done = papermill(notebook, tmp_path, *given)
    assert done.returncode != 0 and told in done.stderr, done.stderr[-2000:]
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").glob("*/records.jsonl"))

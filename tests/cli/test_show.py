"""What a person at a terminal of 80 columns sees of findings: slugs whole, sentences in the full width, no markup."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from unittest import mock

import pytest
from rich.console import Console

from a2a_lab.cli import show

SLUG = "stream-without-artifact-in-a-task-that-completed"


def told(width: int, detail: str) -> list[str]:
    paper = io.StringIO()
    with mock.patch.object(show, "out", Console(file=paper, width=width, highlight=False)):
        show.finding_lines([("stream", "conformance-error", SLUG, detail, "policy A6")])
    return paper.getvalue().splitlines()


def test_a_slug_is_never_broken_and_a_sentence_has_the_whole_width() -> None:
    head, *below = told(80, "declared streaming and completed " * 8)
    assert head == f"stream     conformance-error   {SLUG}"
    assert all(line.startswith("    ") and len(line) <= 80 for line in below) and len(below) in (4, 5)
    assert " ".join(line.strip() for line in below).endswith("(policy A6)")


def test_what_a_vendor_says_is_no_markup_and_no_control_character() -> None:
    _, *below = told(200, "[red]name[/red]\x1b[31m \u202e")
    assert "[red]name[/red]" in below[0] and "\x1b" not in below[0]


def test_a_stage_without_findings_has_its_own_line() -> None:
    paper = io.StringIO()
    with mock.patch.object(show, "out", Console(file=paper, width=80, highlight=False)):
        show.stages({"fetch": {"verdict": "accept", "findings": []}})
    assert paper.getvalue() == "fetch      accept\n"


def test_a_log_is_told_now_and_then_that_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    paper, clock = io.StringIO(), iter([0.0, 1.0, 25.0, 26.0, 50.0])
    monkeypatch.setattr(show, "err", Console(file=paper, width=80, highlight=False))
    monkeypatch.setattr("a2a_lab.cli.show.time.monotonic", lambda: next(clock))
    with show.live("starting") as tell:
        for done in range(1, 5):
            tell(f"{done} of 4 cells [b]x[/b]")
    assert paper.getvalue() == "   25 s  2 of 4 cells [b]x[/b]\n   50 s  4 of 4 cells [b]x[/b]\n"


def test_what_is_piped_is_not_broken_at_eighty_columns() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    code = "from a2a_lab.cli import show; show.table(['cell', 'is'], [['x/' * 45, 'conformance-error']])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert "x/" * 45 in told.stdout and "conformance-error" in told.stdout

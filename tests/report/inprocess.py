"""Runs a notebook's cells in this process, in milliseconds: for tests of pages, where a kernel adds nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.bundled import bundled
from a2a_lab.report.inprocess import run_here
from a2a_lab.report.notebooks import join
from a2a_lab.report.render import page, write_page

__all__ = ["NOW", "page_of", "run_notebook", "write_page"]

NOW = datetime(2026, 11, 30, 12, 46, 40, tzinfo=UTC)


def run_notebook(name: str, parameters: dict[str, Any]) -> Any:
    """The bundled notebook with the outputs of its cells."""
    return run_here(bundled("notebooks", name, ".ipynb"), parameters)


def page_of(folders: dict[str, Path]) -> str:
    """The page of the main job for two runs, as the lab joins it."""
    first, second = folders.values()
    comparison = run_notebook("comparison", {"base": str(first), "other": str(second)})
    details = [
        (posture.capitalize(), run_notebook("matrix", {"posture": posture, "recorded": str(folder)}))
        for posture, folder in folders.items()
    ]
    return page(join(comparison, details), now=NOW)

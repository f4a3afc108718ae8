"""Live progress of a run inside JupyterLab: one line that is rewritten; nothing at all when nobody watches.

A progress bar of an executed notebook is noise frozen in the page. Only a kernel that a Jupyter server started for a
session has somebody in front of it, so papermill, nbconvert and the lab's own report stay silent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from a2a_lab.lab.records import CellRecord
from a2a_lab.report.chips import chip, pair_name
from a2a_lab.report.html import Fragment, tag

Progress = Callable[[CellRecord, int, int], None]
"""Called after each cell with its record, how many are done, and how many there are."""


def progress() -> Progress | None:
    """What `run_matrix` tells after each cell, or None when the notebook runs headless."""
    if "JPY_SESSION_NAME" not in os.environ:
        return None
    from IPython.display import display

    handle = display(line("starting"), display_id=True)  # type: ignore[no-untyped-call]

    def told(record: CellRecord, done: int, total: int) -> None:
        if handle is not None:
            handle.update(line(f"{done} of {total} cells", record))

    return told


def line(text: str, record: CellRecord | None = None) -> Fragment:
    """One line of progress, with the cell that ended last."""
    last: list[Any] = [" · ", pair_name(record), " ", chip(record.verdict)] if record else []
    return Fragment(tag("div", tag("p", text, *last, class_="legend"), class_="lab"), text=text)

"""Live progress of a run inside JupyterLab: one line that is rewritten; nothing at all when nobody watches.

A progress bar of an executed notebook is noise frozen in the page. Only a kernel that a Jupyter server started for a
session has somebody in front of it, so papermill, nbconvert and the lab's own report stay silent.
"""

from __future__ import annotations

import os
import time
from typing import Any

from a2a_lab.lab.records import CellRecord
from a2a_lab.report.chips import chip, pair_name
from a2a_lab.report.html import Fragment, tag


def progress() -> dict[str, Any]:
    """What `run_matrix` takes so that somebody in JupyterLab sees how far it is; empty when the notebook runs headless.

    Given on as `run_matrix(..., **show.progress())`.
    """
    if "JPY_SESSION_NAME" not in os.environ:
        return {}
    line = Line()
    return {"progress": line.ended, "say": line.said}


class Line:
    """One displayed line: cells done, the time since the start, and the cell that ended last or what is being built."""

    def __init__(self) -> None:
        from IPython.display import display

        self._began = time.monotonic()
        self._count = "starting"
        self._handle = display(_shown(self._count), display_id=True)  # type: ignore[no-untyped-call]

    def ended(self, record: CellRecord, done: int, total: int) -> None:
        """A cell ended: `12 of 50 cells · 8 s · alder × notes accept`."""
        self._count = f"{done} of {total} cells"
        self._update(" · ", pair_name(record), " ", chip(record.verdict))

    def said(self, told: str) -> None:
        """What the lab says while it works, such as which environment it builds; no red block in the notebook."""
        self._update(" · ", told)

    def _update(self, *rest: Any) -> None:
        if self._handle is not None:
            self._handle.update(_shown(f"{self._count} · {time.monotonic() - self._began:.0f} s", *rest))


def _shown(text: str, *rest: Any) -> Fragment:
    return Fragment(tag("div", tag("p", text, *rest, class_="legend"), class_="lab"), text=text)

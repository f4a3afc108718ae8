"""Live progress of a run inside JupyterLab: one line that is rewritten; nothing at all when nobody watches.

A progress bar of an executed notebook is noise frozen in the page. Only a kernel that a Jupyter server started for a
session has somebody in front of it, so papermill, nbconvert and the lab's own report stay silent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

from a2a_lab.lab.records import CellRecord
from a2a_lab.report.chips import chip, pair_name
from a2a_lab.report.html import Fragment, tag


class Step(Protocol):
    """What a run tells whoever watches it, as far as one line needs it."""

    @property
    def done(self) -> int: ...

    @property
    def planned(self) -> int: ...

    @property
    def ended(self) -> CellRecord | None: ...


def progress() -> Callable[[Step], None] | None:
    """A watcher for `run_matrix`, or None when the notebook runs headless."""
    if "JPY_SESSION_NAME" not in os.environ:
        return None
    from IPython.display import display

    handle = display(line("starting"), display_id=True)  # type: ignore[no-untyped-call]

    def watch(step: Step) -> None:
        if handle is not None and step.ended is not None:
            handle.update(line(f"{step.done} of {step.planned} cells", step.ended))

    return watch


def line(text: str, record: CellRecord | None = None) -> Fragment:
    """One line of progress, with the cell that ended last."""
    last: list[Any] = [" · ", pair_name(record), " ", chip(record.verdict)] if record else []
    return Fragment(tag("div", tag("p", text, *last, class_="legend"), class_="lab"), text=text)

"""Opens notebooks without what makes that slow, and joins executed ones into the notebook that a page is made of.

`nbformat` imports a grammar builder that is there for IRI checks nobody asks for and costs two seconds at import;
it is kept out before the first import, which is why everything here gets nbformat from `nbformat()`.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from a2a_lab.errors import Misuse
from a2a_lab.report.html import END_TYPE, RUN_TYPE

TITLE, ALONE, CLOSING = "title", "alone", "closing"
"""Tags of cells: the head of a notebook, what a joined page shows once for all parts, and what belongs at its end."""

PARAMETERS = "parameters"
"""Tag of the one cell below which papermill puts what the user gave."""


def nbformat() -> Any:
    """The nbformat module, imported without the IRI grammar; an ImportError of it is expected by its importer."""
    if "nbformat" not in sys.modules:
        sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    try:
        import nbformat as module
    except ImportError as missing:
        raise Misuse(f"notebooks and pages need the extra `lab` ({missing}): pip install 'a2a-lab[lab]'") from missing
    return module


def read_notebook(path: Path) -> Any:
    """A notebook as version 4. `Misuse` where the file is none."""
    try:
        return nbformat().read(str(path), as_version=4)
    except FileNotFoundError:
        raise Misuse(f"there is no notebook {path}; name one, or use a bundled one") from None
    except Exception as fault:
        raise Misuse(f"{path} is no notebook that can be read: {fault}") from fault


def tags(cell: Any) -> Sequence[str]:
    found: Sequence[str] = cell.metadata.get("tags", [])
    return found


def join(main: Any, details: Sequence[tuple[str, Any]]) -> Any:
    """One notebook: `main`, then each of `details` under its heading, then main's closing cells.

    Of the details only what `main` has not shown is taken: no title, no closing cells, nothing tagged `alone`.
    """
    new = nbformat().v4
    cells = [cell for cell in main.cells if CLOSING not in tags(cell)]
    for heading, notebook in details:
        kept = [cell for cell in notebook.cells if not {TITLE, ALONE, CLOSING} & set(tags(cell))]
        cells.append(new.new_markdown_cell(f"# {heading}", metadata={"a2a_lab": {"shift": 1, "part": True}}))
        cells += [_shifted(cell) for cell in kept]
    cells += [cell for cell in main.cells if CLOSING in tags(cell)]
    cells = [copy.copy(cell) for cell in cells]
    for number, cell in enumerate(cells):  # the notebooks of both postures have the same ids
        cell["id"] = f"cell-{number}"
    return new.new_notebook(cells=cells, metadata=main.metadata)


def _shifted(cell: Any) -> Any:
    moved = copy.copy(cell)
    moved.metadata = copy.copy(cell.metadata)
    moved.metadata["a2a_lab"] = {"shift": 1}
    return moved


def run_folders(notebook: Any) -> list[str]:
    """The run folders that an executed notebook named, in the order of its cells."""
    return [
        output.data[RUN_TYPE]["folder"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if RUN_TYPE in output.get("data", {})
    ]


def end_of(notebook: Any) -> tuple[int, str]:
    """The exit code that an executed notebook calls for (R39), and in words why: those of the piece which knows one.

    Of several the highest code counts; without any it is 0, and nothing is said.
    """
    ends = [
        (int(output.data[END_TYPE]["exit"]), str(output.data.get("text/plain", "")))
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if END_TYPE in output.get("data", {})
    ]
    return max(ends, default=(0, ""))

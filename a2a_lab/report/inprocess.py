"""Runs the cells of one of the lab's own notebooks in this process: for pages of runs that are recorded already.

Where nothing is measured a kernel adds nothing but the seconds it takes to start. The notebook is the same, and what a
cell shows is what it would show in JupyterLab. A notebook of somebody else gets a kernel of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from a2a_lab.report.notebooks import PARAMETERS, nbformat, read_notebook, tags


def run_here(path: Path, parameters: Mapping[str, Any]) -> Any:
    """The notebook with the outputs of its cells. Raises what a cell raises; `Misuse` for parameters, as ever."""
    notebook = read_notebook(path)
    space: dict[str, Any] = {"__name__": "__main__", "In": []}
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        shown = _run(cell.source, space, f"{path.name}, cell {number}")
        if PARAMETERS in tags(cell):
            given = "".join(f"{name} = {value!r}\n" for name, value in parameters.items())
            space["In"].append(f"# Parameters\n{given}")
            space.update(parameters)
        if hasattr(shown, "_repr_mimebundle_"):
            cell.outputs = [nbformat().v4.new_output("display_data", data=shown._repr_mimebundle_())]
    return notebook


def _run(source: str, space: dict[str, Any], name: str) -> Any:
    """Run one cell; gives the value of its last expression, as a notebook shows it."""
    tree = ast.parse(source, filename=name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), space)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), space)

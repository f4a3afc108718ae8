"""Runs a notebook's cells in this process, in milliseconds: for tests of pages, where a kernel adds nothing."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.bundled import bundled
from a2a_lab.report.notebooks import join, nbformat, read_notebook
from a2a_lab.report.render import page, write_page

__all__ = ["NOW", "page_of", "run_notebook", "write_page"]

NOW = datetime(2026, 11, 30, 12, 46, 40, tzinfo=UTC)


def run_notebook(name: str, parameters: dict[str, Any], *, stub: dict[str, Callable[..., Any]] | None = None) -> Any:
    """The bundled notebook with the outputs of its cells. `stub` is what `a2a_lab.lab.api` offers meanwhile."""
    notebook = read_notebook(bundled("notebooks", name, ".ipynb"))
    api: Any = types.ModuleType("a2a_lab.lab.api")
    vars(api).update(stub or {})
    kept = sys.modules.get("a2a_lab.lab.api")
    sys.modules["a2a_lab.lab.api"] = api
    try:
        space: dict[str, Any] = {"In": []}
        for cell in notebook.cells:
            if cell.cell_type == "code":
                _run(cell, space, parameters)
    finally:
        sys.modules.pop("a2a_lab.lab.api")
        if kept is not None:
            sys.modules["a2a_lab.lab.api"] = kept
    return notebook


def _run(cell: Any, space: dict[str, Any], parameters: dict[str, Any]) -> None:
    tree = ast.parse(cell.source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell.id, "exec"), space)
    if "parameters" in cell.metadata.get("tags", []):
        given = "".join(f"{name} = {value!r}\n" for name, value in parameters.items())
        space["In"].append(f"# Parameters\n{given}")
        space.update(parameters)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), cell.id, "eval"), space)
        cell.outputs = [nbformat().v4.new_output("execute_result", data=value._repr_mimebundle_())]


def page_of(folders: dict[str, Path]) -> str:
    """The page of the main job for two runs, as the lab joins it."""
    stub = {"run_matrix": lambda matrix, *, posture, **options: folders[posture]}
    first, second = folders.values()
    comparison = run_notebook("comparison", {"base": str(first), "other": str(second)})
    details = [(posture.capitalize(), run_notebook("matrix", {"posture": posture}, stub=stub)) for posture in folders]
    return page(join(comparison, details), now=NOW)

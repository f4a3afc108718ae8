"""The notebooks in the repository: thin, clean, and usable by every tool that people schedule notebooks with."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.bundled import bundled, bundled_names
from a2a_lab.errors import Misuse
from a2a_lab.lab.params import typed
from a2a_lab.report.execute import declared_parameters
from a2a_lab.report.inprocess import run_here

NAMES = bundled_names("notebooks", ".ipynb")


def document(name: str) -> Any:
    return json.loads(bundled("notebooks", name, ".ipynb").read_text(encoding="utf-8"))


def test_the_main_ones_are_there() -> None:
    assert {"matrix", "comparison", "vendor"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_trace_of_an_execution_is_committed(name: str) -> None:
    found = document(name)
    for cell in found["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None
        assert set(cell["metadata"]) <= {"tags"}
    assert set(found["metadata"]) == {"kernelspec", "language_info", "title"}
    assert found["metadata"]["kernelspec"]["name"] == "python3"
    assert found["metadata"]["title"].strip()


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_and_cells_short(name: str) -> None:
    cells = document(name)["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert all(len(cell["source"]) <= 15 for cell in cells if cell["cell_type"] == "code")
    assert not any("\n" in line[:-1] for cell in cells for line in cell["source"])


@pytest.mark.parametrize("name", NAMES)
def test_one_cell_declares_the_parameters_with_type_and_sentence(name: str) -> None:
    (cell,) = [cell for cell in document(name)["cells"] if "parameters" in cell["metadata"].get("tags", [])]
    for line in cell["source"]:
        assert re.fullmatch(r"[a-z_]+: (str|int|float|bool) = [^#]+  # .{10,}\n?", line), line
    tree = ast.parse("".join(cell["source"]))
    declared = declared_parameters(bundled("notebooks", name, ".ipynb"))
    for node in tree.body:
        assert isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
        assert typed(node.target.id, ast.literal_eval(node.value), declared[node.target.id]) is not None


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_this_machine_and_no_secret_is_in_them(name: str) -> None:
    text = bundled("notebooks", name, ".ipynb").read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|tmp|Users)/|C:\\\\", text)
    assert not re.search(r"Bearer |password|api_key", text, re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
def test_code_is_one_call_a_cell_and_logic_is_in_the_package(name: str) -> None:
    for cell in document(name)["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            assert not any(
                isinstance(node, ast.FunctionDef | ast.ClassDef | ast.For | ast.If) for node in ast.walk(tree)
            )


def test_the_folder_holds_notebooks_only() -> None:
    assert all(
        path.suffix == ".ipynb"
        for path in Path(bundled("notebooks", "matrix", ".ipynb")).parent.iterdir()
        if path.is_file()
    )


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_parameter_is_refused_with_the_nearest_one(name: str) -> None:
    known = sorted(declared_parameters(bundled("notebooks", name, ".ipynb")))
    misspelt = known[0][:-1] + known[0][-1] * 2
    with pytest.raises(Misuse, match=f"no parameter '{misspelt}'; did you mean '{known[0]}'"):
        run_here(bundled("notebooks", name, ".ipynb"), {misspelt: "x"})


def test_a_notebook_says_what_it_cannot_do_without() -> None:
    with pytest.raises(Misuse, match=r"url is not given, .*-p url=https://agent\.example"):
        run_here(bundled("notebooks", "vendor", ".ipynb"), {})


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_papermill_is_complete(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from click import Context
    from papermill.cli import papermill
    from papermill.inspection import display_notebook_help

    path = bundled("notebooks", name, ".ipynb")
    assert display_notebook_help(Context(papermill), str(path), {}) == 0
    told = " ".join(capsys.readouterr().out.split())
    (cell,) = [cell for cell in document(name)["cells"] if "parameters" in cell["metadata"].get("tags", [])]
    for line in cell["source"]:
        declared, _, sentence = line.strip().partition("  # ")
        assert declared.partition(" =")[0] in told and " ".join(sentence.split()) in told

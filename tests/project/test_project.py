"""The project's own promises: what is declared in two places says the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def names_with_bounds(requirements: list[str]) -> dict[str, str]:
    found = (re.match(r"([A-Za-z0-9_.-]+)\s*(.*)", requirement) for requirement in requirements)
    return {match[1].lower(): match[2].replace(" ", "") for match in found if match}


def test_environment_file_says_what_pyproject_says() -> None:
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    wanted = names_with_bounds(project["dependencies"] + extras["lab"] + extras["grpc"])
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    conda = [entry for entry in entries if isinstance(entry, str)]
    pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    given = names_with_bounds(conda + [entry for entry in pip if not entry.startswith("-e")])
    assert {name: given.get(name) for name in wanted} == wanted
    assert set(given) - set(wanted) == {"python", "pip"}
    assert "-e .[lab,grpc,test]" in pip
    assert names_with_bounds(extras["grpc"]).items() <= names_with_bounds(extras["test"]).items()
    assert given["python"] == project["requires-python"].replace(" ", "")


def test_importing_the_core_costs_about_what_httpx_costs() -> None:
    """R42: nothing of Jupyter, pandas or a plotting library comes with the core or the base package."""
    code = "import sys, a2a_lab, a2a_lab.core.policy, a2a_lab.errors; print(' '.join(sorted(sys.modules)))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    heavy = {"pandas", "matplotlib", "nbformat", "nbconvert", "papermill", "IPython", "uvicorn", "starlette", "httpx"}
    assert not loaded & heavy


def test_no_vendor_sdk_in_the_labs_own_environment() -> None:
    declared = [*PYPROJECT["project"]["dependencies"], *chain(*PYPROJECT["project"]["optional-dependencies"].values())]
    assert not [name for name in names_with_bounds(declared) if name in ("a2a-sdk", "fasta2a", "python-a2a")]


def test_notebooks_are_clean() -> None:
    """No outputs, no execution counts, one `parameters` cell, no path of a machine."""
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert {"matrix.ipynb", "comparison.ipynb", "vendor.ipynb"} <= {path.name for path in notebooks}
    for path in notebooks:
        book = json.loads(path.read_text())
        cells = book["cells"]
        ids = [cell["id"] for cell in cells]
        assert len(set(ids)) == len(ids), path.name
        assert book["metadata"]["kernelspec"]["name"] == "python3" and book["metadata"]["title"]
        assert "papermill" not in book["metadata"]
        assert sum("parameters" in cell["metadata"].get("tags", []) for cell in cells) == 1, path.name
        for cell in cells:
            assert not cell.get("outputs") and cell.get("execution_count") is None, path.name
            assert "papermill" not in cell["metadata"]
            if cell["cell_type"] == "code":
                assert len("".join(cell["source"]).splitlines()) <= 15, f"{path.name}: a cell of more than 15 lines"
            assert not re.search(r"(^|[\s\"'])/(home|root|work|tmp|Users)/", "".join(cell["source"]))

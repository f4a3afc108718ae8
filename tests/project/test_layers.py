"""DESIGN 3: an import may only point down, and the core decides without a clock, a socket or a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "a2a_lab"

# From the bottom up. What stands in one row does not import each other.
LAYERS: list[set[str]] = [
    {"verdicts"},
    {"errors"},
    {"core"},
    {"wire"},
    {"judge"},
    {"ledger", "bundled"},
    {"net", "vendors"},
    {"lab"},
    {"tabulate"},
    {"compare"},
    {"report"},
    {"cli"},
]
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
OF_THE_CORE_NEVER = {"httpx", "asyncio", "time", "random", "secrets", "os", "socket", "threading", "sqlite3", "pathlib"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "_bundled" not in path.parts)


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[str, bool]]:
    """Every module that the file names in an import, and whether only the type checker sees it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in hidden) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import; say where it comes from"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += (
                [(name, id(node) in hidden) for name in names]
                if node.module == "a2a_lab"
                else [(node.module, id(node) in hidden)]
            )
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    here = layer_of(path)
    if here in ("__init__", "__main__"):
        return
    assert here in HEIGHT, f"{path.name}: module outside the layers; give it a place in LAYERS"
    for name, _ in imports(path):
        parts = name.split(".")
        if parts[0] != "a2a_lab" or len(parts) == 1 or parts[1] == "__version__":
            continue
        there = parts[1]
        assert there == here or HEIGHT[there] < HEIGHT[here], f"{here} imports {name}, which lies above or beside it"


@pytest.mark.parametrize("path", sorted((PACKAGE / "core").rglob("*.py")), ids=lambda path: path.name)
def test_core_is_pure(path: Path) -> None:
    for name, hidden in imports(path):
        assert hidden or name.split(".")[0] not in OF_THE_CORE_NEVER, f"the core imports {name}"
    calls = [
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert "open" not in calls and "print" not in calls


def test_wire_and_judge_do_no_input_or_output() -> None:
    for layer in ("wire", "judge"):
        for path in (PACKAGE / layer).rglob("*.py"):
            named = {name.split(".")[0] for name, _ in imports(path)}
            assert not named & (OF_THE_CORE_NEVER - {"time"}), f"{path}: {named & OF_THE_CORE_NEVER}"


def test_modules_stay_readable() -> None:
    """Models keep a module at 80-250 lines; past 400 it holds two ideas."""
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in modules()
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long

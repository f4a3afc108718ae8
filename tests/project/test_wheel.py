"""The wheel is whole (R41, issue 2 item 1): built, installed outside the checkout, and the main job runs from it.

The dependencies are those of this environment, lent by path, so that no network is needed; the package itself is only
what the wheel brought. The wheel is built from the sdist, so that both are looked at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command to its end, with nothing of the checkout in its surroundings; gives what it printed."""
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a fresh virtual environment with the wheel in it."""
    home = tmp_path_factory.mktemp("fresh") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home.parent)
    python = home / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel, cwd=home)
    (packages,) = home.glob("lib/python*/site-packages")
    # A path alone: what is linked from there, as a checkout under development is, does not come along.
    (packages / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return home / "bin"


def test_the_wheel_brings_code_notebooks_data_and_its_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "a2a_lab", "notebooks", "data"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split()
    if not tracked:
        pytest.skip("no git checkout to compare with")
    packed = {name if name.startswith("a2a_lab/") else f"a2a_lab/_bundled/{name}" for name in tracked}
    assert packed - names == set()
    assert "a2a_lab/py.typed" in names
    assert not [name for name in names if name.startswith("tests/") or name.endswith(".pyc")]


def test_the_package_is_the_wheels_and_not_the_checkouts(scripts: Path, tmp_path: Path) -> None:
    told = run(
        scripts / "python",
        "-c",
        "import a2a_lab; from a2a_lab.bundled import bundled_root; print(a2a_lab.__file__); print(bundled_root())",
        cwd=tmp_path,
    ).splitlines()
    assert all(line.startswith(str(scripts.parent)) for line in told)
    assert told[1].endswith("_bundled")


def test_the_main_job_runs_in_an_empty_folder_far_from_the_checkout(scripts: Path, tmp_path: Path) -> None:
    told = json.loads(run(scripts / "a2a-lab", "report", "--json", cwd=tmp_path))
    trusting, enforcing = told["summary"]["trusting"], told["summary"]["enforcing"]
    for posture, counted in (("trusting", (2, 5, 2, 1, 4)), ("enforcing", (2, 0, 0, 0, 5))):
        names = ("held", "pairs_with_renegotiation", "pairs_with_orphans", "pairs_with_hangs", "delivered")
        assert tuple(told["summary"][posture][name] for name in names) == counted, posture
    assert trusting["pairs"] == enforcing["pairs"] == 7 and enforcing["refused_sends"] == 0
    page = tmp_path / told["page"]
    assert page.is_file() and page.stat().st_size > 50_000
    assert {path.name for path in tmp_path.iterdir()} == {"runs"}


def test_notebooks_are_copied_out_of_it(scripts: Path, tmp_path: Path) -> None:
    run(scripts / "a2a-lab", "notebooks", "mine", "--copy-only", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "mine").iterdir()} >= {"matrix.ipynb", "comparison.ipynb", "vendor.ipynb"}

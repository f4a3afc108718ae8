"""Execution of notebooks (DESIGN 8): typed parameters, unknown ones refused, nothing that died is taken for done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.lab.records import RunWriter
from a2a_lab.report.execute import Job, declared_parameters, execute, execute_all
from a2a_lab.report.making import POSTURES, make_page, make_report
from a2a_lab.report.notebooks import nbformat
from a2a_lab.report.recorded import Recorded, Standing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
STUB = Path(__file__).parent / "stub"
PATH = os.pathsep.join([str(STUB), str(ROOT)])


@pytest.fixture(autouse=True)
def kernels_see_the_stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", PATH)


def notebook(folder: Path, *cells: str, parameters: str = 'version: str = "1.0"  # a version') -> Path:
    new = nbformat().v4
    first = new.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    made = new.new_notebook(cells=[first, *map(new.new_code_cell, cells)])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = folder / "small.ipynb"
    nbformat().write(made, str(path))
    return path


def results(executed: Any) -> list[str]:
    return [
        output.data["text/plain"] for cell in executed.cells for output in cell.get("outputs", []) if "data" in output
    ]


def test_values_keep_their_types_and_nothing_is_said_on_stderr(tmp_path: Path, capfd: Any) -> None:
    source = notebook(tmp_path, "import sys\n(version, sys.executable)")
    executed = execute(source, tmp_path / "{out}.ipynb", {"version": "2.0"})
    assert results(executed) == [repr(("2.0", sys.executable))]
    assert (tmp_path / "{out}.ipynb").is_file()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [({"version": 1.0}, "arrives as a float"), ({"verison": "1.0"}, "did you mean 'version'")],
)
def test_bad_parameters_are_refused_before_a_kernel_starts(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    with pytest.raises(Misuse, match=told):
        execute(notebook(tmp_path), tmp_path / "out.ipynb", given)
    assert not (tmp_path / "out.ipynb").exists()


def test_what_the_lab_raised_inside_comes_back_as_it_was(tmp_path: Path) -> None:
    source = notebook(tmp_path, "from a2a_lab.errors import Misuse\nraise Misuse('no such matrix')", "never = 1")
    with pytest.raises(Misuse, match="no such matrix"):
        execute(source, tmp_path / "out.ipynb", {})


def test_any_other_failure_names_the_notebook_that_was_left(tmp_path: Path) -> None:
    with pytest.raises(HarnessFault, match=r"small.ipynb failed with ZeroDivisionError: .*out\.ipynb"):
        execute(notebook(tmp_path, "1 / 0"), tmp_path / "out.ipynb", {})
    assert "ZeroDivisionError" in (tmp_path / "out.ipynb").read_text()


def test_a_kernel_that_dies_is_not_taken_for_done(tmp_path: Path) -> None:
    with pytest.raises(HarnessFault, match=r"the kernel of small\.ipynb died"):
        execute(notebook(tmp_path, "import os\nos._exit(9)"), tmp_path / "out.ipynb", {})


def test_parameters_are_listed_with_their_types(tmp_path: Path) -> None:
    assert declared_parameters(notebook(tmp_path)) == {"version": "str"}
    with pytest.raises(Misuse, match="there is no notebook"):
        declared_parameters(tmp_path / "none.ipynb")


def test_the_main_job_writes_one_page_of_three_notebooks(tmp_path: Path) -> None:
    seen: list[Any] = []
    report = make_report(
        out=str(tmp_path / "runs"), page=tmp_path / "page.html", watch=lambda told, said: seen.append((told, said))
    )
    shown = json.loads(json.dumps(report.as_json()))
    assert set(shown) == {"page", "runs", "summary"}
    assert set(shown["runs"]) == set(shown["summary"]) == set(POSTURES)
    assert (shown["summary"]["trusting"]["held"], shown["summary"]["enforcing"]["delivered"]) == (2, 5)
    assert sorted(path.name for path in report.notebooks.iterdir()) == [
        "comparison.ipynb",
        "matrix-enforcing.ipynb",
        "matrix-trusting.ipynb",
    ]
    assert report.page.read_text().count('<details class="evidence"') == 14
    assert seen[-1] == ({posture: Standing(done=7, planned=7) for posture in POSTURES}, "")
    waited = {one.waiting for told, _ in seen for one in told.values()}
    assert waited <= {"", *(str(cell.key) for run in report.runs.values() for cell in run.cells)}


def test_any_notebook_makes_a_page_by_name_or_path(tmp_path: Path) -> None:
    made = make_page(notebook(tmp_path, "print('<hello>', version)"), {"version": "2.0"}, out=str(tmp_path / "out"))
    assert "&lt;hello&gt; 2.0" in made.page.read_text() and made.ends == 0
    made = make_page("matrix", {"out": str(tmp_path)}, page=tmp_path / "m.html", out=str(tmp_path))
    assert made.page.read_text().count('<a class="cell') == 7
    with pytest.raises(Misuse, match=r"no bundled notebooks is called 'matrx'.*did you mean 'matrix'"):
        make_page("matrx", out=str(tmp_path))


def test_a_matrix_that_is_not_there_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="no bundled data/matrices is called 'broken'"):
        make_report("broken", out=str(tmp_path))
    assert not list(tmp_path.rglob("*.html"))


def test_an_unwritable_folder_is_named_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misuse, match=r"cannot write into .*Name a writable folder with --out"):
        make_report(out=str(tmp_path / "file"))


def test_what_is_said_on_stderr_is_heard_while_it_happens(tmp_path: Path) -> None:
    heard: list[str] = []
    source = notebook(tmp_path, "import sys\nprint('a2a-js: npm ci', file=sys.stderr)")
    execute_all([Job(notebook=source, output=tmp_path / "out.ipynb", parameters={})], hear=heard.append)
    assert "a2a-js: npm ci" in "".join(heard)


@pytest.mark.parametrize("posture", POSTURES)
def test_the_plain_papermill_command_does_the_same(tmp_path: Path, posture: str) -> None:
    command = [sys.executable, "-m", "papermill", "--no-progress-bar", str(ROOT / "notebooks" / "matrix.ipynb")]
    command += [str(tmp_path / "out.ipynb"), "-p", "posture", posture, "-p", "out", str(tmp_path / "runs")]
    subprocess.run(command, check=True, capture_output=True)
    assert len(list((tmp_path / "runs").glob("*/records.jsonl"))) == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["-p", "matrix", "1.0"], "arrives as a float. Use `-r matrix 1.0`"),
        (["-p", "postrue", "enforcing"], "no parameter 'postrue'; did you mean 'posture'"),
        (["-p", "posture", "enforce"], "did you mean 'enforcing'"),
    ],
)
def test_the_traps_of_the_papermill_command_end_in_a_sentence(tmp_path: Path, given: list[str], told: str) -> None:
    command = [sys.executable, "-m", "papermill", "--no-progress-bar", str(ROOT / "notebooks" / "matrix.ipynb")]
    ended = subprocess.run([*command, str(tmp_path / "out.ipynb"), *given], capture_output=True, text=True)
    assert ended.returncode == 1
    assert told in ended.stderr


def test_ctrl_c_reaches_the_kernels_and_leaves_none(tmp_path: Path) -> None:
    slow = tmp_path / "slow.toml"
    slow.write_text('pairs = [["oak", "notes"]]\n[agents.oak]\nversion = "1"\n[consumers.notes]\n')
    code = f"from a2a_lab.report.making import make_report; make_report({str(slow)!r}, out={str(tmp_path)!r})"
    running = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 20
    while len(children(running.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1.5)
    started = children(running.pid)
    assert len(started) == 2
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert "KeyboardInterrupt" in said
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]


def test_the_folder_of_a_killed_lab_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from a2a_lab.report.kernels import LabKernelManager

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first = LabKernelManager()
    for name in ("a2a-kernel-dead", "a2a-kernel-new", "a2a-kernel-old-lab"):
        (tmp_path / name).mkdir()
    for name in ("dead", "new"):
        (tmp_path / f"a2a-kernel-{name}" / "owned").touch()
    for owned in (tmp_path / "a2a-kernel-dead" / "owned", Path(first.connection_file).with_name("owned")):
        os.utime(owned, (1e9, 1e9))
    second = LabKernelManager()
    left = {path.name for path in tmp_path.iterdir()}
    mine = {Path(one.connection_file).parent.name for one in (first, second)}
    assert left == {"a2a-kernel-new", "a2a-kernel-old-lab", *mine}


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task").glob("*/children") if found.exists() else []
    return [int(child) for thread in threads for child in thread.read_text().split()]


def test_progress_is_read_from_what_is_on_the_disk(tmp_path: Path) -> None:
    import synthetic_runs as synthetic

    synthetic.write_seven(tmp_path, "trusting")
    recorded = Recorded(tmp_path)
    assert recorded.now() == {}
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "records.jsonl").write_text("{")
    cells = synthetic.seven("enforcing")
    with RunWriter(tmp_path / "new", synthetic.header(cells, "enforcing")) as writer:
        for done, cell in enumerate(cells, 1):
            writer.append(cell)
            waiting = str(cells[done].key) if done < 7 else ""
            assert recorded.now() == {"enforcing": Standing(done=done, planned=7, waiting=waiting)}

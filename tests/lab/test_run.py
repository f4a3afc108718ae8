"""Runs: each cell recorded as it ends, continued after a cut, readable after Ctrl-C, and nothing left running."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.errors import HarnessFault, Misuse, RecordFault
from a2a_lab.lab.api import resume_run, run_matrix
from a2a_lab.lab.loop import run_sync
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.plan import make_plan
from a2a_lab.lab.records import RECORDS, CellRecord, read_run
from a2a_lab.lab.run import Progress, run_plan
from a2a_lab.net.evidence import read_har
from a2a_lab.vendors.launch import RunningAgent, SimulatedHost
from a2a_lab.vendors.spec import AgentSpec
from tests.cli.console import start

QUICK = "alder@1.0/notes, birch@2.3/records"


def quick(out: Path, **options: Any) -> Path:
    return run_matrix("seven-pairs", posture="both", only=QUICK, out=str(out), **options)


def test_a_run_has_a_header_a_line_a_cell_evidence_and_a_footer(tmp_path: Path) -> None:
    folder = quick(tmp_path)
    run = read_run(folder)
    assert run.is_complete and len(run.cells) == 4
    assert set(run.header.plan) == {str(cell.key) for cell in run.cells}
    assert run.header.parameters["only"] == QUICK and run.header.posture == "mixed"
    for cell in run.cells:
        assert cell.evidence is not None
        assert len(read_har(folder / cell.evidence)) == cell.measures.requests
        assert cell.card_digest and cell.portable_digest


def test_the_same_card_has_one_portable_digest_on_any_port(tmp_path: Path) -> None:
    """R36: the digest with the agent's own origin replaced is what an upgrade is compared by."""
    run = read_run(quick(tmp_path))
    unsigned = [cell for cell in run.cells if cell.key.agent == "birch"]
    assert len({cell.card_digest for cell in unsigned}) == 2 and len({cell.portable_digest for cell in unsigned}) == 1


def test_who_watches_is_told_of_every_cell(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    seen: list[Progress] = []

    def progress(cell: CellRecord, done: int, planned: int) -> None:
        told.append((str(cell.key), done, planned))

    run = read_run(quick(tmp_path, progress=progress, watcher=seen.append))
    assert [done for _, done, _ in told] == [1, 2, 3, 4] and {planned for *_, planned in told} == {4}
    assert {key for key, *_ in told} == {str(cell.key) for cell in run.cells}
    assert seen[0].running and seen[-1].running == ()


def cut(folder: Path, keep: int, rest: bytes = b"") -> list[bytes]:
    """Leave the header, so many cells, and `rest` in a records file; gives the lines it had."""
    path = folder / RECORDS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: 1 + keep]) + rest)
    return lines


@pytest.mark.parametrize("rest", [b"", b'{"kind":"cell","cell":"alder@1.0/no'], ids=["between lines", "within a line"])
def test_a_cut_run_is_continued_and_what_it_had_stays(tmp_path: Path, rest: bytes) -> None:
    folder = quick(tmp_path)
    lines = cut(folder, 2, rest)
    with pytest.raises(RecordFault, match="--resume"):
        read_run(folder)
    told: list[str] = []
    assert resume_run(folder, progress=lambda cell, done, planned: told.append(str(cell.key))) == folder
    run = read_run(folder)
    assert run.is_complete and len(run.cells) == 4 and len(told) == 2
    assert (folder / RECORDS).read_bytes().startswith(b"".join(lines[:3]))
    with pytest.raises(Misuse, match="complete; there is nothing to resume"):
        resume_run(folder)


def test_a_run_is_resumed_with_the_parameters_it_was_started_with(tmp_path: Path) -> None:
    folder = run_matrix(
        "seven-pairs",
        posture="trusting",
        only="alder",
        out=str(tmp_path),
        attempts=2,
        replaced={"alder": "faults:honest"},
        transport_timeout_s=1.5,
    )
    cut(folder, 1)
    run = read_run(resume_run(folder))
    assert {cell.key.agent_version for cell in run.cells} == {"1.4"} and len(run.cells) == 4
    assert run.header.parameters["transport_timeout_s"] == 1.5


def test_a_matrix_that_lost_a_planned_cell_cannot_continue_a_run(tmp_path: Path) -> None:
    text = 'pairs = [["oak", "notes"], ["oak", "more"]]\n[agents.oak]\nversion = "1"\n'
    text += "[consumers.notes]\n[consumers.more]\n"
    matrix = tmp_path / "mine.toml"
    matrix.write_text(text)
    folder = run_matrix(str(matrix), out=str(tmp_path / "runs"))
    cut(folder, 0)
    matrix.write_text(text.replace(', ["oak", "more"]', ""))
    with pytest.raises(Misuse, match=r"plans cell oak@1/more.*does not have any more; resume with the matrix file"):
        resume_run(folder)


def test_an_output_that_is_no_folder_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(Misuse, match=r"cannot write records into .*taken.*Name a writable folder"):
        quick(tmp_path / "taken")


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_transport_timeout_that_is_none_is_refused(tmp_path: Path, seconds: float) -> None:
    with pytest.raises(Misuse, match="expected a positive number of seconds"):
        quick(tmp_path, transport_timeout_s=seconds)


# ---- the lab's own faults --------------------------------------------------------------------------------------------


def test_what_answers_must_be_what_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DESIGN 9, R40: a stranger on the port is the lab's fault, and counted for and against nobody."""
    begin = SimulatedHost.start

    async def elsewhere(self: SimulatedHost, spec: AgentSpec) -> RunningAgent:
        return replace(await begin(self, spec), nonce="another")

    monkeypatch.setattr(SimulatedHost, "start", elsewhere)
    run = read_run(quick(tmp_path))
    assert {cell.verdict.value for cell in run.cells} == {"harness-error"}
    assert all("the lab did not start" in cell.said and not cell.is_graded for cell in run.cells)


def test_a_host_that_dies_costs_its_cells_and_not_the_run(tmp_path: Path) -> None:
    killed: list[int] = []

    async def witness(cell: CellRecord, agent: RunningAgent) -> None:
        if not killed:
            killed.append(agent.host.pid)
            os.kill(agent.host.pid, signal.SIGKILL)

    matrix = Matrix.load("seven-pairs")
    cells = make_plan(matrix, postures=["enforcing"], only="notes, batch")
    folder = run_sync(run_plan(matrix, cells, out=tmp_path, parameters={}, workers=1, witness=witness))
    run = read_run(folder)
    assert run.is_complete and len(run.cells) == len(cells)
    assert [cell.verdict.value for cell in run.cells][1:] == ["harness-error"] * (len(cells) - 1)


def test_a_host_that_does_not_start_is_a_harness_fault_and_leaves_an_interrupted_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: SimulatedHost) -> SimulatedHost:
        raise HarnessFault("the host of simulated vendors did not start: no memory")

    monkeypatch.setattr(SimulatedHost, "__aenter__", broken)
    with pytest.raises(HarnessFault, match="no memory"):
        quick(tmp_path)
    (folder,) = (path.parent for path in tmp_path.glob(f"*/{RECORDS}"))
    run = read_run(folder, allow_cut=True)
    assert not run.cells and run.footer is not None and run.footer.interrupted


# ---- interrupted -----------------------------------------------------------------------------------------------------


def children(pid: int) -> dict[int, str]:
    """Processes that `pid` started, by their command line."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text().rsplit(")", 1)[1].split()[1])
            if parent == pid:
                found[int(entry.parent.name)] = (entry.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError, IndexError):
            continue
    return found


def is_gone(pid: int, within_s: float = 10.0) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def records(out: Path) -> list[dict[str, Any]]:
    found = list(out.glob(f"*/{RECORDS}"))
    return [json.loads(line) for line in found[0].read_text().splitlines()] if found else []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("end", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)], ids=["Ctrl-C", "kill -9"]
)
def test_an_interrupted_run_is_readable_continued_and_leaves_no_process(
    tmp_path: Path, end: signal.Signals, code: int
) -> None:
    only = "alder@1.0/notes, birch, cedar"  # cedar hangs long enough to be interrupted
    options = ("--posture", "trusting", "--only", only, "--transport-timeout", "3", "--out", str(tmp_path))
    with start("run", "seven-pairs", *options, cwd=tmp_path) as process:
        until = time.monotonic() + 30
        while sum(line["kind"] == "cell" for line in records(tmp_path)) < 4:
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.02)
        hosts = [pid for pid, line in children(process.pid).items() if "a2a_lab.vendors.simulated" in line]
        assert len(hosts) == 1
        os.kill(process.pid, end)
        _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert is_gone(hosts[0])
    if end is signal.SIGINT:
        assert said.startswith("a2a-lab: interrupted; what was recorded is kept") and said.count("\n") == 1
        assert records(tmp_path)[-1]["kind"] == "footer" and records(tmp_path)[-1]["interrupted"] is True
    (folder,) = (path.parent for path in tmp_path.glob(f"*/{RECORDS}"))
    run = read_run(folder, allow_cut=True)
    assert not run.is_complete and len(run.cells) >= 4
    with start("run", "--resume", str(folder), cwd=tmp_path) as process:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert read_run(folder).is_complete

"""Old evidence judged again (issue 3, item 8): nothing differs where no rule changed, and what differs is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from a2a_lab.bundled import bundled
from a2a_lab.core.rehearsal import NOT_COMMITTED
from a2a_lab.core.stream_findings import ERROR_BEFORE_STREAM, STREAM_RESET
from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.judge.offline import Judgement
from a2a_lab.lab.api import run_matrix
from a2a_lab.lab.matrix import KIND
from a2a_lab.lab.records import RECORDS, CellKey, CellRecord, StageRecord, read_run
from a2a_lab.lab.rejudge import CellAgain, compared, rejudge, told
from a2a_lab.lab.runkeys import TRUST
from a2a_lab.lab.runmatrix import MATRIX
from a2a_lab.verdicts import Finding, Findings, NotGradeable, Stage, Verdict
from a2a_lab.wire.envelope import RPC_ERROR
from tests.cli.console import lab

RESET = STREAM_RESET("it broke", verdict=Verdict.REFUSE)


def stored(findings: Iterable[Finding] = (), *, posture: str = "trusting", reached: Iterable[Stage] = ()) -> CellRecord:
    found = gathered(findings, reached)
    return CellRecord(
        key=CellKey.parse(f"alder@1.0/notes/JSONRPC/1.0/default/{posture}/1"),
        verdict=found.verdict,
        authority="advisory",
        stages={
            stage: StageRecord(verdict=verdict, findings=tuple(all_of))
            for stage, (verdict, all_of) in found.stages.items()
        },
    )


def gathered(findings: Iterable[Finding], reached: Iterable[Stage] = ()) -> Findings:
    found = Findings()
    for stage in reached:
        found.reach(stage)
    found.add(*findings)
    return found


def again(record: CellRecord, findings: Iterable[Finding] = (), *, reached: Iterable[Stage] = ()) -> CellAgain:
    return compared(record, Judgement(findings=gathered(findings, reached)))


def test_same_findings_are_no_difference() -> None:
    assert not again(stored([RESET]), [RESET]).differs


def test_a_changed_stage_is_told_with_its_findings() -> None:
    found = again(stored([RESET]), reached=[Stage.STREAM])
    assert found.differs and (found.recorded, found.now) == (Verdict.REFUSE, Verdict.ACCEPT)
    assert [told(change) for change in found.changes] == ["stream: refuse -> accept; no longer stream-reset"]


def test_a_stage_that_is_reached_no_more_is_a_difference() -> None:
    assert [told(one) for one in again(stored(reached=[Stage.RPC])).changes] == ["rpc: accept -> not reached"]


def test_a_cell_that_is_not_gradeable_now_differs() -> None:
    record = stored()
    assert compared(record, Judgement(not_gradeable=NotGradeable.AUTH_NEEDED)).differs


@pytest.mark.parametrize("slug", [RPC_ERROR, ERROR_BEFORE_STREAM], ids=lambda kind: kind.slug)
def test_what_an_enforcing_flow_leaves_to_the_probe_is_no_difference(slug: object) -> None:
    assert not again(stored(posture="enforcing"), [slug("declined")]).differs  # type: ignore[operator]
    assert again(stored(), [slug("declined")]).differs  # type: ignore[operator]


def test_a_decision_that_the_traffic_does_not_show_is_named_and_not_counted() -> None:
    found = again(stored([NOT_COMMITTED("the probe was broken")], posture="enforcing"), reached=[Stage.PROBE])
    assert not found.differs and found.now is Verdict.REFUSE
    assert found.not_recomputable == ("not-committed: the probe was broken",)


def test_a_decision_that_it_does_show_is_compared() -> None:
    record = stored(posture="enforcing", reached=[Stage.PROBE])
    assert again(record, [NOT_COMMITTED("the probe was broken")]).differs


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of both postures: a signed agent, one that asks for another mode, a stream that never ends."""
    return run_matrix(
        "seven-pairs",
        posture="both",
        only="alder@1.0/notes, birch@2.3/notes, cedar@0.9/dash",
        out=str(tmp_path_factory.mktemp("runs")),
    )


@pytest.fixture
def run(ran: Path, tmp_path: Path) -> Path:
    """A copy of that run, without its ledger, to be damaged."""
    shutil.copytree(ran, tmp_path / ran.name)
    return tmp_path / ran.name


@pytest.mark.slow
class TestStoredRun:
    """Runs with their evidence, judged from the folder alone."""

    def test_nothing_differs_where_no_rule_changed(self, run: Path) -> None:
        found = rejudge(run)
        assert [cell.as_json() for cell in found.differing] == [] and found.exit_code == 0
        assert len(found.cells) == 6 and all(cell.now is cell.recorded for cell in found.cells)

    def test_a_record_that_says_otherwise_is_found(self, run: Path) -> None:
        records = run / RECORDS
        lines = records.read_text().splitlines()
        cell = json.loads(lines[1])
        cell["verdict"], cell["stages"]["resolve"]["verdict"] = "refuse", "accept"
        records.write_text("\n".join([lines[0], json.dumps(cell), *lines[2:], ""]))
        found = rejudge(run)
        assert [one.cell for one in found.differing] == [cell["cell"]] and found.exit_code == 1

    def test_other_evidence_gives_other_verdicts(self, run: Path) -> None:
        cell = next(one for one in read_run(run).cells if one.key.agent == "cedar" and one.key.posture == "trusting")
        assert cell.evidence is not None
        path = run / cell.evidence
        path.write_text(path.read_text().replace("TASK_STATE_WORKING", "TASK_STATE_COMPLETED"))
        assert str(cell.key) in [one.cell for one in rejudge(run).differing]

    def test_lost_evidence_is_a_problem_of_its_cell_only(self, run: Path) -> None:
        first = read_run(run).cells[0]
        assert first.evidence is not None
        (run / first.evidence).unlink()
        found = rejudge(run)
        assert [one.cell for one in found.cells if one.problem] == [str(first.key)] and found.exit_code == 2

    def test_without_the_keys_signatures_are_not_compared(self, run: Path) -> None:
        (run / TRUST).unlink()
        found = rejudge(run)
        assert not found.differing and "signatures are not compared" in found.notes[0]

    def test_damaged_keys_and_a_lost_matrix_are_named(self, run: Path) -> None:
        (run / TRUST).write_text('{"since": ')
        assert all("trust.jsonl, line 1" in cell.problem for cell in rejudge(run).cells)
        records = run / RECORDS
        records.write_text(records.read_text().replace('"matrix":"seven-pairs"', '"matrix":"gone"'))
        assert rejudge(run).cells
        (run / MATRIX).unlink()
        with pytest.raises(Misuse, match="gone"):
            rejudge(run)

    def test_a_matrix_that_was_edited_since_changes_nothing(self, tmp_path: Path) -> None:
        """What the consumers wanted then is what counts, so that the run keeps its own copy of the matrix."""
        file = tmp_path / "mine.toml"
        file.write_text(bundled(KIND, "seven-pairs").read_text())
        folder = run_matrix(str(file), posture="trusting", only="alder@1.0/records", out=str(tmp_path / "runs"))
        file.write_text("nonsense")
        assert rejudge(folder).exit_code == 0

    def test_the_command_says_how_many_differ(self, run: Path, tmp_path: Path) -> None:
        said = lab("judge", str(run), cwd=tmp_path)
        assert said.code == 0 and "0 of 6 cells differ, 6 as recorded" in said.out
        assert lab("judge", str(run), "--json", cwd=tmp_path).json["differing"] == 0


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordFault, match="holds no"):
        rejudge(tmp_path)

"""The pieces that only runs of real vendors have: news first, causes with their cells, approaches, environments."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from a2a_lab.core.causes import NEWER_CARD_UNREADABLE
from a2a_lab.judge.visit import Account
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_recall import Beside, judge_cell, recall, write_beside
from a2a_lab.lab.records import CellKey, CellRecord, Header, Run, RunWriter, VendorRecord, evidence_path, read_run
from a2a_lab.lab.writing import stages_of
from a2a_lab.net.evidence import write_har
from a2a_lab.net.redact import Redactor
from a2a_lab.report import expected, observations, pairs
from a2a_lab.report import fragments as show
from a2a_lab.report.html import END_TYPE
from a2a_lab.report.matrix import matrix as matrix_html
from a2a_lab.verdicts import NotGradeable, Verdict
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import OK, call, card_1_0, look, task

REAL = Matrix.load("real")
WORKS = CellKey.parse("a2a-sdk-1.3@1.3.0/a2a-sdk-1.3/JSONRPC/1.0/send/foreign/1")
FAILS = CellKey.parse("a2a-sdk-1.3@1.3.0/a2a-sdk-0.3/JSONRPC/1.0/send/foreign/1")
PASSES = CellKey.parse("a2a-js-1.3@1.3.0/a2a-sdk-0.3/JSONRPC/1.0/send/foreign/1")
SKIPPED = CellKey.parse("fasta2a-2.1@2.1.1/a2a-sdk-1.3/JSONRPC/1.0/send/foreign/1")
HERE = "http://127.0.0.1:9"
WHEN = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """One cell that works, one that fails as expected, one that works unexpectedly, one that was skipped."""
    keys = (WORKS, FAILS, PASSES, SKIPPED)
    header = Header(
        run="20260101T000000Z-0000",
        tool="a2a-lab 0",
        posture="foreign",
        matrix="real",
        plan=tuple(map(str, keys)),
        parameters={"matrix": "real"},
        vendors={key.agent: VendorRecord(version=key.agent_version, reach="environment") for key in keys},
        started=WHEN,
    )
    with RunWriter(tmp_path / "run", header) as writer:
        card = card_1_0(url=f"{HERE}/rpc")
        looked, fetched = look(card, base=HERE, purpose_of_lab=True), look(card, base=HERE, at_ms=40)
        sent = call(answer={"task": task()}, url=f"{HERE}/rpc")
        writer.append(record(writer.folder, WORKS, [looked, fetched, sent], OK))
        text = 'Failed to validate agent card structure: [{"loc":["url"],"msg":"Field required"'
        declined = Account(ok=False, error=text, said="failed after 0 events")
        writer.append(record(writer.folder, FAILS, [looked, fetched], declined, ("0.3",)))
        writer.append(CellRecord(key=PASSES, verdict=Verdict.ACCEPT, authority="advisory", started=WHEN, ended=WHEN))
        writer.append(
            CellRecord(
                key=SKIPPED,
                verdict=NotGradeable.HARNESS_ERROR,
                authority="advisory",
                said="fasta2a-2.1 was not built (step install)",
                errors=("harness-fault", "tool-missing"),
            )
        )
        (writer.folder / "environments.json").write_text(
            json.dumps(
                {"a2a-sdk-1.3": {"runtime": "cpython-311", "seconds": 4.2, "bytes": 88_000_000, "packages": ["a==1"]}}
            )
        )
        writer.close(ended=WHEN)
    return read_run(tmp_path / "run")


def record(
    folder: Path, key: CellKey, exchanges: list[Exchange], account: Account, dialects: tuple[str, ...] = ("1.0",)
) -> CellRecord:
    """A cell as it is recorded live: its evidence, what lies beside it, and what both say."""
    own = f"{HERE}/.well-known/agent-card.json"
    beside = Beside(address=HERE, own_card_url=own, dialects=dialects, account=account)
    judged = judge_cell(exchanges, beside, matrix=REAL, scenario="send", now=1e9)
    path = evidence_path(key)
    write_har(folder / path, exchanges, started=datetime(2026, 1, 1, tzinfo=UTC), tool="t 1", redactor=Redactor())
    write_beside(folder / path, beside, Redactor())
    return CellRecord(
        key=key,
        verdict=judged.verdict,
        authority="advisory",
        stages=stages_of(judged.findings),
        errors=(judged.cause,) if judged.cause else (),
        said=account.said,
        evidence=path,
        started=WHEN,
        ended=WHEN,
    )


def test_news_comes_first_and_is_loud(run: Run) -> None:
    html = str(expected.expectations(run))
    assert "1 cell is news" in html and 'class="alarm"' in html
    order = [html.index(word) for word in ("unexpected pass</b>", "1 cell fails as expected", "1 cell was skipped")]
    assert order == sorted(order)
    assert "was not built (step install)" in html and "without a top-level url" in html
    assert show.expectations(run)._repr_mimebundle_()[END_TYPE] == {"exit": 1}  # R39


def test_each_cause_is_told_with_what_it_means_and_its_cells(run: Run) -> None:
    html = str(pairs.causes(run))
    assert NEWER_CARD_UNREADABLE.means in html
    assert "a2a-sdk-1.3 × a2a-sdk-0.3" in html


def test_the_matrix_names_the_cause_in_the_cell(run: Run) -> None:
    assert "<small>newer-card-unreadable</small>" in str(matrix_html([run]))


def test_findings_say_whose_they_are(run: Run) -> None:
    html = str(observations.findings_table(run))
    assert "a2a-sdk-0.3 (consumer)" in html and "committed-unprobed" in html


def test_approaches_leave_the_labs_own_look_out(run: Run) -> None:
    html = str(pairs.approaches(run))
    assert "a2a-sdk-1.3" in html and "60 ms commit: SendMessage (1.0)" in html
    assert html.count("ms card:") == 1


def test_environments_are_told_or_said_to_be_unknown(run: Run, tmp_path: Path) -> None:
    assert "cpython-311" in str(pairs.environments(run)) and "88" in str(pairs.environments(run))
    (run.folder / "environments.json").unlink()
    assert "No environments were recorded" in str(pairs.environments(run))


def test_a_recorded_cell_judged_again_says_the_same(run: Run) -> None:
    for cell in run.cells[:2]:
        again = recall(run, cell, REAL)
        assert again.verdict is cell.verdict
        assert {stage: record.findings for stage, record in cell.stages.items()} == {
            stage: tuple(found) for stage, (_, found) in again.findings.stages.items()
        }

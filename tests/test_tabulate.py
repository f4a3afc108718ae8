"""The figures (DESIGN 5, R36): counted over pairs, from graded cells only, with and without pandas alike."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic_runs as synthetic

from a2a_lab.lab.records import CellRecord, Measures, Run, read_run
from a2a_lab.tabulate import frame, insights, row, summary, ungraded
from a2a_lab.verdicts import Stage, Verdict


@pytest.fixture
def run_of(tmp_path: Path) -> Any:
    def read(cells: Sequence[CellRecord], **more: Any) -> Run:
        return read_run(synthetic.write(tmp_path / str(len(list(tmp_path.iterdir()))), cells, **more))

    return read


def test_the_summary_has_exactly_the_figures_that_programs_read(run_of: Any) -> None:
    assert summary(run_of(synthetic.seven("trusting"))) == {
        "pairs": 7,
        "held": 2,
        "pairs_with_renegotiation": 5,
        "pairs_with_orphans": 2,
        "pairs_with_hangs": 1,
        "renegotiation_cycles": 5,
        "refused_sends": 5,
        "orphaned_artifacts": 4,
        "orphaned_tasks": 2,
        "hangs": 1,
        "delivered": 4,
        "errors": {"mode-not-enforced": 5, "stream-never-final": 1, "stream-without-artifact": 1},
    }


def test_an_ungraded_cell_counts_for_and_against_nobody(run_of: Any) -> None:
    run = run_of([*synthetic.seven("trusting"), synthetic.unreachable()])
    assert summary(run)["pairs"] == 7
    assert ungraded(run) == {"unreachable": 1}
    assert not any("dogwood" in insight.text for insight in insights(run))


def test_attempts_make_one_pair_and_all_must_hold(run_of: Any) -> None:
    good = synthetic.cell(synthetic.key())
    bad = synthetic.cell(synthetic.key(attempt=2), measures=Measures(held=False, hangs=2))
    figures = summary(run_of([good, bad]))
    assert (figures["pairs"], figures["held"], figures["pairs_with_hangs"], figures["hangs"]) == (1, 0, 1, 2)
    assert figures["delivered"] == 0


def test_untested_is_not_held(run_of: Any) -> None:
    assert summary(run_of([synthetic.cell(synthetic.key(), measures=Measures(held=None))]))["held"] == 0


def test_an_error_met_twice_in_a_cell_is_one_cell(run_of: Any) -> None:
    cell = synthetic.cell(synthetic.key(), Verdict.REFUSE, errors=("tampered", "tampered"))
    assert summary(run_of([cell]))["errors"] == {"tampered": 1}


def test_the_frame_has_one_row_a_cell_and_every_measure(run_of: Any) -> None:
    table = frame(run_of(synthetic.seven("trusting")))
    assert len(table) == 7
    assert set(Measures.__slots__) <= set(table.columns)
    assert table["renegotiation_cycles"].sum() == 5
    assert table.set_index(["agent", "consumer"]).loc[("cedar", "dash"), "closure"] == "idle-hang"


def test_a_row_holds_plain_values_only() -> None:
    values = row(synthetic.seven("trusting")[-1]).values()
    assert all(value is None or isinstance(value, str | int | float | bool) for value in values)


def test_who_fails_or_works_with_everyone_is_said(run_of: Any) -> None:
    told = [insight.text for insight in insights(run_of(synthetic.seven("enforcing")))]
    assert told == [
        "consumer dash fails with both agents: stream-without-artifact, stream-never-final",
        "agent birch fails with dash alone: stream-without-artifact",
        "agent alder works with both consumers",
        "consumer notes works with both agents",
        "consumer records works with both agents",
    ]


def test_one_pair_proves_nothing_about_everyone(run_of: Any) -> None:
    assert insights(run_of([synthetic.cell(synthetic.key(), Verdict.HANG)])) == []


def test_where_the_postures_disagree_is_said_with_both_ends(run_of: Any) -> None:
    trusting, enforcing = run_of(synthetic.seven("trusting")), run_of(synthetic.seven("enforcing"), posture="enforcing")
    told = [insight for insight in insights(enforcing, trusting) if insight.kind == "disagreement"]
    assert "alder with records: trusting ends in conformance-error (mode-not-enforced), but enforcing ends in hint" in [
        insight.text for insight in told
    ]
    assert all(len(insight.cells) == 2 for insight in told)


def test_counting_needs_no_pandas(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "run", synthetic.seven("trusting"))
    code = (
        "import sys; from a2a_lab.tabulate import summary; from a2a_lab.lab.records import read_run;"
        f"summary(read_run({str(folder)!r}));"
        "assert not {'pandas', 'matplotlib', 'nbformat', 'httpx'} & set(sys.modules), sorted(sys.modules)"
    )
    root = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_findings_of_authority_do_not_count_as_failing(run_of: Any) -> None:
    unsigned = synthetic.finding("unsigned", Stage.SIGNATURE, Verdict.HINT)
    cells = [synthetic.cell(synthetic.key(consumer=name), Verdict.HINT, [unsigned]) for name in ("a", "b")]
    cells[1] = replace(cells[1], verdict=Verdict.ACCEPT)
    assert [insight.kind for insight in insights(run_of(cells))] == ["works with everyone"]

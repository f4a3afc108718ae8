"""Comparison of runs (R36): joined by names, ungraded pairs on nobody's side, different plans said or refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic_runs as synthetic

from a2a_lab.compare import Change, compare
from a2a_lab.errors import RecordFault
from a2a_lab.lab.records import CellRecord, Measures, Run, read_run
from a2a_lab.verdicts import Verdict


@pytest.fixture
def run_of(tmp_path: Path) -> Any:
    def read(cells: Sequence[CellRecord], **more: Any) -> Run:
        return read_run(synthetic.write(tmp_path / str(len(list(tmp_path.iterdir()))), cells, **more))

    return read


def outcome(verdict: Verdict, attempt: int = 1, **axes: Any) -> CellRecord:
    return synthetic.cell(synthetic.key(attempt=attempt, **axes), verdict)


def test_a_run_compared_with_itself_is_the_same(run_of: Any) -> None:
    found = compare(run_of(synthetic.seven("trusting")), run_of(synthetic.seven("trusting")))
    assert {row.change for row in found.changes} == {Change.SAME}
    assert found.is_conclusive and not found.regressions and not found.left_out


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (Verdict.ACCEPT, Verdict.HANG, Change.NEWLY_FAILING),
        (Verdict.REFUSE, Verdict.HINT, Change.NEWLY_PASSING),
        (Verdict.ACCEPT, Verdict.HINT, Change.CHANGED),
        (Verdict.REFUSE, Verdict.ORPHAN, Change.CHANGED),
        (Verdict.HANG, Verdict.HANG, Change.SAME),
    ],
)
def test_what_became_of_a_pair(run_of: Any, before: Verdict, after: Verdict, change: Change) -> None:
    found = compare(run_of([outcome(before)]), run_of([outcome(after)]))
    assert found.changes[0].change is change
    assert bool(found.regressions) == (change is Change.NEWLY_FAILING)


def test_an_upgrade_lines_up_with_what_it_replaced(run_of: Any) -> None:
    old = run_of([replace(outcome(Verdict.ACCEPT, agent_version="1.4"), portable_digest="aa")])
    new = run_of([replace(outcome(Verdict.HANG, agent_version="1.5"), portable_digest="bb")])
    found = compare(old, new)
    assert found.changes[0].change is Change.NEWLY_FAILING
    assert found.vendors == ("alder 1.4 → 1.5", "the card of alder changed")


def test_another_port_is_no_change_of_card(run_of: Any) -> None:
    one = run_of([replace(outcome(Verdict.ACCEPT), card_digest="aa", portable_digest="cc")])
    two = run_of([replace(outcome(Verdict.ACCEPT), card_digest="bb", portable_digest="cc")])
    assert compare(one, two).vendors == ()


def test_of_an_agent_that_one_run_did_not_get_to_no_card_changed(run_of: Any) -> None:
    """R36: what a partial run lacks is missing, not different."""
    alder, birch = (replace(outcome(Verdict.ACCEPT, agent=name), portable_digest=name) for name in ("alder", "birch"))
    drifted = replace(outcome(Verdict.ACCEPT, agent="alder", consumer="dash"), portable_digest="alder, later")
    whole = run_of([alder, birch, drifted])
    plan = tuple(str(cell.key) for cell in whole.cells)
    vendors = whole.header.vendors
    for part in (alder, birch):
        some = run_of([part], plan=plan, vendors=vendors)
        assert not some.is_complete
        assert compare(whole, some).vendors == () == compare(some, whole).vendors


def test_attempts_that_differ_are_flaky_with_their_counts(run_of: Any) -> None:
    steady = run_of([outcome(Verdict.ACCEPT, attempt) for attempt in (1, 2, 3)])
    shaky = run_of([outcome(Verdict.ACCEPT), outcome(Verdict.HANG, 2), outcome(Verdict.ACCEPT, 3)])
    (row,) = compare(steady, shaky).changes
    assert row.change is Change.FLAKY
    assert row.details[0] == "3/3 accept → 2/3 accept, hang"
    assert not compare(steady, shaky).regressions


def test_an_unreachable_agent_is_no_regression_but_makes_the_gate_inconclusive(run_of: Any) -> None:
    before = run_of([outcome(Verdict.ACCEPT, agent="dogwood")])
    found = compare(before, run_of([synthetic.unreachable()]))
    assert found.changes[0].change is Change.NOT_GRADED
    assert not found.regressions and not found.is_conclusive


def test_pairs_that_only_one_run_has_are_said(run_of: Any) -> None:
    cells = synthetic.seven("trusting")
    found = compare(run_of(cells[:-1]), run_of(cells[1:]))
    assert [row.pair[:2] for row in found.of(Change.MISSING)] == [("alder", "notes")]
    assert [row.pair[:2] for row in found.of(Change.NEW)] == [("cedar", "dash")]
    assert not found.is_conclusive


def test_runs_without_a_common_pair_are_refused_with_the_reason(run_of: Any) -> None:
    seven = run_of(synthetic.seven("trusting"))
    faults = run_of([outcome(Verdict.HANG, agent="dogwood")], matrix="faults")
    with pytest.raises(RecordFault, match=r"matrix seven-pairs.*matrix faults.*no pair in common; expected at least"):
        compare(seven, faults)
    enforcing = run_of(synthetic.seven("enforcing"), posture="enforcing")
    with pytest.raises(RecordFault, match="differ in posture only"):
        compare(seven, enforcing)


def test_trusting_against_enforcing_joins_without_the_posture(run_of: Any) -> None:
    trusting, enforcing = run_of(synthetic.seven("trusting")), run_of(synthetic.seven("enforcing"), posture="enforcing")
    found = compare(trusting, enforcing, across_postures=True)
    assert len(found.changes) == 7 and not found.left_out
    assert len(found.of(Change.NEWLY_PASSING)) == 3
    batch = next(row for row in found.changes if row.pair[:2] == ("cedar", "batch"))
    assert {"delivered no → yes", "renegotiation cycles 1 → 0", "orphaned tasks 1 → 0"} <= set(batch.details)


def test_the_same_verdict_with_worse_measures_is_a_change(run_of: Any) -> None:
    cells = [
        synthetic.cell(synthetic.key(), measures=Measures(held=held, hangs=n)) for held, n in ((True, 0), (False, 1))
    ]
    (row,) = compare(run_of(cells[:1]), run_of(cells[1:])).changes
    assert row.change is Change.CHANGED
    assert row.details == ("held yes → no", "hangs 0 → 1")


def test_time_alone_is_no_change(run_of: Any) -> None:
    cells = [synthetic.cell(synthetic.key(), measures=Measures(time_to_verdict_s=s, requests=int(s))) for s in (1, 9)]
    assert compare(run_of(cells[:1]), run_of(cells[1:])).changes[0].change is Change.SAME


def test_the_json_form_counts_every_kind_and_lists_what_differs(run_of: Any) -> None:
    cells = synthetic.seven("trusting")
    shown = json.loads(json.dumps(compare(run_of(cells), run_of(cells[1:])).as_json()))
    assert shown["counts"]["missing"] == 1 and shown["counts"]["same"] == 6
    assert shown["conclusive"] is False
    assert [row["pair"] for row in shown["changes"]] == ["alder/notes/JSONRPC/1.0/default/trusting"]

"""Known failures are expected with a reason, and an unexpected pass is as loud as an unexpected failure (issue 4)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.expectations import (
    Expected,
    Outcome,
    as_json,
    compare,
    counts,
    find_expectations,
    of_vendors,
    read_expectations,
    refuse_unmatched,
)
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.records import CellKey, CellRecord
from a2a_lab.vendors.registry import find_vendor
from a2a_lab.vendors.vendor import Expectation
from a2a_lab.verdicts import NotGradeable, Verdict

KEY = CellKey.parse("fasta2a-2.1@2.1.1/a2a-sdk-1.3/JSONRPC/1.0/send/foreign/1")
KNOWN = Expected(cells="fasta2a-2.1@*", reason="naive timestamps", verdict="orphan", cause="wire-type-mismatch")


def cell(verdict: Verdict | NotGradeable, *errors: str) -> CellRecord:
    return CellRecord(key=KEY, verdict=verdict, authority="advisory", errors=errors, said="what it said")


@pytest.mark.parametrize(
    ("found", "expected", "outcome"),
    [
        (cell(Verdict.ACCEPT), None, Outcome.WORKS),
        (cell(Verdict.HINT), None, Outcome.WORKS),
        (cell(Verdict.REFUSE, "x"), None, Outcome.UNEXPECTED_FAILURE),
        (cell(Verdict.ORPHAN, "wire-type-mismatch"), KNOWN, Outcome.AS_EXPECTED),
        (cell(Verdict.ORPHAN, "never-ended"), KNOWN, Outcome.FAILS_OTHERWISE),
        (cell(Verdict.HANG, "wire-type-mismatch"), KNOWN, Outcome.FAILS_OTHERWISE),
        (cell(Verdict.ACCEPT), KNOWN, Outcome.UNEXPECTED_PASS),
        (cell(Verdict.ACCEPT), replace(KNOWN, flaky=True), Outcome.WORKS),
        (cell(Verdict.ORPHAN, "wire-type-mismatch"), replace(KNOWN, flaky=True), Outcome.AS_EXPECTED),
        (cell(Verdict.HINT), replace(KNOWN, verdict="hint", cause=""), Outcome.WORKS),
        (cell(Verdict.ACCEPT), replace(KNOWN, verdict="hint", cause=""), Outcome.UNEXPECTED_PASS),
        (cell(Verdict.REFUSE), replace(KNOWN, verdict="hint", cause=""), Outcome.UNEXPECTED_FAILURE),
        (cell(NotGradeable.HARNESS_ERROR), None, Outcome.SKIPPED),
        (cell(NotGradeable.HARNESS_ERROR), KNOWN, Outcome.SKIPPED),
        (cell(NotGradeable.UNREACHABLE), KNOWN, Outcome.SKIPPED),
    ],
)
def test_each_outcome_beside_what_was_expected(found: CellRecord, expected: Expected | None, outcome: Outcome) -> None:
    (one,) = compare([found], [expected] if expected else [])
    assert one.outcome is outcome


def test_news_is_loud_in_both_directions_and_a_skipped_cell_never_passes() -> None:
    news = {outcome for outcome in Outcome if outcome.is_news}
    assert news == {Outcome.UNEXPECTED_FAILURE, Outcome.UNEXPECTED_PASS, Outcome.FAILS_OTHERWISE}


def test_the_first_pattern_that_means_a_cell_counts() -> None:
    general = Expected(cells="*", reason="all of them", verdict="refuse")
    (one,) = compare([cell(Verdict.ORPHAN, "wire-type-mismatch")], [KNOWN, general])
    assert one.expected is KNOWN


def test_a_cause_may_be_a_finding_of_a_cell_that_has_no_error() -> None:
    (one,) = compare([cell(Verdict.ORPHAN)], [replace(KNOWN, cause="")])
    assert one.outcome is Outcome.AS_EXPECTED


def test_a_pattern_that_means_no_cell_is_a_mistake() -> None:
    refuse_unmatched([KNOWN], [str(KEY)])
    with pytest.raises(Misuse, match="matches no cell of the matrix"):
        refuse_unmatched([replace(KNOWN, cells="fasta2a-2.2@*")], [str(KEY)])


def test_what_programs_read_names_each_cell_that_is_news_or_was_skipped() -> None:
    told = as_json(compare([cell(Verdict.ACCEPT), cell(NotGradeable.HARNESS_ERROR)], [KNOWN]))
    assert [(one["outcome"], one["found"]) for one in told["cells"]] == [
        ("unexpected pass", "accept"),
        ("skipped", "harness-error"),
    ]
    assert told["cells"][0]["reason"] == "naive timestamps" and told["cells"][1]["reason"] == "what it said"
    assert told["counts"] == {
        **dict.fromkeys((outcome.value for outcome in Outcome), 0),
        "unexpected pass": 1,
        "skipped": 1,
    }
    assert sum(counts([]).values()) == 0


def test_the_bundled_expectations_mean_cells_of_their_matrix() -> None:
    for name in ("real", "real-full"):
        plan = [str(planned.key) for planned in plan_pairs(Matrix.load(name))]
        expectations = find_expectations(name)
        refuse_unmatched(expectations, plan)
        assert all(one.reason.endswith(".") for one in expectations), "a sentence"
    assert find_expectations("seven-pairs") == ()


def test_a_matrix_file_has_its_expectations_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.with_name("mine.expectations.toml").write_text(
        '[[expect]]\ncells = "*"\nverdict = "hang"\nreason = "Known."\n'
    )
    (one,) = find_expectations(str(file))
    assert (one.verdict, one.told) == ("hang", "hang")


def test_vendor_files_may_say_it_of_themselves_once() -> None:
    own = Expectation(cells="a2a-sdk-1.3@*", reason="Known.", finding="slow")
    vendor = replace(find_vendor("a2a-sdk-1.3"), expectations=(own,))
    (one,) = of_vendors([vendor, replace(vendor, name="a2a-sdk-1.3+compat")])
    assert (one.cells, one.cause, one.where) == ("a2a-sdk-1.3@*", "slow", "a2a-sdk-1.3/vendor.toml")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            '[[expect]]\ncells = "*"\nverdict = "hang"\nreason = " "\n',
            "an expectation without a reason hides a failure",
        ),
        ('[[expect]]\ncells = "*"\nreason = "Known."\n', "nothing is expected otherwise"),
        ('[[expect]]\ncells = "*"\nverdict = "hung"\nreason = "Known."\n', "did you mean 'hang'"),
        ('[[expect]]\ncell = "*"\nverdict = "hang"\nreason = "Known."\n', "cells: missing"),
        ('[[expects]]\ncells = "*"\n', "unknown key 'expects'"),
        ("[[", "not TOML"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(Misuse, match=complaint):
        read_expectations(path)

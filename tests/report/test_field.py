"""The page of real vendors at its full size: news in both directions alike, who differs, and a bounded file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_field as field
import synthetic_runs as synthetic

from a2a_lab.lab.expectations import Compared, Expected, Outcome, counts
from a2a_lab.lab.records import Run, read_run
from a2a_lab.report import expected, known, overview, pairs_head
from a2a_lab.report import fragments as show
from a2a_lab.report.again import report_again
from a2a_lab.report.evidence import BUDGET
from a2a_lab.verdicts import Stage, Verdict


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return field.write_field(tmp_path_factory.mktemp("field") / "run")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return read_run(folder)


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    made = report_again([folder], page=tmp_path_factory.mktemp("page") / "page.html")
    return made.page.read_text(encoding="utf-8")


def test_the_page_of_the_whole_field_is_bounded(run: Run, page: str) -> None:
    """1.5 MB of timelines, and about two thousand bytes for each cell in all the tables together."""
    assert len(run.cells) > 700
    assert len(page.encode()) < BUDGET + 2_500 * len(run.cells)
    assert len(page.encode()) < 4_000_000


def test_each_cell_has_its_evidence_and_a_link_to_it_from_the_matrix(run: Run, page: str) -> None:
    (matrix,) = re.findall(r'<h2 id="matrix".*?(?=<h2)', page, re.DOTALL)
    linked, there = set(re.findall(r'href="#(c-[^"]*)"', matrix)), set(re.findall(r'id="(c-[^"]*)"', page))
    assert len(there) == len(run.cells) and linked == there


def test_news_is_as_loud_when_something_works_as_when_it_fails(run: Run, page: str) -> None:
    tally = counts(known.compared(run)[0])
    assert tally["unexpected failure"] > 5 and tally["unexpected pass"] > 5
    loud = re.findall(r'<b class="news n-([A-Z_]*)">', page)
    assert loud.count("UNEXPECTED_FAILURE") == tally["unexpected failure"]
    assert loud.count("UNEXPECTED_PASS") == tally["unexpected pass"]
    tiles = re.findall(r'<div class="tile news"><b>(\d+)</b><span>([a-z ]*)', str(show.headline(run)))
    assert [name for _, name in tiles] == ["unexpected failures", "unexpected passes"]
    assert f"{tally['unexpected pass']} unexpected passes" in pairs_head.sentence(run)


def test_what_fails_as_expected_is_told_once_a_reason_and_folded(run: Run) -> None:
    told = str(show.expectations(run))
    as_expected = [one for one in known.compared(run)[0] if one.outcome is Outcome.AS_EXPECTED]
    reasons = {one.expected.reason for one in as_expected if one.expected}
    assert f"{len(as_expected)} cells fail as expected, for " in told
    assert '<details class="fold" data-fold="expected">' in told
    assert all(told.count(synthetic_text(reason)) >= 1 for reason in reasons)
    assert told.count("a tool is missing") == 1  # all that was skipped for it


def synthetic_text(text: str) -> str:
    from a2a_lab.report.html import LONG, escape

    return str(escape(text, cap=LONG))[:80]


def test_found_names_what_was_expected_and_found_beside_the_cause() -> None:
    """A cell may show the finding of its expectation without ending in it: `found` must not leave it out."""
    notes = [synthetic.finding("timestamp-form", Stage.RPC, Verdict.CONFORMANCE_ERROR)]
    cell = replace(synthetic.cell(synthetic.key(), Verdict.CONFORMANCE_ERROR, notes), errors=())
    wanted = Expected(cells="*", reason="r", verdict="conformance-error", cause="timestamp-form")
    one = Compared(cell=cell, outcome=Outcome.AS_EXPECTED, expected=wanted)
    assert one.told == wanted.told == "conformance-error with timestamp-form"
    other = replace(one, cell=replace(cell, errors=("answer-shape-dropped",)))
    assert other.told == "conformance-error with answer-shape-dropped and timestamp-form"
    assert replace(one, expected=None).told == "conformance-error"


def test_the_overview_has_a_square_for_each_agent_and_consumer(run: Run) -> None:
    told = str(show.overview(run))
    met = {(cell.key.agent, cell.key.consumer) for cell in run.cells}
    assert len(re.findall(r'<a href="#c-[^"]*" title="[^"]*" class="cell g-', told)) == len(met)
    assert 'class="cell g-all"' in told and 'class="cell g-none"' in told


def test_who_differs_is_told_from_both_sides(run: Run) -> None:
    told = str(show.differences(run))
    assert "Agents that differ for the same consumer" in told
    assert "Consumers that differ for the same agent" in told
    assert 'data-name="differ-consumer"' in told and 'data-name="differ-agent"' in told


def test_the_odd_one_of_a_row_or_column_is_the_disagreement() -> None:
    works = [synthetic.cell(synthetic.key(agent, "notes")) for agent in ("alder", "birch")]
    fails = synthetic.cell(synthetic.key("cedar", "notes"), Verdict.REFUSE)
    skipped = synthetic.unreachable()
    assert overview.odd_ones([*works, fails, skipped]) == {str(fails.key)}
    assert overview.odd_ones([works[0], fails]) == {str(works[0].key), str(fails.key)}
    assert overview.odd_ones(works) == set()
    half = [*works, fails, synthetic.cell(synthetic.key("dogwood", "notes"), Verdict.REFUSE)]
    assert overview.odd_ones(half) == set()


def test_an_expectation_that_means_no_cell_does_not_cost_the_page(tmp_path: Path) -> None:
    """A run of yesterday's matrix is shown with today's expectations; where they do not fit the page says so."""
    folder = field.write_field(tmp_path / "run", only="fasta2a-2.1@")
    text = (folder / "records.jsonl").read_text()
    (folder / "records.jsonl").write_text(text.replace('"matrix":"real-full"', '"matrix":"no-such-matrix"'))
    told = str(expected.expectations(read_run(folder)))
    assert "What was expected cannot be told: " in told and "no-such-matrix" in told

"""Every misbehaviour of `faults.toml` (issue 2, Show 5): named by enforcing, paid for by trusting, in one table.

`pytest -s -k table tests/lab/test_faults.py` prints the table. Honest agents stand among the others, so that a matrix
that blames everybody shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from a2a_lab.bundled import bundled
from a2a_lab.lab.matrix import KIND, Matrix
from a2a_lab.lab.records import CellRecord
from a2a_lab.verdicts import Kind
from tests.lab.meetings import Met, left_of, meet, orphans_in_ledger

pytestmark = pytest.mark.slow

FAULTS = Matrix.load("faults")
PAIRS = pytest.mark.parametrize("pair", FAULTS.pairs, ids=" x ".join)
POSTURES = ("trusting", "enforcing")
BLAMED = [pair for pair in FAULTS.pairs if FAULTS.agents[pair[0]].expects]
HONEST = [pair for pair in FAULTS.pairs if not FAULTS.agents[pair[0]].expects]


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Met:
    return meet(bundled(KIND, "faults").read_text(encoding="utf-8"), tmp_path_factory.mktemp("runs"))


def slugs(cell: CellRecord) -> set[str]:
    return {finding.slug for finding in cell.findings}


# ---- named, and nobody else ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", BLAMED, ids=" x ".join)
def test_enforcing_names_what_the_agent_does(faults: Met, pair: tuple[str, str]) -> None:
    cell = faults.of("enforcing")[pair]
    missing = set(FAULTS.agents[pair[0]].expects) - slugs(cell)
    assert not missing, f"{cell.verdict}: {cell.said}; found {sorted(slugs(cell))}"


@pytest.mark.parametrize("pair", HONEST, ids=" x ".join)
def test_nothing_honest_is_blamed_and_it_costs_nothing(faults: Met, pair: tuple[str, str]) -> None:
    enforcing, trusting = faults.of("enforcing")[pair], faults.of("trusting")[pair]
    assert (enforcing.verdict.value, enforcing.authority) == ("accept", "authoritative"), enforcing.said
    assert {one.slug for one in enforcing.findings if one.kind is not Kind.NOTE} == set()
    for cell in (enforcing, trusting):
        counted = cell.measures
        assert counted.delivered and counted.held and not counted.orphans and not counted.hangs
        assert counted.renegotiation_cycles == counted.refused_sends == 0


@PAIRS
def test_a_cell_that_did_not_work_says_why(faults: Met, pair: tuple[str, str]) -> None:
    cell = faults.of("enforcing")[pair]
    assert cell.said
    if not cell.works:
        assert cell.errors, cell.verdict


# ---- the two postures see one agent ----------------------------------------------------------------------------------


@PAIRS
def test_what_the_agent_keeps_does_not_depend_on_who_looks(faults: Met, pair: tuple[str, str]) -> None:
    """R36: `held` comes from the evidence of either posture, and both agree where both could tell."""
    held = {faults.of(posture)[pair].measures.held for posture in POSTURES} - {None}
    assert len(held) <= 1, [(posture, faults.of(posture)[pair].measures.diverged) for posture in POSTURES]


@PAIRS
def test_whatever_the_agent_holds_is_on_record(faults: Met, pair: tuple[str, str]) -> None:
    """R35: each left-over in the agent's own store has its row, or a row for a task that nobody can name."""
    for posture in POSTURES:
        cell, kept = faults.cells[posture, *pair], faults.kept[posture, *pair]
        rows = left_of(cell, kept)
        unnamed = sum(count for (task, _), count in rows.items() if not task)
        missing = kept.left - rows
        assert not missing or len({task for task, _ in missing}) <= unnamed, f"{posture}: not on record: {missing}"
        assert kept.payloads <= cell.measures.payload_sends
        in_ledger = orphans_in_ledger(faults, cell)
        assert in_ledger == Counter((one.task_id, one.artifact_or_message_id, one.bytes) for one in cell.orphans)


@PAIRS
def test_enforcing_waits_no_longer_than_its_clocks_and_repeats_no_payload(faults: Met, pair: tuple[str, str]) -> None:
    """R24, R30: no wait ends at a transport timeout, no payload is sent twice."""
    counted = faults.of("enforcing")[pair].measures
    assert counted.hangs == counted.renegotiation_cycles == counted.refused_sends == 0
    assert counted.payload_sends <= 1
    assert counted.waited_s <= FAULTS.clocks.total_s + 1.5


# ---- the table -------------------------------------------------------------------------------------------------------


def cost(cell: CellRecord) -> str:
    """What a meeting cost a consumer that believed everything."""
    one = cell.measures
    paid = [
        f"hang of {one.waited_s:.0f} s" if one.hangs else "",
        f"{one.renegotiation_cycles} cycle" if one.renegotiation_cycles else "",
        f"{one.orphans} left behind" if one.orphans else "",
        "" if one.delivered else "no result",
    ]
    return ", ".join(filter(None, paid)) or "nothing that it sees"


def table(faults: Met) -> str:
    """One line a pair: who, what enforcing calls it, how that ends, and what trusting pays."""
    rows: list[Sequence[str]] = [("agent x consumer", "named", "enforcing ends in", "trusting pays")]
    for pair in FAULTS.pairs:
        enforcing, trusting = faults.of("enforcing")[pair], faults.of("trusting")[pair]
        named = ", ".join(FAULTS.agents[pair[0]].expects) or "-"
        rows.append((" x ".join(pair), named, f"{enforcing.verdict.value}, {enforcing.authority}", cost(trusting)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows)


PAID = {
    "default-modes x text": "1 cycle",
    "commits-then-rejects x records": "1 cycle, 3 left behind, no result",
    "never-final x watch": "hang, 3 left behind, no result",
    "never-final-pings x watch": "hang, 3 left behind, no result",
    "drips x watch": "hang, 3 left behind, no result",
    "blocks-forever x text": "hang, 2 left behind, no result",
    "single-event x watch": "no result",
    "downgrades x watch": "no result",
    "artifact-then-failed x watch": "2 left behind, no result",
    "interrupts x text": "2 left behind, no result",
    "tampered x text": "nothing that it sees",
    "undeclared-output x text": "nothing that it sees",
    "context-replaced x text": "nothing that it sees",
    "rotates-streaming x watch": "nothing that it sees",
}


def test_the_table_says_what_each_costs_in_trusting(faults: Met) -> None:
    told = table(faults)
    print(f"\n{told}")
    assert len(told.splitlines()) == 1 + len(FAULTS.pairs)
    paid = {
        " x ".join(pair): re.sub(r"hang of \d+ s", "hang", cost(cell)) for pair, cell in faults.of("trusting").items()
    }
    assert {pair: paid[pair] for pair in PAID} == PAID


def test_the_page_of_the_faults_shows_every_one(tmp_path: Path) -> None:
    """Show 4 and 5: a matrix of which a third never answers still makes its page."""
    from a2a_lab.report.making import make_report

    made = make_report("faults", page=tmp_path / "faults.html", out=str(tmp_path / "runs"))
    page = made.page.read_text(encoding="utf-8")
    for agent in FAULTS.agents.values():
        assert agent.name in page
        for slug in agent.expects:
            assert slug in page, f"{agent.name}: {slug} is not on the page"
    assert "<script>alert(1)</script>" not in page
    assert {posture: len(run.cells) for posture, run in made.runs.items()} == dict.fromkeys(POSTURES, len(FAULTS.pairs))

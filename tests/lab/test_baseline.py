"""What somebody measured of the same pairs, beside a run (issue 4, item 4): agreement, causes, and each difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.judge.visit import Account
from a2a_lab.lab.baseline import Agreement, Measured, agreements, causes, hold, read_baseline
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_recall import Beside, write_beside
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.records import CellKey, CellRecord, Header, Run, RunWriter
from a2a_lab.net.redact import Redactor
from a2a_lab.verdicts import NotGradeable, Verdict
from tests.cli.console import lab

HEAD = "agent,consumer,scenario,worked,note\n"
FINE, FAILED = Account(ok=True, events=1), Account(ok=False, error="no url")


def run_of(folder: Path, **accounts: Account | None) -> Run:
    """A run whose cells, agent x on consumer NAME, hold these accounts; None is a cell that could not be run."""
    cells = []
    for name, account in accounts.items():
        consumer, _, attempt = name.partition("_")
        key = CellKey.parse(f"oak@1/{consumer}/JSONRPC/1.0/send/foreign/{attempt or 1}")
        if account is not None:
            write_beside(folder / f"{name}.har", Beside(address="", own_card_url="", account=account), Redactor())
        cells.append(
            CellRecord(
                key=key,
                verdict=Verdict.ACCEPT if account is not None else NotGradeable.HARNESS_ERROR,
                authority="advisory",
                errors=("wire-type-mismatch",) if account is not None and not account.ok else (),
                evidence=f"{name}.har" if account is not None else None,
                said="what it said",
            )
        )
    header = Header(
        run="r1",
        tool="t",
        posture="mixed",
        matrix="m",
        plan=(),
        parameters={},
        vendors={},
        started=datetime(2026, 1, 1, tzinfo=UTC).isoformat(),
    )
    return Run(folder=folder, header=header, cells=tuple(cells), footer=None)


def line(consumer: str, worked: bool, note: str = "") -> Measured:
    return Measured(place=("oak", consumer, "send"), worked=worked, note=note)


def test_a_run_is_held_against_it_by_what_its_consumers_told(tmp_path: Path) -> None:
    run = run_of(tmp_path, a=FINE, b=FAILED, c=FINE, d=FAILED, e=None, f_1=FINE, f_2=FAILED)
    lines = [line("a", True), line("b", False), line("c", False), line("d", True, "why"), line("e", True)]
    held = hold(run, [*lines, line("f", True), line("g", True)])
    assert {one.line.place[1]: one.agreement for one in held} == {
        "a": Agreement.AGREES,
        "b": Agreement.AGREES,
        "c": Agreement.DIFFERS,
        "d": Agreement.KNOWN,
        "e": Agreement.NOT_GRADED,
        "f": Agreement.DIFFERS,  # attempts that differ among themselves agree with nothing
        "g": Agreement.NOT_RUN,
    }
    assert sum(agreements(held).values()) == 7 and causes(held) == {"wire-type-mismatch": 3}


def test_an_error_beside_an_answer_is_a_failure(tmp_path: Path) -> None:
    """As crewai has it: the run goes on, and the delegation had failed."""
    run = run_of(tmp_path, a=Account(ok=True, events=1, error="HTTP 500"))
    (one,) = hold(run, [line("a", False)])
    assert one.agreement is Agreement.AGREES


def test_a_run_of_other_pairs_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"has no pair of the baseline; .* such as oak with z"):
        hold(run_of(tmp_path, a=FINE), [line("z", True)])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("agent,consumer\n", "expected agent,consumer,scenario,worked,note"),
        (HEAD, "no line of a pair"),
        (HEAD + "oak,a,send,Y,\n", "line 2: worked is 'Y'; expected yes or no"),
        (HEAD + "oak,a,sent,yes,\n", "line 2: scenario is 'sent'; expected send or stream"),
        (HEAD + "oak,a,send,yes\n", "line 2: expected 5 values"),
        (HEAD + "oak,a,send,yes,,\n", "line 2: expected 5 values"),
        (HEAD + "oak,a,send,yes,\noak,a,send,no,\n", "oak x a x send is there twice"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused_by_line(text: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(Misuse, match=complaint):
        read_baseline(file)


def test_one_that_is_not_there_says_which_are() -> None:
    with pytest.raises(Misuse, match="there are measured"):
        read_baseline("mesured")
    with pytest.raises(Misuse, match="cannot be read"):
        read_baseline("nowhere/mine.csv")


def test_the_measured_baseline_names_cells_of_the_full_matrix() -> None:
    """Each line is a cell that `real-full` has, under one name; a difference that it explains says so in a sentence."""
    planned = {(one.agent.name, one.consumer.name, one.key.scenario) for one in plan_pairs(Matrix.load("real-full"))}
    lines = read_baseline("measured")
    assert len(lines) == 282 and {one.place for one in lines} <= planned
    assert Counter(one.worked for one in lines) == {True: 125, False: 157}
    assert all(one.note.endswith(".") for one in lines if one.note)


def test_the_command_shows_every_pair_the_causes_and_each_difference(tmp_path: Path) -> None:
    made = run_of(tmp_path, a=FINE, b=FAILED, c=FINE)
    header = replace(made.header, plan=tuple(str(cell.key) for cell in made.cells))
    with RunWriter(tmp_path / "run", header) as writer:
        for cell in made.cells:
            writer.append(replace(cell, evidence=f"../{cell.evidence}"))
        writer.close(ended=header.started)
    lines = ["oak,a,send,yes,", "oak,b,send,no,", "oak,c,send,no,since it was mended.", "oak,z,send,no,"]
    (tmp_path / "mine.csv").write_text(HEAD + "\n".join(lines))
    said = lab("compare", "run", "--baseline", "mine.csv", cwd=tmp_path)
    assert said.code == 0, said.err
    rows = [line.split() for line in said.out.splitlines()]
    assert ["a", "Y", "Y"] in rows and ["b", "n", "n", "wire-type-mismatch"] in rows and ["c", "n", "Y", "!"] in rows
    assert "oak" in said.out.splitlines() and "\\n" not in said.out
    assert "1  wire-type-mismatch: card, version and method agree" in said.out
    assert "differs as noted: c on oak, send: since it was mended." in said.out
    assert "2 agrees; 1 not run; 1 differs as noted" in said.out
    (tmp_path / "mine.csv").write_text(HEAD + "oak,c,send,no,")
    told = lab("compare", "run", "--baseline", "mine.csv", "--json", cwd=tmp_path)
    assert told.code == 1 and told.json["agreement"]["differs"] == 1 and told.json["cells"][0]["run"] is True


def test_one_run_compares_with_a_baseline_and_with_nothing_else(tmp_path: Path) -> None:
    alone = lab("compare", str(tmp_path), cwd=tmp_path)
    assert alone.code == 2 and "name a second one, or --baseline measured" in alone.err
    both = lab("compare", str(tmp_path), str(tmp_path), "--baseline", "measured", cwd=tmp_path)
    assert both.code == 2 and "a run is compared with another run, or with a baseline" in both.err

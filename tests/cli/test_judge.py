"""`a2a-lab judge`: a line a case for programs, a table for people, and the exit codes of R39."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from a2a_lab.cli.app import app
from a2a_lab.cli.judge import expanded

BOOK = Path(__file__).parents[2] / "data" / "cases"
LIFE = sorted(BOOK.glob("life-*.json"))


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["judge", *map(str, arguments)])
    return result.exit_code, result.stdout


def wrong(folder: Path) -> Path:
    """A case whose expectation is not what the evidence shows."""
    case = json.loads(LIFE[0].read_text(encoding="utf-8"))
    case["expect"]["verdict"] = "accept" if case["expect"]["verdict"] != "accept" else "refuse"
    path = folder / "wrong.json"
    path.write_text(json.dumps(case), encoding="utf-8")
    return path


def test_each_case_is_one_line_of_json() -> None:
    code, out = run(*LIFE, "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [answer["case"] for answer in answers] == [path.stem for path in LIFE]
    assert all(answer["met"] for answer in answers)


def test_an_expectation_that_is_not_met_ends_with_1(tmp_path: Path) -> None:
    code, out = run(wrong(tmp_path), LIFE[1])
    assert code == 1 and "not met" in out


def test_a_file_that_cannot_be_read_ends_with_2(tmp_path: Path) -> None:
    (tmp_path / "cut.har").write_text('{"log": {"entries": [')
    code, out = run(tmp_path / "cut.har", LIFE[1])
    assert code == 2 and "not-json" in out and "1 of the files cannot be read" in out


def test_a_folder_stands_for_the_evidence_in_it() -> None:
    assert len(list(expanded([BOOK / "own"]))) == len(list((BOOK / "own").glob("*.json")))
    code, out = run(BOOK / "own")
    assert code == 0 and "not met" in out and "all" in out  # the columns of the summary


def test_a_person_sees_what_each_side_says() -> None:
    code, out = run(BOOK / "life-18-terminal-without-artifact.json")
    said = " ".join(out.split())
    assert code == 0
    assert "expected stream conformance-error, found conformance-error: met" in said
    assert "opinions differ: By the spec this stream is legal" in said
    assert "as the specification would have it" in said


def test_hostile_text_of_a_vendor_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    case = json.loads(LIFE[0].read_text(encoding="utf-8")) | {"summary": "[bold]x[/bold] \x1b[31mred"}
    (tmp_path / "odd.json").write_text(json.dumps(case), encoding="utf-8")
    _, out = run(tmp_path / "odd.json")
    assert "\x1b[31m" not in out and "[bold]x[/bold]" in out


@pytest.mark.parametrize(("option", "value"), [("--topology", "star"), ("--trust", "absent.json")])
def test_an_option_that_cannot_be_right_is_refused(option: str, value: str) -> None:
    result = CliRunner().invoke(app, ["judge", str(LIFE[0]), option, value])
    assert result.exit_code != 0 and option in str(result.exception)

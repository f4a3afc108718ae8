"""A run that is not whole does not look whole, and one in which nothing was tested is not green (R39, DESIGN 6)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_runs as synthetic

from a2a_lab.lab.records import RECORDS
from tests.cli.console import lab
from tests.live.servers import Door, both, vendor_file

TOKEN = '[auth]\nkind = "static"\nbearer_env = "HELPDESK_TOKEN"'
MATRIX = '[vendors.agents.helpdesk]\nagent = "helpdesk.toml"\n[vendors.consumers.enforcing]\n'


@pytest.fixture(params=["interrupted", "cut"])
def partial(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A run of seven cells that was ended after five: with a footer that says so, or killed."""
    folder = synthetic.write_seven(tmp_path, "trusting")
    header, *cells, footer = (folder / RECORDS).read_text().splitlines()
    ended = json.dumps(json.loads(footer) | {"cells": 5, "interrupted": True})
    kept = [header, *cells[:5], *([ended] if request.param == "interrupted" else [])]
    (folder / RECORDS).write_text("\n".join(kept) + "\n")
    return folder


@pytest.mark.parametrize("command", ["report", "judge"])
def test_a_run_that_is_not_whole_is_told_so(command: str, partial: Path, tmp_path: Path) -> None:
    shown = lab(command, str(partial), cwd=tmp_path)
    assert "after 5 of 7 cells" in shown.out + shown.err
    told = lab(command, str(partial), "--json", cwd=tmp_path).json
    assert (told["complete"], told["missing"]) == (False, 2)


def test_what_a_partial_run_lacks_is_told_beside_a_comparison(partial: Path, tmp_path: Path) -> None:
    whole = synthetic.write_seven(tmp_path / "whole", "trusting")
    shown = lab("compare", str(whole), str(partial), cwd=tmp_path)
    assert "after 5 of 7 cells" in shown.err and f"run --resume {partial}" in shown.err
    told = lab("compare", str(whole), str(partial), "--json", cwd=tmp_path).json
    assert (told["complete"], told["missing"], told["conclusive"]) == (False, 2, False)


def test_a_whole_run_is_whole(tmp_path: Path) -> None:
    folder = str(synthetic.write_seven(tmp_path, "trusting"))
    for command in (("report", folder), ("judge", folder), ("compare", folder, folder)):
        shown = lab(*command, "--json", cwd=tmp_path)
        assert (shown.json["complete"], shown.json["missing"], shown.err) == (True, 0, "")


def test_with_a_wrong_token_nothing_is_tested_and_the_gate_is_not_green(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELPDESK_TOKEN", "wrong-one")
    (tmp_path / "m.toml").write_text(MATRIX)
    with both(Door(good=lambda token: token == "right"), cards_too=True) as (agent, _):
        vendor_file(tmp_path, agent.url, "allow_send = true", TOKEN)
        ran = lab("run", "m.toml", cwd=tmp_path)
        as_json = lab("run", "m.toml", "--json", cwd=tmp_path)
    (folder, *_) = sorted(path.parent for path in tmp_path.rglob(RECORDS))
    again = lab("report", str(folder), cwd=tmp_path)
    for said in (ran, as_json, again):
        assert said.code == 2
        assert "nothing was tested: no cell of run" in said.err and "auth-needed)" in said.err
    assert as_json.json["complete"], "it was run to its end"


def test_one_cell_that_was_graded_is_something(tmp_path: Path) -> None:
    cells = synthetic.seven("trusting")
    skipped = [replace(synthetic.unreachable(), key=cell.key) for cell in cells]
    some = synthetic.write(tmp_path / "some", [cells[0], *skipped[1:]])
    none = synthetic.write(tmp_path / "none", skipped)
    assert lab("report", str(some), cwd=tmp_path).code == 0
    assert lab("report", str(none), cwd=tmp_path).code == 2
    assert lab("report", str(some), str(none), "--page", "x.html", cwd=tmp_path).code == 2

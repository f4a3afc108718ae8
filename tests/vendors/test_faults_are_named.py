"""Run `faults.toml` in the enforcing posture: every misbehaviour is called by its name, and honesty by none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.plan import make_plan
from a2a_lab.lab.run import run_plan

MATRIX = Matrix.load("faults")
PAIRS = pytest.mark.parametrize(("agent", "consumer"), MATRIX.pairs, ids=" x ".join)
WORKERS = 12  # these cells wait for agents that never answer, so more of them fit beside each other


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """The record of each cell, by agent and consumer."""
    out = tmp_path_factory.mktemp("runs")
    plan = make_plan(MATRIX, postures=["enforcing"])
    folder: Path = asyncio.run(run_plan(MATRIX, plan, out=out, parameters={}, workers=WORKERS))
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]
    return {(line["agent"], line["consumer"]): line for line in lines if line["kind"] == "cell"}


def slugs(cell: dict[str, Any], *, above_notes: bool = False) -> set[str]:
    found = [finding for stage in cell["stages"].values() for finding in stage["findings"]]
    return {finding["slug"] for finding in found if not above_notes or finding["kind"] != "note"}


@pytest.mark.slow
@PAIRS
def test_what_an_agent_does_is_called_by_its_name(
    cells: dict[tuple[str, str], dict[str, Any]], agent: str, consumer: str
) -> None:
    cell = cells[agent, consumer]
    missing = set(MATRIX.agents[agent].expects) - slugs(cell)
    assert not missing, f"{cell['verdict']}: {cell['said']}; found {sorted(slugs(cell))}"


@pytest.mark.slow
@PAIRS
def test_an_agent_of_which_nothing_is_expected_is_accepted_and_authoritative(
    cells: dict[tuple[str, str], dict[str, Any]], agent: str, consumer: str
) -> None:
    if MATRIX.agents[agent].expects:
        return
    cell = cells[agent, consumer]
    assert (cell["verdict"], cell["authority"]["status"]) == ("accept", "authoritative"), cell["said"]
    assert slugs(cell, above_notes=True) == set()

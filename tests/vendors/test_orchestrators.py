"""The three orchestrators on an agent that is deployed anew between two tasks (issue 4, item 5), by their traffic.

Heavy: crewai's environment is 1 GB.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from a2a_lab.lab.api import run_matrix
from a2a_lab.lab.approaches import Way, ways_of
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.records import CellRecord, read_run
from a2a_lab.vendors.registry import find_vendor
from tests.cli.console import lab
from tests.vendors.real import built_or_skipped

pytestmark = pytest.mark.vendors

CREW, GRAPH, ROUTER = "crewai-1.15", "langgraph-supervisor-0.0", "grpc-router-1.3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pairings = Matrix.load("orchestrators").pairings
    assert pairings is not None
    for entry in [*pairings.agents.values(), *pairings.consumers.values()]:
        assert entry.vendor is not None
        built_or_skipped(entry.vendor)
    while time.time() % 300 > 270:  # one of CrewAI's caches ends with each fifth minute of the clock
        time.sleep(1.0)
    return run_matrix("orchestrators", posture="both", out=str(tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def ways(folder: Path) -> dict[str, Way]:
    run = read_run(folder)
    assert all(cell.works for cell in run.cells), [(str(cell.key), cell.said) for cell in run.cells]
    return {way.consumer: way for way in ways_of(run)}


def test_the_order_of_looks_choice_and_commit(ways: dict[str, Way]) -> None:
    """CrewAI fetches before its model chooses, and again for the delegation; the others once."""
    assert {name: {one.order for one in way.approaches} for name, way in ways.items()} == {
        CREW: {"card, match, card, commit"},
        GRAPH: {"card, match, commit"},
        ROUTER: {"card, match, commit"},
    }
    assert {name: {one.looks for one in way.approaches} for name, way in ways.items()} == {
        CREW: {2},
        GRAPH: {1},
        ROUTER: {1},
    }


def test_what_the_second_task_stands_on(ways: dict[str, Way]) -> None:
    """Two caches of CrewAI keep a card for 300 s unasked, LangGraph what is in its state, the router none."""
    stale = "kept, while the agent's changed"
    assert {name: way.second for name, way in ways.items()} == {
        CREW: stale,
        GRAPH: stale,
        ROUTER: "fetched again, the new card",
    }
    assert all(one.conditional == 0 for way in ways.values() for one in way.approaches)


def test_a_kept_card_that_is_outdated_is_a_finding_about_the_consumer(folder: Path) -> None:
    run = read_run(folder)
    slugs = {cell.key.consumer: {one.slug for one in cell.findings} for cell in run.cells}
    assert {name for name, found in slugs.items() if "kept-card-changed" in found} == {CREW, GRAPH}


def test_what_became_of_the_tenant_and_what_was_known(ways: dict[str, Way]) -> None:
    """The 0.3 that CrewAI speaks has no tenant; nobody probes, and nobody has a signature to look at."""
    assert {
        name: {one.tenant for way in one_way.approaches for one in way.turns} for name, one_way in ways.items()
    } == {
        CREW: {"none named"},
        GRAPH: {"acme sent"},
        ROUTER: {"acme sent"},
    }
    known = {one.known for way in ways.values() for each in way.approaches for one in each.turns}
    assert known == {("bound by its card", "unsigned", "not probed")}


def test_the_table_is_there_for_people_and_programs(folder: Path, tmp_path: Path) -> None:
    shown = lab("steps", str(folder), cwd=tmp_path)
    assert shown.code == 0 and "card, match, card, commit" in shown.out and "one of its cells" in shown.out
    told = json.loads(lab("steps", str(folder), "--json", cwd=tmp_path).out)
    assert {one["consumer"] for one in told["consumers"]} == {CREW, GRAPH, ROUTER}
    assert all(cell["card_at_the_end"] for one in told["consumers"] for cell in one["cells"])


# -- faults of CrewAI, at cells of the full matrix


def cell_of(agent: str, out: Path) -> CellRecord:
    for name in (agent, CREW):
        built_or_skipped(find_vendor(name))
    folder = run_matrix("real-full", posture="both", out=str(out), only=f"{agent}@*/{CREW}/*/send/*")
    (cell,) = read_run(folder).cells
    return cell


def test_a_crew_that_swallows_a_failure_is_told_so(tmp_path: Path) -> None:
    cell = cell_of("python-a2a-0.5", tmp_path)
    assert cell.errors == ("failure-swallowed",) and not cell.works
    (said,) = [one for one in cell.findings if one.slug == "failure-swallowed"]
    assert said.values["whose"] == "consumer"


def test_a_crew_that_hands_an_artifact_on_twice_is_told_so(tmp_path: Path) -> None:
    (said,) = [one for one in cell_of("langgraph-api-0.16", tmp_path).findings if one.slug == "artifact-doubled"]
    assert said.values["found"] == 2 and said.values["whose"] == "consumer"

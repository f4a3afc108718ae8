"""The bundled matrix `real`, whole, against what is known of it (issue 4, item 8): every pair, and no news.

It runs once, in about a minute; each of its pairs is a test of its own, so that a pair that this machine cannot run is
in the summary with its reason. What was met at all is said at the end of the test run (see conftest).
"""

from __future__ import annotations

import os

import pytest

from a2a_lab.lab.api import run_matrix
from a2a_lab.lab.expectations import Compared, Outcome, compare_run
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.records import read_run
from tests.vendors.met import MET, Met

pytestmark = pytest.mark.vendors

MATRIX = "real"
PAIRINGS = Matrix.load(MATRIX).pairings
assert PAIRINGS is not None
EXCUSED = {"tool-missing", "no-registry"}  # what a machine may lack; everything else that ends a cell is a defect


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> list[Compared]:
    run = read_run(run_matrix(MATRIX, posture="both", out=str(tmp_path_factory.mktemp("real"))))
    assert run.footer is not None and not run.footer.interrupted
    found = compare_run(run)
    pytestconfig.stash[MET] = Met.of(found)
    return found


def test_every_cell_of_the_plan_was_run(compared: list[Compared]) -> None:
    assert PAIRINGS is not None
    assert len(compared) == len(PAIRINGS.pairs) * len(PAIRINGS.scenarios) == 50


@pytest.mark.parametrize(("agent", "consumer"), PAIRINGS.pairs, ids=map(" x ".join, PAIRINGS.pairs))
def test_a_pair_fares_as_is_known_of_it(agent: str, consumer: str, compared: list[Compared]) -> None:
    mine = [one for one in compared if (one.cell.key.agent, one.cell.key.consumer) == (agent, consumer)]
    lacking = [one.cell for one in mine if one.outcome is Outcome.SKIPPED]
    assert all(set(cell.errors) & EXCUSED for cell in lacking), [cell.said for cell in lacking]
    news = [one for one in mine if one.outcome.is_news]
    assert not news, [(str(one.cell.key), one.outcome.value, one.told, one.cell.said) for one in news]
    if lacking:
        pytest.skip(f"{agent} x {consumer}: {lacking[0].said}")


def test_real_vendors_are_met_where_python_packages_can_be_installed(compared: list[Compared]) -> None:
    """A run that installed the lab itself a minute ago, and says so by variable, has no excuse for meeting nobody."""
    met = Met.of(compared)
    if not met.names and os.environ.get("A2A_LAB_VENDORS") == "required":
        pytest.fail(f"no real vendor was met: {met.lacking}")
    if not met.names:
        pytest.skip(f"no real vendor was met: {met.lacking}")


def test_the_end_of_a_test_run_names_every_vendor_that_was_not_met() -> None:
    met = Met(names=("a", "b"), lacking={"c+x": "no node"})
    assert list(met.told({"d": "heavy", "e": "heavy"})) == [
        "real vendors met: a, b",
        "REAL VENDORS NOT MET: d, e: heavy",
        "REAL VENDORS NOT MET: c+x: no node",
    ]
    assert "NONE" in next(Met(names=(), lacking={}).told({}))

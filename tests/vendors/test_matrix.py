"""A matrix file is validated before anything runs; the bundled ones hold behaviour only."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from pathlib import Path

import pytest

import a2a_lab
from a2a_lab.bundled import bundled, bundled_names, bundled_root
from a2a_lab.errors import Misuse
from a2a_lab.lab.matrix import KIND, Matrix
from a2a_lab.verdicts import CATALOGUE

OAK = '[agents.oak]\nversion = "1.0"\n[consumers.notes]\n'
BUNDLED = pytest.mark.parametrize("name", ["seven-pairs", "faults"])


def parse(text: str) -> Matrix:
    return Matrix.parse(text, name="mine", where="mine.toml")


def test_a_matrix_needs_agents_consumers_and_pairs_only() -> None:
    matrix = parse('pairs = [["oak", "notes"]]\n' + OAK)
    assert matrix.pairs == (("oak", "notes"),) and matrix.scenario == "default"
    assert (matrix.clocks.silence_s, matrix.clocks.hang_s, matrix.clocks.total_s) == (1.0, 2.0, 4.0)
    assert (matrix.transport_timeout_s, matrix.cap_s) == (5.0, 10.0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pairs = [", r"mine.toml: no TOML: "),
        (OAK, r"mine.toml.pairs: missing; a list of at least one \[agent, consumer\]"),
        ("pairs = []\n" + OAK, r"pairs: \[\] is not a list of at least one"),
        ('pairs = ["oak x notes"]\n' + OAK, r"pairs\[0\]: 'oak x notes' is not \[agent, consumer\]"),
        ('pairs = [["ash", "notes"]]\n' + OAK, r"pairs\[0\]: no agent is called 'ash'; known are oak"),
        ('pairs = [["oak", "note"]]\n' + OAK, r"no consumer is called 'note'; did you mean 'notes'"),
        ('pairs = [["oak", "notes"], ["oak", "notes"]]\n' + OAK, r"pairs\[1\]: oak x notes is there twice"),
        (
            'pears = [["oak", "notes"]]\npairs = [["oak", "notes"]]\n' + OAK,
            r"unknown key 'pears' .*did you mean 'pairs'",
        ),
        ('pairs = [["oak", "notes"]]\n' + OAK + "[clocks]\nsilence = 1", r"mine.toml.clocks: unknown key 'silence'"),
        (
            'pairs = [["oak", "notes"]]\n' + OAK + "[clocks]\nhang_s = 9",
            r"silence_s.*at most hang_s \(9\).*total_s \(4\)",
        ),
        ('agents = 1\npairs = [["oak", "notes"]]', r"mine.toml.agents: a table is expected, found 1"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_matrix_is_refused_by_name(text: str, sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        parse(text)


def test_a_matrix_is_loaded_by_path_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('pairs = [["oak", "notes"]]\n' + OAK)
    assert Matrix.load(file).name == "mine"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("seven-pears", r"no bundled data/matrices is called 'seven-pears'; .*did you mean 'seven-pairs'"),
        ("nowhere/at-all.toml", r"the matrix 'nowhere/at-all.toml' cannot be read"),
    ],
)
def test_a_matrix_that_is_not_there_says_which_are(name: str, sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        Matrix.load(name)


# ---- the bundled ones --------------------------------------------------------------------------------------------


def test_bundled_files_are_those_of_the_checkout() -> None:
    assert set(bundled_names(KIND)) >= {"seven-pairs", "faults"}
    assert bundled(KIND, "faults").parent == bundled_root() / KIND
    assert bundled_names("data/nothing") == ()


@BUNDLED
def test_every_vendor_of_a_bundled_matrix_is_met(name: str) -> None:
    matrix = Matrix.load(name)
    assert {agent for agent, _ in matrix.pairs} == set(matrix.agents)
    assert {consumer for _, consumer in matrix.pairs} == set(matrix.consumers)
    assert matrix.description and all(agent.purpose for agent in matrix.agents.values())


def test_the_seven_pairs_are_three_agents_and_four_consumers() -> None:
    matrix = Matrix.load("seven-pairs")
    assert (len(matrix.agents), len(matrix.consumers), len(matrix.pairs)) == (3, 4, 7)
    assert (matrix.transport_timeout_s, matrix.clocks.hang_s) == (5.0, 2.0)


@BUNDLED
def test_a_matrix_holds_behaviour_and_no_outcome(name: str) -> None:
    """No figure of the report may be written where it is meant to come out."""
    text = bundled(KIND, name).read_text(encoding="utf-8")
    keys = set(_keys(tomllib.loads(text)))
    outcomes = {"held", "cycles", "orphans", "hangs", "delivered", "verdict", "refused_sends", "posture"}
    assert not keys & outcomes


def _keys(data: object) -> list[str]:
    if isinstance(data, dict):
        return [*data, *(key for value in data.values() for key in _keys(value))]
    return [key for value in data for key in _keys(value)] if isinstance(data, list) else []


def test_what_faults_expects_is_what_the_lab_can_say() -> None:
    for module in pkgutil.walk_packages(a2a_lab.__path__, "a2a_lab."):
        if module.name.startswith(("a2a_lab.core", "a2a_lab.wire", "a2a_lab.net", "a2a_lab.judge", "a2a_lab.lab")):
            importlib.import_module(module.name)
    expected = {slug for agent in Matrix.load("faults").agents.values() for slug in agent.expects}
    assert expected <= set(CATALOGUE)

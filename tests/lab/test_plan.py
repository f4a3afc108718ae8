"""What will run is known before anything runs, and what cannot be is refused by name (DESIGN 7, issue 2 bad input)."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.plan import make_plan

SEVEN = Matrix.load("seven-pairs")


def keys(**options: Any) -> list[str]:
    return [str(cell.key) for cell in make_plan(SEVEN, **options)]


def test_a_plan_is_every_pair_in_each_posture_in_the_order_of_the_file() -> None:
    planned = keys()
    assert len(planned) == len(set(planned)) == 14
    assert planned[0] == "alder@1.0/notes/JSONRPC/1.0/default/trusting/1"
    assert planned[7] == "alder@1.0/notes/JSONRPC/1.0/default/enforcing/1"
    assert [key.split("/")[1] for key in planned[:7]] == [consumer for _, consumer in SEVEN.pairs]


def test_attempts_are_cells_of_their_own() -> None:
    assert [key[-2:] for key in keys(postures=["enforcing"], only="alder@1.0/notes", attempts=3)] == ["/1", "/2", "/3"]


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ("birch", 6),
        ("birch@2.3/dash", 2),
        ("/enforcing/", 7),
        ("*/dash/*/enforcing/*", 2),
        ("cedar*trusting*", 2),
        ("alder@1.0/notes, cedar@0.9/dash", 4),
    ],
)
def test_only_keeps_cells_whose_key_holds_or_matches_the_text(only: str, count: int) -> None:
    assert len(keys(only=only)) == count


@pytest.mark.parametrize(("name", "count"), [("birch", 6), ("dash", 4), ("notes", 4)])
def test_must_include_keeps_the_pairs_of_one_vendor(name: str, count: int) -> None:
    assert len(keys(must_include=name)) == count


def test_another_occupant_keeps_the_name_and_brings_its_own_version() -> None:
    """R36: runs are joined by names, so that an upgrade lines up; the version is an attribute."""
    cells = make_plan(SEVEN, postures=["enforcing"], must_include="alder", replaced={"alder": "faults:tampered"})
    assert {str(cell.key).split("/")[0] for cell in cells} == {"alder@1.4"}
    assert {cell.agent.misbehaviours[0].name for cell in cells} == {"tampered-card"}
    within = make_plan(SEVEN, must_include="alder", replaced={"alder": "cedar"})
    assert {cell.key.agent_version for cell in within} == {"0.9"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"only": "alder@1.0/dash"}, r"nothing to run: --only 'alder@1.0/dash' .*a2a-lab plan seven-pairs lists them"),
        ({"only": ","}, r"nothing to run"),
        ({"must_include": "alda"}, r"--must-include 'alda': seven-pairs has no vendor of that name.*'alder'"),
        ({"replaced": {"alda": "cedar"}}, r"--replace alda=cedar: seven-pairs has no agent 'alda'.*'alder'"),
        ({"replaced": {"alder": "cider"}}, r"no agent 'cider' in seven-pairs.*'cedar'.*expected NAME or MATRIX:NAME"),
        ({"replaced": {"alder": "faults:tempered"}}, r"no agent 'tempered' in faults.*'tampered'"),
        ({"replaced": {"alder": "nowhere:oak"}}, r"no bundled data/matrices is called 'nowhere'"),
        ({"postures": ["enforced"]}, r"posture 'enforced': expected trusting or enforcing.*'enforcing'"),
        ({"attempts": 0}, r"attempts 0: a cell is run at least once"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_cannot_be_planned_is_refused_by_name(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        keys(**options)

"""What a run will do, cell by cell, before anything runs: pairs of a matrix, times postures, times attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from a2a_lab.errors import Misuse
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.records import CellKey
from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.vendors.spec import AgentSpec
from a2a_lab.vendors.tables import nearest

Posture = Literal["trusting", "enforcing"]
POSTURES: tuple[Posture, ...] = ("trusting", "enforcing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell to run: its key, and the two that meet in it."""

    key: CellKey
    agent: AgentSpec
    consumer: ConsumerSpec


def make_plan(
    matrix: Matrix,
    *,
    postures: Iterable[str] = POSTURES,
    only: str = "",
    must_include: str = "",
    replaced: Mapping[str, str] | None = None,
    attempts: int = 1,
) -> tuple[Cell, ...]:
    """The cells of a run, in the order in which they are to start.

    `only` keeps cells whose key holds the text, or matches it where it has wildcards; `must_include` keeps pairs of
    the named agent or consumer; `replaced` puts another occupant into an agent's place (`{"alder": "faults:tampered"}`,
    an agent of another matrix). Raises Misuse for an unknown posture or name, and where nothing is left to run.
    """
    if matrix.pairings is not None:
        raise Misuse(
            f"{matrix.name} pairs real vendors, whose cells are planned by `plan_pairs`; it has no simulated ones"
        )
    if attempts < 1:
        raise Misuse(f"attempts {attempts}: a cell is run at least once; give 1 or more")
    agents = dict(matrix.agents)
    for name, other in (replaced or {}).items():
        agents[name] = _replacement(matrix, name, other)
    if must_include and must_include not in agents and must_include not in matrix.consumers:
        known = [*agents, *matrix.consumers]
        raise Misuse(
            f"--must-include {must_include!r}: {matrix.name} has no vendor of that name{nearest(must_include, known)}"
        )
    cells = []
    for posture in postures:
        if posture not in POSTURES:
            raise Misuse(f"posture {posture!r}: expected trusting or enforcing{nearest(posture, POSTURES)}")
        for agent_name, consumer_name in matrix.pairs:
            if must_include and must_include not in (agent_name, consumer_name):
                continue
            agent, consumer = agents[agent_name], matrix.consumers[consumer_name]
            for attempt in range(1, attempts + 1):
                key = CellKey(
                    agent=agent_name,
                    agent_version=agent.version,
                    consumer=consumer_name,
                    binding=agent.binding,
                    version=agent.dialect,
                    scenario=matrix.scenario,
                    posture=posture,
                    attempt=attempt,
                )
                if not only or matches(str(key), only):
                    cells.append(Cell(key=key, agent=agent, consumer=consumer))
    if not cells:
        raise Misuse(
            f"nothing to run: --only {only!r} matches no cell of {matrix.name}; a2a-lab plan {matrix.name} lists them"
        )
    return tuple(cells)


def matches(key: str, pattern: str) -> bool:
    """Whether a key is meant by several patterns, separated by commas: any of them is enough."""
    patterns = [part.strip() for part in pattern.split(",") if part.strip()]
    return any(fnmatchcase(key, part) if any(c in part for c in "*?[") else part in key for part in patterns)


def _replacement(matrix: Matrix, name: str, other: str) -> AgentSpec:
    if name not in matrix.agents:
        raise Misuse(f"--replace {name}={other}: {matrix.name} has no agent {name!r}{nearest(name, matrix.agents)}")
    source, colon, agent = other.rpartition(":")
    held = Matrix.load(source).agents if colon else matrix.agents
    if agent not in held:
        raise Misuse(
            f"--replace {name}={other}: no agent {agent!r} in {source or matrix.name}{nearest(agent, held)}; "
            "expected NAME or MATRIX:NAME"
        )
    return replace(held[agent], name=name)

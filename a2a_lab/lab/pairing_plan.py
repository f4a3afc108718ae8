"""The cells of a matrix of real vendors: each pair, in each scenario, as often as asked.

Binding and version are axes of a cell's key and are told before anything runs, so they are what both claim to speak:
the first of the agent's that the consumer has as well, and the agent's own first where they have none in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from a2a_lab.errors import Misuse
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairings import OWN, AgentEntry, ConsumerEntry
from a2a_lab.lab.plan import matches
from a2a_lab.lab.records import CellKey
from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.vendors.live import LiveVendor
from a2a_lab.vendors.tables import nearest
from a2a_lab.wire.dialects import BINDINGS

OF_THE_LAB = ("1.0", "0.3")  # what the lab's own consumers speak
CARD = "card"  # the scenario of a cell that reads and sends nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCell:
    """One cell to run: its key, and the two that meet in it.

    `refused` says why an agent that is not ours does not meet this consumer, or not so; such a cell is recorded, and
    not run (R37).
    """

    key: CellKey
    agent: AgentEntry
    consumer: ConsumerEntry
    refused: str = ""


def plan_pairs(
    matrix: Matrix, *, posture: str = "both", only: str = "", must_include: str = "", attempts: int = 1
) -> tuple[PairCell, ...]:
    """The cells of a run, in the order in which they are to start.

    A `posture` other than "both" leaves the lab's own consumers of the other posture out. `only` and `must_include`
    are as in `make_plan`. Raises Misuse for what is unknown, and where nothing is left to run.
    """
    pairings = matrix.pairings
    assert pairings is not None, "the caller asked for the plan of a matrix of simulated vendors"
    if attempts < 1:
        raise Misuse(f"attempts {attempts}: a cell is run at least once; give 1 or more")
    if posture not in ("both", *OWN):
        raise Misuse(f"posture {posture!r}: expected trusting, enforcing or both{nearest(posture, ('both', *OWN))}")
    known = [*pairings.agents, *pairings.consumers]
    if must_include and must_include not in known:
        raise Misuse(
            f"--must-include {must_include!r}: {matrix.name} has no vendor of that name{nearest(must_include, known)}"
        )
    cells = [
        PairCell(
            key=_key(agent, consumer, scenario, attempt),
            agent=agent,
            consumer=consumer,
            refused=why_refused(agent.live, consumer) if agent.live is not None else "",
        )
        for agent, consumer in ((pairings.agents[one], pairings.consumers[other]) for one, other in pairings.pairs)
        if (not must_include or must_include in (agent.name, consumer.name))
        and (posture == "both" or consumer.posture in ("foreign", posture))
        for scenario in _scenarios(pairings.scenarios, agent, consumer)
        for attempt in range(1, attempts + 1)
    ]
    kept = tuple(cell for cell in cells if not only or matches(str(cell.key), only))
    if not kept:
        raise Misuse(
            f"nothing to run: --only {only!r} matches no cell of {matrix.name}; a2a-lab plan {matrix.name} lists them"
        )
    return kept


def why_refused(live: LiveVendor, consumer: ConsumerEntry) -> str:
    """Why a consumer may not meet an agent that is not ours; empty where it may, if only to read its card.

    The lab's own enforcing consumer cleans up after itself. What a trusting one or somebody else's client sends is
    another matter, and needs a yes of its own.
    """
    if consumer.how == "enforcing":
        return ""
    who = "the trusting consumer" if consumer.how == "trusting" else f"{consumer.name}, which the lab does not steer,"
    if live.granted.because:
        return f"{who} would send, and {live.granted.because}"
    if not live.allow_trusting:
        return f"{who} leaves behind what it likes: {live.where} has no allow_trusting = true"
    return ""


def _scenarios(scenarios: Sequence[str], agent: AgentEntry, consumer: ConsumerEntry) -> Sequence[str]:
    """Those of the matrix; one look at the card where an agent that is not ours is not to be sent to."""
    is_read = agent.live is not None and bool(agent.live.granted.because) and consumer.how == "enforcing"
    return (CARD,) if is_read else scenarios


def spec_of(cell: PairCell) -> ConsumerSpec:
    """What a consumer of a pair wants, as a matrix of simulated vendors would say it: a line of text, no skill."""
    is_stream = cell.key.scenario == "stream"
    wait: Literal["stream", "block"] = "stream" if is_stream else "block"
    name = cell.consumer.name
    return ConsumerSpec(name=name, skill=None, stream=is_stream, wait=wait, supports=OF_THE_LAB, bindings=BINDINGS)


def _key(agent: AgentEntry, consumer: ConsumerEntry, scenario: str, attempt: int) -> CellKey:
    vendor = consumer.vendor
    return CellKey(
        agent=agent.name,
        agent_version=agent.vendor.version,
        consumer=consumer.name,
        binding=_common(agent.vendor.bindings, vendor.bindings if vendor else BINDINGS),
        version=_common(agent.vendor.dialects, vendor.dialects if vendor else OF_THE_LAB),
        scenario=scenario,
        posture=consumer.posture,
        attempt=attempt,
    )


def _common(offered: Sequence[str], spoken: Sequence[str]) -> str:
    return next((one for one in offered if one in spoken), offered[0])

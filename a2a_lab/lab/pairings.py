"""The part of a matrix that pairs real vendors: agents and consumers of `data/vendors`, and the lab's own consumers.

Read and checked before anything is built: a vendor that there is none of, a role that it does not have, or a pair that
names nobody costs a sentence. Holds no expectation; what is known to fail stands in a file of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from a2a_lab.core.resolution import WELL_KNOWN, is_well_known
from a2a_lab.errors import Misuse
from a2a_lab.lab.live_files import FOLDER, find_live, is_path, live_names
from a2a_lab.vendors.live import LiveVendor
from a2a_lab.vendors.registry import read_vendors
from a2a_lab.vendors.tables import Table, nearest
from a2a_lab.vendors.vendor import Vendor

SCENARIOS = ("send", "stream")
OWN = ("trusting", "enforcing")
EXTERNAL = "external"
WAIT_S = 120.0  # for a client that a person points at the lab; then the cell is given up

How = Literal["foreign", "trusting", "enforcing", "external"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """An agent of the matrix: a vendor, launched with further options, or one that is live and not ours.

    `card_also_at` is a path below its address at which the recorder offers its card as well, None for none: how a user
    fares who tells his client where the card lies.
    """

    name: str
    vendor: Vendor | LiveVendor
    options: tuple[str, ...] = ()
    card_also_at: str | None = None

    @property
    def live(self) -> LiveVendor | None:
        """The agent that is not ours, where it is one."""
        return self.vendor if isinstance(self.vendor, LiveVendor) else None

    @property
    def built(self) -> Vendor:
        """The vendor that the lab builds and launches; only of those."""
        assert isinstance(self.vendor, Vendor), "a live agent is neither built nor launched"
        return self.vendor

    @property
    def told(self) -> str:
        """What it is, for a reader of a plan."""
        if (live := self.live) is None:
            return self.vendor.title
        return ", ".join(filter(None, (live.title or live.name, "live", live.environment)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerEntry:
    """A consumer of the matrix. `vendor` is None for the lab's own and for an external one.

    `wait_s` is how long the lab waits for the first request of an external one.
    """

    name: str
    how: How
    vendor: Vendor | None = None
    options: tuple[str, ...] = ()
    wait_s: float = WAIT_S

    @property
    def posture(self) -> str:
        """The column of the records: only the lab's own consumers have a posture that the lab chose."""
        return self.how if self.how in OWN else "foreign"

    @property
    def version(self) -> str:
        return self.vendor.version if self.vendor is not None else self.how


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairings:
    """Who meets whom, once in each scenario."""

    agents: Mapping[str, AgentEntry]
    consumers: Mapping[str, ConsumerEntry]
    scenarios: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def parse(
        cls, table: Table, *, folder: Path | None = None, live: Mapping[str, LiveVendor] | None = None
    ) -> Pairings:
        """Read the `[vendors]` table of a matrix. Raises Misuse that names file, key and what was expected.

        `all = true` takes every vendor that there is, beside those that are named. `folder` is that of the matrix, for
        vendor files that it names; `live` are vendors that a run kept, which are taken in place of files.
        """
        known = read_vendors()
        named = [_agent(name, inner, known, folder, live or {}) for name, inner in table.named("agents").items()]
        agents = {entry.name: entry for entry in named}
        consumers = {name: _consumer(name, inner, known) for name, inner in table.named("consumers").items()}
        if table.flag("all", False):
            agents = {one.name: AgentEntry(name=one.name, vendor=one) for one in known.values() if one.agent} | agents
            foreign = (one for one in known.values() if one.consumer)
            consumers = {
                one.name: ConsumerEntry(name=one.name, how="foreign", vendor=one) for one in foreign
            } | consumers
        scenarios = table.texts("scenarios", SCENARIOS, empty=False)
        for scenario in scenarios:
            if scenario not in SCENARIOS:
                table.refuse(
                    "scenarios", f"a list of {' and '.join(SCENARIOS)}; {scenario!r}{nearest(scenario, SCENARIOS)}"
                )
        for key, entries in (("agents", agents), ("consumers", consumers)):
            if not entries:
                table.refuse(key, 'a table of at least one, such as [vendors.agents."a2a-sdk-1.3"]')
        pairs = _pairs(table, agents, consumers)
        table.done()
        return cls(agents=agents, consumers=consumers, scenarios=scenarios, pairs=pairs)


def _agent(
    name: str, table: Table, known: Mapping[str, Vendor], folder: Path | None, kept: Mapping[str, LiveVendor]
) -> AgentEntry:
    who = table.text("agent", name)
    if (live := kept.get(name) or kept.get(Path(name).stem) or find_live(who, folder=folder)) is not None:
        if who in known:
            table.refuse(
                "agent", f"a name that only one has: {who} is a vendor of the lab, and a file in {FOLDER}/ too"
            )
        table.done()
        return AgentEntry(name=Path(name).stem if is_path(name) else name, vendor=live)
    vendor, also_at = _vendor(name, table, "agent", known), table.text("card_also_at", "") or None
    if also_at is not None and not (also_at.startswith("/") and is_well_known(also_at)):
        table.refuse("card_also_at", f"a well-known path, such as {WELL_KNOWN!r}")
    if also_at is not None and name in known:
        table.refuse("card_also_at", f"for an agent under a name of its own, such as {name}+told: it is not as served")
    entry = AgentEntry(name=name, vendor=vendor, options=table.texts("options", ()), card_also_at=also_at)
    table.done()
    return entry


def _consumer(name: str, table: Table, known: Mapping[str, Vendor]) -> ConsumerEntry:
    who = table.text("consumer", name)
    own: dict[str, How] = {"trusting": "trusting", "enforcing": "enforcing", EXTERNAL: "external"}
    if who in own:
        entry = ConsumerEntry(name=name, how=own[who], wait_s=table.number("wait_s", WAIT_S, least=1.0))
    else:
        vendor = _vendor(name, table, "consumer", known, more=own)
        entry = ConsumerEntry(name=name, how="foreign", vendor=vendor, options=table.texts("options", ()))
    table.done()
    return entry


def _vendor(
    name: str, table: Table, role: str, known: Mapping[str, Vendor], *, more: Mapping[str, How] | None = None
) -> Vendor:
    """The vendor that an entry names under its role, or by its own name."""
    who = table.text(role, name)
    if who not in known:
        near = nearest(who, [*known, *(more or ()), *(live_names() if role == "agent" else ())])
        raise Misuse(f"{table.where}.{role}: there is no vendor {who!r}{near}", where=table.where, key=role, value=who)
    vendor = known[who]
    if role not in vendor.roles or getattr(vendor, role) is None:
        raise Misuse(
            f"{table.where}.{role}: {who} is no {role}; its roles are {', '.join(vendor.roles)}",
            where=table.where,
            key=role,
            value=who,
        )
    return vendor


def _pairs(
    table: Table, agents: Mapping[str, AgentEntry], consumers: Mapping[str, ConsumerEntry]
) -> tuple[tuple[str, str], ...]:
    """Every agent with every consumer, or those of `pairs` where some are named.

    The lab's own consumers go without the recorder, and meet no agent whose card only the recorder offers.
    """

    def meets(agent: str, consumer: str) -> bool:
        return agents[agent].card_also_at is None or consumers[consumer].how not in OWN

    if "pairs" not in table:
        return tuple((agent, consumer) for agent in agents for consumer in consumers if meets(agent, consumer))
    found: dict[tuple[str, str], None] = {}
    listed = table.take("pairs")
    for place, pair in enumerate(listed if isinstance(listed, list) else [listed]):
        where = f"{table.where}.pairs[{place}]"
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise Misuse(f"{where}: {pair!r} is not [agent, consumer]", where=where, value=pair)
        for name, held, what in ((pair[0], agents, "agent"), (pair[1], consumers, "consumer")):
            if name not in held:
                raise Misuse(f"{where}: no {what} is called {name!r}{nearest(name, held)}", where=where, value=name)
        if (pair[0], pair[1]) in found:
            raise Misuse(f"{where}: {pair[0]} x {pair[1]} is there twice", where=where, value=pair)
        if not meets(pair[0], pair[1]):
            told = f"{pair[1]} finds cards by itself, and {pair[0]} offers one at card_also_at to others only"
            raise Misuse(f"{where}: {told}; leave the pair out", where=where, value=pair)
        found[pair[0], pair[1]] = None
    if not found:
        table.refuse("pairs", "a list of at least one [agent, consumer], or leave it out for all")
    return tuple(found)

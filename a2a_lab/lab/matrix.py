"""A matrix: agents, consumers, which of them are paired, and the clocks they run under. Read from one TOML file.

Validates everything before anything runs, so that a misspelt key or a pair naming nobody costs a sentence, not a run.
Holds behaviour only: no count and no verdict stands in a matrix.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_lab.bundled import bundled
from a2a_lab.core.policy import Clocks
from a2a_lab.errors import Misuse
from a2a_lab.lab.pairings import Pairings
from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.vendors.live import LiveVendor
from a2a_lab.vendors.spec import AgentSpec
from a2a_lab.vendors.tables import Table, nearest

KIND = "data/matrices"
SIMULATED = Clocks(silence_s=1.0, hang_s=2.0, total_s=4.0)
REAL = Clocks(silence_s=5.0, hang_s=10.0, total_s=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Which consumers meet which agents, and how long anybody waits.

    `transport_timeout_s` is that of the trusting posture's HTTP client, `cap_s` the lab's own limit for a cell of it;
    `clocks` are those of the enforcing posture (R30). `scenario` is the name that goes into the cell key. `pairings`
    are real vendors in place of simulated ones; a matrix has one kind or the other. `source` is the text that it was
    read from, empty where a program made it.
    """

    name: str
    description: str
    scenario: str
    agents: Mapping[str, AgentSpec]
    consumers: Mapping[str, ConsumerSpec]
    pairs: tuple[tuple[str, str], ...]
    clocks: Clocks
    transport_timeout_s: float
    cap_s: float
    pairings: Pairings | None = None
    source: str = ""

    @classmethod
    def load(cls, name_or_path: str | Path) -> Matrix:
        """A matrix by bundled name ("seven-pairs") or by path; raises Misuse that says what is wrong and where."""
        path = Path(name_or_path)
        if path.suffix != ".toml" and not path.is_file():
            path = bundled(KIND, str(name_or_path))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise Misuse(f"the matrix {str(path)!r} cannot be read: {fault}", path=str(path)) from fault
        return cls.parse(text, name=path.stem, where=path.name, folder=path.parent)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        name: str,
        where: str,
        folder: Path | None = None,
        live: Mapping[str, LiveVendor] | None = None,
    ) -> Matrix:
        """A matrix from TOML text; `where` is how messages call the file.

        `folder` and `live` are for the agents in it that are not ours, as in `Pairings.parse`.
        """
        try:
            top = Table(tomllib.loads(text), where)
        except tomllib.TOMLDecodeError as fault:
            raise Misuse(f"{where}: no TOML: {fault}", where=where) from fault
        if "reach" in top:
            raise Misuse(
                f"{where}: looks like a vendor file, as it has 'reach', and a matrix is expected; a2a-lab check "
                f"{where} checks the agent, and a matrix names the file under [vendors]",
                where=where,
            )
        pairings: Pairings | None = None
        if "vendors" in top:
            pairings = Pairings.parse(Table(top.take("vendors"), f"{where}.vendors"), folder=folder, live=live)
        if pairings is not None and any(key in top for key in ("agents", "consumers", "pairs")):
            top.refuse("vendors", "alone: a matrix pairs real vendors, or simulated agents and consumers, not both")
        agents = {key: AgentSpec.parse(key, data.rest(), data.where) for key, data in top.named("agents").items()}
        consumers = {
            key: ConsumerSpec.parse(key, data.rest(), data.where) for key, data in top.named("consumers").items()
        }
        clocks = Table(top.take("clocks", {}), f"{where}.clocks")
        transport_timeout_s = clocks.number("transport_timeout_s", 5.0 if pairings is None else 10.0)
        matrix = cls(
            name=name,
            description=top.text("description", ""),
            scenario=top.text("scenario", "default"),
            agents=agents,
            consumers=consumers,
            pairs=() if pairings is not None else _pairs(top, agents, consumers),
            pairings=pairings,
            clocks=_clocks(clocks) if pairings is None else _clocks(clocks, REAL),
            transport_timeout_s=transport_timeout_s,
            # A peer that sends pings keeps a read timeout from ever firing; something must end the cell.
            cap_s=clocks.number("cap_s", (2 if pairings is None else 6) * transport_timeout_s),
            source=text,
        )
        clocks.done()
        top.done()
        return matrix


def _clocks(table: Table, usual: Clocks = SIMULATED) -> Clocks:
    """Defaults are those of R30: simulated agents answer in milliseconds, an SDK on a loaded machine takes its time."""
    clocks = Clocks(
        silence_s=table.number("silence_s", usual.silence_s),
        hang_s=table.number("hang_s", usual.hang_s),
        total_s=table.number("total_s", usual.total_s),
    )
    if not clocks.silence_s <= clocks.hang_s <= clocks.total_s:
        table.refuse("silence_s", f"at most hang_s ({clocks.hang_s:g}), and that at most total_s ({clocks.total_s:g})")
    return clocks


def _pairs(
    top: Table, agents: Mapping[str, AgentSpec], consumers: Mapping[str, ConsumerSpec]
) -> tuple[tuple[str, str], ...]:
    """The pairs as named; each at most once, each of an agent and a consumer of this file."""
    found: list[tuple[str, str]] = []
    listed = top.take("pairs", [])
    if not isinstance(listed, list) or not listed:
        top.refuse("pairs", 'a list of at least one [agent, consumer], such as [["alder", "notes"]]')
    for place, pair in enumerate(listed):
        where = f"{top.where}.pairs[{place}]"
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise Misuse(f"{where}: {pair!r} is not [agent, consumer]", where=where, value=pair)
        agent, consumer = pair
        if agent not in agents:
            raise Misuse(f"{where}: no agent is called {agent!r}{nearest(agent, agents)}", where=where, value=agent)
        if consumer not in consumers:
            raise Misuse(
                f"{where}: no consumer is called {consumer!r}{nearest(consumer, consumers)}",
                where=where,
                value=consumer,
            )
        if (agent, consumer) in found:
            raise Misuse(f"{where}: {agent} x {consumer} is there twice", where=where, value=pair)
        found.append((agent, consumer))
    return tuple(found)

"""Checks one vendor of `data/vendors`: builds it, and lets it meet the lab's enforcing consumer and its own kind.

A vendor that is a consumer only meets the agent that it shares a version with. It is a small matrix, run and recorded
like any other.
"""

from __future__ import annotations

from pathlib import Path

from a2a_lab.errors import Misuse
from a2a_lab.lab.loop import run_sync
from a2a_lab.lab.matrix import REAL, Matrix
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.pairings import SCENARIOS, AgentEntry, ConsumerEntry, Pairings
from a2a_lab.lab.run import Watcher
from a2a_lab.vendors.registry import find_vendor, read_vendors
from a2a_lab.vendors.vendor import Vendor

TIMEOUT_S, CAP_S = 10.0, 60.0


def check_matrix(name: str) -> Matrix:
    """The matrix of one vendor. Raises Misuse for a name that nobody has."""
    vendor = find_vendor(name)
    agent = vendor if vendor.agent is not None else _partner(vendor)
    consumers = {"enforcing": ConsumerEntry(name="enforcing", how="enforcing")} if vendor.agent is not None else {}
    if vendor.consumer is not None:
        consumers[vendor.name] = ConsumerEntry(name=vendor.name, how="foreign", vendor=vendor)
    pairings = Pairings(
        agents={agent.name: AgentEntry(name=agent.name, vendor=agent)},
        consumers=consumers,
        scenarios=SCENARIOS,
        pairs=tuple((agent.name, consumer) for consumer in consumers),
    )
    return Matrix(
        name=f"check-{vendor.name}",
        description=f"{vendor.title} by itself",
        scenario="default",
        agents={},
        consumers={},
        pairs=(),
        clocks=REAL,
        transport_timeout_s=TIMEOUT_S,
        cap_s=CAP_S,
        pairings=pairings,
    )


def check_vendor(name: str, *, out: str = "runs", watcher: Watcher | None = None) -> Path:
    """Check one vendor; gives the folder of the records. What cannot be built is in them, with its step and log."""
    from a2a_lab.lab.pair_run import run_pairs  # needs the extra `lab`, as in `api`

    matrix = check_matrix(name)
    parameters = {"matrix": matrix.name, "vendor": name}
    return run_sync(run_pairs(matrix, plan_pairs(matrix), out=Path(out), parameters=parameters, watcher=watcher))


def _partner(vendor: Vendor) -> Vendor:
    """An agent that speaks what a consumer-only vendor speaks: one that every machine can build where there is one."""
    agents = [one for one in read_vendors().values() if one.agent is not None]
    for version in vendor.dialects:
        fit = [one for one in agents if version in one.dialects and set(one.bindings) & set(vendor.bindings)]
        if fit:
            return min(fit, key=lambda one: one.runtime.kind != "python")
    spoken = ", ".join(vendor.dialects)
    raise Misuse(f"no agent speaks what {vendor.name} does ({spoken}); it can only be run in a matrix")

"""What a plan means for the agents in it that are not ours, before anything is sent to them (R37).

Requests and agent runs at worst, what may be left behind, what is refused and why, and which variables are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from a2a_lab.lab.costs import Cost
from a2a_lab.lab.live import missing_variables, require_variables, warnings_of
from a2a_lab.lab.live_cell import cost_of
from a2a_lab.lab.pairing_plan import PairCell
from a2a_lab.net.redact import Redactor
from a2a_lab.vendors.live import LiveVendor


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePlan:
    """One agent that is not ours. `cost` is of all cells that would run, `refused` names the others and why."""

    name: str
    live: LiveVendor
    cells: int
    cost: Cost
    refused: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        """Whether the budget may not suffice for all cells."""
        return self.cost.runs > self.live.max_runs

    def as_json(self) -> dict[str, Any]:
        return {
            "vendor": self.name,
            "file": self.live.where,
            "address": Redactor(urls=[self.live.address]).url(self.live.address),
            "environment": self.live.environment or None,
            "tier": self.live.granted.tier.value,
            "because": self.live.granted.because or None,
            "cells": self.cells,
            "requests": self.cost.requests,
            "agent_runs": self.cost.runs,
            "max_runs": self.live.max_runs,
            "rps": self.live.rps,
            "in_flight": self.live.in_flight,
            "may_leave": self.cost.leaves or None,
            "credentials": {
                use: auth.told
                for use, auth in (("card", self.live.auth_card), ("calls", self.live.auth_calls))
                if auth is not None
            },
            "refused": [{"cell": cell, "because": why} for cell, why in self.refused],
            "missing": list(self.missing),
            "warnings": list(self.warnings),
        }


def live_plans(cells: Sequence[PairCell]) -> list[LivePlan]:
    """One for each agent of the cells that is not ours, in their order. Nothing is sent, and no helper is run."""
    by_name: dict[str, list[PairCell]] = {}
    for cell in cells:
        if cell.agent.live is not None:
            by_name.setdefault(cell.agent.name, []).append(cell)
    return [_plan(name, of_it) for name, of_it in by_name.items()]


def require_credentials(cells: Sequence[PairCell]) -> None:
    """Refuse to begin where a variable of an agent that would be met is missing. Raises Misuse in one sentence."""
    require_variables([cell.agent.live for cell in cells if cell.agent.live is not None and not cell.refused])


def _plan(name: str, cells: list[PairCell]) -> LivePlan:
    live = cells[0].agent.live
    assert live is not None
    run = [cell for cell in cells if not cell.refused]
    cost = Cost(requests=0)
    for cell in run:
        cost += cost_of(cell)
    return LivePlan(
        name=name,
        live=live,
        cells=len(run),
        cost=cost,
        refused=tuple((str(cell.key), cell.refused) for cell in cells if cell.refused),
        missing=tuple(missing_variables(live)) if run else (),
        warnings=tuple(warnings_of(live)),
    )

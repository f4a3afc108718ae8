"""How `plan` shows agents that are not ours: what would be sent to each, what is refused, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a_lab.cli import show

if TYPE_CHECKING:
    from a2a_lab.lab.live_plan import LivePlan


def tell(plans: list[LivePlan]) -> None:
    """Each live agent in a row, then in sentences what a row cannot hold."""
    show.say("")
    show.say("not ours, and asked for real; at worst, and nothing of it was sent yet:")
    show.table(
        ["vendor", "where", "tier", "cells", "requests", "agent runs", "budget"],
        [
            [
                plan.name,
                plan.live.environment or "-",
                plan.live.granted.tier.value,
                plan.cells,
                plan.cost.requests,
                plan.cost.runs,
                f"{plan.live.max_runs} runs, {plan.live.rps:g}/s" + _at_a_time(plan.live.in_flight),
            ]
            for plan in plans
        ],
        whole=1,
    )
    for plan in plans:
        for line in _sentences(plan):
            show.say(f"{plan.name}: {line}")


def _at_a_time(cells: int) -> str:
    return f", {cells} cells at a time" if cells > 1 else ""


def _sentences(plan: LivePlan) -> list[str]:
    """What is left behind, what is refused and why, what is missing; each once."""
    told = [f"may leave behind {plan.cost.leaves}; a2a-lab ledger orphans lists it"] if plan.cost.leaves else []
    if plan.live.granted.because:
        told.append(f"its card is read and nothing is sent: {plan.live.granted.because}")
    if plan.is_short:
        told.append(
            f"its budget of {plan.live.max_runs} agent runs may not suffice; a cell that does not fit in what is left "
            "is not begun"
        )
    reasons: dict[str, list[str]] = {}
    for cell, why in plan.refused:
        reasons.setdefault(why, []).append(cell)
    told += [f"{len(cells)} cells refused: {why}" for why, cells in reasons.items()]
    told += [f"missing: {clause}; no run begins without it" for clause in plan.missing]
    return told + [f"warning: {clause}" for clause in plan.warnings]

"""Decides again what the lab decided live: whether to commit after its own probes, and why not (A4, R23, R25).

Only the lab's own recordings hold labelled probes. The plan is made anew from card and intent; where the recorded
probes are not those of this plan, other rules or another intent were in force, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from a2a_lab.core.model import Card
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.probe import ProbeReading
from a2a_lab.core.rehearsal import Decision, ProbePlan, next_probe, rehearse
from a2a_lab.verdicts import Finding


def decided(
    card: Card, intent: Intent, policy: Policy, *, found: Iterable[Finding], readings: Sequence[ProbeReading]
) -> tuple[Finding, ...]:
    """The findings of the decision. `found` are those of the static gates, `readings` the probes as they were read."""
    state = rehearse(card, intent, policy, found)
    for reading in readings:
        plan = next_probe(state)
        if not isinstance(plan, ProbePlan) or (plan.purpose, plan.mode) != (reading.asked.purpose, reading.asked.mode):
            return ()
        state = state.after(plan, reading)
    last = next_probe(state)
    return last.findings if isinstance(last, Decision) else ()

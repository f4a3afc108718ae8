"""The findings of the books (stage `ledger`): orphans, and what an agent says about tasks that it should know."""

from __future__ import annotations

from typing import Final

from a2a_lab.core.orphans import OrphanRow
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _finding(
    slug: str, means: str, verdict: Verdict, *, clause: str | None, kind: Kind = Kind.CONFORMANCE, rule: str = "R35"
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.LEDGER,
        verdict=verdict,
        kind=kind,
        judge=Judge.SPEC if verdict is Verdict.CONFORMANCE_ERROR else Judge.POLICY,
        rule=rule,
        clause=clause,
        means=means,
    )


ORPHANED_TASK = _finding(
    "orphaned-task",
    "a task exists, or may exist, that has no owner and no end",
    Verdict.ORPHAN,
    clause="A2A 1.0.1 §3.3.1, §3.1.5",
)
ORPHANED_ARTIFACT = _finding(
    "orphaned-artifact",
    "an artifact or a committed payload is left in a task that gives it to nobody",
    Verdict.ORPHAN,
    clause="A2A 1.0.1 §3.1.3",
)
TASK_NOT_RETRIEVABLE = _finding(
    "task-not-retrievable",
    "the agent handed out a task id and then did not know it",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §3.1.3, §3.4.2",
)
CANCEL_NOT_EFFECTIVE = _finding(
    "cancel-not-effective",
    "the cancel was answered with a task that is not canceled",
    Verdict.ACCEPT,
    clause="A2A 1.0.1 §3.1.5 (success is not guaranteed)",
    kind=Kind.NOTE,
)
RESENT_BLINDLY = _finding(
    "resent-blindly",
    "a message was sent again after an unknown outcome, before its task was looked for",
    Verdict.ACCEPT,
    clause="A2A 1.0.1 §3.3.1 MAY (idempotency)",
    kind=Kind.NOTE,
    rule="R37",
)


_MEANS: Final = {
    "second-task": "the same message, sent again, was answered with another task, so nobody waits for this one; "
    "an agent may start one for each send (§3.3.1)"
}
"""Reasons that their word alone does not tell."""


def orphan_finding(row: OrphanRow) -> Finding:
    """One row as a finding."""
    kind = ORPHANED_TASK if row.what == "task" else ORPHANED_ARTIFACT
    of = (
        f"task {quoted(row.task_id)}"
        if row.task_id
        else f"a task started by message {quoted(row.artifact_or_message_id)}"
    )
    thing = of if row.what == "task" else f"{row.what} {quoted(row.artifact_or_message_id)} of {of}"
    meant = f": {_MEANS[row.why]}" if row.why in _MEANS else ""
    detail = f"{thing} is left ({row.why}{meant}): state {row.state}, clean-up {row.cleanup}"
    return kind(detail, at=row.task_id, why=row.why, state=row.state)

"""Judges a stored run again from its evidence, by the rules of today, and shows what would now differ (R5).

Everything is recomputed: each stage's verdict, and the cell's. What an enforcing consumer decided while the cell ran is
recomputed as far as the traffic shows it; a decision that it does not show is named as not recomputable, and never
counted as a difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from a2a_lab.core.rehearsal import MODE_UNPROVEN, NO_COMMON_MODE, NOT_COMMITTED, NOT_DISCRIMINATING
from a2a_lab.core.stream_findings import ERROR_BEFORE_STREAM
from a2a_lab.errors import LabError
from a2a_lab.judge.offline import Judgement
from a2a_lab.lab.pair_recall import recall as recall_pair
from a2a_lab.lab.recall import Memory
from a2a_lab.lab.records import CellRecord, Outcome, Run, missing_cells, read_run
from a2a_lab.lab.runkeys import TRUST
from a2a_lab.verdicts import Finding, NotGradeable, Stage, Verdict, worst
from a2a_lab.wire.envelope import RPC_ERROR

_DECISIONS: Final = frozenset(one.slug for one in (MODE_UNPROVEN, NO_COMMON_MODE, NOT_COMMITTED, NOT_DISCRIMINATING))
# An enforcing flow leaves it to the probe to say what an error of the protocol means; the judge notes the error too.
_LEFT_TO_THE_PROBE: Final = frozenset({RPC_ERROR.slug, ERROR_BEFORE_STREAM.slug})


@dataclass(frozen=True, slots=True, kw_only=True)
class StageChange:
    """One stage that would now come out otherwise; a verdict is None where that side does not reach the stage."""

    stage: Stage
    recorded: Verdict | None
    now: Verdict | None
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage.value,
            "recorded": self.recorded.value if self.recorded else None,
            "now": self.now.value if self.now else None,
            "gone": list(self.gone),
            "new": list(self.new),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CellAgain:
    """One cell, judged again. `problem` says why it could not be; then nothing about it counts as a difference."""

    cell: str
    recorded: Outcome
    now: Outcome | None = None
    changes: tuple[StageChange, ...] = ()
    not_recomputable: tuple[str, ...] = ()
    problem: str = ""

    @property
    def differs(self) -> bool:
        return self.now is not None and (self.now is not self.recorded or bool(self.changes))

    def as_json(self) -> dict[str, Any]:
        return {
            "cell": self.cell,
            "recorded": self.recorded.value,
            "now": self.now.value if self.now else None,
            "differs": self.differs,
            "stages": [change.as_json() for change in self.changes],
            "not_recomputable": list(self.not_recomputable),
            "problem": self.problem or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgain:
    """A run, judged again. `notes` are sentences about the whole of it; `missing` cells were planned and never run."""

    run: str
    cells: tuple[CellAgain, ...]
    notes: tuple[str, ...] = ()
    is_complete: bool = True
    missing: int = 0

    @property
    def differing(self) -> tuple[CellAgain, ...]:
        return tuple(cell for cell in self.cells if cell.differs)

    @property
    def exit_code(self) -> int:
        """1 where anything differs, 2 where a cell could not be judged again, else 0."""
        return 1 if self.differing else 2 if any(cell.problem for cell in self.cells) else 0

    def as_json(self) -> dict[str, Any]:
        """What `a2a-lab judge RUN --json` prints."""
        return {
            "run": self.run,
            "differing": len(self.differing),
            "complete": self.is_complete,
            "missing": self.missing,
            "notes": list(self.notes),
            "cells": [cell.as_json() for cell in self.cells],
        }


def rejudge(folder: str | Path) -> RunAgain:
    """Judge a run again. Raises RecordFault or Misuse where its records or its matrix cannot be read."""
    run = read_run(folder, allow_cut=True)
    memory = Memory(run)
    notes = [f"{run.gap}: only those are judged again"] if run.gap else []
    if not (run.folder / TRUST).exists():
        notes.append(f"the run holds no {TRUST}: which keys it trusted is unknown, so that signatures are not compared")
    cells = tuple(_again(run, record, memory) for record in run.cells)
    missing = len(missing_cells(run))
    return RunAgain(run=run.header.run, cells=cells, notes=tuple(notes), is_complete=run.is_complete, missing=missing)


def _again(run: Run, record: CellRecord, memory: Memory) -> CellAgain:
    """One cell. A cell that was not graded for a reason outside its traffic is kept as it is."""
    key = str(record.key)
    if record.verdict is NotGradeable.HARNESS_ERROR:
        return CellAgain(cell=key, recorded=record.verdict, not_recomputable=(f"harness-error: {record.said}",))
    try:
        if record.key.posture == "foreign":
            pair = recall_pair(run, record, memory.matrix)
            return compared(record, replace(pair.agent, findings=pair.findings))
        recalled = memory.recall(record)
    except LabError as fault:
        return CellAgain(cell=key, recorded=record.verdict, problem=fault.message)
    return compared(record, recalled.judge(), knows_keys=recalled.policy.trusted_keys is not None)


def compared(record: CellRecord, judged: Judgement, *, knows_keys: bool = True) -> CellAgain:
    """What differs between a record and what its evidence shows now."""
    is_enforcing = record.key.posture == "enforcing"
    then = {stage: list(kept.findings) for stage, kept in record.stages.items()}
    now = {stage: found for stage, (_, found) in judged.findings.stages.items()}
    changes, unseen = [], []
    for stage in Stage:
        if stage is Stage.SIGNATURE and not knows_keys:
            continue
        old, new = then.get(stage), now.get(stage)
        if is_enforcing:
            old, new = _of_the_traffic(old), _of_the_traffic(new)
            decided = [one for one in old or () if one.slug in _DECISIONS and not _has(new, one.slug)]
            unseen += [f"{one.slug}: {one.detail}" for one in decided]
            old = None if old is None else [one for one in old if one not in decided]
        if (change := _change(stage, old, new, is_enforcing=is_enforcing)) is not None:
            changes.append(change)
    outcome: Outcome = judged.not_gradeable or judged.findings.verdict
    if unseen and outcome is not record.verdict:
        outcome = record.verdict  # the decision that the traffic does not show may be what made the verdict
    return CellAgain(
        cell=str(record.key),
        recorded=record.verdict,
        now=outcome,
        changes=tuple(changes),
        not_recomputable=tuple(unseen),
    )


def _change(
    stage: Stage, old: list[Finding] | None, new: list[Finding] | None, *, is_enforcing: bool
) -> StageChange | None:
    """The change of one stage, None where there is none.

    A flow notes the stages that it worked at and each finding as often as it met it; the judge notes the stages that
    the evidence reaches, and a finding once. Of an enforcing cell, therefore, verdicts are compared, and no more.
    """
    before, after = _verdict(old), _verdict(new)
    gone, added = _slugs(old) - _slugs(new), _slugs(new) - _slugs(old)
    if is_enforcing:
        mild = {None, Verdict.ACCEPT}
        is_same = before is after or (before in mild and after in mild)
    else:
        is_same = before is after and not gone and not added
    if is_same:
        return None
    return StageChange(stage=stage, recorded=before, now=after, gone=tuple(sorted(gone)), new=tuple(sorted(added)))


def _verdict(findings: list[Finding] | None) -> Verdict | None:
    return None if findings is None else worst(one.verdict for one in findings)


def _slugs(findings: Iterable[Finding] | None) -> set[str]:
    return {one.slug for one in findings or ()}


def _has(findings: list[Finding] | None, slug: str) -> bool:
    return slug in _slugs(findings)


def _of_the_traffic(findings: list[Finding] | None) -> list[Finding] | None:
    return None if findings is None else [one for one in findings if one.slug not in _LEFT_TO_THE_PROBE]


def told(change: StageChange) -> str:
    """A change in words, as in "stream: hang -> refuse; no longer idle-hang; now stream-reset"."""
    before, after = (verdict.value if verdict else "not reached" for verdict in (change.recorded, change.now))
    parts = [f"{change.stage.value}: {before} -> {after}"]
    parts += [f"no longer {', '.join(change.gone)}"] if change.gone else []
    parts += [f"now {', '.join(change.new)}"] if change.new else []
    return "; ".join(parts)

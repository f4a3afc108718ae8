"""Runs matrices for tests, and asks each agent what it kept itself: the second witness of every measure.

The store of an agent is read over the pipe of its host, before the agent is stopped; nothing of it goes through the
lab's readers, its ledger or its measures, so that agreement between the two means something.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.loop import run_sync
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.plan import POSTURES, make_plan
from a2a_lab.lab.records import CellRecord, Run, read_run
from a2a_lab.lab.run import LEDGER, run_plan
from a2a_lab.ledger import Ledger
from a2a_lab.vendors.launch import RunningAgent

CANARY = re.compile(r"canary-[0-9a-f]{16}")
ENDED = {"completed", "failed", "rejected", "canceled"}
AT_ONCE = 14  # these cells wait far more than they compute

Place = tuple[str, str, str]
"""Posture, agent, consumer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What an agent itself kept of one cell, read as R35 reads it: payloads that arrived, and what is left behind.

    `left` counts rows by task and by artifact id, "task" for the task itself, "payload" for a message with a canary.
    """

    payloads: int
    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    requests: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, store: Mapping[str, Any]) -> Kept:
        payloads, left = 0, Counter[tuple[str, str]]()
        for task in store["tasks"]:
            carried = sum(bool(CANARY.search(parts)) for parts in task["received"])
            payloads += carried
            is_open = task["state"] not in ENDED
            # A cancelled probe is cleaned up; a payload that was cancelled may have had its effect already.
            is_lost = is_open or task["state"] in ("failed", "rejected") or (task["state"] == "canceled" and carried)
            if is_lost:
                left += Counter({(task["id"], "task"): int(is_open), (task["id"], "payload"): carried})
                left += Counter((task["id"], artifact["id"]) for artifact in task["artifacts"])
        return cls(payloads=payloads, left=left, requests=tuple(store["requests"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A finished run: its records, and by posture, agent and consumer each cell and what its agent kept."""

    run: Run
    cells: Mapping[Place, CellRecord]
    kept: Mapping[Place, Kept]

    def of(self, posture: str) -> dict[tuple[str, str], CellRecord]:
        return {(agent, consumer): cell for (of, agent, consumer), cell in self.cells.items() if of == posture}

    @property
    def ledger(self) -> Path:
        return self.run.folder.parent / LEDGER


def place(cell: CellRecord) -> Place:
    return (cell.key.posture, cell.key.agent, cell.key.consumer)


def witnessing(kept: dict[Place, Kept]) -> Any:
    async def witness(cell: CellRecord, agent: RunningAgent) -> None:
        kept[place(cell)] = Kept.of(await agent.store())

    return witness


def meet(text: str, out: Path, *, postures: tuple[str, ...] = POSTURES, only: str = "", **options: Any) -> Met:
    """Run a matrix given as TOML text, all cells at once."""
    matrix = Matrix.parse(text, name="mine", where="mine.toml")
    kept: dict[Place, Kept] = {}
    cells = make_plan(matrix, postures=postures, only=only)
    work = run_plan(matrix, cells, out=out, parameters={}, workers=AT_ONCE, witness=witnessing(kept), **options)
    return met(run_sync(work), kept)


def met(folder: Path, kept: Mapping[Place, Kept]) -> Met:
    run = read_run(folder)
    return Met(run=run, cells={place(cell): cell for cell in run.cells}, kept=kept)


def left_of(cell: CellRecord, kept: Kept) -> Counter[tuple[str, str]]:
    """The orphans of a record in the words of `Kept.left`."""
    named = {(task, name) for task, name in kept.left if name not in ("task", "payload")}
    rows = [(orphan.task_id or "", orphan.artifact_or_message_id or "task") for orphan in cell.orphans]
    return Counter(row if row in named or row[1] == "task" else (row[0], "payload") for row in rows)


def payloads_in_ledger(met: Met, cell: CellRecord) -> int:
    with Ledger(met.ledger) as ledger:
        facts = ledger.facts(run=met.run.header.run, cell=str(cell.key))
        return sum(fact.what == "sent" and bool(fact.detail["is_payload"]) for fact in facts)


def orphans_in_ledger(met: Met, cell: CellRecord) -> Counter[tuple[str | None, str | None, int]]:
    rows = list_orphans(met.ledger, run=met.run.header.run)
    return Counter(
        (row.task_id, row.artifact_or_message_id, row.bytes) for (_, key), row in rows if key == str(cell.key)
    )


def changed(text: str, old: str, new: str = "") -> str:
    """The text with its one `old` replaced."""
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    return text.replace(old, new)

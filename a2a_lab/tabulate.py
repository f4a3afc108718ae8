"""Counts what a run recorded: the summary figures, one table row a cell, and the lines that stand out.

Reads records only and adds nothing to them. The unit of every `pairs` figure is the pair: agent, consumer, binding,
version, scenario and posture, with all its attempts; a pair that was never graded counts for and against nobody (R2).
pandas is imported by `frame` alone, since the command line counts without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from a2a_lab.lab.records import CellRecord, Run

if TYPE_CHECKING:
    import pandas

Pair = tuple[str, str, str, str, str, str]
"""agent, consumer, binding, version, scenario, posture."""


def pairs(cells: Iterable[CellRecord]) -> dict[Pair, list[CellRecord]]:
    """The attempts of each pair, in the order in which the pairs first appear."""
    grouped: dict[Pair, list[CellRecord]] = {}
    for cell in cells:
        grouped.setdefault(cell.key.pair, []).append(cell)
    return grouped


def summary(run: Run) -> dict[str, Any]:
    """The figures of `report --json` for one run.

    `held` and `delivered` count pairs of which every graded attempt held or delivered; `pairs_with_...` those of
    which any attempt shows it; the rest are sums over all cells. `errors` counts the cells that ended in each error.
    """
    graded = [cell for cell in run.cells if cell.is_graded]
    attempts = pairs(graded).values()
    counted = [cell.measures for cell in graded]
    return {
        "pairs": len(attempts),
        "held": sum(all(cell.measures.held is True for cell in cells) for cells in attempts),
        "pairs_with_renegotiation": sum(any(c.measures.renegotiation_cycles for c in cells) for cells in attempts),
        "pairs_with_orphans": sum(any(cell.measures.orphans for cell in cells) for cells in attempts),
        "pairs_with_hangs": sum(any(cell.measures.hangs for cell in cells) for cells in attempts),
        "renegotiation_cycles": sum(measures.renegotiation_cycles for measures in counted),
        "refused_sends": sum(measures.refused_sends for measures in counted),
        "orphaned_artifacts": sum(measures.orphaned_artifacts for measures in counted),
        "orphaned_tasks": sum(measures.orphaned_tasks for measures in counted),
        "hangs": sum(measures.hangs for measures in counted),
        "delivered": sum(all(cell.measures.delivered for cell in cells) for cells in attempts),
        "errors": dict(sorted(Counter(slug for cell in graded for slug in set(cell.errors)).items())),
    }


def ungraded(run: Run) -> dict[str, int]:
    """How many cells could not be judged, by the word that says why (unreachable, auth-needed, ...)."""
    return dict(sorted(Counter(cell.verdict.value for cell in run.cells if not cell.is_graded).items()))


def frame(run: Run) -> pandas.DataFrame:
    """One row a cell, in the order recorded: the key's axes, verdict, authority, then each measure as a column."""
    import pandas

    return pandas.DataFrame([row(cell) for cell in run.cells])


def row(cell: CellRecord) -> dict[str, Any]:
    """One cell as the flat row that `frame` and CSV files show. Sequences are joined with a blank."""
    key, measures = cell.key, cell.measures
    return {
        "cell": str(key),
        "agent": key.agent,
        "agent_version": key.agent_version,
        "consumer": key.consumer,
        "binding": key.binding,
        "version": key.version,
        "scenario": key.scenario,
        "posture": key.posture,
        "attempt": key.attempt,
        "verdict": cell.verdict.value,
        "authority": cell.authority,
        "because": " ".join(cell.because),
        "errors": " ".join(cell.errors),
        "mode": cell.mode,
        "closure": cell.closure,
        **{name: getattr(measures, name) for name in measures.__slots__ if name != "diverged"},
        "diverged": " ".join(measures.diverged),
        "said": cell.said,
        "started": cell.started,
        "ended": cell.ended,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """One sentence that a reader should not have to find: its kind, the cells that show it, and in which posture."""

    kind: str
    text: str
    posture: str = ""
    cells: tuple[str, ...] = ()


def insights(run: Run, other: Run | None = None) -> list[Insight]:
    """What stands out: who fails with everyone, who works with everyone, and the odd one out.

    With `other`, a run of the same pairs in another posture, also where the two disagree; `other` is told first. One
    pair proves nothing about "everyone", so a role needs two graded pairs to be named.
    """
    found: list[Insight] = []
    attempts = pairs(cell for cell in run.cells if cell.is_graded)
    for place, (role, peers) in enumerate((("agent", "consumer"), ("consumer", "agent"))):
        for name in dict.fromkeys(pair[place] for pair in attempts):
            mine = {pair: cells for pair, cells in attempts.items() if pair[place] == name}
            if len({pair[1 - place] for pair in mine}) > 1:
                found += _standing(role, name, peers, mine, 1 - place)
    if other is not None:
        found += _disagreements(run, other)
    order = {"fails with everyone": 0, "odd one out": 1, "disagreement": 2, "works with everyone": 3}
    return sorted(found, key=lambda insight: order[insight.kind])


def _standing(
    role: str, name: str, peers: str, attempts: Mapping[Pair, Sequence[CellRecord]], peer: int
) -> Iterable[Insight]:
    failing = {pair: cells for pair, cells in attempts.items() if not all(cell.works for cell in cells)}
    keys = tuple(str(cell.key) for cells in (failing or attempts).values() for cell in cells)
    posture = next(iter(attempts))[5]
    count = len({pair[peer] for pair in attempts})
    everyone = f"both {peers}s" if count == 2 else f"all {count} {peers}s"
    if not failing:
        text = f"{role} {name} works with {everyone}"
        yield Insight(kind="works with everyone", text=text, posture=posture, cells=keys)
    elif len(failing) == len(attempts):
        text = f"{role} {name} fails with {everyone}: {_errors(failing.values())}"
        yield Insight(kind="fails with everyone", text=text, posture=posture, cells=keys)
    elif len(failing) == 1 and len(attempts) > 2:
        (pair,) = failing
        text = f"{role} {name} fails with {pair[peer]} alone: {_errors(failing.values())}"
        yield Insight(kind="odd one out", text=text, posture=posture, cells=keys)


def _errors(attempts: Iterable[Sequence[CellRecord]]) -> str:
    counted = Counter(slug for cells in attempts for cell in cells for slug in (cell.errors or (cell.verdict.value,)))
    return ", ".join(slug for slug, _ in counted.most_common(3))


def _disagreements(run: Run, other: Run) -> Iterable[Insight]:
    theirs = {pair[:5]: cells for pair, cells in pairs(cell for cell in other.cells if cell.is_graded).items()}
    for pair, cells in pairs(cell for cell in run.cells if cell.is_graded).items():
        if pair[:5] not in theirs:
            continue
        one, two = theirs[pair[:5]][0], cells[0]
        if one.works != two.works:
            yield Insight(
                kind="disagreement",
                text=f"{pair[0]} with {pair[1]}: {_told(one)}, but {_told(two)}",
                cells=(str(one.key), str(two.key)),
            )


def _told(cell: CellRecord) -> str:
    why = f" ({', '.join(cell.errors)})" if cell.errors else ""
    return f"{cell.key.posture} ends in {cell.verdict.value}{why}"

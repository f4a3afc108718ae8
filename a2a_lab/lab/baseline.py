"""What somebody measured of pairs of real vendors, and whether a run found the same.

A baseline says of each agent, consumer and scenario whether it worked, as the consumer told it: no error, and at least
one event. That is less than a verdict (a pair that works among themselves may break a MUST), so a run is held against
it by what its consumers told their callers, and the cause is shown beside it. A note in the file explains a difference
that is known; only one without a note is news.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from a2a_lab.bundled import bundled
from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.lab.pair_recall import read_beside
from a2a_lab.lab.pairings import SCENARIOS
from a2a_lab.lab.records import CellRecord, Run

KIND: Final = "data/baselines"
COLUMNS: Final = ("agent", "consumer", "scenario", "worked", "note")
WORKED: Final = {"yes": True, "no": False}

Place = tuple[str, str, str]
"""agent, consumer, scenario."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One line of a baseline."""

    place: Place
    worked: bool
    note: str = ""


class Agreement(StrEnum):
    """How a cell of a run stands to its line, the loudest first."""

    DIFFERS = "differs"
    KNOWN = "differs as noted"
    NOT_GRADED = "not graded"
    NOT_RUN = "not run"
    AGREES = "agrees"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One line beside the attempts of its cell. `worked` is None where the run does not tell."""

    line: Measured
    agreement: Agreement
    worked: bool | None = None
    cause: str = ""
    said: str = ""

    def as_json(self) -> dict[str, Any]:
        agent, consumer, scenario = self.line.place
        return {
            "agent": agent,
            "consumer": consumer,
            "scenario": scenario,
            "baseline": self.line.worked,
            "run": self.worked,
            "agreement": self.agreement.value,
            "cause": self.cause or None,
            "said": self.said,
            "note": self.line.note,
        }


def read_baseline(name_or_path: str | Path) -> tuple[Measured, ...]:
    """A baseline by bundled name ("measured") or by path. Raises Misuse naming file, line and what was expected."""
    path = Path(name_or_path)
    if path.suffix != ".csv" and not path.is_file():
        path = bundled(KIND, str(name_or_path), ".csv")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            if tuple(rows.fieldnames or ()) != COLUMNS:
                raise Misuse(
                    f"{path}: the first line is {','.join(rows.fieldnames or ())}; expected {','.join(COLUMNS)}"
                )
            found = tuple(_measured(row, f"{path.name}, line {rows.line_num}") for row in rows)
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise Misuse(f"the baseline {str(path)!r} cannot be read: {fault}") from fault
    twice = [place for place, count in Counter(one.place for one in found).items() if count > 1]
    if twice or not found:
        told = f"{' x '.join(twice[0])} is there twice" if twice else "no line of a pair is there"
        raise Misuse(f"{path}: {told}; expected each agent, consumer and scenario once")
    return found


def _measured(row: Mapping[str, Any], where: str) -> Measured:
    if None in row or None in row.values():
        raise Misuse(f"{where}: expected {len(COLUMNS)} values: {','.join(COLUMNS)}")
    if row["worked"] not in WORKED:
        raise Misuse(f"{where}: worked is {row['worked']!r}; expected yes or no")
    if row["scenario"] not in SCENARIOS:
        raise Misuse(f"{where}: scenario is {row['scenario']!r}; expected {' or '.join(SCENARIOS)}")
    place = (row["agent"], row["consumer"], row["scenario"])
    return Measured(place=place, worked=WORKED[row["worked"]], note=row["note"].strip())


def hold(run: Run, baseline: Sequence[Measured]) -> list[Held]:
    """Each line of the baseline beside the run. Raises Misuse where the two have no pair in common."""
    cells: dict[Place, list[CellRecord]] = {}
    for cell in run.cells:
        cells.setdefault((cell.key.agent, cell.key.consumer, cell.key.scenario), []).append(cell)
    held = [_held(line, run.folder, cells.get(line.place, [])) for line in baseline]
    if all(one.agreement is Agreement.NOT_RUN for one in held):
        raise Misuse(
            f"run {run.header.run} (matrix {run.header.matrix}) has no pair of the baseline; expected agents and "
            f"consumers of its names, such as {' with '.join(baseline[0].place[:2])}"
        )
    return held


def _held(line: Measured, folder: Path, cells: Sequence[CellRecord]) -> Held:
    if not cells:
        return Held(line=line, agreement=Agreement.NOT_RUN)
    told = [(cell, _worked(folder, cell)) for cell in cells]
    worked = {one for _, one in told}
    cell = next((cell for cell, one in told if one is not line.worked), cells[0])
    cause, found = (cell.errors[0] if cell.errors else ""), (worked.pop() if len(worked) == 1 else None)
    if None in (one for _, one in told):
        agreement = Agreement.NOT_GRADED
    elif found is line.worked:
        agreement = Agreement.AGREES
    else:
        agreement = Agreement.KNOWN if line.note else Agreement.DIFFERS
    return Held(line=line, agreement=agreement, worked=found, cause=cause, said=cell.said)


def _worked(folder: Path, cell: CellRecord) -> bool | None:
    """By the consumer's own account; None where the cell was not graded, or nobody told what it said."""
    if not cell.is_graded or cell.evidence is None:
        return None
    try:
        account = read_beside(folder / cell.evidence).account
    except RecordFault:
        return None
    return account.ok and account.error is None if account is not None else None


def agreements(held: Iterable[Held]) -> dict[str, int]:
    """How many lines stand in which way; every way is there."""
    found = dict.fromkeys((one.value for one in reversed(Agreement)), 0)
    for one in held:
        found[one.agreement.value] += 1
    return found


def causes(held: Iterable[Held]) -> dict[str, int]:
    """How many cells show which cause, the most frequent first: also where the consumer told its caller of no error."""
    return dict(Counter(one.cause for one in held if one.cause).most_common())

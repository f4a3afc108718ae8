"""What is known of a matrix: cells that fail and why, so that only news is loud.

A cell that nobody expects anything of is expected to work. One that is expected to fail and works is as loud as one
that fails unexpectedly, since an expectation that is out of date hides the next failure. A pattern that means no cell
of the matrix is a mistake, and refused. What could not be run is skipped with its reason, and is never a pass.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from a2a_lab.bundled import bundled_root
from a2a_lab.errors import Misuse
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.lab.runmatrix import kept_matrix
from a2a_lab.vendors.tables import Table, nearest
from a2a_lab.vendors.vendor import Vendor
from a2a_lab.verdicts import Verdict

KIND = "data/expectations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One line of the file. `cells` is a shell pattern over cell keys; `cause` is the slug that the cell ends with.

    An empty `verdict` or `cause` is not looked at. A `flaky` cell may as well work.
    """

    cells: str
    reason: str
    verdict: str = ""
    cause: str = ""
    link: str = ""
    flaky: bool = False
    where: str = ""

    def matches(self, key: str) -> bool:
        return fnmatchcase(key, self.cells)

    @property
    def told(self) -> str:
        """What is expected, in words."""
        return " with ".join(part for part in (self.verdict, self.cause) if part)


class Outcome(StrEnum):
    """How a cell compares with what was expected of it."""

    WORKS = "works"
    AS_EXPECTED = "fails as expected"
    UNEXPECTED_FAILURE = "unexpected failure"
    UNEXPECTED_PASS = "unexpected pass"
    FAILS_OTHERWISE = "fails otherwise"
    SKIPPED = "skipped"

    @property
    def is_news(self) -> bool:
        return self in (Outcome.UNEXPECTED_FAILURE, Outcome.UNEXPECTED_PASS, Outcome.FAILS_OTHERWISE)


TOLD: Mapping[Outcome, tuple[str, str]] = {
    Outcome.WORKS: ("works", "work"),
    Outcome.AS_EXPECTED: ("fails as expected", "fail as expected"),
    Outcome.UNEXPECTED_FAILURE: ("unexpected failure", "unexpected failures"),
    Outcome.UNEXPECTED_PASS: ("unexpected pass", "unexpected passes"),
    Outcome.FAILS_OTHERWISE: ("fails otherwise than expected", "fail otherwise than expected"),
    Outcome.SKIPPED: ("skipped", "skipped"),
}
"""Each way in words, for one cell and for several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One cell beside what was expected of it; None where nothing was."""

    cell: CellRecord
    outcome: Outcome
    expected: Expected | None = None

    @property
    def slugs(self) -> list[str]:
        """By what the cell is known: its cause, and the finding that was expected where it was found beside it."""
        slugs = list(self.cell.errors[:1])
        cause = self.expected.cause if self.expected is not None else ""
        if cause and cause not in slugs and any(finding.slug == cause for finding in self.cell.findings):
            slugs.append(cause)
        return slugs

    @property
    def told(self) -> str:
        """What came, in words: the verdict, and the findings by which the cell is known."""
        return " with ".join(part for part in (self.cell.verdict.value, " and ".join(self.slugs)) if part)


def find_expectations(matrix: str) -> tuple[Expected, ...]:
    """Those of a matrix: of `NAME.expectations.toml` beside its file, or the bundled ones of its name; none without.

    Raises Misuse for a file that cannot be right.
    """
    file = Path(matrix)
    beside, own = file.with_suffix(".expectations.toml"), bundled_root() / KIND / f"{_stem(file)}.toml"
    path = beside if file.suffix == ".toml" and beside.is_file() else own
    return read_expectations(path) if path.is_file() else ()


def compare_run(run: Run) -> list[Compared]:
    """The cells of a run beside what is known of its matrix; of one without real vendors nothing is, and none come.

    Raises Misuse where a pattern means no cell of the whole matrix, whatever part of it was run.
    """
    name = str(run.header.parameters.get("matrix", run.header.matrix))
    matrix = kept_matrix(run.folder, run.header)
    if matrix.pairings is None:
        return []
    vendors = [entry.built for entry in matrix.pairings.agents.values() if entry.live is None]
    vendors += [entry.vendor for entry in matrix.pairings.consumers.values() if entry.vendor is not None]
    said = of_vendors(vendors)
    expectations = find_expectations(name)
    refuse_unmatched(expectations, [str(cell.key) for cell in plan_pairs(matrix)])
    return compare(run.cells, (*expectations, *said))


def read_expectations(path: Path) -> tuple[Expected, ...]:
    """The expectations of one TOML file, in its order. Raises Misuse that names file, key and what was expected."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise Misuse(f"{path}: cannot be read: {fault.strerror}; name a file of expectations") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise Misuse(f"{path}: not TOML: {fault}") from fault
    top = Table(data, path.name)
    found = tuple(_expected(table) for table in top.tables("expect"))
    top.done()
    return found


def of_vendors(vendors: Iterable[Vendor]) -> tuple[Expected, ...]:
    """What vendor files say of their own cells; a variant repeats its vendor's, which counts once."""
    found: dict[tuple[str, str], Expected] = {}
    for vendor in vendors:
        for one in vendor.expectations:
            expected = Expected(
                cells=one.cells,
                reason=one.reason,
                verdict=one.verdict,
                cause=one.finding,
                link=one.link,
                where=f"{vendor.environment_name}/vendor.toml",
            )
            found.setdefault((one.cells, one.reason), expected)
    return tuple(found.values())


def refuse_unmatched(expectations: Sequence[Expected], plan: Iterable[str]) -> None:
    """`Misuse` for the first pattern that means no cell of the whole plan: a name changed, or it was misspelt."""
    keys = list(plan)
    for one in expectations:
        if not any(one.matches(key) for key in keys):
            near = nearest(one.cells, keys) if keys else ""
            raise Misuse(f"{one.where}: {one.cells!r} matches no cell of the matrix{near}", where=one.where)


def compare(cells: Iterable[CellRecord], expectations: Sequence[Expected]) -> list[Compared]:
    """Each cell beside the first expectation that means it."""
    return [_compare(cell, next((one for one in expectations if one.matches(str(cell.key))), None)) for cell in cells]


def counts(compared: Iterable[Compared]) -> dict[str, int]:
    """How many cells came out in which way; every way is there."""
    found: dict[str, int] = dict.fromkeys((outcome.value for outcome in Outcome), 0)
    for one in compared:
        found[one.outcome.value] += 1
    return found


def as_json(compared: Sequence[Compared]) -> dict[str, Any]:
    """What programs read: the counts, and every cell that is news or was skipped."""
    told = [one for one in compared if one.outcome.is_news or one.outcome is Outcome.SKIPPED]
    return {"counts": counts(compared), "cells": [_json(one) for one in told]}


def _stem(file: Path) -> str:
    """The name of a matrix: versions in it have dots, and only .toml is a suffix."""
    return file.stem if file.suffix == ".toml" else file.name


def _json(one: Compared) -> Mapping[str, Any]:
    return {
        "cell": str(one.cell.key),
        "outcome": one.outcome.value,
        "found": one.told,
        "expected": one.expected.told if one.expected is not None else "works",
        "reason": one.cell.said if one.outcome is Outcome.SKIPPED or one.expected is None else one.expected.reason,
    }


def _compare(cell: CellRecord, expected: Expected | None) -> Compared:
    if not cell.is_graded:
        outcome = Outcome.SKIPPED
    elif cell.works:
        is_fine = expected is None or expected.flaky or _is_as(cell, expected)
        outcome = Outcome.WORKS if is_fine else Outcome.UNEXPECTED_PASS
    elif expected is None or _is_good(expected):
        outcome = Outcome.UNEXPECTED_FAILURE
    else:
        outcome = Outcome.AS_EXPECTED if _is_as(cell, expected) else Outcome.FAILS_OTHERWISE
    return Compared(cell=cell, outcome=outcome, expected=expected)


def _is_as(cell: CellRecord, expected: Expected) -> bool:
    is_cause = (
        not expected.cause
        or expected.cause in cell.errors
        or any(expected.cause == finding.slug for finding in cell.findings)
    )
    return is_cause and (not expected.verdict or cell.verdict.value == expected.verdict)


def _is_good(expected: Expected) -> bool:
    """Whether what is expected is itself a cell that works, with something to remark on."""
    return expected.verdict in (Verdict.ACCEPT.value, Verdict.HINT.value)


def _expected(table: Table) -> Expected:
    verdict = table.text("verdict", "")
    if verdict and verdict not in set(Verdict):
        table.refuse("verdict", f"a verdict{nearest(verdict, [each.value for each in Verdict])}")
    expected = Expected(
        cells=table.text("cells"),
        reason=table.text("reason"),
        verdict=verdict,
        cause=table.text("cause", ""),
        link=table.text("link", ""),
        flaky=table.flag("flaky", False),
        where=table.where,
    )
    if not expected.reason.strip():
        table.refuse("reason", "a sentence: an expectation without a reason hides a failure")
    if not (expected.verdict or expected.cause):
        table.refuse("verdict", "a verdict, or name a cause: nothing is expected otherwise")
    table.done()
    return expected

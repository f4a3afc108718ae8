"""Opens recorded runs for a page: one posture of a mixed run, or two runs whose cells a link must tell apart.

A link to a cell's evidence is the cell's key, so that it opens the same cell on tomorrow's page. Two runs of one
posture have the same keys: on a page that shows both, the cells of each carry the word for their side.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path

from a2a_lab.lab.records import CellRecord, Run, newest_run, read_run

SIDES = ("before", "after")
MIXED = "mixed"
FOREIGN = "foreign"

_SIDE: ContextVar[str] = ContextVar("side", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(CellRecord):
    """A cell on a page that shows two runs with the same keys; `side` is before or after."""

    side: str = ""


def one_run(folder: str | Path, *, posture: str = "") -> Run:
    """The run of a folder, also a cut one; of a mixed run the part of `posture`, if one is named.

    Raises `RecordFault` where the folder holds no run.
    """
    run = read_run(folder, allow_cut=True)
    if posture and run.header.posture == MIXED:
        run = run.select(posture)
    side = _SIDE.get()
    return placed(run, side) if side else run


def two_runs(base: str = "", other: str = "", *, out: str = "runs") -> tuple[Run, Run]:
    """The two runs of a comparison; an empty name takes the newest trusting and the newest enforcing run under `out`.

    One mixed run named twice is its two postures. Raises `RecordFault` where there is no run.
    """
    before, after = base or newest_run(out, posture="trusting"), other or newest_run(out, posture="enforcing")
    first, second = read_run(before, allow_cut=True), read_run(after, allow_cut=True)
    if first.header.run == second.header.run and first.header.posture == MIXED and not of_pairs(first):
        return first.select("trusting"), first.select("enforcing")
    if {str(cell.key) for cell in first.cells} & {str(cell.key) for cell in second.cells}:
        return placed(first, SIDES[0]), placed(second, SIDES[1])
    return first, second


def of_pairs(run: Run) -> bool:
    """Whether the run is of real vendors: some agent or consumer of it is nobody's simulation."""
    return any(f"/{FOREIGN}/" in key for key in run.header.plan) or any(
        vendor.reach in ("environment", "live") for vendor in run.header.vendors.values()
    )


def placed(run: Run, side: str) -> Run:
    """The run with its cells marked as of one side of the page."""
    names = [item.name for item in fields(CellRecord)]
    cells = tuple(Placed(**{name: getattr(cell, name) for name in names}, side=side) for cell in run.cells)
    return replace(run, cells=cells)


def name_of(run: Run) -> str:
    """What parts the tables of two runs on one page: the posture, and the side where there is one."""
    sides = {cell.side for cell in run.cells if isinstance(cell, Placed)}
    return "-".join([run.header.posture, *sides])


@contextmanager
def on_side(side: str) -> Iterator[None]:
    """Within it, runs are opened as of this side of a page; for notebooks that open their run themselves."""
    token = _SIDE.set(side)
    try:
        yield
    finally:
        _SIDE.reset(token)

"""How `run` and `plan` show a matrix of real vendors: who met whom, what came of it and why, and what is news."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from a2a_lab.cli import live, news, show
from a2a_lab.core.quoting import counted

if TYPE_CHECKING:
    from a2a_lab.lab.matrix import Matrix
    from a2a_lab.lab.records import CellRecord, Run


def is_of_pairs(run: Run) -> bool:
    """Whether the run is of real vendors."""
    from a2a_lab.report.opening import of_pairs

    return of_pairs(run)


def show_run(run: Run) -> int:
    """Every cell with its cause, then what is news; 1 where something is."""
    from a2a_lab.lab.expectations import compare_run

    show_cells(run)
    return news.tell(compare_run(run))


def show_cells(run: Run) -> None:
    """Each agent with the consumers it met: what came of it and why, and what was done."""
    agents: dict[str, dict[str, list[CellRecord]]] = {}
    for cell in run.cells:
        agents.setdefault(cell.key.agent, {}).setdefault(cell.key.consumer, []).append(cell)
    for name, met in agents.items():
        rows = [[consumer, _told(cells)] for consumer, cells in met.items()]
        show.table([f"agent {name}", "what came of it"], rows, whole=1)
        show.say("")


def json_of(run: Run) -> dict[str, object]:
    """What `--json` adds for a run of real vendors."""
    from a2a_lab.lab.expectations import as_json, compare_run

    return {"expectations": as_json(compare_run(run))} if is_of_pairs(run) else {}


def exit_code(run: Run) -> int:
    """1 where a run of real vendors holds news (R39)."""
    from a2a_lab.lab.expectations import compare_run

    return 1 if is_of_pairs(run) and any(one.outcome.is_news for one in compare_run(run)) else 0


def show_news(run: Run) -> None:
    """What nobody expected, and what was skipped."""
    from a2a_lab.lab.expectations import compare_run

    news.tell(compare_run(run))


def show_plan(matrix: Matrix, *, posture: str, only: str, must_include: str, attempts: int, as_json: bool) -> int:
    """The cells of a matrix of real vendors, and what running them needs."""
    from a2a_lab.lab.live_plan import live_plans
    from a2a_lab.lab.pairing_plan import plan_pairs

    cells = plan_pairs(matrix, posture=posture, only=only, must_include=must_include, attempts=attempts)
    lives = live_plans(cells)
    if as_json:
        told: dict[str, object] = {"matrix": matrix.name, "cells": [str(cell.key) for cell in cells]}
        show.print_json(told | ({"live": [plan.as_json() for plan in lives]} if lives else {}))
        return 0
    named: dict[str, str] = {}
    for cell in cells:
        show.say(str(cell.key))
        named[cell.agent.name] = cell.agent.told
        vendor = cell.consumer.vendor
        named[cell.consumer.name] = vendor.title if vendor else f"{cell.consumer.how}, of the lab"
    show.say("")
    show.table(["name", "is"], sorted(named.items()), whole=1)
    needed = {cell.agent.built.environment_name for cell in cells if cell.agent.live is None}
    needed |= {
        cell.consumer.vendor.environment_name for cell in cells if cell.consumer.vendor is not None and not cell.refused
    }
    if lives:
        live.tell(lives)
    places = f" in {counted(len(needed), 'environment')} ({', '.join(sorted(needed))})" if needed else ""
    show.say(f"{counted(len(cells), 'cell')}{places}; nothing was run")
    return 0


def _told(cells: Sequence[CellRecord]) -> Text:
    """`refuse newer-card-unreadable (send, stream)`: what came out alike is said once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        does = cell.key.scenario + (f" #{cell.key.attempt}" if cell.key.attempt > 1 else "")
        alike.setdefault((cell.verdict.value, cell.cause), []).append(does)
    told = [
        show.word(verdict) + show.plain(f"{' ' if cause else ''}{cause} ({', '.join(did)})")
        for (verdict, cause), did in alike.items()
    ]
    return show.plain(", ").join(told)

"""`a2a-lab steps`: what consumers do between their first byte and the commit, of a run or of the orchestrators anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from a2a_lab.lab.run import Progress

DEFAULT = "orchestrators"


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(steps)


def steps(
    run: Annotated[str, typer.Argument(help="Folder of a run of real vendors, or a matrix of them to run.")] = DEFAULT,
    out: Annotated[str, typer.Option("--out", help="Folder that run folders are written into.")] = "runs",
    only: Annotated[str, typer.Option("--only", help="Of a matrix: only cells whose key holds or matches this.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")] = False,
) -> None:
    """Tell in which order each consumer fetches cards, chooses and commits, and what a second message stands on.

    Without a run three orchestrators are met, whose environments are built first (1 GB).
    """
    from a2a_lab.cli import show
    from a2a_lab.errors import Misuse
    from a2a_lab.lab.approaches import COLUMNS, ways_of
    from a2a_lab.lab.records import read_run

    folder = Path(run) if (Path(run) / "records.jsonl").is_file() else _ran(run, out, only)
    read = read_run(folder, allow_cut=True)
    ways = ways_of(read)
    skipped = {cell.key.consumer: cell.said for cell in read.cells if not cell.is_graded}
    if not ways and not skipped:
        raise Misuse(f"{folder}: no consumer of somebody else's was watched; expected a run of real vendors")
    if json:
        show.print_json({"run": str(folder), "consumers": [way.as_json() for way in ways], "skipped": skipped})
        return
    for way in ways:
        name, *values = way.row()
        show.say(name)
        for column, value in zip(COLUMNS[1:], values, strict=True):
            show.say(f"  {column:<20} {value}")
        for place, told in enumerate(way.steps):
            show.say(f"  {'' if place else 'one of its cells':<20} {told}")
        show.say("")
    for consumer, why in skipped.items():
        show.say(f"{consumer} was not met: {why}")
    show.say(f"records: {folder}")


def _ran(matrix: str, out: str, only: str) -> Path:
    from a2a_lab.cli import show
    from a2a_lab.errors import Misuse
    from a2a_lab.lab.api import run_matrix
    from a2a_lab.lab.matrix import Matrix

    if Matrix.load(matrix).pairings is None:
        raise Misuse(f"{matrix} pairs simulated vendors, whose habits the lab wrote itself; name one of real vendors")
    with show.live("starting the vendors") as tell:

        def watch(now: Progress) -> None:
            tell(f"{now.done} of {now.planned} cells")

        return run_matrix(matrix, posture="both", out=out, only=only, watcher=watch)

"""`a2a-lab reproduce RUN CELL`: a folder to send to a vendor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(reproduce)


def reproduce(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or the id of one below runs.")],
    cell: Annotated[str, typer.Argument(help="A cell's key, a part of it, or a pair: 'alder x records trusting'.")],
    out: Annotated[
        Optional[Path], typer.Option("--out", help="Folder to write; the finding names it otherwise.")
    ] = None,
    bodies: Annotated[bool, typer.Option("--bodies", help="Keep what messages and artifacts contain.")] = False,
    finding: Annotated[str, typer.Option("--finding", help="Slug of the finding, if not the gravest.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")] = False,
) -> None:
    """Make a folder for a vendor: the finding in plain words, the evidence, a case, and a script on httpx alone."""
    from a2a_lab.cli import show
    from a2a_lab.lab.reproduce import reproduce as make
    from a2a_lab.lab.runreading import run_folder

    made = make(run_folder(run), cell, out=out, bodies=bodies, finding=finding)
    if json:
        show.print_json(
            {
                "folder": str(made.folder),
                "cell": made.cell,
                "finding": made.finding.as_json() | {"stage": made.finding.stage.value},
                "others": [one.slug for one in made.others],
                "files": list(made.files),
                "case_differs_at": list(made.differs),
            }
        )
        return
    main = made.finding
    show.say(made.cell)
    show.say(f"{main.stage.value}  ", show.word(main.verdict.value), f"  {main.slug}: {main.detail}")
    for file in made.files:
        show.say(f"  {made.folder / file}")
    if made.differs:
        show.say(f"as a case it comes out otherwise at {', '.join(made.differs)}; the README says so")
    if made.others:
        show.say(
            f"also found: {', '.join(dict.fromkeys(one.slug for one in made.others))} (--finding SLUG for one of them)"
        )
    if "reproduce.py" in made.files:
        show.say(f"see it: a2a-lab replay {made.folder / 'case.json'}, then python {made.folder / 'reproduce.py'} URL")

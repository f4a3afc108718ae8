"""`ledger orphans` and `ledger cleanup`."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from pathlib import Path

from a2a_lab.cli import show
from a2a_lab.core.orphans import OrphanRow
from a2a_lab.errors import Misuse
from a2a_lab.vendors.tables import nearest


def orphans_command(out: str, *, run: str, as_json: bool) -> int:
    from a2a_lab.lab.cleanup import list_orphans

    found = list_orphans(_ledger(out, run), run=run or None)
    if as_json:
        show.print_json({"orphans": [{"run": at[0], "cell": at[1], **asdict(row)} for at, row in found]})
    elif not found:
        show.say("nothing is left behind")
    else:
        _show(found)
    return 0


def cleanup_command(out: str, *, run: str, header_env: list[str], vendor: str, as_json: bool) -> int:
    from a2a_lab.lab.cleanup import clean_up
    from a2a_lab.lab.loop import run_sync

    with show.live("cancelling what is open"):
        done = run_sync(clean_up(_ledger(out, run), run=run or None, header_env=header_env, vendor=vendor))
    if as_json:
        show.print_json(
            {
                "cancelled": done.cancelled,
                "ended_with_run": done.ended_with_run,
                "unreachable": done.unreachable,
                "left": [{"run": at[0], "cell": at[1], **asdict(row)} for at, row in done.left],
            }
        )
        return 0 if not done.left else 1
    show.say(f"tasks settled: {done.cancelled}; left behind: {len(done.left)}")
    if done.ended_with_run:
        show.say(f"{done.ended_with_run} more were at agents of the lab, which ended with their run")
    if done.unreachable:
        show.say("no answer from: " + ", ".join(done.unreachable))
    if done.left:
        _show(done.left)
    return 0 if not done.left else 1


def _ledger(out: str, run: str) -> Path:
    """The ledger of a folder. A run that is not in it is refused: nothing found must not read as nothing left."""
    from a2a_lab.lab.cleanup import runs_of
    from a2a_lab.lab.run import LEDGER

    path = Path(out) / LEDGER
    if not path.is_file():
        raise Misuse(f"there is no ledger {path}; name the folder of your runs with --out")
    if run and run not in (known := runs_of(path)):
        raise Misuse(f"--run {run!r}: {path} knows no such run{nearest(run, known[-5:])}")
    return path


def _show(found: list[tuple[tuple[str, str], OrphanRow]]) -> None:
    """Under each run and cell what is left: what it is, its id, what it held, and how its task stands."""
    for (run, cell), rows in itertools.groupby(found, key=lambda entry: entry[0]):
        show.say(f"{run}  {cell}")
        for _, row in rows:
            name = row.artifact_or_message_id or row.task_id or "-"
            held = f"{row.media_type or 'no type'}, {row.bytes} bytes; " if row.what != "task" else ""
            of = f" of task {row.task_id}" if row.what != "task" and row.task_id else ""
            show.say(f"    {row.what:<9} {name}{of}: {held}{row.state}, {row.why}")

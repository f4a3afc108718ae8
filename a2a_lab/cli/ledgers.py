"""`ledger orphans` and `ledger cleanup`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from a2a_lab.cli import show
from a2a_lab.core.orphans import OrphanRow
from a2a_lab.errors import Misuse


def orphans_command(out: str, *, run: str, as_json: bool) -> int:
    from a2a_lab.lab.cleanup import list_orphans

    found = list_orphans(_ledger(out), run=run or None)
    if as_json:
        show.print_json({"orphans": [{"run": at[0], "cell": at[1], **asdict(row)} for at, row in found]})
    elif not found:
        show.say("nothing is left behind")
    else:
        show.table(
            ["run", "cell", "what", "task", "artifact or message", "type", "bytes", "state", "why"], _rows(found)
        )
    return 0


def cleanup_command(out: str, *, run: str, header_env: list[str], as_json: bool) -> int:
    from a2a_lab.lab.cleanup import clean_up
    from a2a_lab.lab.loop import run_sync

    with show.live("cancelling what is open"):
        done = run_sync(clean_up(_ledger(out), run=run or None, header_env=header_env))
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
    show.say(f"{done.cancelled} tasks settled; {len(done.left)} things are left")
    if done.ended_with_run:
        show.say(f"{done.ended_with_run} more were at simulated agents, which ended with their run")
    if done.unreachable:
        show.say("no answer from: " + ", ".join(done.unreachable))
    if done.left:
        show.table(
            ["run", "cell", "what", "task", "artifact or message", "type", "bytes", "state", "why"], _rows(done.left)
        )
    return 0 if not done.left else 1


def _ledger(out: str) -> Path:
    from a2a_lab.lab.run import LEDGER

    path = Path(out) / LEDGER
    if not path.is_file():
        raise Misuse(f"there is no ledger {path}; name the folder of your runs with --out")
    return path


def _rows(found: list[tuple[tuple[str, str], OrphanRow]]) -> list[list[object]]:
    return [
        [
            run,
            cell,
            row.what,
            row.task_id or "-",
            row.artifact_or_message_id or "-",
            row.media_type or "-",
            row.bytes,
            row.state,
            row.why,
        ]
        for (run, cell), row in found
    ]

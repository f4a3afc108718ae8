"""`a2a-lab replay FILE`: a recording as a vendor on a port, until Ctrl-C."""

from __future__ import annotations

import contextlib
import json as json_
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from a2a_lab.lab.recordings import Recording
    from a2a_lab.lab.replay import Replay, Served
    from a2a_lab.lab.replayhint import CheckHint


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(replay)


def replay(
    file: Annotated[Path, typer.Argument(help="A case file, or a HAR file of the lab, a browser or a proxy.")],
    port: Annotated[int, typer.Option("--port", help="Port of 127.0.0.1; 0 for a free one.")] = 0,
    pace: Annotated[float, typer.Option("--pace", help="Factor for the recorded pauses; 0 for none.")] = 1.0,
    match: Annotated[
        str,
        typer.Option("--match", help="ids: requests may differ in ids only. operation: in all but place and method."),
    ] = "ids",
    rewrite: Annotated[
        bool,
        typer.Option("--rewrite", help="Answer with this origin in all URLs, for clients without connect-to."),
    ] = False,
    card: Annotated[bool, typer.Option("--card/--no-card", help="Make a card where the recording has none.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines: how to connect, then each request.")] = False,
) -> None:
    """Serve a case or HAR file as a vendor: its answers in turn, with their pauses and faults. Ctrl-C ends it."""
    from a2a_lab.errors import Misuse
    from a2a_lab.lab.loop import run_sync
    from a2a_lab.lab.recordings import read_recording, with_made_card

    if match not in ("ids", "operation"):
        raise Misuse(f"--match {match!r}: expected ids or operation")
    recording = read_recording(file)
    if card:
        recording = with_made_card(recording)
    told = _line if json else _told
    with contextlib.suppress(KeyboardInterrupt):
        run_sync(_serve(recording, told, as_json=json, port=port, pace=pace, match=match, rewrite=rewrite))


async def _serve(recording: Recording, told: Any, *, as_json: bool, **options: Any) -> None:
    from a2a_lab.lab.replay import Replay

    async with Replay(recording.exchanges, told=told, **options) as running:
        hint = _hint(recording, running, rewrite=options["rewrite"], match=options["match"])
        _ready_line(recording, running, hint) if as_json else _ready(recording, running, hint, **options)
        await running.forever()


def _hint(recording: Recording, running: Replay, *, rewrite: bool, match: str) -> CheckHint:
    from a2a_lab.lab.replayhint import check_hint

    return check_hint(
        recording.exchanges,
        running.connect_to,
        rewritten_to=running.url if rewrite else "",
        send=match == "operation",
    )


def _ready(
    recording: Recording, running: Replay, hint: CheckHint, *, rewrite: bool, match: str, **_other: object
) -> None:
    from a2a_lab.cli import show

    show.say(f"{recording.name}: {recording.summary}" if recording.summary else recording.name)
    show.say(f"{len(recording.exchanges)} recorded answers until Ctrl-C at {running.url}")
    at = "here" if rewrite else "the recorded address, which --connect-to leads to this replay"
    show.say(f"to check it, in another terminal and at {at}:")
    show.say(f"  {hint.command}")
    if hint.has_sends and match == "ids":
        show.say(
            "what a check sends is not what was recorded (it has an id of its own in its text), so --send needs a "
            "replay that is started with --match operation"
        )
    for sentence in running.shortcomings:
        show.say(f"not as recorded: {sentence}")


def _told(served: Served) -> None:
    from rich.text import Text

    from a2a_lab.cli import show

    what = f"{served.method} {served.url} {served.operation}".rstrip()
    if not served.matched:
        show.say(Text("no match", style="red"), f"  {what}: {served.told}")
        return
    turn = "again" if served.again else f"{served.turn} of {served.turns}"
    differs = f"; other content than recorded at {', '.join(served.differs[:3])}" if served.differs else ""
    show.say(f"entry {served.number} ({turn})  {what}: {served.told}{differs}")


def _ready_line(recording: Recording, running: Replay, hint: CheckHint) -> None:
    _print(
        {
            "recording": recording.name,
            "url": running.url,
            "connect_to": running.connect_to,
            "check": hint.command,
            "entries": len(recording.exchanges),
            "not_as_recorded": running.shortcomings,
        }
    )


def _line(served: Served) -> None:
    _print(
        {
            "method": served.method,
            "url": served.url,
            "operation": served.operation,
            "matched": served.matched,
            "entry": served.number,
            "turn": served.turn,
            "turns": served.turns,
            "again": served.again,
            "differs": list(served.differs),
            "told": served.told,
        }
    )


def _print(line: dict[str, Any]) -> None:
    sys.stdout.write(json_.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()

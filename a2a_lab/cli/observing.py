"""`a2a-lab observe --to URL`: a recorder in front of an agent, for whatever client one points at it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from a2a_lab.lab.observe import Observation
    from a2a_lab.net.keeping import Passing
    from a2a_lab.verdicts import Finding

STYLES = {"consumer": "cyan", "agent": "green", "recorder": "yellow"}


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(observe)


def observe(
    to: Annotated[str, typer.Option("--to", help="Where the agent is, as its users would give it.")],
    out: Annotated[str, typer.Option("--out", help="Folder that evidence and page are written into.")] = "runs",
    page: Annotated[Optional[Path], typer.Option("--page", help="Where to write the page.")] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Write no page.")] = False,
    bodies: Annotated[bool, typer.Option("--bodies", help="Show on the page what messages contain.")] = False,
    for_s: Annotated[Optional[float], typer.Option("--for", help="End by itself after this many seconds.")] = None,
    ca_bundle: Annotated[str, typer.Option("--ca-bundle", help="PEM file of certificate authorities.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document for programs, at the end.")] = False,
) -> None:
    """Stand in front of an agent, tell what passes, and judge both ends when it is over. Ctrl-C ends it.

    Ends with 0 whatever was seen, 2 where nobody came.
    """
    from a2a_lab.cli import show
    from a2a_lab.errors import Misuse

    if for_s is not None and not for_s > 0:
        raise Misuse(f"--for {for_s:g}: expected a positive number of seconds")
    try:
        from a2a_lab.lab.observe import ObserveOptions, Observing
        from a2a_lab.report.live import LiveLines
    except ImportError as missing:
        raise Misuse(f"observe needs the extra `lab` ({missing}): pip install 'a2a-lab[lab]'") from missing
    lines = LiveLines()

    def opened(address: str) -> None:
        _tell(f"in front of {to} until Ctrl-C; point your client at {address}")

    def listener(passing: Passing) -> None:
        for line in lines(passing):
            _tell(f"{line.at_ms / 1000:9.3f} s  #{line.call:<3} ", line.who, f"  {line.what}")

    options = ObserveOptions(out=out, for_s=for_s, ca_bundle=ca_bundle)
    seen = Observing(to, options, opened=opened, listener=listener).run()
    written = None if no_page else _page(seen, page, bodies=bodies)
    if json:
        show.print_json(seen.as_json() | {"page": str(written) if written else None})
    else:
        _told(seen, written)
    raise typer.Exit(0 if seen.exchanges else 2)


def _tell(before: str, who: str = "", after: str = "") -> None:
    """One line on stderr, so that what `--json` prints stays clean."""
    from rich.text import Text

    from a2a_lab.cli import show

    told = show.plain(before) + Text(f"{who:<8}" if who else "", style=STYLES.get(who, "")) + show.plain(after)
    show.err.print(told, soft_wrap=True)


def _page(seen: Observation, page: Path | None, *, bodies: bool) -> Path:
    from a2a_lab.report.observed import observed_page

    return observed_page(seen, page or seen.evidence.with_suffix(".html"), now=datetime.now(UTC), bodies=bodies)


def _told(seen: Observation, written: Path | None) -> None:
    from a2a_lab.cli import show

    show.say("")
    show.say("verdict   ", show.word(seen.verdict.value))
    show.say(f"outcome   {seen.said}")
    for whose, found in (
        ("the consumer", seen.consumer_findings),
        ("the agent", seen.agent_findings),
        ("the recorder", seen.noted),
    ):
        if found:
            show.say("")
            show.say(f"about {whose}:")
            show.finding_lines([_line(one) for one in found])
    show.say("")
    show.say(f"evidence: {seen.evidence}")
    if written is not None:
        show.say(f"page: {written}")


def _line(one: Finding) -> tuple[str, str, str, str, str]:
    from a2a_lab.cli import show

    whose = show.whose_rule(judge=one.judge.value, rule=one.rule, clause=one.clause)
    return (one.stage.value, one.verdict.value, one.slug, one.detail, whose)

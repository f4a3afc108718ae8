"""What a person at a terminal sees: a live line while work runs, tables at the end, one sentence for an error.

Strings of vendors are hostile: control characters are shown, markup is off. Progress goes to stderr, so that `--json`
on stdout stays clean.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from a2a_lab.core.quoting import ascii_controls

STYLES = {
    "accept": "green",
    "hint": "yellow",
    "refuse": "magenta",
    "conformance-error": "red",
    "hang": "bold red",
    "orphan": "bold red",
    "unreachable": "dim",
    "auth-needed": "dim",
    "throttled": "dim",
    "harness-error": "bold",
    "authoritative": "green",
    "advisory": "yellow",
}

LOGGED_S = 20.0
PIPED = 200  # columns of what goes into a file or another program, which breaks no line of its own


def _console(*, stderr: bool = False) -> Console:
    is_piped = not (sys.stderr if stderr else sys.stdout).isatty() and "COLUMNS" not in os.environ
    return Console(stderr=stderr, highlight=False, width=PIPED if is_piped else None)


out = _console()
err = _console(stderr=True)


def plain(value: object) -> Text:
    """A value as text: nothing in it is markup, and control characters are visible."""
    return Text(ascii_controls(str(value)))


def word(value: str) -> Text:
    return Text(value, style=STYLES.get(value, ""))


def loud(value: str) -> Text:
    return Text(value, style="bold red")


def say(*parts: object) -> None:
    out.print(*(part if isinstance(part, Text) else plain(part) for part in parts), sep="", soft_wrap=True)


def fail(message: str) -> None:
    """One sentence; what a program of somebody else's printed follows it, line by line, as `last_lines` indents it."""
    sentence, *printed = message.split("\n    ")
    err.print(Text("a2a-lab: ", style="bold red") + plain(sentence), soft_wrap=True)
    for line in printed:
        err.print(plain(f"    {line}"), soft_wrap=True)


def note(message: str) -> None:
    """What a person should know while work runs; on stderr, above the live line."""
    err.print(plain(message), soft_wrap=True)


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "", whole: int = 0) -> None:
    """Rows under heads. The first `whole` columns hold names, which are never broken on a narrow terminal."""
    shown = Table(title=title or None, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
    for place, column in enumerate(columns):
        shown.add_column(column, overflow="fold", no_wrap=place < whole)
    for row in rows:
        shown.add_row(*(cell if isinstance(cell, Text) else plain(cell) for cell in row))
    out.print(shown)


def stages(found: Mapping[str, Any]) -> None:
    """Every finding in the order of the flow; a stage without one is a line of its own."""
    for stage, record in found.items():
        finding_lines(
            [
                (stage, finding["verdict"], finding["slug"], finding["detail"], whose_rule(**finding))
                for finding in record["findings"]
            ]
            or [(stage, record["verdict"], "", "", "")]
        )


def whose_rule(*, judge: str, rule: str | None = None, clause: str | None = None, **_: object) -> str:
    """Who decided: a clause of the specification, or a rule of the lab's policy."""
    return (clause or "") if judge == "spec" else f"policy {rule}"


def finding_lines(found: Sequence[tuple[str, str, str, str, str]]) -> None:
    """Stage, verdict and slug on one line, what was seen and whose rule it is below: sentences need the whole width."""
    for stage, verdict, slug, detail, whose in found:
        head = Text.assemble(f"{stage:<11}", word(verdict))
        if slug:
            head.append(" " * (max(30 - len(head), 0) + 1)).append(plain(slug))
        out.print(head, soft_wrap=True)
        sentence = plain(detail + (f" ({whose})" if whose else ""))
        for line in sentence.wrap(out, max(out.width - 4, 20)) if sentence else ():
            out.print(Text("    ") + line, soft_wrap=True)


@contextlib.contextmanager
def live(text: str) -> Iterator[Callable[[str], None]]:
    """One line on stderr, rewritten while work runs, with the time since it began; into a log a line now and then."""
    if not err.is_terminal:
        yield _logged()
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    told = TextColumn(
        "{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)
    )
    columns = (SpinnerColumn(), TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=7)), told)
    with Progress(*columns, console=err, transient=True, expand=True) as progress:
        task = progress.add_task(ascii_controls(text), total=None)
        yield lambda now: progress.update(task, description=ascii_controls(now))


def _logged() -> Callable[[str], None]:
    """Tells how far it is, at most every `LOGGED_S` seconds: a log shows that the run lives, and stays short."""
    began = last = time.monotonic()

    def tell(now: str) -> None:
        nonlocal last
        at = time.monotonic()
        if at - last >= LOGGED_S:
            last = at
            err.print(f"{at - began:5.0f} s  {ascii_controls(now)}", markup=False, soft_wrap=True)

    return tell

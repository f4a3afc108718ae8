"""`report`: the main job, a page of runs that are recorded already, and the page of any notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from a2a_lab.cli import pairs, show, worth
from a2a_lab.errors import Misuse

if TYPE_CHECKING:
    from a2a_lab.lab.records import CellRecord, Run
    from a2a_lab.report.making import Report
    from a2a_lab.report.recorded import Standing

FAIL_ON = ("spec", "policy", "hang", "orphan")
_HOW_TO_RUN = ("matrix", "out", "transport_timeout", "only", "attempts")


def refuse_mixture(given: Sequence[str]) -> None:
    """`Misuse` where options of `report` do not go together, instead of heeding some; `given` are their names."""
    if "parameter" in given and "notebook" not in given:
        raise Misuse(
            "-p is for a notebook, and none is named: add --notebook NAME, such as --notebook vendor -p url=URL; "
            "a matrix has options of its own (--matrix, --only, --attempts, --transport-timeout)"
        )
    if "runs" in given and "notebook" in given:
        raise Misuse("--notebook and a RUN: a notebook is executed, a run is shown; name one of the two")
    for name in _HOW_TO_RUN if "runs" in given else ():
        if name in given:
            raise Misuse(
                f"--{name.replace('_', '-')} says how to run, and a recorded RUN is shown as it was; leave it out"
            )
    for name in (*_HOW_TO_RUN, "bodies", "fail_on") if "notebook" in given else ():
        if name in given and name != "out":
            option = f"--{name.replace('_', '-')}"
            raise Misuse(f"{option} is for a matrix; with --notebook give what the notebook takes with -p NAME=VALUE")


def report_command(
    *,
    matrix: str,
    page: Path | None,
    out: str,
    transport_timeout_s: float | None,
    only: str,
    attempts: int,
    bodies: bool,
    fail_on: str,
    as_json: bool,
) -> int:
    """Run a matrix and write its page."""
    wanted = _wanted(fail_on)
    try:
        from a2a_lab.report.making import make_report
    except ImportError as missing:
        raise Misuse(f"report needs the extra `lab` ({missing}): pip install 'a2a-lab[lab]'") from missing

    with show.live("starting") as tell:
        made = make_report(
            matrix,
            page=page,
            out=out,
            transport_timeout_s=transport_timeout_s,
            only=only,
            attempts=attempts,
            bodies=bodies,
            watch=lambda told, said: tell(standing(told, said)),
        )
    return _ended(made, wanted, as_json=as_json)


def again_command(runs: Sequence[Path], *, page: Path | None, bodies: bool, fail_on: str, as_json: bool) -> int:
    """The page of runs that are recorded already."""
    wanted = _wanted(fail_on)
    try:
        from a2a_lab.report.again import report_again
    except ImportError as missing:
        raise Misuse(f"report needs the extra `lab` ({missing}): pip install 'a2a-lab[lab]'") from missing

    with show.live(f"writing the page of {', '.join(run.name for run in runs)}"):
        made = report_again(runs, page=page, bodies=bodies)
    return _ended(made, wanted, as_json=as_json)


def standing(told: Mapping[str, Standing], said: str) -> str:
    """The live line: `enforcing 5/7, trusting 3/7; waiting for cedar × dash`."""
    if not told:
        return said or "starting: nothing is recorded yet"
    states = [f"{name} {one.done}/{one.planned}" for name, one in sorted(told.items())]
    if len(told) == 1:
        states = [f"{one.done} of {one.planned} cells" for one in told.values()]
    waiting = [one.waiting for one in told.values() if one.waiting]
    if not waiting:
        return f"{', '.join(states)}; writing the page"
    return f"{', '.join(states)}; " + (said or f"waiting for {', '.join(dict.fromkeys(map(_pair, waiting)))}")


def _pair(key: str) -> str:
    agent, consumer, *_ = key.split("/")
    return f"{agent.partition('@')[0]} × {consumer}"


def _wanted(fail_on: str) -> list[str]:
    wanted = [word.strip() for word in fail_on.split(",") if word.strip()]
    for word in wanted:
        if word not in FAIL_ON:
            raise Misuse(f"--fail-on {word!r}: expected {', '.join(FAIL_ON[:-1])} or {FAIL_ON[-1]}")
    return wanted


def _ended(made: Report, wanted: Sequence[str], *, as_json: bool) -> int:
    """Say what came of it, and end as R39 has it."""
    runs = list(made.runs.values())
    last = runs[-1]
    if as_json:
        show.print_json(made.as_json() | worth.json_of(runs) | pairs.json_of(last))
    elif pairs.is_of_pairs(last):
        _show_field(last)
        show.say(f"page: {made.page}")  # first: an old run may not fit the expectations of today, and has its page
        pairs.show_news(last)
    else:
        _show_summary(made.as_json()["summary"])
        show.say(f"page: {made.page}")
    worth.tell_gaps(runs)
    return worth.ended(runs, 1 if _fails(last.cells, wanted) else pairs.exit_code(last))


_WORDS = {"hangs": "timed-out waits", "pairs_with_hangs": "pairs with timed-out waits"}  # R30: no verdict is meant


def _show_summary(figures: Mapping[str, Mapping[str, Any]]) -> None:
    names = [name for name in next(iter(figures.values())) if name != "errors"]
    show.table(
        ["", *figures],
        [[_WORDS.get(name, name.replace("_", " ")), *(figures[run][name] for run in figures)] for name in names],
    )


def _show_field(run: Run) -> None:
    """Each agent of a run of real vendors, with how many of its cells work and what the others end with."""
    from collections import Counter

    agents: dict[str, list[CellRecord]] = {}
    for cell in run.cells:
        agents.setdefault(cell.key.agent, []).append(cell)
    rows: list[list[object]] = []
    for name, cells in agents.items():
        graded = [cell for cell in cells if cell.is_graded]
        why = Counter(cell.cause or cell.verdict.value for cell in cells if not cell.works)
        told = ", ".join(f"{count} {slug}" for slug, count in why.most_common(3))
        rows.append([name, f"{sum(cell.works for cell in graded)}/{len(graded)}", told])
    show.table(["agent", "cells work", "the others end with"], rows, whole=1)


def notebook_command(notebook: str, parameters: list[str], *, page: Path | None, out: str, as_json: bool) -> int:
    """One notebook to one page. Values are read as the type that the notebook declares, so `version=1.0` stays text.

    Ends as the notebook calls for: that of one agent ends as `check` does (R39).
    """
    try:
        from a2a_lab.report.execute import declared_parameters
        from a2a_lab.report.making import make_page, notebook_path
    except ImportError as missing:
        raise Misuse(f"report needs the extra `lab` ({missing}): pip install 'a2a-lab[lab]'") from missing

    declared = declared_parameters(notebook_path(notebook))
    given = {}
    for pair in parameters:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise Misuse(f"-p {pair!r}: expected NAME=VALUE; {notebook} takes {', '.join(declared)}")
        given[name] = _read(text, declared.get(name, "str"))
    if "out" in declared:
        given.setdefault("out", out)
    with show.live(f"executing {notebook}"):
        made = make_page(notebook, given, page=page, out=out)
    if as_json:
        show.print_json({"page": str(made.page), "exit": made.ends, "said": made.said})
    else:
        if made.said:
            show.say(made.said)
        show.say(f"page: {made.page}")
    return made.ends


def _read(text: str, kind: str) -> object:
    """A value of the command line as the declared type; what does not fit stays text and is refused by the lab."""
    for cast, named in ((int, "int"), (float, "float")):
        if named in kind:
            try:
                return cast(text)
            except ValueError:
                continue
    return text


def _fails(cells: Sequence[CellRecord], wanted: Sequence[str]) -> bool:
    from a2a_lab.verdicts import Kind, Verdict

    for cell in cells:
        if cell.verdict.value in wanted:
            return True
        severe = [
            one
            for one in cell.findings
            if one.kind is Kind.CONFORMANCE and one.verdict.severity > Verdict.HINT.severity
        ]
        if any(one.judge.value in wanted for one in severe):
            return True
    return False

"""`report`: the main job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from a2a_lab.cli import pairs, show
from a2a_lab.errors import Misuse

FAIL_ON = ("spec", "policy", "hang", "orphan")


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
    wanted = [word.strip() for word in fail_on.split(",") if word.strip()]
    for word in wanted:
        if word not in FAIL_ON:
            raise Misuse(f"--fail-on {word!r}: expected {', '.join(FAIL_ON[:-1])} or {FAIL_ON[-1]}")
    try:
        from a2a_lab.report.making import make_report
    except ImportError as missing:
        raise Misuse(f"report needs the extra `lab` ({missing}): pip install 'a2a-lab[lab]'") from missing

    with show.live("starting two kernels") as tell:

        def watch(told: Mapping[str, tuple[int, int]]) -> None:
            states = [f"{posture} {done} of {planned}" for posture, (done, planned) in sorted(told.items())]
            all_done = len(told) == 2 and all(done == planned for done, planned in told.values())
            tell("writing the page" if all_done else "cells recorded: " + (", ".join(states) or "none yet"))

        made = make_report(
            matrix,
            page=page,
            out=out,
            transport_timeout_s=transport_timeout_s,
            only=only,
            attempts=attempts,
            bodies=bodies,
            watch=watch,
        )
    last = list(made.runs.values())[-1]
    told = made.as_json() | pairs.json_of(last)
    if as_json:
        show.print_json(told)
    else:
        figures = told["summary"]
        names = [name for name in next(iter(figures.values())) if name != "errors"]
        show.table(
            ["", *figures],
            [[name.replace("_", " "), *(figures[run][name] for run in figures)] for name in names],
        )
        if pairs.is_of_pairs(last):
            pairs.show_news(last)
        show.say(f"page: {made.page}")
    return 1 if _fails(last.cells, wanted) else pairs.exit_code(last)


def notebook_command(notebook: str, parameters: list[str], *, page: Path | None, out: str, as_json: bool) -> int:
    """One notebook to one page. Values are read as the type that the notebook declares, so `version=1.0` stays text."""
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
        written = make_page(notebook, given, page=page, out=out)
    if as_json:
        show.print_json({"page": str(written)})
    else:
        show.say(f"page: {written}")
    return 0


def _read(text: str, kind: str) -> object:
    """A value of the command line as the declared type; what does not fit stays text and is refused by the lab."""
    for cast, named in ((int, "int"), (float, "float")):
        if named in kind:
            try:
                return cast(text)
            except ValueError:
                continue
    return text


def _fails(cells: object, wanted: list[str]) -> bool:
    from a2a_lab.lab.records import CellRecord
    from a2a_lab.verdicts import Kind, Verdict

    assert isinstance(cells, (list, tuple))
    for cell in cells:
        assert isinstance(cell, CellRecord)
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

"""`run`, `plan` and `compare`: cells without notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from a2a_lab.cli import pairs, show, worth
from a2a_lab.core.quoting import counted
from a2a_lab.errors import Misuse
from a2a_lab.lab.records import Measures
from a2a_lab.lab.run import Progress


def replacements(pairs: list[str]) -> dict[str, str]:
    """`NAME=OTHER` pairs of the command line."""
    made = {}
    for pair in pairs:
        name, equals, other = pair.partition("=")
        if not equals or not name or not other:
            raise Misuse(f"--replace {pair!r}: expected NAME=OTHER or NAME=MATRIX:OTHER")
        made[name] = other
    return made


def run_command(
    matrix: str,
    *,
    posture: str,
    out: str,
    transport_timeout_s: float | None,
    only: str,
    must_include: str,
    replace: list[str],
    attempts: int,
    resume: Path | None,
    as_json: bool,
) -> int:
    from a2a_lab.lab.api import resume_run, run_matrix
    from a2a_lab.lab.records import read_run
    from a2a_lab.tabulate import summary

    with show.live("starting the vendors") as tell:

        def watch(now: Progress) -> None:
            waiting = ", ".join(key.rsplit("/", 5)[0] for key in now.running[:3])
            tell(f"{now.done} of {now.planned} cells" + (f"; waiting for {waiting}" if waiting else ""))

        if resume is not None:
            given = {"--only": only, "--must-include": must_include, "--replace": replace}
            if said := [name for name, value in given.items() if value]:
                raise Misuse(f"{said[0]} with --resume: a run goes on as it was planned; leave the option out")
            folder = resume_run(resume, watcher=watch)
        else:
            folder = run_matrix(
                matrix,
                posture=posture,
                out=out,
                transport_timeout_s=transport_timeout_s,
                only=only,
                must_include=must_include,
                replaced=replacements(replace),
                attempts=attempts,
                watcher=watch,
                say=show.note,
            )
    run = read_run(folder, allow_cut=True)
    if as_json:
        show.print_json({"run": str(folder), "summary": summary(run)} | worth.json_of([run]) | pairs.json_of(run))
        return worth.ended([run], pairs.exit_code(run))
    if pairs.is_of_pairs(run):
        code = pairs.show_run(run)
        show.say(f"records: {folder}")
        return worth.ended([run], code)
    for posture in dict.fromkeys(cell.key.posture for cell in run.cells):
        show.table(
            ["pair", "verdict", "what was counted, and how it ended"],
            [
                [
                    f"{cell.key.agent} x {cell.key.consumer}",
                    show.word(cell.verdict.value),
                    f"{cell.authority}, {_measured(cell.measures)}: {cell.said}",
                ]
                for cell in run.cells
                if cell.key.posture == posture
            ],
            title=f"\n{posture}",
            whole=2,
        )
    show.say(f"records: {folder}")
    return worth.ended([run], 0)


def _measured(one: Measures) -> str:
    counts = [
        (one.renegotiation_cycles, "renegotiation cycle"),
        (one.orphans, "orphan"),
        (one.hangs, "timed-out wait"),
    ]
    words = [{True: "held", False: "not held", None: "untested"}[one.held]]
    words += [counted(count, name) for count, name in counts if count]
    words += ["delivered" if one.delivered else "nothing delivered", f"{one.time_to_verdict_s:.1f} s"]
    return ", ".join(words)


def plan_command(
    matrix: str,
    *,
    posture: str,
    only: str,
    must_include: str,
    replace: list[str],
    attempts: int,
    as_json: bool,
) -> int:
    from a2a_lab.lab.matrix import Matrix
    from a2a_lab.lab.plan import POSTURES, make_plan

    loaded = Matrix.load(matrix)
    if loaded.pairings is not None:
        return pairs.show_plan(
            loaded, posture=posture, only=only, must_include=must_include, attempts=attempts, as_json=as_json
        )
    cells = make_plan(
        loaded,
        postures=POSTURES if posture == "both" else (posture,),
        only=only,
        must_include=must_include,
        replaced=replacements(replace),
        attempts=attempts,
    )
    if as_json:
        show.print_json({"matrix": loaded.name, "cells": [str(cell.key) for cell in cells]})
        return 0
    for cell in cells:
        show.say(str(cell.key))
        show.say(f"    {cell.agent.purpose or cell.key.agent}; meets who sends {_wants(cell.consumer)}")
    show.say(f"{counted(len(cells), 'cell')}; nothing was run")
    return 0


def _wants(consumer: Any) -> str:
    how = "a stream" if consumer.stream else f"to {consumer.wait}"
    return f"{consumer.mode} with {consumer.skill or 'any skill'}, {how}"


def compare_command(base: Path, other: Path, *, as_json: bool) -> int:
    from a2a_lab.compare import compare
    from a2a_lab.lab.records import read_run

    first, second = read_run(base, allow_cut=True), read_run(other, allow_cut=True)
    across = first.header.posture != second.header.posture
    found = compare(first, second, across_postures=across)
    worth.tell_gaps([first, second])
    if as_json:
        show.print_json(found.as_json() | worth.json_of([first, second]))
    elif all(row.change.value == "same" for row in found.changes):
        show.say(f"0 newly failing, 0 changed in all, {len(found.changes)} as before")
    else:
        rows = [row for row in found.changes if row.change.value != "same"]
        show.table(
            ["pair", "change", "before", "after", "what differs"],
            [
                [
                    "/".join(row.pair),
                    row.change.value,
                    row.base.told if row.base else "-",
                    row.other.told if row.other else "-",
                    "; ".join(row.details),
                ]
                for row in rows
            ],
        )
        for line in found.vendors:
            show.say(line)
        same = len(found.changes) - len(rows)
        show.say(f"{len(found.regressions)} newly failing, {len(rows)} changed in all, {same} as before")
        if not found.is_conclusive:
            show.say("not every pair of the first run was graded again, so that no regression proves little")
    return 1 if found.regressions else 0

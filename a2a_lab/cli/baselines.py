"""`compare RUN --baseline`: whether a run of real vendors found what somebody measured of the same pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from a2a_lab.cli import show, worth
from a2a_lab.errors import Misuse

if TYPE_CHECKING:
    from a2a_lab.lab.baseline import Held

LETTERS = {True: "Y", False: "n", None: "-"}


def baseline_command(folder: Path, other: Path | None, name: str, *, as_json: bool) -> int:
    """Every pair of the baseline, what differs, and the causes; 1 where a difference has no note."""
    from a2a_lab.lab.baseline import Agreement, agreements, causes, hold, read_baseline
    from a2a_lab.lab.records import read_run

    if other is not None:
        raise Misuse(f"{other} and --baseline {name}: a run is compared with another run, or with a baseline")
    run = read_run(folder, allow_cut=True)
    held = hold(run, read_baseline(name))
    is_news = any(one.agreement is Agreement.DIFFERS for one in held)
    if as_json:
        cells = [one.as_json() for one in held]
        told = {"run": str(folder), "baseline": name, "agreement": agreements(held), "causes": causes(held)}
        show.print_json({**told, **worth.json_of([run]), "cells": cells})
        return int(is_news)
    worth.tell_gaps([run])
    _pairs([one for one in held if one.agreement is not Agreement.NOT_RUN])
    _causes(causes(held))
    for one in held:
        if one.agreement in (Agreement.DIFFERS, Agreement.KNOWN):
            agent, consumer, scenario = one.line.place
            show.say(f"{one.agreement.value}: {consumer} on {agent}, {scenario}: ", one.line.note or one.said)
    show.say("; ".join(f"{count} {word}" for word, count in agreements(held).items() if count))
    return int(is_news)


def _pairs(held: Sequence[Held]) -> None:
    """A line a pair: send and stream, in the baseline and in the run, and the causes where the run has any."""
    show.say("Y told its caller of an answer, n of none, - unknown; send then stream, baseline then run")
    for agent, lines in groupby(held, key=lambda one: one.line.place[0]):
        show.say("")
        show.say(agent)
        for consumer, cells in groupby(lines, key=lambda one: one.line.place[1]):
            both = list(cells)
            was = "".join(LETTERS[one.line.worked] for one in both)
            now = "".join(LETTERS[one.worked] for one in both)
            why = " / ".join(dict.fromkeys(one.cause for one in both if one.cause))
            show.say(f"  {consumer:<26} {was:<2} {now:<2} {' ' if was == now else '!'} {why}".rstrip())


def _causes(found: dict[str, int]) -> None:
    """What the slugs mean."""
    from a2a_lab.judge.catalogue import catalogue

    kinds = catalogue()
    show.say("")
    for slug, count in found.items():
        known = kinds.get(slug)
        show.say(f"{count:>4}  {slug}: {known.means if known is not None else 'a slug of another version of the lab'}")
    show.say("")

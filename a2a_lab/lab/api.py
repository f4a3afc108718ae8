"""What notebooks, programs and the command line call: run a matrix, check an agent. Synchronous, in Jupyter as well."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from a2a_lab.core.typed import not_seconds
from a2a_lab.errors import Misuse
from a2a_lab.lab.cell import Witness
from a2a_lab.lab.check import CheckOptions, CheckResult, check
from a2a_lab.lab.loop import run_sync
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.plan import make_plan
from a2a_lab.lab.records import CellRecord, read_run
from a2a_lab.lab.run import Progress, resume_plan, run_plan

__all__ = ["CheckResult", "check_agent", "resume_run", "run_matrix"]

Told = Callable[[CellRecord, int, int], None]
"""Called after each cell with its record, how many are done, and how many there are."""


def run_matrix(
    matrix: str = "seven-pairs",
    *,
    posture: str = "enforcing",
    out: str = "runs",
    transport_timeout_s: float | None = None,
    only: str = "",
    must_include: str = "",
    replaced: dict[str, str] | None = None,
    attempts: int = 1,
    progress: Told | None = None,
    watcher: Callable[[Progress], None] | None = None,
    witness: Witness | None = None,
    say: Callable[[str], None] | None = None,
) -> Path:
    """Run a matrix and return the folder of its records. `posture` is trusting, enforcing or both.

    `transport_timeout_s` is that of the trusting posture's client; None takes the matrix's own. `witness` is awaited
    with each record and its agent while that still runs. `say` is told what a person should know meanwhile, such as
    which environment is being built; without it that goes to stderr. Raises Misuse for what cannot be right,
    HarnessFault where the lab itself fails; what an agent does is in the records.
    """
    if transport_timeout_s is not None and (expected := not_seconds(transport_timeout_s)):
        raise Misuse(f"transport timeout {transport_timeout_s!r}: expected {expected}")
    loaded = Matrix.load(matrix)
    parameters = {
        "matrix": str(matrix),
        "posture": posture,
        "transport_timeout_s": transport_timeout_s or loaded.transport_timeout_s,
        "silence_s": loaded.clocks.silence_s,
        "hang_s": loaded.clocks.hang_s,
        "total_s": loaded.clocks.total_s,
        "only": only,
        "must_include": must_include,
        "replaced": dict(replaced or {}),
        "attempts": attempts,
    }
    watch = _watcher(progress, watcher)
    if loaded.pairings is not None:
        if replaced:
            raise Misuse(f"{loaded.name} pairs real vendors: name others in the file, nothing is replaced in it")
        pairs = plan_pairs(loaded, posture=posture, only=only, must_include=must_include, attempts=attempts)
        # Imported here: the recorder needs the extra `lab`, and `check` does without (R42).
        from a2a_lab.lab.pair_run import run_pairs, say_aloud

        return run_sync(
            run_pairs(
                loaded,
                pairs,
                out=Path(out),
                parameters=parameters,
                transport_timeout_s=transport_timeout_s,
                watcher=watch,
                say=say or say_aloud,
            )
        )
    postures = ("trusting", "enforcing") if posture == "both" else (posture,)
    cells = make_plan(
        loaded, postures=postures, only=only, must_include=must_include, replaced=replaced, attempts=attempts
    )
    return run_sync(
        run_plan(
            loaded,
            cells,
            out=Path(out),
            parameters=parameters,
            transport_timeout_s=transport_timeout_s,
            watcher=watch,
            witness=witness,
        )
    )


def resume_run(
    folder: str | Path, *, progress: Told | None = None, watcher: Callable[[Progress], None] | None = None
) -> Path:
    """Run what a cut or interrupted run lacks, with the parameters it was started with."""
    header = read_run(folder, allow_cut=True).header
    given = header.parameters
    loaded = Matrix.load(str(given.get("matrix", header.matrix)))
    posture = str(given.get("posture", header.posture))
    if loaded.pairings is not None:
        pairs = plan_pairs(
            loaded,
            posture=posture,
            only=str(given.get("only", "")),
            must_include=str(given.get("must_include", "")),
            attempts=int(given.get("attempts", 1)),
        )
        timeout_s = float(given.get("transport_timeout_s") or loaded.transport_timeout_s)
        from a2a_lab.lab.pair_run import resume_pairs

        watch = _watcher(progress, watcher)
        return run_sync(resume_pairs(loaded, pairs, Path(folder), transport_timeout_s=timeout_s, watcher=watch))
    cells = make_plan(
        loaded,
        postures=("trusting", "enforcing") if posture == "both" else (posture,),
        only=str(given.get("only", "")),
        must_include=str(given.get("must_include", "")),
        replaced=dict(given.get("replaced", {})),
        attempts=int(given.get("attempts", 1)),
    )
    return run_sync(
        resume_plan(
            loaded,
            cells,
            Path(folder),
            transport_timeout_s=float(given.get("transport_timeout_s") or loaded.transport_timeout_s),
            watcher=_watcher(progress, watcher),
        )
    )


def check_agent(url: str, **options: Any) -> CheckResult:
    """Check one live agent; see `CheckOptions` for what can be said. Only card GETs leave unless `send=True`."""
    known = {item.name for item in fields(CheckOptions)}
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(sorted(known))}"
            raise Misuse(f"check has no option {name!r}{hint}")
    return run_sync(check(url, CheckOptions(**options)))


def _watcher(progress: Told | None, watcher: Callable[[Progress], None] | None) -> Callable[[Progress], None] | None:
    if progress is None:
        return watcher

    def told(now: Progress) -> None:
        if now.ended is not None:
            progress(now.ended, now.done, now.planned)
        if watcher is not None:
            watcher(now)

    return told

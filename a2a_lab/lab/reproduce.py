"""Makes a folder to send to a vendor of one cell: the finding in plain words, the evidence, a case, and a script (R38).

Everything in it is made from the stored evidence, judged by the rules of today, and holds no secret; what people wrote
in parts is hidden unless it is asked for. The case is judged before it is handed out, so that it says what it is about.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from a2a_lab.errors import Misuse
from a2a_lab.judge.offline import Judgement
from a2a_lab.lab.casereading import read_case
from a2a_lab.lab.cases import judge_case
from a2a_lab.lab.casewriting import written_case
from a2a_lab.lab.cell import TOOL
from a2a_lab.lab.faultreadme import readme_text
from a2a_lab.lab.faultscript import fault_of, script_text
from a2a_lab.lab.masking import Mask
from a2a_lab.lab.recall import Memory, Recalled
from a2a_lab.lab.records import CellRecord, Run, read_run
from a2a_lab.lab.symptoms import symptom
from a2a_lab.net.evidence import write_har
from a2a_lab.net.redact import Redactor
from a2a_lab.verdicts import CATALOGUE, Finding, Judge, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.frames import is_over_grpc

_SHOWN: Final = 12  # cells listed in an error
_NEAR: Final = 3  # of them, where some are near to what was typed
# What a vendor can act on comes first: a broken MUST, then a wait without end; an orphan is what either leaves behind.
_WEIGHT: Final = {
    Verdict.CONFORMANCE_ERROR: 5,
    Verdict.HANG: 4,
    Verdict.ORPHAN: 3,
    Verdict.REFUSE: 2,
    Verdict.HINT: 1,
    Verdict.ACCEPT: 0,
}
_CALLS: Final = frozenset({Stage.PROBE, Stage.RPC, Stage.STREAM, Stage.LEDGER})
_CONSEQUENCES: Final = frozenset({"not-committed", "mode-unproven", "no-common-mode", "renegotiation-limit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproducer:
    """What was made. `differs` are stages at which the case comes out otherwise than the evidence: none, as a rule."""

    folder: Path
    cell: str
    finding: Finding
    others: tuple[Finding, ...] = ()
    differs: tuple[str, ...] = ()
    files: tuple[str, ...] = ("README.md", "evidence.har", "case.json", "reproduce.py")


def reproduce(
    run: str | Path, cell: str, *, out: str | Path | None = None, bodies: bool = False, finding: str = ""
) -> Reproducer:
    """Make the folder. `cell` is a key, a part of one, or a pair; `finding` a slug where it is not the gravest.

    Raises Misuse for a cell or finding that is not there, or a folder that cannot be written, RecordFault for evidence
    that cannot be read.
    """
    recorded = read_run(run, allow_cut=True)
    record = find_cell(recorded, cell)
    if record.verdict is NotGradeable.HARNESS_ERROR:
        raise Misuse(f"cell {record.key} shows a fault of the lab, not of a vendor: {record.said}")
    recalled = Memory(recorded).recall(record)
    exchanges = [Redactor().exchange(one) for one in recalled.exchanges]
    if not bodies:
        mask = Mask()
        exchanges = [mask.exchange(one) for one in exchanges]
    # Judged as it leaves the house, so that no sentence quotes what is hidden.
    judged = recalled.judge(exchanges)
    main, others = chosen(judged, record, finding)
    name = f"{record.key.agent}-{record.key.consumer}-{main.slug}"
    folder = Path(out) if out is not None else Path(f"reproduce-{name}")
    return _written(folder, recalled, judged, main, others, exchanges, name=name, bodies=bodies)


def find_cell(run: Run, text: str) -> CellRecord:
    """The cell that a text names: its key, a part of it that no other has, or words such as a pair's two names."""
    words = [word for word in re.split(r"[\s×]+", text.strip()) if word and word.lower() != "x"]
    exact = [cell for cell in run.cells if str(cell.key) == text]
    by_part = [cell for cell in run.cells if text.strip() and text.strip() in str(cell.key)]
    by_words = [cell for cell in run.cells if words and all(word in _names(cell) for word in words)]
    found = exact or by_part or by_words
    if len(found) == 1:
        return found[0]
    if not run.cells:
        raise Misuse(f"run {run.header.run} holds no cell")
    near = [] if found else _near(run, text, words)
    if near:
        raise Misuse(f"no cell of this run fits {text!r}; did you mean {_listed(near)}?", cell=text)
    cells = found or run.cells
    listed = _listed(cells[:_SHOWN])
    more = f" and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
    what = f"{len(found)} cells fit {text!r}; say which:" if found else f"no cell of this run fits {text!r}; there are"
    raise Misuse(f"{what} {listed}{more}", cell=text)


def _near(run: Run, text: str, words: Sequence[str]) -> list[CellRecord]:
    """Cells that were nearly meant: those that have most of the words, or pieces of a key; without any, by look."""
    by_key = {str(cell.key): cell for cell in run.cells}
    wanted = [piece for word in words for piece in word.split("/")]
    fits = {key: sum(piece in _names(cell) for piece in wanted) for key, cell in by_key.items()}
    most = max(fits.values())
    best = [key for key, fit in fits.items() if fit == most] if most else list(by_key)
    alike = difflib.get_close_matches(text.strip(), best, n=_NEAR, cutoff=0.0 if most else 0.6)
    return [by_key[key] for key in alike]


def _listed(cells: Sequence[CellRecord]) -> str:
    return ", ".join(f"{cell.key} ({cell.verdict.value})" for cell in cells)


def _names(cell: CellRecord) -> set[str]:
    key = cell.key
    agent = f"{key.agent}@{key.agent_version}"
    return {key.agent, agent, key.consumer, key.binding, key.version, key.scenario, key.posture, cell.verdict.value}


def chosen(judged: Judgement, record: CellRecord, slug: str) -> tuple[Finding, tuple[Finding, ...]]:
    """The finding that the folder is about, and the others."""
    found = [one for one in judged.findings.all if one.kind is not Kind.NOTE and one.verdict is not Verdict.ACCEPT]
    if record.key.posture == "foreign":
        # Somebody else's client may be declined with good reason: a refusal of its calls alone says nothing.
        found = [one for one in found if one.verdict is not Verdict.REFUSE or one.stage not in _CALLS]
    if slug:
        wanted = [one for one in judged.findings.all if one.slug == slug]
        if not wanted:
            known = ", ".join(dict.fromkeys(one.slug for one in found)) or "none"
            raise Misuse(f"cell {record.key} has no finding {slug!r}; it has {known}")
        found.sort(key=lambda one: one is not wanted[0])
        found = found if wanted[0] in found else [wanted[0], *found]
    else:
        found.sort(key=_gravity, reverse=True)
    if not found or (not slug and found[0].kind is Kind.AUTHORITY):
        if record.key.posture == "foreign":
            raise Misuse(
                f"cell {record.key}: nothing in it was the agent's fault, and only that can be shown to a vendor"
            )
        advice = f"; --finding makes one of {', '.join(dict.fromkeys(one.slug for one in found))}" if found else ""
        raise Misuse(
            f"cell {record.key} is {record.verdict.value}: nothing in it broke, there is no fault to show{advice}"
        )
    return found[0], tuple(found[1:])


def _gravity(finding: Finding) -> tuple[bool, int, bool, bool]:
    return (
        finding.kind is Kind.CONFORMANCE,
        _WEIGHT[finding.verdict],
        finding.judge is Judge.SPEC,
        finding.slug not in _CONSEQUENCES,
    )


def _written(
    folder: Path,
    recalled: Recalled,
    judged: Judgement,
    main: Finding,
    others: tuple[Finding, ...],
    exchanges: Sequence[Exchange],
    *,
    name: str,
    bodies: bool,
) -> Reproducer:
    record = recalled.record
    kind = CATALOGUE.get(main.slug)
    what = kind.means if kind else main.detail
    verdict = judged.findings.stages[main.stage][0]
    case = written_case(recalled, exchanges, name=name, summary=what, finding=main, verdict=verdict)
    text = json.dumps(case, indent=1)
    is_grpc = any(is_over_grpc(one.request_headers) for one in exchanges)
    fault = fault_of(
        symptom(main, exchanges), exchanges, what=what, base=recalled.base_url, clocks=recalled.policy.clocks
    )
    script = {} if is_grpc else {"reproduce.py": script_text(fault)}  # plain HTTP cannot send these calls again
    made = Reproducer(
        folder=folder,
        cell=str(record.key),
        finding=main,
        others=others,
        files=("README.md", "evidence.har", "case.json", *script),
        differs=_differing(
            recalled.judge(), judge_case(read_case(json.loads(text), name="case.json"), folder).judgement
        ),
    )
    told = None if is_grpc else fault["told"]
    readme = readme_text(record, main, others, what=what, told=told, bodies=bodies, differs=made.differs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_har(
            folder / "evidence.har",
            exchanges,
            started=datetime.fromtimestamp(recalled.now, UTC),
            tool=TOOL,
            redactor=Redactor(),
            comment=str(record.key),
        )
        for file, content in ({"case.json": text, "README.md": readme} | script).items():
            (folder / file).write_text(content, encoding="utf-8", errors="replace")
    except OSError as fault_:
        raise Misuse(f"cannot write into {folder}: {fault_.strerror}; name another folder with --out") from fault_
    return made


def _differing(judged: Judgement, again: Judgement) -> tuple[str, ...]:
    """The stages whose verdict in the case is not that of the evidence."""
    then, now = judged.findings.stages, again.findings.stages
    verdicts = {
        stage: (then[stage][0] if stage in then else None, now[stage][0] if stage in now else None)
        for stage in (*then, *now)
    }
    return tuple(stage.value for stage, (one, other) in verdicts.items() if one is not other)

"""`a2a-lab judge FILE...`: case files and recordings, offline; one answer a case, and whether it is as expected."""

from __future__ import annotations

import json as jsonlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from a2a_lab.cli import show
from a2a_lab.cli.rejudging import is_run, rejudge_command
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.errors import Misuse
from a2a_lab.lab.cases import CAPTURE_CLOCKS, Judged, Unreadable, judge_file, load
from a2a_lab.lab.runreading import run_folder
from a2a_lab.verdicts import Judge, Stage, Verdict

_EVIDENCE = (".json", ".har")


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command(name="judge")(judge)


def judge(
    files: Annotated[list[Path], typer.Argument(help="Case files, HAR files, folders of them, or a run.")],
    trust: Annotated[str, typer.Option("--trust", help="JWK set file with the keys that may sign cards.")] = "",
    require: Annotated[
        Optional[list[str]], typer.Option("--require", help="A capability that must be declared; repeatable.")
    ] = None,
    mode: Annotated[str, typer.Option("--mode", help="Media type that its consumer means to send.")] = "text/plain",
    skill: Annotated[str, typer.Option("--skill", help="Id of the skill that it means.")] = "",
    topology: Annotated[str, typer.Option("--topology", help="auto, direct or gateway.")] = "auto",
    allow_http: Annotated[
        Optional[list[str]], typer.Option("--allow-http", help="Host that may be called over http; repeatable.")
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Show every finding, of met cases as well.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line and case.")] = False,
) -> None:
    """Judge recorded evidence offline. Cases say what their consumer intends; the options are for recordings.

    Ends with 1 where an expectation is not met or a run would now come out otherwise, 2 where a file cannot be read.
    """
    policy = _policy(trust, topology, allow_http or ())
    intent = Intent(mode=mode, skill=skill or None, requires=tuple(require or ()))
    raise typer.Exit(judge_command(files, as_json=json, details=details, policy=policy, intent=intent))


def judge_command(
    files: Iterable[Path],
    *,
    as_json: bool = False,
    details: bool = False,
    policy: Policy | None = None,
    intent: Intent | None = None,
) -> int:
    """Judge the files, show what came, and give the exit code (R39). A run's folder is judged against its records."""
    files = [run_folder(path) for path in files]
    runs = [rejudge_command(path, as_json=as_json, details=details) for path in files if is_run(path)]
    tally: Counter[tuple[Stage, bool]] = Counter()
    problems, answers = 0, 0
    paths = list(expanded(path for path in files if not is_run(path)))
    for path in paths:
        for judged in judge_file(path, policy=policy, intent=intent):
            answers += 1
            problems += judged.problem is not None
            if judged.expected is not None:
                tally[judged.expected.stage, bool(judged.met)] += 1
            if as_json:
                sys.stdout.write(jsonlib.dumps(judged.as_json(), ensure_ascii=False, default=str) + "\n")
            elif details or len(paths) == 1 or judged.problem or judged.met is not True:
                _show(judged)
    if not as_json and answers > 1:
        _summary(tally, problems)
    is_unmet = any(not is_met for _, is_met in tally)
    return 1 if is_unmet or 1 in runs else 2 if problems or 2 in runs else 0


def expanded(files: Iterable[Path]) -> Iterator[Path]:
    """Files as they are; of folders the evidence in them, by name."""
    for path in files:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.suffix in _EVIDENCE and one.is_file())
        else:
            yield path


def _show(judged: Judged) -> None:
    """One case for a person: what was found, stage by stage, and what each side says where opinions differ."""
    show.say()
    show.say(judged.name, f"  {judged.summary}" if judged.summary else "")
    if judged.problem is not None:
        show.say(f"{judged.problem}: {judged.detail}")
        return
    if judged.not_gradeable is not None:
        show.say("the agent could not be judged: ", show.word(judged.not_gradeable.value))
    show.stages(judged.judgement.findings.stages_json())
    others = [one for one in judged.judgement.findings.all if one.other and one.verdict is not Verdict.ACCEPT]
    for slug, judge, other in dict.fromkeys((one.slug, one.judge, one.other) for one in others):
        show.say(f"  {slug}, as {'policy' if judge is Judge.SPEC else 'the specification'} would have it: {other}")
    expected = judged.expected
    if expected is None:
        return
    said = show.word("met") if judged.met else show.word("not met")
    found = judged.found.value if judged.found else "not reached by the evidence"
    show.say(f"expected {expected.stage.value} ", show.word(expected.verdict.value), f", found {found}: ", said)
    for label, key in (("because", "reason"), ("clause", "clause"), ("opinions differ", "opinions_differ")):
        if expected.document.get(key):
            show.say(f"  {label}: {expected.document[key]}")


def _summary(tally: Counter[tuple[Stage, bool]], problems: int) -> None:
    rows: list[Sequence[object]] = [
        (stage.value, tally[stage, True], tally[stage, False])
        for stage in Stage
        if (stage, True) in tally or (stage, False) in tally
    ]
    met = sum(count for (_, is_met), count in tally.items() if is_met)
    if rows:
        show.table(["stage", "met", "not met"], [*rows, ("all", met, tally.total() - met)])
    if problems:
        show.say(f"{problems} of the files cannot be read")


def _policy(trust: str, topology: str, allow_http: Iterable[str]) -> Policy:
    if topology not in ("auto", "direct", "gateway"):
        raise Misuse(f"--topology {topology!r}: expected auto, direct or gateway")
    return Policy(
        clocks=CAPTURE_CLOCKS,
        topology=topology,  # type: ignore[arg-type]  # one of the three
        allow_http=frozenset(allow_http),
        trusted_keys=_keys(trust) if trust else None,
    )


def _keys(path: str) -> KeySet:
    try:
        document: Any = load(Path(path))
        return KeySet.from_jwks(document)
    except (Misuse, Unreadable) as fault:
        raise Misuse(f"--trust {path}: {fault.message}") from fault

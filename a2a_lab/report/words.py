"""What the words on a page mean, for a reader who has never met the lab; and what the page was made from."""

from __future__ import annotations

import importlib
import pkgutil
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from a2a_lab.lab.records import Run, missing_cells
from a2a_lab.report.folds import fold
from a2a_lab.report.html import Child, Html, join, plural, tag
from a2a_lab.report.opening import of_pairs
from a2a_lab.report.rules import CLOSURES, RULES, STAGES, named
from a2a_lab.report.table import facts
from a2a_lab.report.tables import vendors_table
from a2a_lab.verdicts import CATALOGUE, Finding, NotGradeable, Verdict

VERDICTS: dict[str, str] = {
    "accept": "it worked and conformed to the specification and to this lab's policy",
    "hint": "it worked, but something declared could not be relied on and had to be found out at runtime",
    "refuse": "the consumer declined to go on, before anything was committed or because it must not be",
    "conformance-error": "the declared contract and the runtime differ, or a rule of the protocol was broken",
    "hang": "a stream or call never said that it was over, whether or not the consumer noticed in time",
    "orphan": "a task or an artifact was left behind that nobody can be sure about",
    "unreachable": "no HTTP answer at all; not counted",
    "auth-needed": "the agent asked for credentials that the run did not have; not counted",
    "throttled": "the agent asked to come back later, also after one patient retry; not counted",
    "harness-error": "a fault of the lab itself; not counted",
}
WORDS: dict[str, str] = {
    "trusting": "what today's clients do: fetch the card, believe it, commit at once, wait for the transport timeout",
    "enforcing": "resolve, fetch, match, verify, probe, and only then commit; every divergence ends in a named error",
    "authoritative": "the card is signed by a trusted key, its version is exact, and the probe confirmed it",
    "advisory": "the card may be right, but nothing proves that it binds; the reasons are listed",
    "held": "the agent did at runtime what its card declares, over what this plan depends on",
    "delivered": "the payload's task completed, was booked, and at least one artifact arrived",
    "renegotiation cycle": "a payload sent again because the agent asked for another mode than the one it declares",
    "orphans": "artifacts and tasks that are neither finished nor known to be cancelled",
    "timed-out waits": "waits that only the transport timeout or the lab's own cap ended (hangs in --json); a consumer "
    "that knew by the protocol met a hang and timed out on nothing",
    "closure": "how a stream ended",
    "news": "a cell that came out otherwise than the expectations of its matrix say, for better or worse",
    "skipped": "a cell that could not be judged, such as one whose environment was not built; never a pass",
    "spec": "the published specification decided, with its clause: breaking a MUST is a defect of the vendor",
    "policy": "this lab's stricter rule decided: falling short of it breaks nothing that is published",
}

_MANY = 50  # terms
_ALWAYS = ("authoritative", "advisory", "spec", "policy")


def words(runs: Sequence[Run]) -> Html:
    """A glossary of what occurs on this page: verdicts, the fixed words, closures, each finding and each rule cited."""
    cells = [cell for run in runs for cell in run.cells]
    return words_for(
        [finding for cell in cells for finding in cell.findings],
        verdicts={cell.verdict.value for cell in cells},
        closures={cell.closure for cell in cells},
        slugs=[slug for cell in cells for slug in cell.errors],
        others=WORDS,
    )


def words_for(
    findings: Sequence[Finding],
    *,
    verdicts: Iterable[str] = (),
    closures: Iterable[str | None] = (),
    slugs: Iterable[str] = (),
    others: Mapping[str, str] | None = None,
) -> Html:
    """The same for findings that belong to no run, such as those of one agent."""
    met = {*verdicts, *(finding.verdict.value for finding in findings)}
    order = [*(verdict.value for verdict in Verdict), *(word.value for word in NotGradeable)]
    ended = set(closures)
    parts = {
        "Verdicts": {word: VERDICTS[word] for word in order if word in met},
        "Other words": others if others is not None else {word: WORDS[word] for word in _ALWAYS},
        "Stages": STAGES,
        "How streams ended (closure)": {name: told for name, told in CLOSURES.items() if name in ended},
        "Findings on this page": _slugs([*slugs, *(finding.slug for finding in findings)]),
        "Rules cited on this page": named(finding.rule for finding in findings),
    }
    return join(_part(title, entries) for title, entries in parts.items() if entries)


def _part(title: str, entries: Mapping[str, str]) -> Html:
    """One list of the glossary; a very long one below a line, since its terms stand with their findings as well."""
    if len(entries) > _MANY:
        return fold(f"words-{len(entries)}", f"{title} ({len(entries)})", _glossary(entries))
    return join([tag("h3", title), _glossary(entries)])


def _slugs(met: Iterable[str]) -> dict[str, str]:
    catalogue = load_catalogue()
    return {slug: catalogue[slug] for slug in sorted(set(met)) if slug in catalogue}


def _glossary(entries: Mapping[str, str]) -> Html:
    """Terms with what they mean; a rule is where the links to it lead."""
    return tag("dl", *(join([_term(word), tag("dd", means)]) for word, means in entries.items()), class_="words")


def _term(word: str) -> Html:
    return tag("dt", word, id=f"rule-{word}" if word in RULES else None)


def load_catalogue() -> dict[str, str]:
    """What every finding of the lab means, by slug. A finding is declared where its rule is, so all are imported."""
    for package in ("a2a_lab.core", "a2a_lab.wire"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(module.name)
    return {slug: kind.means for slug, kind in CATALOGUE.items()}


def what_was_run(runs: Sequence[Run]) -> Html:
    """One line of facts a run, and a loud one where a run is not whole."""
    return join(join([_unfinished(run), facts(_facts(run))]) for run in runs)


def _facts(run: Run) -> dict[str, Child]:
    cells = run.cells
    reach: dict[str, int] = {}
    agents = {cell.key.agent for cell in cells}
    for name in agents:
        vendor = run.header.vendors.get(name)
        how = vendor.reach if vendor else "unknown"
        reach[how] = reach.get(how, 0) + 1
    pairs = {cell.key.pair for cell in cells}
    attempts = plural(len(cells), "cell") if len(cells) != len(pairs) else None
    return {
        "matrix": run.header.matrix,
        **({} if of_pairs(run) else {"posture": run.header.posture}),
        "cells" if of_pairs(run) else "pairs": f"{len(pairs)}" + (f" ({attempts})" if attempts else ""),
        "agents": f"{len(agents)} ({_reached(reach)})",
        "consumers": str(len({cell.key.consumer for cell in cells})),
        "spoken": ", ".join(sorted({f"{cell.key.binding} {cell.key.version}" for cell in cells})),
        "started": run.header.started.partition(".")[0].rstrip("Z") + "Z",
        "run": tag("code", run.header.run),
    }


def _reached(reach: Mapping[str, int]) -> str:
    """`simulated`, or `3 live, 4 simulated`; an environment is one that the lab built."""
    words = {"environment": "in environments built here", "live": "live, and not ours"}
    if len(reach) == 1:
        (how,) = reach
        return words.get(how, how)
    return ", ".join(f"{count} {words.get(how, how)}" for how, count in sorted(reach.items()))


def _unfinished(run: Run) -> Html | None:
    if run.is_complete:
        return None
    missing = len(missing_cells(run))
    told = run.gap.replace(str(run.folder), run.header.run)
    return tag(
        "p",
        tag("b", "This run is not whole: "),
        f"{told}. {missing} of {plural(len(run.header.plan), 'planned cell')} missing; the figures are of the rest.",
        class_="alarm",
    )


def made_from(runs: Sequence[Run]) -> Html:
    """Tool, machine and parameters of each run, and its vendors: what one needs to make the page again."""
    parts: list[Html] = []
    for run in runs:
        parameters = {name: str(value) for name, value in run.header.parameters.items()}
        about = {"run": run.header.run, "tool": run.header.tool, "python": platform.python_version()}
        about |= {name: found for name in ("httpx", "jwcrypto") if (found := _version(name))}
        title = f"{run.header.matrix}, {run.header.posture}"
        parts += [tag("h3", title), facts(about | parameters), vendors_table(run)]
    return join(parts)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

"""Writes the README of a reproducer: what was seen, what was expected and by whose rule, and how to see it again.

For somebody at a vendor who never heard of this lab. Words of peers are shown as code, so that none of it is markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab import __version__
from a2a_lab.core.quoting import ascii_controls
from a2a_lab.lab.records import CellRecord
from a2a_lab.verdicts import Finding, Judge

_LONGEST = 2000
_OTHERS = 20


def readme_text(
    record: CellRecord,
    finding: Finding,
    others: Sequence[Finding],
    *,
    what: str,
    told: str | None,
    bodies: bool,
    differs: Sequence[str] = (),
) -> str:
    """The text, as Markdown. `what` says what the finding means, `told` what the script looks for.

    `told` is None where there is no script, as for calls over gRPC.
    """
    key = record.key
    lines = [
        f"# {key.agent} {key.agent_version}: {what}",
        "",
        f"Seen {record.started} by a2a-lab {__version__} over {key.binding}, protocol {key.version}; the consumer was",
        f"{code(key.consumer)}, {key.posture}. Finding {code(finding.slug)}, stage {finding.stage.value}:",
        f"**{finding.verdict.value}**.",
        "",
        "## What was seen",
        "",
        quote(finding.detail),
        *_values(finding),
        "",
        "## What was expected, and by whose rule",
        "",
        _rule(finding),
        *([f"\nThe other judge would say: {finding.other}."] if finding.other else []),
        "",
        "## See it again",
        "",
        *(_BY_HAND if told is None else _by_script(told)),
        "",
        "## Files",
        "",
        "- `evidence.har`: the HTTP exchanges with their times; opens in any HAR viewer",
        "- `case.json`: the same as a case, with what must be concluded: `a2a-lab judge case.json`",
        *([] if told is None else ["- `reproduce.py`: plain HTTP requests, nothing of the lab"]),
        "",
        _hidden(bodies, has_script=told is not None),
        *_also(others),
    ]
    if differs:
        lines += [
            "",
            f"Judged as a case, these stages come out otherwise: {', '.join(differs)}. The HAR file is the evidence.",
        ]
    return "\n".join(lines) + "\n"


_BY_HAND = [
    "The calls were made over gRPC, which a script of plain HTTP cannot send again. With the lab:",
    "",
    "    pip install 'a2a-lab[grpc]'",
    "    a2a-lab check https://your-agent.example --send --binding GRPC",
    "",
    "It starts real work at the agent. In `evidence.har` bodies are ProtoJSON; `_grpc` names the trailers.",
]


def _by_script(told: str) -> list[str]:
    return [
        f"The script sends the recorded requests and ends with 1 while {told}, with 0 when that is not seen:",
        "",
        "    python reproduce.py https://your-agent.example        # needs httpx; or: uv run reproduce.py URL",
        "",
        "It starts real work at the agent. Credentials come from the environment, as in",
        "`--header-env Authorization=VARIABLE`.",
        "",
        "Against the recording itself:",
        "",
        "    a2a-lab replay case.json          # prints the address that it serves at",
        "    python reproduce.py http://127.0.0.1:PORT",
    ]


def code(text: object) -> str:
    """Text as inline code: no markup in it, no control characters, nothing that ends it."""
    shown = ascii_controls(str(text)[:_LONGEST]).replace("`", "'")
    return f"`{shown}`"


def quote(text: str) -> str:
    """Text as an indented block, line by line."""
    return "\n".join(f"    {ascii_controls(line)}" for line in text[:_LONGEST].splitlines() or [""])


def _values(finding: Finding) -> list[str]:
    shown = {name: finding.values[name] for name in ("found", "expected") if finding.values.get(name) is not None}
    return ["", *(f"- {name}: {code(value)}" for name, value in shown.items())] if shown else []


def _rule(finding: Finding) -> str:
    if finding.judge is Judge.SPEC:
        return f"The published specification: {finding.clause or finding.rule}."
    clause = f" The specification on it: {finding.clause}." if finding.clause else ""
    return f"Policy of the lab, rule {finding.rule}; stricter than the published specification.{clause}"


def _hidden(bodies: bool, *, has_script: bool) -> str:
    if bodies:
        return "Messages and artifacts hold what was written in them. Credentials were replaced by `REDACTED`."
    return (
        "What was written in parts of messages and artifacts is shown as kind, length and a keyed hash; equal hashes\n"
        f"are equal contents.{' The script sends these placeholders.' if has_script else ''}"
        " Credentials were replaced by `REDACTED`."
    )


def _also(others: Sequence[Finding]) -> list[str]:
    if not others:
        return []
    shown = [
        f"- {one.stage.value}, {one.verdict.value}: {code(one.slug)} {code(one.detail[:300])}"
        for one in others[:_OTHERS]
    ]
    more = [f"- and {len(others) - _OTHERS} more"] if len(others) > _OTHERS else []
    return ["", "## Also found", "", *shown, *more]

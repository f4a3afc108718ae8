"""Notes on what the consumer sent: a tenant that it must echo, the version it must name, the extensions it speaks.

A capture shows both sides, and a request that breaks the protocol explains many an answer. It is no fault of the agent
though, so these are notes and never colour a verdict.
"""

from __future__ import annotations

from a2a_lab.core.model import Card, Interface
from a2a_lab.core.quoting import quoted
from a2a_lab.core.version import line_of
from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire.exchange import first_header


def _note(slug: str, stage: Stage, means: str, clause: str, rule: str) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=stage,
        verdict=Verdict.ACCEPT,
        kind=Kind.NOTE,
        judge=Judge.SPEC,
        rule=rule,
        clause=clause,
        means=means,
    )


TENANT_NOT_ECHOED = _note(
    "tenant-not-echoed",
    Stage.RESOLVE,
    "the consumer's request does not carry the tenant of the interface exactly as the card gives it",
    "A2A 1.0.1 §8.3.2 rule 4 (MUST echo it, MUST omit it where there is none)",
    "D2",
)
VERSION_NOT_NAMED = _note(
    "version-not-named",
    Stage.VERSION,
    "the consumer's request names no protocol version, so a server has to read it as 0.3",
    "A2A 1.0.1 §3.6.1 (MUST send A2A-Version)",
    "R21",
)
VERSION_NAMED_OTHERWISE = _note(
    "version-named-otherwise",
    Stage.VERSION,
    "the consumer's request names another version than the one whose method it calls",
    "A2A 1.0.1 §3.6.1",
    "R21",
)
EXTENSIONS_HEADER = _note(
    "extensions-header-name",
    Stage.MATCH,
    "the consumer names extensions under the header of the other protocol generation",
    "A2A 1.0.1 §3.2.6 A2A-Extensions; 0.3.0 X-A2A-Extensions",
    "R17",
)

_EXTENSIONS = {"1.0": "A2A-Extensions", "0.3": "X-A2A-Extensions"}


def judge_request(call: Call, card: Card | None, interface: Interface | None) -> list[Finding]:
    """What is odd about a consumer's request; a recording without headers misses none."""
    return [
        *(_tenant(call, interface) if card is not None and interface is not None else []),
        *(_headers(call) if call.exchange.request_headers else []),
    ]


def _tenant(call: Call, interface: Interface) -> list[Finding]:
    sent, due = call.tenant_at(interface.url), interface.tenant or None
    if sent == due or call.dialect.id != "1.0":
        return []
    detail = f"{call.asked.method} carries tenant {quoted(sent)}, the card's interface has {quoted(due)}"
    return [TENANT_NOT_ECHOED(detail, found=sent, expected=due, at=call.exchange.url)]


def _headers(call: Call) -> list[Finding]:
    headers, dialect = call.exchange.request_headers, call.dialect.id
    found = []
    version = first_header(headers, "A2A-Version")
    if dialect == "1.0" and not version:
        found.append(VERSION_NOT_NAMED(f"{call.asked.method} was sent without A2A-Version", expected=dialect))
    elif dialect == "1.0" and line_of(version) != dialect:
        detail = f"{call.asked.method} was sent with A2A-Version {quoted(version)}"
        found.append(VERSION_NAMED_OTHERWISE(detail, found=version, expected=dialect))
    other = next((name for line, name in _EXTENSIONS.items() if line != dialect), None)
    if dialect in _EXTENSIONS and other and first_header(headers, other) and not first_header(headers, _own(dialect)):
        found.append(EXTENSIONS_HEADER(f"{other} was sent, {dialect} has {_own(dialect)}", found=other))
    return found


def _own(dialect: str) -> str:
    return _EXTENSIONS[dialect]

"""Judges the protocol version of an interface: exact, near, or nothing in common (A2, R21).

Only the exact spelling gives authority. The spec class says how far another value is from what the client speaks, and
with that whether its dialect may be tried as a hint. Never reads the card's own `version`, which is another surface
(P1), and never turns a value into text to compare it (a number 1.0 is not the string "1.0").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.model import Card, Interface, Json
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import quoted
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict

VERSION_INEXACT = FindingKind(
    slug="version-inexact",
    stage=Stage.VERSION,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.POLICY,
    rule="A2, R21",
    clause="A2A 1.0.1 §3.6 (patch SHOULD NOT appear, MUST NOT be considered)",
    means="the version is a patch or pre-release of one the client speaks, so the card is advisory",
    other="by §3.6 a patch number does not matter: the version is the one without it",
)
VERSION_WRONG_TYPE = FindingKind(
    slug="version-wrong-type",
    stage=Stage.VERSION,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.SPEC,
    rule="A2, R21",
    clause="A2A 1.0.1 §4.4.6 AgentInterface.protocolVersion is a string (MUST)",
    means="the version is a JSON number, which some readers print as '1.0' and others as '1'",
    other="the authority record's listing turns it into text first and would accept it",
)
VERSION_MISSING = FindingKind(
    slug="version-missing",
    stage=Stage.VERSION,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.SPEC,
    rule="A2, R21",
    clause="A2A 1.0.1 §4.4.6 AgentInterface.protocolVersion (REQUIRED); 0.3.0 §5.5; 0.2.0 to 0.2.4 have no such member",
    means="the card states no version; the dialect is read from its shape",
)
VERSION_INCOMPATIBLE = FindingKind(
    slug="version-incompatible",
    stage=Stage.VERSION,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="A2, R21",
    clause="A2A 1.0.1 §3.6.3 (no fallback without the client's own choice)",
    means="client and interface have no protocol version in common",
)

VERSION_SHAPE_DIFFERS = FindingKind(
    slug="version-shape-differs",
    stage=Stage.VERSION,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.SPEC,
    rule="A2, R8",
    clause="A2A 1.0.1 §4.4.1 AgentCard.supportedInterfaces (REQUIRED)",
    means="the card states 1.0 in the layout of an older version",
)

# R21. What 0.3 cards write at top level ("0.3.0") and 1.0 interface entries write ("0.3") is one protocol.
SPELLINGS: dict[str, frozenset[str]] = {
    "1.0": frozenset({"1.0"}),
    "0.3": frozenset({"0.3", "0.3.0"}),
    "0.2": frozenset({"0.2", *(f"0.2.{patch}" for patch in range(7))}),
    "0.1": frozenset({"0.1", "0.1.0"}),  # as an operator writes it: a card of the draft has no place for a version
}
PUBLISHED = frozenset({"0.1", "0.2", "0.3", "1.0"})  # Major.Minor of every version that there is
DIALECT_OF_FORM = {"1.0": "1.0", "0.3": "0.3", "0.2": "0.2", "0.1": "0.1"}
# A binding that only some versions are spoken over; any other one carries what the client supports.
SPOKEN_OVER: dict[str, frozenset[str]] = {"HTTP+JSON": frozenset({"1.0", "0.3"})}
# What a card of a shape may be when it states no version, likeliest first. Clients of 0.3 have always read the 0.2
# cards that state none, as their JSON-RPC is one; cards before 0.2.5, and of the draft without authentication, have the
# shape of 0.3.
_MAY_BE = {"0.3": ("0.3", "0.2", "0.1"), "0.2": ("0.2", "0.3")}

SpecClass = Literal[
    "equal", "patch", "prerelease", "wrong-type", "missing", "other-minor", "other-major", "legacy", "unparsable"
]

_NUMBER = r"(?:0|[1-9][0-9]{0,3})"
_VERSION = re.compile(
    rf"({_NUMBER})\.({_NUMBER})(?:\.({_NUMBER}))?(-[0-9A-Za-z.-]+|(?:a|b|rc|alpha|beta|dev|pre)[0-9.]*)?(\+[0-9A-Za-z.-]+)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionGate:
    """What the gate found. `dialect` is the version whose wire to speak, None where nothing may be sent."""

    findings: tuple[Finding, ...]
    spec_class: SpecClass
    dialect: str | None

    @property
    def is_exact(self) -> bool:
        return self.spec_class == "equal"


def gate_version(card: Card, interface: Interface, policy: Policy) -> VersionGate:
    """Judge the chosen interface's version against what the client supports (A2, R21).

    Raises Misuse where the client's own versions are no text, see `supported`.
    """
    versions, value = spoken_over(interface.binding, supported(policy)), interface.version
    spec_class, dialect = classify(value, versions)
    if spec_class == "missing":
        return _missing(card, versions, interface)
    if dialect is None:
        wanted = _told(versions, interface)
        detail = f"the interface speaks {quoted(value)} ({spec_class}), the client {wanted}; nothing is sent"
        finding = VERSION_INCOMPATIBLE(detail, found=value, expected=list(versions), at=interface.pointer)
    elif spec_class == "equal":
        shaped = DIALECT_OF_FORM.get(card.form)
        if dialect != "1.0" or shaped == dialect:
            return VersionGate(findings=(), spec_class=spec_class, dialect=dialect)
        detail = f"the card states {quoted(value)} in the shape of {card.form}, without supportedInterfaces"
        finding = VERSION_SHAPE_DIFFERS(detail, found=card.form, expected=dialect)
    else:
        kind = VERSION_WRONG_TYPE if spec_class == "wrong-type" else VERSION_INEXACT
        written = f"the number {quoted(value)}" if spec_class == "wrong-type" else f"{quoted(value)} ({spec_class})"
        detail = f"the interface states {written}, the exact value is {dialect!r}; dialect {dialect} is tried as a hint"
        finding = kind(detail, found=value, expected=dialect, at=interface.pointer)
    return VersionGate(findings=(finding,), spec_class=spec_class, dialect=dialect)


def supported(policy: Policy) -> tuple[str, ...]:
    """The client's versions, in its order. Raises Misuse with a sentence for a value that is no version text."""
    for version in policy.supports:
        if not isinstance(version, str):
            raise Misuse(
                f"supported version {version!r} is a {type(version).__name__}; versions are text and are compared "
                f'exactly, so write it in quotes: "{version}"',
                found=version,
            )
    if not policy.supports:
        raise Misuse("no supported version is given; name at least one, such as 1.0")
    return tuple(_canonical(version) for version in policy.supports)


def spoken_over(binding: str, versions: Sequence[str]) -> tuple[str, ...]:
    """Those of the client's versions that are spoken over a binding."""
    spoken = SPOKEN_OVER.get(binding)
    named = tuple(_canonical(version) for version in versions)
    return named if spoken is None else tuple(version for version in named if version in spoken)


def is_supported(value: Json, versions: Sequence[str]) -> bool:
    """Whether the value is the exact spelling of one of the versions."""
    return classify(value, tuple(_canonical(version) for version in versions))[0] == "equal"


def fits(value: Json, versions: Sequence[str]) -> bool:
    """Whether the gate would let the value pass, exactly or as a hint; a missing one counts as fitting."""
    spec_class, dialect = classify(value, tuple(_canonical(version) for version in versions))
    return spec_class == "missing" or dialect is not None


def line_of(value: Json) -> str | None:
    """Major.Minor of a version text, whatever follows it; None for anything that is no version text."""
    parts = _VERSION.fullmatch(value) if isinstance(value, str) else None
    return f"{parts[1]}.{parts[2]}" if parts else None


def classify(value: Json, versions: Sequence[str]) -> tuple[SpecClass, str | None]:
    """The spec class of a version value, and the supported version whose dialect it may be tried in."""
    if value is None or value == "":
        return "missing", None
    for version in versions:
        if isinstance(value, str) and value in SPELLINGS.get(version, {version}):
            return "equal", version
    text, is_number = _text(value)
    parts = _VERSION.fullmatch(text)
    if parts is None:
        return "unparsable", None
    line = f"{parts[1]}.{parts[2]}"
    near: SpecClass = "wrong-type" if is_number else "prerelease" if parts[4] else "patch"
    if line in versions:
        return near, line
    if parts[1] in {version.partition(".")[0] for version in versions}:
        return "other-minor", None
    return ("legacy" if parts[1] == "0" else "other-major"), None


def _text(value: Json) -> tuple[str, bool]:
    """What to parse of a value, and whether it was a number. A JSON 1.0 may arrive as 1, since both are one number."""
    match value:
        case str():
            return value, False
        case bool():
            return "", False
        case int():
            return f"{value}.0" if 0 <= value < 10_000 else "", True
        case float():
            return repr(value), True
        case _:
            return "", False


def _canonical(version: str) -> str:
    """The name of a supported version: an operator may write 0.3.0 for 0.3."""
    return next((name for name, spelt in SPELLINGS.items() if version in spelt), version)


def _told(versions: Sequence[str], interface: Interface) -> str:
    """What the client speaks, for a message."""
    over = f" over {interface.binding}" if interface.binding in SPOKEN_OVER else ""
    return (" or ".join(versions) or "no version") + over


def _missing(card: Card, versions: Sequence[str], interface: Interface) -> VersionGate:
    shape = DIALECT_OF_FORM.get(card.form, "")
    tried = next((name for name in _MAY_BE.get(shape, (shape,)) if name in versions), None)
    seen = f"the interface states no version and its card has the shape of {card.form}"
    if tried is None:
        detail = f"{seen}, the client speaks {_told(versions, interface)}; nothing is sent"
        finding = VERSION_INCOMPATIBLE(detail, found=card.form, expected=list(versions))
    else:
        finding = VERSION_MISSING(f"{seen}, so dialect {tried} is tried as a hint", found=card.form, expected=tried)
    return VersionGate(findings=(finding,), spec_class="missing", dialect=tried)

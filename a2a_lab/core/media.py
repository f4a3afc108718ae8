"""Compares a media type with a declaration (R16, RFC 9110 8.3.1).

Type and subtype ignore case. A declaration without parameters covers any, one with parameters wants them present and
equal, `charset` excepted. Wildcards stand in declarations only. A `+json` suffix makes no `application/json`. Knows
nothing of parts or cards: see `modes` for what a card declares and `receive` for what came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

TEXT, JSON, BYTES = "text/plain", "application/json", "application/octet-stream"
ALIASES = {"text": TEXT}  # R15: what many cards of 0.2 and 0.3 write; nothing else is guessed

Why = Literal["exact", "wildcard", "alias", "type", "parameters", "malformed"]

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x08\x0a-\x1f\x7f])*"'
_ESSENCE = re.compile(rf"[ \t]*({_TOKEN})/({_TOKEN})[ \t]*")
_PARAMETER = re.compile(rf";[ \t]*(?:({_TOKEN})=({_TOKEN}|{_QUOTED}))?[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaType:
    """A media type in pieces: type, subtype and parameter names in lower case, values unquoted."""

    type: str
    subtype: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def essence(self) -> str:
        return f"{self.type}/{self.subtype}"

    @property
    def is_wildcard(self) -> bool:
        return "*" in (self.type, self.subtype)

    @property
    def suffix(self) -> str:
        """What follows the last plus of the subtype: json of application/geo+json; empty without one."""
        return self.subtype.rpartition("+")[2] if "+" in self.subtype else ""


def parse_media_type(text: str) -> MediaType | None:
    """The media type in pieces, or None for what is none. A repeated parameter makes it none: which one would count?"""
    essence = _ESSENCE.match(text)
    if essence is None:
        return None
    parameters: dict[str, str] = {}
    at = essence.end()
    while at < len(text):
        found = _PARAMETER.match(text, at)
        if found is None:
            return None
        at = found.end()
        if found[1] is not None:
            name = found[1].lower()
            if name in parameters:
                return None
            parameters[name] = re.sub(r"\\(.)", r"\1", found[2][1:-1]) if found[2][0] == '"' else found[2]
    return MediaType(type=essence[1].lower(), subtype=essence[2].lower(), parameters=parameters)


def essence(text: str) -> str:
    """Type and subtype in lower case, without parameters; what is no media type as it is."""
    parsed = parse_media_type(text)
    return parsed.essence if parsed else text


def matches(declared: str, got: str) -> tuple[bool, Why]:
    """Whether a declaration covers a media type, and by what, or what keeps it from covering."""
    alias = ALIASES.get(declared.strip().lower())
    wanted, came = parse_media_type(alias or declared), parse_media_type(got)
    if wanted is None or came is None or came.is_wildcard:
        return False, "malformed"
    if not _covers(wanted.type, came.type) or not _covers(wanted.subtype, came.subtype):
        return False, "type"
    needed = {name: value for name, value in wanted.parameters.items() if name != "charset"}
    if any(came.parameters.get(name) != value for name, value in needed.items()):
        return False, "parameters"
    return True, "alias" if alias else "wildcard" if wanted.is_wildcard else "exact"


def best_match(declarations: Iterable[str], got: str) -> tuple[bool, Why, str | None]:
    """The plainest declaration that covers a media type: exact before alias before wildcard.

    Where none does, the nearest one with what keeps it from covering; None where nothing is near.
    """
    order = ("exact", "alias", "wildcard", "parameters")
    found = [(*matches(declared, got), declared) for declared in declarations]
    near = [one for one in found if one[1] in order]
    return min(near, key=lambda one: order.index(one[1]), default=(False, "type", None))


def _covers(declared: str, got: str) -> bool:
    return declared in ("*", got)

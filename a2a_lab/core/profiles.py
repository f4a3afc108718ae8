"""The named byte forms over which card signatures are made in the field (R18), each a function of the document.

A verifier that tried one hidden form could only say yes or no. With names it says which form passed and which members
of the card that form leaves out. Only `spec` and `spec+unknown` give authority on a 1.0 card, only `raw` on an older
one, for which no canonical text exists; the other forms drop members that carry meaning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from a2a_lab.core.canonical import NOT_CANONICAL, canonical_bytes, without_signatures
from a2a_lab.core.legacy_presence import legacy_form
from a2a_lab.core.model import Json
from a2a_lab.core.presence import MESSAGES, spec_form
from a2a_lab.errors import MalformedJson

Document = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One form: `document` selects what is signed, `write` makes bytes of it. Calling the profile gives the bytes.

    Raises `MalformedJson` where the card has no bytes in this form; `what` ends the sentence "it passes ...".
    """

    name: str
    what: str
    document: Callable[[Document], Json]
    write: Callable[[Json], bytes]

    def __call__(self, document: Document) -> bytes:
        return self.signed(document)[1]

    def signed(self, document: Document) -> tuple[Json, bytes]:
        """What is signed of a card, as a document and as bytes."""
        try:
            selected = self.document(document)
            return selected, self.write(selected)
        except RecursionError as fault:
            finding = NOT_CANONICAL("the card is nested too deeply for a signature to be checked", reason="too-deep")
            raise MalformedJson(finding.detail, finding=finding) from fault


_ASCII = json.JSONEncoder(ensure_ascii=True, check_circular=False, sort_keys=True, separators=(",", ":"))


def _ascii_bytes(document: Json) -> bytes:
    """Sorted JSON with every character beyond ASCII escaped, as Python's `json` writes by default."""
    canonical_bytes(document)  # refuses what the standard writer would let pass
    return _ASCII.encode(document).encode()


def _without_empties(value: Json) -> Json:
    """The value without empty texts, lists and objects at any depth, also those that became empty; None if all went."""
    if isinstance(value, dict):
        kept = {name: left for name, item in value.items() if (left := _without_empties(item)) is not None}
        return kept or None
    if isinstance(value, list):
        return [left for item in value if (left := _without_empties(item)) is not None] or None
    return None if value == "" else value


def _read_as_proto(document: Document) -> Json:
    """The card as a protobuf reader keeps it, which also takes member names in snake_case."""
    return spec_form(_camel("AgentCard", document), keep_unknown=False, fill=False)


_SNAKE: Mapping[str, Mapping[str, str]] = {
    message: {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): name for name in members}
    for message, members in MESSAGES.items()
}


def _camel(message: str, value: Json) -> Json:
    if not isinstance(value, Mapping) or message not in MESSAGES:
        return value
    members = MESSAGES[message]
    found: dict[str, Json] = {}
    for key, item in value.items():
        name: str = key if key in members else _SNAKE[message].get(key, key)
        member = members.get(name)
        if member is None:
            found[name] = item
        elif member.shape == "list" and isinstance(item, list):
            found[name] = [_camel(member.type, one) for one in item]
        elif member.shape == "map" and isinstance(item, Mapping):
            found[name] = {free: _camel(member.type, one) for free, one in item.items()}
        else:
            found[name] = _camel(member.type, item)
    return found


def _sdk_1(document: Document) -> Json:
    return _without_empties(_read_as_proto(document)) or {}


def _sdk_1_ascii(document: Document) -> Json:
    """As `sdk-1`; numbers exist on a card only in `params`, where a protobuf Struct makes every one a double."""
    return _doubles(_sdk_1(document))


def _doubles(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _doubles(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_doubles(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _without_defaults(value: Json) -> Json:
    """The value without members that are null, false, zero or empty, or became empty; list elements all stay."""
    if isinstance(value, list):
        return [_without_defaults(item) for item in value]
    if not isinstance(value, dict):
        return value
    left = {name: _without_defaults(item) for name, item in value.items()}
    return {name: item for name, item in left.items() if item}


def _sdk_0_3(document: Document) -> Json:
    return _without_empties(legacy_form(document, defaults="dropped")) or {}


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="spec",
            what="the form of specification 8.4.1",
            document=lambda document: spec_form(document, keep_unknown=False),
            write=canonical_bytes,
        ),
        Profile(
            name="spec+unknown",
            what="the form of specification 8.4.1 with unknown members kept",
            document=lambda document: spec_form(document, keep_unknown=True),
            write=canonical_bytes,
        ),
        Profile(name="raw", what="the card as received", document=without_signatures, write=canonical_bytes),
        Profile(name="sdk-1", what="the form of the 1.x SDKs, empties dropped", document=_sdk_1, write=canonical_bytes),
        Profile(
            name="sdk-1-ascii",
            what="the form of the Python SDK 1.0 and 1.1, empties dropped and escaped to ASCII",
            document=_sdk_1_ascii,
            write=_ascii_bytes,
        ),
        Profile(
            name="sdk-0.3",
            what="the form of the Python SDK 0.3, defaults and empties dropped",
            document=_sdk_0_3,
            write=_ascii_bytes,
        ),
        Profile(
            name="crewai-ascii",
            what="the form of CrewAI, escaped to ASCII",
            document=lambda document: legacy_form(document, defaults="written"),
            write=_ascii_bytes,
        ),
        Profile(
            name="spec-8.4.3-literal",
            what="the card with every default value removed, as 8.4.3 reads without 8.4.1",
            document=lambda document: _without_defaults(without_signatures(document)),
            write=canonical_bytes,
        ),
    )
}

AUTHORITY: Mapping[str, tuple[str, ...]] = {"1.0": ("spec", "spec+unknown")}  # by card form; older forms: raw alone


def authority_profiles(form: str) -> tuple[str, ...]:
    """The profiles that give authority on a card of this form (R18)."""
    return AUTHORITY.get(form, ("raw",))


def profiles_for(form: str) -> tuple[Profile, ...]:
    """All profiles in the order in which a card of this form is tried: those with authority first."""
    first = authority_profiles(form)
    return tuple(sorted(PROFILES.values(), key=lambda profile: profile.name not in first))

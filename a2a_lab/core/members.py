"""Points at members of a card: which differ between two documents, which one lacks, and which a plan depends on.

Pointers are RFC 6901. Two numbers are the same member where RFC 8785 writes them alike, and true is never 1, so that
nothing is named changed that the digest calls equal and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from a2a_lab.core.canonical import escape, without_signatures
from a2a_lab.core.model import Card, Interface, Json
from a2a_lab.core.policy import Intent

_SECURITY = {"1.0": "/securityRequirements", "0.1": "/authentication"}
_INTERFACE = ("url", "protocolBinding", "protocolVersion", "tenant")


def changed_members(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[str, ...]:
    """Pointers of what was added, removed or altered between two cards, apart from `signatures` (P4).

    Empty exactly where the content digests are equal. Lists are compared by place.
    """
    return tuple(_changes(without_signatures(old), without_signatures(new), ""))


def _changes(old: Json, new: Json, at: str) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            below = f"{at}/{escape(name)}"
            if name in old and name in new:
                yield from _changes(old[name], new[name], below)
            else:
                yield below
    elif isinstance(old, list) and isinstance(new, list):
        for place in range(max(len(old), len(new))):
            if place < len(old) and place < len(new):
                yield from _changes(old[place], new[place], f"{at}/{place}")
            else:
                yield f"{at}/{place}"
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield at


def missing_members(whole: Json, part: Json, at: str = "") -> Iterator[str]:
    """Pointers of what `whole` has and `part` lacks; a list that lost elements is named as a whole."""
    if isinstance(whole, Mapping) and isinstance(part, Mapping):
        for name, value in whole.items():
            below = f"{at}/{escape(name)}"
            if name in part:
                yield from missing_members(value, part[name], below)
            else:
                yield below
    elif isinstance(whole, list) and isinstance(part, list):
        if len(whole) != len(part):
            yield at
        else:
            for place, value in enumerate(whole):
                yield from missing_members(value, part[place], f"{at}/{place}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMember:
    """A member the plan depends on: where it stands in this card, and its value (`ABSENT` where the card lacks it)."""

    pointer: str
    value: Json


ABSENT = object()


def plan_members(card: Card, interface: Interface | None, intent: Intent) -> dict[str, PlanMember]:
    """What the plan depends on (A1, P3, R36), by a name that stays when a list is reordered.

    The interface with its version and tenant, the capabilities asked for and streaming if the plan streams, extensions,
    modes on both sides, the skill (every skill where the intent names none, since modes are a union), and security.
    Members that the card lacks are listed too, since another card may have them.
    """
    document = card.document
    asked = dict.fromkeys((*intent.requires, *(("streaming",) if intent.stream else ()), "extensions"))
    named = dict(_interface_members(card, interface))
    named |= {f"capability {name}": f"/capabilities/{escape(name)}" for name in asked}
    named |= {name: f"/{name}" for name in ("defaultInputModes", "defaultOutputModes", "securitySchemes")}
    named |= {"security": _SECURITY.get(card.form, "/security")}
    named |= dict(_skill_members(card, intent.skill))
    return {
        name: PlanMember(pointer=pointer, value=_meant(value_at(document, pointer))) for name, pointer in named.items()
    }


def plan_pointers(card: Card, interface: Interface | None, intent: Intent) -> tuple[str, ...]:
    """The JSON Pointers of what the plan depends on, whether or not the card has it."""
    return tuple(member.pointer for member in plan_members(card, interface, intent).values())


def plan_changes(old: Mapping[str, PlanMember], new: Mapping[str, PlanMember]) -> tuple[str, ...]:
    """Pointers into the old card of what the plan depends on and the new card says otherwise."""
    return tuple(
        member.pointer
        for name, member in old.items()
        if name not in new or next(_changes(member.value, new[name].value, ""), None) is not None
    )


def _meant(value: Json) -> Json:
    """Null is unset (R14), and so is an empty text: an empty tenant is none (R8)."""
    return ABSENT if value is None or value == "" else value


def value_at(document: Json, pointer: str) -> Json:
    """The value at a JSON Pointer, `ABSENT` where there is none."""
    value = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ABSENT
    return value


def _interface_members(card: Card, interface: Interface | None) -> Iterator[tuple[str, str]]:
    if card.form == "1.0":
        places = [interface.pointer] if interface else [entry.pointer for entry in card.interfaces]
        for place in places:
            yield from ((f"interface {name}{'' if interface else place}", f"{place}/{name}") for name in _INTERFACE)
        return
    yield "interface protocolVersion", "/protocolVersion"
    if interface and interface.pointer.startswith("/additionalInterfaces/"):
        yield from ((f"interface {name}", f"{interface.pointer}/{name}") for name in ("url", "transport"))
    else:
        yield from (("interface url", "/url"), ("interface transport", "/preferredTransport"))


def _skill_members(card: Card, wanted: str | None) -> Iterator[tuple[str, str]]:
    skills = card.document.get("skills")
    for place, skill in enumerate(skills if isinstance(skills, list) else []):
        name = skill.get("id") if isinstance(skill, Mapping) else None
        if wanted is None or name == wanted:
            security = "securityRequirements" if card.form == "1.0" else "security"
            for member in ("id", "inputModes", "outputModes", security):
                yield f"skill {name} {member}", f"/skills/{place}/{member}"


def touched(pointers: Iterable[str], plan: Iterable[str]) -> tuple[str, ...]:
    """Those pointers that are, lie under or lie above a member the plan depends on. Linear, since cards are hostile."""
    members = frozenset(plan)
    above = frozenset(parent for member in members for parent in parents(member))
    return tuple(
        pointer
        for pointer in pointers
        if pointer in members or pointer in above or any(parent in members for parent in parents(pointer))
    )


def parents(pointer: str) -> Iterator[str]:
    """The pointers that lead to this one, nearest first, the document itself ("") last."""
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer

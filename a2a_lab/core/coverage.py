"""Says what a signature leaves out of the card: members that are there to read and not in the bytes that were signed.

Whoever relays the card can alter such members, or take them away, and the signature still passes. What counts is
whether the plan depends on one of them. Members that the version does not know have no meaning, so a plan depends on
one only by naming it itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from a2a_lab.core.canonical import without_signatures
from a2a_lab.core.members import missing_members, parents, plan_pointers, touched
from a2a_lab.core.model import Card, Interface, Json
from a2a_lab.core.policy import Intent
from a2a_lab.core.presence import spec_form


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """JSON Pointers of the members left out, and of those the plan depends on."""

    uncovered: tuple[str, ...] = ()
    depended: tuple[str, ...] = ()


def coverage_of(card: Card, signed: Json, interface: Interface | None, intent: Intent) -> Coverage:
    """What a signature over the document `signed`, made of this card by a profile, leaves out of the card.

    Members that are unset by the card's own version are not missed.
    """
    received = without_signatures(card.document)
    if signed == received:  # the ordinary case, and much cheaper than to look for differences
        return Coverage()
    if card.form != "1.0":
        uncovered = tuple(missing_members(_set_members(received), signed))
        return Coverage(uncovered=uncovered, depended=touched(uncovered, plan_pointers(card, interface, intent)))
    uncovered = tuple(missing_members(spec_form(card.document, keep_unknown=True, fill=False), signed))
    if not uncovered:
        return Coverage()
    known = frozenset(missing_members(spec_form(card.document, keep_unknown=False, fill=False), signed))
    plan = plan_pointers(card, interface, intent)
    named = frozenset(plan) | frozenset(parent for member in plan for parent in parents(member))
    depended = tuple(pointer for pointer in touched(uncovered, plan) if pointer in named or _among(pointer, known))
    return Coverage(uncovered=uncovered, depended=depended)


def _among(pointer: str, known: frozenset[str]) -> bool:
    return pointer in known or any(parent in known for parent in parents(pointer))


def _set_members(value: Json) -> Json:
    """The value without members that are null, which is how some serialisers write unset (R14)."""
    if isinstance(value, Mapping):
        return {name: _set_members(item) for name, item in value.items() if item is not None}
    return [_set_members(item) for item in value] if isinstance(value, list) else value

"""Says in what a card differs from its pin, whether the plan depends on it, and whether cards take turns (P4, R34).

Pure comparison: what follows from it is the business of `revalidation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from a2a_lab.core.members import changed_members, plan_changes, plan_members
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.pins import PinnedCard


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The JSON Pointers that changed, and those into the pinned card that the plan depends on.

    `what` is "identity" where no interface is the pinned one any more, the most dangerous drift, "plan" where the plan
    depends on a change, and "descriptive" where it does not.
    """

    changed: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    what: Literal["identity", "plan", "descriptive"] = "descriptive"


def compare(pin: PinnedCard, card: Card) -> Drift:
    """What changed since the pin. A list that was only reordered changed, and the plan does not depend on its order."""
    there = same_interface(pin.interface, card)
    in_place = next((entry for entry in card.interfaces if entry.pointer == pin.interface.pointer), None)
    depends = plan_changes(pin.plan, plan_members(card, there or in_place, pin.intent))
    return Drift(
        changed=changed_members(pin.card.document, card.document),
        depends=depends,
        what="identity" if there is None else "plan" if depends else "descriptive",
    )


def same_interface(pinned: Interface, card: Card) -> Interface | None:
    """The pinned interface in another card, by URL, binding, version and tenant; its place in the list may differ."""
    wanted = replace(pinned, pointer="", tenant=pinned.tenant or None)
    return next(
        (entry for entry in card.interfaces if replace(entry, pointer="", tenant=entry.tenant or None) == wanted), None
    )


def flaps(history: Sequence[str]) -> bool:
    """Whether a digest came back after another had taken its place: going back does not heal a drift."""
    runs = [digest for place, digest in enumerate(history) if place == 0 or digest != history[place - 1]]
    return len(set(runs)) < len(runs)

"""How far the lab may go with an agent that is not ours: the tiers of R37, and what each of them permits.

    card       GETs of cards and of the key sets that they name
    task-read  also asking for tasks, which starts nothing
    send       also messages: probes and one small payload, cancelled or completed afterwards
    full       also the control probe, in a mode that nobody declared

Pure. `granted` says which tier holds and why it is no higher; whoever wants more is refused in that sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PROD: Final = "prod"


class Tier(StrEnum):
    """From what costs an agent nothing to what may surprise it."""

    CARD = "card"
    TASK_READ = "task-read"
    SEND = "send"
    FULL = "full"

    def covers(self, other: Tier) -> bool:
        """Whether it permits what the other permits."""
        order = list(Tier)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The tier that holds; `because` says why nothing is sent under it, empty where something is."""

    tier: Tier
    because: str = ""


def granted(*, asked: Tier | None, environment: str, allow_send: bool, where: str) -> Grant:
    """The tier for a matrix. `asked` is that of the file, None where it names none; `where` is how the file is called.

    Production is read and never sent to, whatever else the file says.
    """
    if environment == PROD:
        return Grant(tier=Tier.CARD, because=f'environment = "prod" in {where} caps the tier at card')
    if asked is not None and not asked.covers(Tier.SEND):
        return Grant(tier=asked, because=f'tier = "{asked}" in {where} sends nothing')
    if not allow_send:
        read = Tier.CARD if asked is None else Tier.TASK_READ
        return Grant(tier=read, because=f"{where} has no allow_send = true, without which no matrix sends")
    return Grant(tier=asked or Tier.SEND)

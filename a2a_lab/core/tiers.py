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

    @property
    def height(self) -> int:
        return list(Tier).index(self)

    def covers(self, other: Tier) -> bool:
        return self.height >= other.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The tier that holds; `because` says why it is not what was wanted, empty where it is."""

    tier: Tier
    because: str = ""

    def permits(self, tier: Tier) -> bool:
        return self.tier.covers(tier)


def granted(*, wanted: Tier, environment: str, allow_send: bool, where: str) -> Grant:
    """The tier for a matrix. `where` is the file that says so. Production is read and never sent to."""
    if environment == PROD and wanted is not Tier.CARD:
        return Grant(tier=Tier.CARD, because=f'{where}: environment = "prod" caps the tier at card')
    if wanted.covers(Tier.SEND) and not allow_send:
        return Grant(tier=Tier.TASK_READ, because=f"{where}: no matrix sends without allow_send = true")
    if not wanted.covers(Tier.SEND):
        return Grant(tier=wanted, because=f'{where}: tier = "{wanted}" reads and sends nothing')
    return Grant(tier=wanted)

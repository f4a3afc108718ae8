"""What talking to an agent costs it at worst: requests, agent runs, and what may be left behind (R37).

The one source of these numbers: `check` tells them before it sends, `plan` adds them up, and a live agent's budget is
asked for them before a cell begins. Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from a2a_lab.core.policy import Clocks
from a2a_lab.core.tiers import Tier
from a2a_lab.core.urls import parse_url

TEXT: Final = "text/plain"
CONSUMERS: Final = ("enforcing", "trusting", "foreign")
# Of somebody else's client, which is stopped at these: it may retry, and it may ask for its task as often as it likes.
FOREIGN_RUNS: Final = 3
FOREIGN_REQUESTS: Final = 200
_POLLS_A_SECOND: Final = 20.0  # of a task that moves with every look; see `net.following`
_AROUND: Final = (
    5  # of one message: the send, one patient repetition, a cancellation, a look whether it held, a last look
)
_LOOK_AGAIN: Final = 3  # at the card, before what depends on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """At worst, without redirects. `leaves` says what may stay at the agent; empty where nothing can."""

    requests: int
    runs: int = 0
    leaves: str = ""

    def __add__(self, other: Cost) -> Cost:
        leaves = self.leaves if other.leaves in self.leaves else "; ".join(filter(None, (self.leaves, other.leaves)))
        return Cost(requests=self.requests + other.requests, runs=self.runs + other.runs, leaves=leaves)


def runs_of(mode: str, *, control: bool) -> int:
    """Agent runs of one enforcing flow: the probe, the rehearsal of a mode that text does not prove, the payload."""
    return (2 if mode == TEXT else 3) + control


def worst_case(
    consumer: str, tier: Tier, *, address: str, clocks: Clocks, rps: float | None = None, mode: str = TEXT
) -> Cost:
    """What one cell costs at most. `consumer` is enforcing, trusting or foreign; `rps` None is as fast as it goes."""
    looks = card_requests(address)
    if not tier.covers(Tier.SEND):
        return Cost(requests=looks)
    if consumer == "foreign":
        leaves = "tasks of a client that cleans up as it likes"
        return Cost(requests=looks + FOREIGN_REQUESTS, runs=FOREIGN_RUNS, leaves=leaves)
    polls = math.ceil(clocks.total_s * min(rps or _POLLS_A_SECOND, _POLLS_A_SECOND))
    if consumer == "trusting":
        return Cost(requests=1 + _AROUND + polls, runs=1, leaves="the task, which a trusting client never cancels")
    runs = runs_of(mode, control=tier is Tier.FULL)
    requests = looks + _LOOK_AGAIN + runs * (_AROUND + polls)
    return Cost(requests=requests, runs=runs, leaves="a task that cannot be cancelled")


def card_requests(address: str) -> int:
    """GETs of cards: two names at each level of the path, each asked twice at most, a union card, a key set (R6)."""
    levels = 1 + len([part for part in parse_url(address).path.split("/") if part])
    return 4 * levels + 2

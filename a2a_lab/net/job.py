"""What an initiator is given and what it gives back; the same for both postures, so that they can be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.core.resolvers import Resolver
from a2a_lab.net.client import Http
from a2a_lab.net.credentials import Credentials
from a2a_lab.net.journal import Journal
from a2a_lab.verdicts import Findings, NotGradeable

CARD_S = 30.0  # a card is a small file; a server that takes longer has no card for us

Depth = Literal["card", "send"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One consumer about to meet one agent.

    Give `hint_url`, or `card_url` where the operator knows where the target's own card lies. `now` is the wall clock in
    unix seconds, for keys. `wait` is the consumer's habit. `depth` "card" stops before anything is sent (R37). `card_s`
    bounds each GET of a card, which the clocks of messages do not.
    `stream_if_declared` makes the plan a stream where the bound card declares one.
    """

    run: str
    cell: str
    agent: str
    hint_url: str
    intent: Intent
    policy: Policy
    now: float
    wait: Literal["block", "poll", "stream"] = "block"
    resolver: Resolver | None = None
    tenant: str | None = None
    card_url: str | None = None
    configured_card: Card | None = None
    credentials: Credentials = field(default_factory=Credentials)
    depth: Depth = "send"
    card_s: float = CARD_S
    stream_if_declared: bool = False


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How it ended, as the consumer saw it. `booked` are the tasks it takes as complete; `errors` slugs it raised.

    `would_send` says, where the depth kept it to the card, that something would have been sent.
    `findings` are filled by the enforcing initiator alone: a trusting one notices nothing, the lab judges it after.
    """

    findings: Findings = field(default_factory=Findings)
    not_gradeable: NotGradeable | None = None
    said: str = ""
    mode: str | None = None
    errors: list[str] = field(default_factory=list)
    closure: str | None = None
    booked: set[str] = field(default_factory=set)
    card: Card | None = None
    interface: Interface | None = None
    target: ResolvedTarget | None = None
    card_url: str | None = None
    text: str = ""
    would_send: bool = False


class Initiator(Protocol):
    """One posture of a consumer."""

    async def run(self, job: Job, http: Http, journal: Journal) -> Outcome: ...

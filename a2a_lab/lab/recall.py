"""Recalls what a stored cell was judged with: its evidence, and what its consumer wanted and its operator allowed.

A record keeps what was concluded; the rest is in the HAR file of the cell, in the matrix that the run names, and in the
keys that the run trusted. With these a cell can be judged again, or be made into a case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Bounds, Intent, Policy
from a2a_lab.core.resolution import base_of
from a2a_lab.core.resolvers import Resolver
from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.judge.grounds import first_card_url
from a2a_lab.judge.offline import Given, Judgement, judge_evidence
from a2a_lab.lab.cell import policy_of, resolver_of
from a2a_lab.lab.judging import spoken_first
from a2a_lab.lab.live import policy_of as live_policy_of
from a2a_lab.lab.live import resolver_of as live_resolver_of
from a2a_lab.lab.live import tenant_of
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_recall import own_looks, pair_intent, pair_policy
from a2a_lab.lab.pair_recall import recall as recall_pair
from a2a_lab.lab.pairing_plan import plan_pairs, spec_of
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.lab.runkeys import keys_at
from a2a_lab.lab.runmatrix import kept_matrix, live_of
from a2a_lab.net.evidence import read_har
from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.vendors.live import LiveVendor
from a2a_lab.vendors.payloads import intent
from a2a_lab.wire.exchange import Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """One cell with all that it is judged by. `now` is Unix seconds; `base_url` is where the agent was looked for.

    `jwks` is the set of public keys behind `policy.trusted_keys`, None where the run did not keep it.
    """

    record: CellRecord
    consumer: ConsumerSpec
    jwks: Mapping[str, Any] | None
    exchanges: tuple[Exchange, ...]
    policy: Policy
    intent: Intent
    now: float
    base_url: str | None = None
    given: Given = field(default_factory=Given)
    resolver: Resolver | None = None

    def judge(self, exchanges: Sequence[Exchange] | None = None) -> Judgement:
        """Judge its evidence, or other evidence in its place."""
        return judge_evidence(
            self.exchanges if exchanges is None else exchanges,
            policy=self.policy,
            intent=self.intent,
            now=self.now,
            base_url=self.base_url,
            resolver=self.resolver,
            given=self.given,
        )


class Memory:
    """The cells of one run, recalled one by one. Raises Misuse where the run's matrix cannot be read any more."""

    def __init__(self, run: Run) -> None:
        self._run, self._folder = run, run.folder
        self._matrix = kept_matrix(run.folder, run.header)
        self._consumers = dict(self._matrix.consumers)
        self._live = live_of(self._matrix)
        if self._matrix.pairings is not None:
            pairs = plan_pairs(self._matrix, attempts=int(run.header.parameters.get("attempts", 1)))
            self._consumers = {str(cell.key): spec_of(cell) for cell in pairs}

    @property
    def matrix(self) -> Matrix:
        return self._matrix

    def recall(self, record: CellRecord) -> Recalled:
        """Raises RecordFault for a cell that is in no matrix any more or left no evidence, naming what is missing."""
        consumer = self._consumers.get(str(record.key)) or self._consumers.get(record.key.consumer)
        if consumer is None:
            raise RecordFault(
                f"matrix {self._matrix.name} has no consumer {record.key.consumer!r}, so what it wanted is unknown"
            )
        if record.evidence is None:
            raise RecordFault(f"cell {record.key} left no evidence ({record.said or record.verdict.value})")
        exchanges = read_har(self._folder / record.evidence)
        if record.key.posture == "foreign":
            return self._watched(record, consumer, exchanges)
        known, other = first_card_url(exchanges, Bounds())
        if (live := self._live.get(record.key.agent)) is not None:
            return self._of_live(record, consumer, exchanges, live)
        jwks = keys_at(self._folder, record.started)
        keys = None if jwks is None else KeySet.from_jwks(jwks)
        return Recalled(
            record=record,
            consumer=consumer,
            jwks=jwks,
            exchanges=tuple(exchanges),
            policy=policy_of(consumer, clocks=self._matrix.clocks, keys=keys),
            intent=intent(consumer, canary=""),
            now=_unix(record),
            base_url=base_of(known) if known else None,
            given=Given(card_url=None if known else other),
            resolver=resolver_of(consumer),
        )

    def _of_live(
        self, record: CellRecord, consumer: ConsumerSpec, exchanges: Sequence[Exchange], live: LiveVendor
    ) -> Recalled:
        """A cell of an agent that is not ours: what its file said then decides."""
        return Recalled(
            record=record,
            consumer=consumer,
            jwks=live.jwks,
            exchanges=tuple(exchanges),
            policy=live_policy_of(live),
            intent=pair_intent(record.key.scenario),
            now=_unix(record),
            base_url=None if live.card_url else live.url,
            given=Given(
                card_url=live.card_url or None,
                tenant=tenant_of(live),
                credentials_for=frozenset(live.held_for) if record.key.posture == "enforcing" else frozenset(),
            ),
            resolver=live_resolver_of(live),
        )

    def _watched(self, record: CellRecord, consumer: ConsumerSpec, exchanges: Sequence[Exchange]) -> Recalled:
        """The agent's side of a cell whose consumer was somebody else's: the lab's own looks at the card, the calls.

        Which cards the consumer asked for, and how, is its own doing and says nothing about the agent.
        """
        pair = recall_pair(self._run, record, self._matrix)
        asked = {id(look.exchange) for look in pair.visit.looks}
        calls = [one for one in pair.visit.exchanges if id(one) not in asked]
        looks = own_looks(exchanges)
        return Recalled(
            record=record,
            consumer=consumer,
            jwks=None,
            exchanges=tuple(sorted([*looks, *calls], key=lambda one: one.started_ms)),
            policy=spoken_first(pair.visit, pair_policy(self._matrix)),
            intent=pair_intent(record.key.scenario),
            now=_unix(record),
            base_url=pair.book.agent,
        )


def _unix(record: CellRecord) -> float:
    try:
        return datetime.fromisoformat(record.started).timestamp()
    except ValueError as fault:
        raise Misuse(f"cell {record.key} started at {record.started!r}, which is no time in ISO 8601") from fault

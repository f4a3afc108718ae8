"""The groundwork of the enforcing posture: find the card, judge it, pin it, look at it again (D1-D8, A1, A2, P1-P4).

Nothing is sent to the agent here but GETs. What the core finds is collected in the outcome; what it refuses stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from a2a_lab.core.commitment import Commitment, Fact
from a2a_lab.core.discovery import CardRequest, Discovery, discover
from a2a_lab.core.keys import KeySet
from a2a_lab.core.pinning import (
    PinKey,
    PinnedCard,
    Refetch,
    Revalidation,
    Transition,
    judge_revalidation,
    pin_card,
)
from a2a_lab.judge.answers import key_set
from a2a_lab.judge.statics import STAGES, Statics, judge_statics
from a2a_lab.net.client import Http
from a2a_lab.net.discovering import drive, fetch, own_origins
from a2a_lab.net.job import Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.verdicts import Stage


class Stop(Exception):
    """The flow ends here; the findings say why."""


class Groundwork:
    """One cell up to its pin. The commitment table refuses a step that comes too early."""

    def __init__(self, job: Job, http: Http, journal: Journal) -> None:
        self.job, self.http, self.journal = job, http, journal
        self.outcome = Outcome()
        self.steps = Commitment()

    async def discover(self) -> Discovery:
        job, policy = self.job, self.job.policy
        walk = discover(
            None if job.card_url or job.configured_card else job.hint_url,
            policy,
            resolver=job.resolver,
            configured_card=job.configured_card,
            credentials_for=own_origins(job.hint_url, job.credentials),
            card_url=job.card_url,
            tenant=job.tenant,
        )
        found = await drive(walk, self.http, bounds=policy.bounds, credentials=job.credentials.card, card_s=job.card_s)
        for stage in found.reached:
            self.outcome.findings.reach(stage)
        self.outcome.findings.add(*found.findings)
        self.outcome.not_gradeable = found.not_gradeable
        if found.card is None or found.interface is None or found.target is None:
            self.steps.note(Fact.TARGET_REFUSED)
            self.outcome.card = found.hint_card
            raise Stop
        self.steps.note(Fact.TARGET_RESOLVED)
        self.steps.note(Fact.CARD_BOUND)
        self.outcome.card, self.outcome.interface, self.outcome.target = found.card, found.interface, found.target
        self.outcome.card_url = found.card_url
        if self.job.stream_if_declared and found.card.capabilities.get("streaming"):
            self.job = replace(self.job, intent=replace(self.job.intent, stream=True))
        return found

    async def gate(self, found: Discovery) -> Statics:
        statics = self.judge(found, {})
        if statics.signature.wanted_jku:
            statics = self.judge(found, await self._jku_keys(statics.signature.wanted_jku))
        for stage in STAGES:
            self.outcome.findings.reach(stage)
        self.outcome.findings.add(*statics.findings)
        if statics.refuses:
            self.steps.note(Fact.GATES_REFUSED)
            raise Stop
        self.steps.note(Fact.GATES_PASSED)
        return statics

    def judge(self, found: Discovery, jku_keys: Mapping[str, KeySet]) -> Statics:
        assert found.card is not None and found.interface is not None
        return judge_statics(
            found.card,
            found.interface,
            self.job.intent,
            self.job.policy,
            now=self.job.now,
            served_from=found.card_url,
            jku_keys=jku_keys,
        )

    async def _jku_keys(self, urls: tuple[str, ...]) -> dict[str, KeySet]:
        """JWK sets from hosts that the operator allows; what is no key set holds no key, and says why."""
        sets = {}
        for url in urls:
            exchange = await self.http.send("GET", url, {"Accept": "application/json"}, purpose="jku", total_s=10.0)
            sets[url] = key_set(exchange, self.job.policy.bounds)
        return sets

    def pin(self, found: Discovery, statics: Statics, seen: tuple[str, ...] = ()) -> PinnedCard:
        assert found.card is not None and found.interface is not None
        self.outcome.findings.reach(Stage.LEDGER)
        pin = pin_card(
            found.card,
            interface=found.interface,
            intent=self.job.intent,
            at=self.job.now,
            authoritative=statics.signature.authoritative,
            etag=_header(found.card_headers, "etag"),
            seen=seen,
        )
        key = PinKey.of(
            card_url=found.card_url or "",
            interface=found.interface,
            selectors=found.target.headers if found.target else {},
            credential=",".join(sorted(self.job.credentials.card.names)) if self.job.credentials.card else None,
            sent=found.request_headers,
            vary=_header(found.card_headers, "vary"),
        )
        self.journal.pin(pin, key)
        self.steps.note(Fact.CARD_PINNED)
        return pin

    async def revalidate(
        self, found: Discovery, pin: PinnedCard, transition: Transition, *, attempt: int, seen: tuple[str, ...] = ()
    ) -> Revalidation:
        return judge_revalidation(
            pin,
            await self._refetch(found),
            transition=transition,
            policy=self.job.policy,
            now=self.job.now,
            attempt=attempt,
            seen=seen,
            keys=self.job.policy.trusted_keys,
            served_from=found.card_url,
        )

    async def _refetch(self, found: Discovery) -> Refetch:
        request = CardRequest(
            url=found.card_url or "",
            headers=found.request_headers,
            reason="target",
            with_credentials=self.job.credentials.card is not None,
        )
        job = self.job
        answer = await fetch(
            request, self.http, bounds=job.policy.bounds, credentials=job.credentials.card, card_s=job.card_s
        )
        return Refetch(
            status=answer.status,
            card=answer.card,
            fault=answer.fault,
            etag=answer.header("etag"),
            conditional=False,  # always a full GET: a validator would hide what only the body shows (R34)
        )


def _header(headers: Mapping[str, str], name: str) -> str | None:
    return next((value for key, value in headers.items() if key.lower() == name), None)

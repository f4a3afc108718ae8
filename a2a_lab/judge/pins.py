"""Follows the pinned card through a recording: each later GET of it is judged as a revalidation (P2-P4, R34).

What the recording shows next tells before which transition the card was fetched. A recording that holds no second try
after a server error counts as if that had failed alike: the card could not be fetched again.
"""

from __future__ import annotations

from collections.abc import Mapping

from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.pinning import (
    Next,
    PinnedCard,
    Refetch,
    Revalidation,
    Transition,
    judge_revalidation,
    pin_card,
)
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.judge.answers import card_answer
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import Exchange, first_header

_VALIDATORS = ("If-None-Match", "If-Modified-Since")


class PinWatch:
    """One pin and what came of it. `now` is Unix seconds."""

    def __init__(
        self,
        card: Card,
        interface: Interface,
        *,
        intent: Intent,
        policy: Policy,
        now: float,
        served_from: str | None,
        authoritative: bool,
        etag: str | None,
        jku_keys: Mapping[str, KeySet],
    ) -> None:
        self._policy, self._now, self._served_from, self._jku_keys = policy, now, served_from, jku_keys
        self._seen: tuple[str, ...] = ()
        self._waiting: tuple[Refetch, Transition] | None = None  # an outage that was not tried again yet
        self.pin: PinnedCard = pin_card(
            card, interface=interface, intent=intent, at=now, authoritative=authoritative, etag=etag
        )

    def look(self, exchange: Exchange, transition: Transition) -> tuple[Finding, ...]:
        """Judge one more GET of the card, made before `transition`."""
        answer = card_answer(exchange, self._policy.bounds)
        refetch = Refetch(
            status=answer.status,
            card=answer.card,
            fault=answer.fault,
            etag=answer.header("etag"),
            conditional=_was_conditional(exchange),
        )
        attempt = 1 if self._waiting is None else 2
        self._waiting = None
        judged = self._judge(refetch, transition, attempt)
        if judged.next is Next.RETRY:
            self._waiting = (refetch, transition)
        elif judged.next is Next.REDISCOVER and answer.card is not None:
            self.pin = pin_card(
                answer.card,
                interface=self.pin.interface,
                intent=self.pin.intent,
                at=self._now,
                authoritative=self.pin.authoritative,
                etag=refetch.etag,
                seen=(*self.pin.seen, self.pin.content_digest),
            )
        return judged.findings

    def look_at_extended(self, card: Card) -> tuple[Finding, ...]:
        """The extended card has a pin of its own: that it differs is no drift (R12)."""
        return self._judge(Refetch(status=200, card=card, extended=True), Transition.COMMIT, 1).findings

    def conclude(self) -> tuple[Finding, ...]:
        """The recording ends; an outage that nobody tried again after stands."""
        if self._waiting is None:
            return ()
        refetch, transition = self._waiting
        self._waiting = None
        return self._judge(refetch, transition, 2).findings

    def _judge(self, refetch: Refetch, transition: Transition, attempt: int) -> Revalidation:
        judged = judge_revalidation(
            self.pin,
            refetch,
            transition=transition,
            policy=self._policy,
            now=self._now,
            attempt=attempt,
            seen=self._seen,
            served_from=self._served_from,
            jku_keys=self._jku_keys,
        )
        self._seen = judged.seen
        return judged


def _was_conditional(exchange: Exchange) -> bool | None:
    """Whether validators were sent; None where the recording has no request headers at all."""
    if not exchange.request_headers:
        return None
    return any(first_header(exchange.request_headers, name) for name in _VALIDATORS)

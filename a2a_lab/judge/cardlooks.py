"""Looks at the card between the calls of a recording: the public one again, and the extended one (P2-P4, R12, R34).

What the consumer did next tells which transition a look came before. A GET of the pinned card is a look at it, whoever
made it and whatever for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card
from a2a_lab.core.pinning import Transition, choose_card
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.signatures import verify_card
from a2a_lab.judge.grounds import Grounds, Shelf
from a2a_lab.judge.pins import PinWatch
from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import Finding, Stage
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.exchange import Exchange

_TRANSITIONS = {"stream": Transition.STREAM, "subscribe": Transition.RESUBSCRIBE}


class CardLooks:
    """The pin of a recording, if its card was bound and fetched; `reached` are the stages that looks belong to."""

    def __init__(self, grounds: Grounds, shelf: Shelf, *, intent: Intent, policy: Policy, now: float) -> None:
        self._grounds, self._intent, self._policy, self._now = grounds, intent, policy, now
        self._pins = _pinned(grounds, intent, policy, now)
        found = grounds.discovery
        left = shelf.left([found.card_url]) if self._pins is not None and found and found.card_url else []
        self._looks = {id(exchange) for exchange in left}
        self.reached: set[Stage] = {Stage.LEDGER} if left else set()

    def is_look(self, exchange: Exchange) -> bool:
        """Whether the exchange fetched the pinned card once more."""
        return id(exchange) in self._looks

    def look(self, exchange: Exchange, exchanges: Sequence[Exchange], calls: Mapping[int, Call]) -> tuple[Finding, ...]:
        """Judge a look. `calls` are those of the recording, by the identity of their exchanges."""
        assert self._pins is not None
        return self._pins.look(exchange, _transition_after(exchange, exchanges, calls))

    def extended(self, call: Call) -> tuple[Card | None, list[Finding]]:
        """The extended card that a call brought, judged like the public one; None where it must not govern (R12)."""
        grounds, answer = self._grounds, call.answer
        if answer is None or not isinstance(answer.result, dict):
            return None, []
        reading = read_card(json.dumps(answer.result).encode(), bounds=self._policy.bounds)
        if reading.card is None or grounds.card is None:
            return None, list(reading.findings)
        report = verify_card(
            reading.card,
            self._policy.trusted_keys or KeySet(),
            policy=self._policy,
            now=self._now,
            served_from=call.exchange.url,
            interface=grounds.interface,
            jku_keys=grounds.jku_keys,
            intent=self._intent,
        )
        self.reached.add(Stage.SIGNATURE)
        chosen, found = choose_card(grounds.card, reading.card, report)
        more = self._pins.look_at_extended(reading.card) if self._pins is not None else ()
        if self._pins is not None:
            self.reached.add(Stage.LEDGER)
        return (chosen if chosen is reading.card else None), [*reading.findings, *found, *more]

    def conclude(self) -> tuple[Finding, ...]:
        """The recording ends."""
        return self._pins.conclude() if self._pins is not None else ()


def _pinned(grounds: Grounds, intent: Intent, policy: Policy, now: float) -> PinWatch | None:
    found = grounds.discovery
    if found is None or grounds.card is None or grounds.interface is None or grounds.statics is None:
        return None
    if found.card_url is None:  # the operator's own card cannot be fetched again (R12)
        return None
    return PinWatch(
        grounds.card,
        grounds.interface,
        intent=intent,
        policy=policy,
        now=now,
        served_from=grounds.served_from,
        authoritative=grounds.statics.signature.authoritative,
        etag=next((value for name, value in found.card_headers.items() if name.lower() == "etag"), None),
        jku_keys=grounds.jku_keys,
    )


def _transition_after(look: Exchange, exchanges: Sequence[Exchange], calls: Mapping[int, Call]) -> Transition:
    """What the consumer did next that depends on the card; a commit where the recording does not show it."""
    at = next(place for place, exchange in enumerate(exchanges) if exchange is look)
    for exchange in exchanges[at + 1 :]:
        call = calls.get(id(exchange))
        if call is None or call.op not in ("send", "stream", "subscribe"):
            continue
        message = call.asked.message
        plain = Transition.RENEGOTIATED_SEND if message is not None and message.task_id else Transition.COMMIT
        return _TRANSITIONS.get(call.op, plain)
    return Transition.COMMIT

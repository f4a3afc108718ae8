"""The one thing that a recorder changes: its own address stands in place of the agent's in cards that lead past it.

Everything that would take the consumer elsewhere unseen is noted: what was rewritten, and what could not be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from a2a_lab.core.consumer_findings import CARD_REWRITTEN, PAST_THE_RECORDER
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.redirects import REDIRECTS
from a2a_lab.core.resolution import is_well_known
from a2a_lab.core.urls import is_url
from a2a_lab.net.keeping import Kept
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.http_shape import media_type
from a2a_lab.wire.rewriting import Rewritten, rewrite_card

CARD_BYTES: Final = 2_000_000  # a larger answer is no card that any client reads, and is not held back
_EXTENDED: Final = (b"GetExtendedAgentCard", b"agent/getAuthenticatedExtendedCard", b"agent/authenticatedExtendedCard")
_METHOD_WITHIN: Final = 400  # bytes of a call in which its method stands; a card call has nothing else to say

Pairs = list[tuple[bytes, bytes]]


class RecordedCards:
    """Hands on the cards of the agent at `own`, for a recorder at `recorder`; `findings` say what was done."""

    def __init__(self, own: str) -> None:
        self.own, self.recorder = own, own
        self._said: dict[tuple[str, str], Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        return list(self._said.values())

    def hand_on(self, kept: Kept, held: list[bytes], headers: Pairs) -> tuple[list[bytes], Pairs]:
        """The pieces and headers of a whole answer that may be a card, as they go on to the consumer."""
        exchange = kept.exchange
        card = rewrite_card(kept.body(), own=self.own, recorder=self.recorder) if kept.is_readable else None
        if card is None:
            return held, headers
        exchange.purpose = "card"
        self._note(exchange, card)
        if not card.interfaces:
            return held, headers
        length = str(len(card.body)).encode()
        changed = [(name, length if name.lower() == b"content-length" else value) for name, value in headers]
        # What was packed is handed on unpacked.
        return [card.body], [(name, value) for name, value in changed if name.lower() != b"content-encoding"]

    def note_redirect(self, exchange: Exchange) -> None:
        """Note an answer that sends the consumer to an address of its own; it is passed on as it is."""
        there = exchange.header("location")
        if exchange.status in REDIRECTS and there is not None and is_url(there):
            detail = f"{quoted(exchange.url)} redirects to {quoted(there)}, which is not the recorder"
            self._say(PAST_THE_RECORDER(detail, found=there, at=exchange.url))

    def _note(self, exchange: Exchange, card: Rewritten) -> None:
        if card.interfaces:
            signed = ", and its signatures no longer verify for a consumer that looks" if card.is_signed else ""
            detail = f"in the card at {quoted(exchange.url)} the recorder stands in place of {quoted(self.own)}{signed}"
            self._say(CARD_REWRITTEN(detail, found=list(card.interfaces), at=exchange.url))
        if card.beyond:
            detail = f"the card at {quoted(exchange.url)} also names {listed(list(card.beyond))}"
            self._say(PAST_THE_RECORDER(detail, found=list(card.beyond), at=exchange.url))

    def _say(self, *findings: Finding) -> None:
        for finding in findings:
            self._said.setdefault((finding.slug, finding.detail), finding)


def may_be_card(exchange: Exchange) -> bool:
    """Whether an answer is held back until it is whole, to see whether it is a card."""
    if exchange.status != 200:
        return False
    if exchange.method == "GET":
        kind = media_type(exchange.response_headers) or ""
        return is_well_known(exchange.url.partition("?")[0]) or kind.endswith("json")
    return exchange.method == "POST" and _names_card(exchange.request_body[:_METHOD_WITHIN], _EXTENDED)


def _names_card(body: bytes, names: Iterable[bytes]) -> bool:
    return any(name in body for name in names)

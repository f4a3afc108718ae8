"""What a recorder changes: its own address stands in place of the agent's in cards and redirects that lead past it.

Everything that would take the consumer elsewhere unseen is noted: what was rewritten, and what could not be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from a2a_lab.core.consumer_findings import CARD_REWRITTEN, PAST_THE_RECORDER, REDIRECT_REWRITTEN
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.redirects import REDIRECTS
from a2a_lab.core.resolution import is_well_known
from a2a_lab.core.urls import is_url
from a2a_lab.net.keeping import Kept
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.http_shape import media_type
from a2a_lab.wire.rewriting import Rewritten, move_url, rewrite_card

CARD_BYTES: Final = 2_000_000  # a larger answer is no card that any client reads, and is not held back
_PAST: Final = PAST_THE_RECORDER.slug
_EXTENDED: Final = (b"GetExtendedAgentCard", b"agent/getAuthenticatedExtendedCard", b"agent/authenticatedExtendedCard")
_METHOD_WITHIN: Final = 400  # bytes of a call in which its method stands; a card call has nothing else to say

Pairs = list[tuple[bytes, bytes]]


class RecordedCards:
    """Hands on the cards of the agent at `own`, for a recorder at `recorder`; `findings` say what was done."""

    def __init__(self, own: str) -> None:
        self.own, self.recorder = own, own
        self.fronts: dict[str, str] = {}  # places over gRPC as the card writes them, and who stands there
        self._said: dict[tuple[str, str], Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        return list(self._said.values())

    def past(self, exchange: Exchange) -> list[str]:
        """Where an answer leads the consumer, that is not the recorder."""
        found = [one.values.get("found") for one in self.findings if one.at == exchange.url and one.slug == _PAST]
        return [url for urls in found for url in ([urls] if isinstance(urls, str) else urls or ())]

    def hand_on(self, kept: Kept, held: list[bytes], headers: Pairs) -> tuple[list[bytes], Pairs]:
        """The pieces and headers of a whole answer that may be a card, as they go on to the consumer."""
        exchange = kept.exchange
        card = (
            rewrite_card(kept.body(), own=self.own, recorder=self.recorder, fronts=self.fronts)
            if kept.is_readable
            else None
        )
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

    def redirected(self, exchange: Exchange, headers: Pairs) -> Pairs:
        """The headers of an answer as they go on: a redirect to the agent's own origin leads to the recorder.

        One to another origin is passed on as it is, and noted; a relative one stays with the recorder by itself.
        """
        there = exchange.header("location")
        if exchange.status not in REDIRECTS or there is None or not is_url(there):
            return headers
        moved = move_url(there, own=self.own, recorder=self.recorder)
        if moved is None:
            detail = f"{quoted(exchange.url)} redirects to {quoted(there)}, which is not the recorder"
            self._say(PAST_THE_RECORDER(detail, found=there, at=exchange.url))
            return headers
        detail = f"{quoted(exchange.url)} redirects to {quoted(there)}; the recorder stands in place of its origin"
        self._say(REDIRECT_REWRITTEN(detail, found=there, at=exchange.url))
        place = moved.encode("latin-1")
        return [(name, place if name.lower() == b"location" else value) for name, value in headers]

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

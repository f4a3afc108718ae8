"""What an exchange says to whoever asked for a card or a key set; the same whether it just came or was recorded.

Mapping only: reads bodies with the wire's strict readers and never raises for what a peer sent.
"""

from __future__ import annotations

from a2a_lab.core.cardfetch import CARD_LIMIT, CARD_UNDECODABLE, NEVER_REACHED, CardAnswer
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import MalformedJson
from a2a_lab.wire import strict_json
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.exchange import Exchange


def card_answer(exchange: Exchange, bounds: Bounds) -> CardAnswer:
    """What an exchange says to the walk that asked for a card."""
    headers = dict(reversed(exchange.response_headers))  # the first of several values wins
    if exchange.status is not None and exchange.fault is not None and exchange.fault.startswith("limit"):
        detail = f"{exchange.url} answers with more than is read of a card ({exchange.fault.removeprefix('limit: ')})"
        return CardAnswer(status=exchange.status, headers=headers, findings=(CARD_LIMIT(detail, found=exchange.fault),))
    if exchange.status is not None and (exchange.fault or "").startswith("undecodable"):
        detail = f"{exchange.url}: {exchange.fault}"
        found = (CARD_UNDECODABLE(detail, found=exchange.fault),) if 200 <= exchange.status < 300 else ()
        return CardAnswer(status=exchange.status, headers=headers, findings=found)
    if exchange.fault is not None or exchange.status is None:
        return CardAnswer(status=exchange.status, headers=headers, fault=exchange.fault or "no-answer")
    if not 200 <= exchange.status < 300:
        return CardAnswer(status=exchange.status, headers=headers)
    reading = read_card(exchange.body, bounds=bounds)
    return CardAnswer(status=exchange.status, headers=headers, card=reading.card, findings=tuple(reading.findings))


def key_set(exchange: Exchange | None, bounds: Bounds) -> KeySet:
    """The JWK set that an allowed `jku` answered with; one that is none holds no key and says why."""
    if exchange is None:
        return KeySet(left_out=("the evidence holds no answer of it",))
    if exchange.status != 200 or exchange.fault is not None:
        return KeySet(left_out=(f"the key set could not be fetched: {exchange.fault or f'HTTP {exchange.status}'}",))
    try:
        return KeySet.from_fetched(strict_json.parse(exchange.body, bounds=bounds))
    except MalformedJson as fault:
        return KeySet(left_out=(fault.message,))


def was_sent(exchange: Exchange) -> bool:
    """Whether the request can have reached the peer: not where the connection was never made."""
    return exchange.status is not None or not (exchange.fault or "").startswith(NEVER_REACHED)

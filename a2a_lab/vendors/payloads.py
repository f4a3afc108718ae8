"""What a consumer sends: the payload in each mode it can send, told from a probe by a canary, and its intent.

A cycle, an orphan or a refused send counts only where the payload travelled (R23, R24), and the canary is what tells:
it stands in every payload, in nothing else, and in each cell it is another.
"""

from __future__ import annotations

import json

from a2a_lab.core.policy import Intent
from a2a_lab.vendors.consumer_spec import ConsumerSpec

_ROW = "a row of the payload that an artifact consumer hands over"


def payload(mode: str, canary: str, least_bytes: int) -> bytes:
    """A payload of `mode` with the canary in it, at least `least_bytes` long; lines of text but for CSV and JSON."""
    count = 1
    while True:
        rows = [{"id": f"{canary}-{number}", "text": _ROW} for number in range(1, count + 1)]
        written = _written(mode, rows)
        if len(written) >= least_bytes:
            return written
        count = max(count + 1, count * least_bytes // len(written))


def _written(mode: str, rows: list[dict[str, str]]) -> bytes:
    if mode == "application/json":
        return json.dumps({"records": rows}).encode()
    separator = "," if mode == "text/csv" else ": "
    head = ["id,text"] if mode == "text/csv" else []
    return "\n".join([*head, *(separator.join(row.values()) for row in rows)]).encode()


def intent(consumer: ConsumerSpec, canary: str) -> Intent:
    """What the consumer wants, as the core reads it; payloads in its order of preference."""
    return Intent(
        mode=consumer.mode,
        payloads={mode: payload(mode, canary, consumer.payload_bytes) for mode in consumer.can_send},
        skill=consumer.skill,
        requires=consumer.requires,
        extensions=consumer.extensions,
        accepts=consumer.accepts,
        stream=consumer.stream,
    )

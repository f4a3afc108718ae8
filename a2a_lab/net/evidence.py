"""Keeps the evidence of a cell: exchanges as they happen, and HAR files that only the user may read (R38)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from a2a_lab.errors import HarnessFault, RecordFault
from a2a_lab.net.redact import Redactor
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.har import from_har, to_har


class Recorder:
    """The exchanges of one cell, in the order in which they began, with one clock for all of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._zero = clock()
        self.started = datetime.now(UTC)
        self.exchanges: list[Exchange] = []

    def now_ms(self) -> float:
        """Milliseconds since the cell began."""
        return (self._clock() - self._zero) * 1000

    def begin(self, exchange: Exchange) -> Exchange:
        exchange.started_ms = exchange.ended_ms = self.now_ms()
        self.exchanges.append(exchange)
        return exchange


def write_har(
    path: Path, exchanges: Sequence[Exchange], *, started: datetime, tool: str, redactor: Redactor, comment: str = ""
) -> Path:
    """Store the exchanges, redacted, readable by the user alone; whole or not at all.

    Raises HarnessFault where the file cannot be written.
    """
    document = to_har(
        [redactor.exchange(exchange) for exchange in exchanges], started=started, tool=tool, comment=comment
    )
    half = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, separators=(",", ":"))
        half.replace(path)
    except OSError as fault:
        raise HarnessFault(f"the evidence {path} cannot be written: {fault.strerror}; name another folder") from fault
    return path


def read_har(path: Path) -> list[Exchange]:
    """The exchanges of a HAR file. Raises RecordFault naming the file where it is cut or no HAR."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise RecordFault(f"{path}: not a readable HAR file ({problem}); is it cut?") from problem
    except OSError as problem:
        raise RecordFault(f"{path}: {problem.strerror}; expected a HAR file") from problem
    try:
        return from_har(document)
    except RecordFault as fault:
        raise RecordFault(f"{path}: {fault.message}") from fault

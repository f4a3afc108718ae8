"""The gate that every request to one live agent passes: waits for its turn, and refuses while a pause is asked for.

One for all cells of a run, whoever their consumer is. Which pause and which turn is decided by `core.pacing`.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from a2a_lab.core.pacing import Pace
from a2a_lab.errors import Withheld
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.exchange import first_header

_THROTTLES = (429, 503)


class Gate:
    """`agent` is what a sentence calls it, `rps` how many requests leave in a second."""

    def __init__(self, agent: str, *, rps: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._agent, self._clock = agent, clock
        self._pace = Pace(rps)

    async def enter(self) -> None:
        """Return when the request may leave. Raises Withheld where the agent wants a longer pause than we wait."""
        wait_s = self._pace.wait_s(self._clock())
        if wait_s is None:
            left = math.ceil(self._pace.rest_s(self._clock()))
            raise Withheld(
                f"{self._agent} asked to be left alone for {left} s more (Retry-After), so nothing was sent to it; "
                "run what is left later, with --resume",
                word=NotGradeable.THROTTLED,
                slug="throttled",
            )
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    def heard(self, status: int | None, headers: Sequence[tuple[str, str]]) -> None:
        """Take note of an answer: a pause that it asks for holds for all."""
        if status in _THROTTLES and (seconds := retry_after_s(list(headers))) is not None:
            self._pace.asked_to_rest(seconds, self._clock())


def retry_after_s(headers: list[tuple[str, str]], *, now: datetime | None = None) -> float | None:
    """Seconds, from either form of the header (RFC 9110 10.2.3); None where there is none that can be read."""
    value = (first_header(headers, "retry-after") or "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - (now or datetime.now(UTC))).total_seconds())

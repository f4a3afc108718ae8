"""The gate that every request to one live agent passes: waits for its turn, and refuses while a pause is asked for.

One for all cells of a run, whoever their consumer is. Which pause and which turn is decided by `core.pacing`.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime

from a2a_lab.core.pacing import Pace
from a2a_lab.core.patience import asked_for_s
from a2a_lab.errors import Withheld
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.exchange import first_header

_THROTTLES = (429, 503)


class Gate:
    """`agent` is what a sentence calls it, `rps` how many requests leave in a second."""

    def __init__(
        self,
        agent: str,
        *,
        rps: float,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._agent, self._clock, self._today = agent, clock, today
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
        if status not in _THROTTLES:
            return
        pairs = list(headers)
        asked = first_header(pairs, "Retry-After")
        # A server without a clock, or with one that nobody can read, is held against ours.
        seconds = asked_for_s(asked, first_header(pairs, "Date"))
        if seconds is None:
            seconds = asked_for_s(asked, format_datetime(self._today(), usegmt=True))
        if seconds is not None:
            self._pace.asked_to_rest(seconds, self._clock())

"""The gate of a live agent reads both forms of Retry-After and holds for every cell (R37, RFC 9110 10.2.3)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from a2a_lab.errors import Withheld
from a2a_lab.net.gate import Gate

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("date", [[], [("Date", "today")], [("Date", "Mon, 30 Nov 2026 12:00:00 GMT")]])
def test_a_pause_until_a_time_is_held_against_our_clock_where_the_server_shows_none(
    date: list[tuple[str, str]],
) -> None:
    async def life() -> None:
        gate = Gate("https://agent.example", rps=float("inf"), clock=lambda: 100.0, today=lambda: NOW)
        gate.heard(429, [("Retry-After", "Mon, 30 Nov 2026 13:00:00 GMT"), *date])
        with pytest.raises(Withheld, match="left alone for 3600 s more"):
            await gate.enter()

    asyncio.run(life())


def test_a_long_pause_is_kept_and_named() -> None:
    async def life() -> None:
        gate = Gate("https://agent.example", rps=float("inf"), clock=lambda: 100.0)
        gate.heard(200, [("Retry-After", "3600")])
        await gate.enter()  # only who refuses asks for a pause
        gate.heard(429, [("Retry-After", "3600")])
        with pytest.raises(Withheld, match=r"https://agent.example asked to be left alone for 3600 s more") as held:
            await gate.enter()
        assert (held.value.word.value, held.value.reason) == ("throttled", "throttled")

    asyncio.run(life())

"""How fast a live agent is asked: so many requests a second, and not at all while it wants to be left alone (R37).

Decides; `net.gate` waits. Time comes in, in seconds of one clock. A pause that an agent asks for holds for every cell
that wants to talk to it, not only for the one that was told.
"""

from __future__ import annotations

from typing import Final

PATIENCE_S: Final = 5.0  # an agent that wants more than this is throttling, and is not asked again in this cell (R2)


class Pace:
    """The requests to one agent. `rps` is how many may leave in a second; they leave evenly, not in bursts."""

    def __init__(self, rps: float) -> None:
        self._gap_s = 1.0 / rps
        self._next = float("-inf")
        self._rest_until = float("-inf")

    def wait_s(self, now: float) -> float | None:
        """How long the next request waits, which takes its turn by asking; None where it must not leave at all."""
        if self._rest_until - now > PATIENCE_S:
            return None
        at = max(now, self._next, self._rest_until)
        self._next = at + self._gap_s
        return at - now

    def asked_to_rest(self, seconds: float, now: float) -> None:
        """An answer said when to come back; a shorter pause does not end a longer one."""
        self._rest_until = max(self._rest_until, now + seconds)

    def rest_s(self, now: float) -> float:
        """How long it still wants to be left alone."""
        return max(0.0, self._rest_until - now)

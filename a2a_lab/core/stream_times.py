"""The clocks of one stream: what happened when, and what time alone will bring about next (R30, R31).

Knows no event and no closure; `stream` tells it what happened and does what falls due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from a2a_lab.core.closures import Situation
from a2a_lab.core.policy import Clocks

Due = Literal["ask", "leave", "not-closed", "end-not-signalled", "hang", "total"]

LEAVE_GRACE_S: Final = 0.25  # after input-required: lets a close or a last event that is under way arrive
IN_FLIGHT_S: Final = 0.25  # after an ask found the task ended: lets the event that says so arrive


@dataclass(slots=True, kw_only=True)
class StreamTimes:
    """All in seconds on the caller's clock. `opened` is when the request left: silence runs from there."""

    clocks: Clocks
    opened: float
    first_event_at: float | None = None
    last_event_at: float | None = None
    asked_at: float | None = None
    ended_at: float | None = None  # when the end was signalled
    found_ended_at: float | None = None  # when an ask showed that the task has ended
    has_left: bool = False  # the caller was told to leave an agent that waits for us
    is_pinged: bool = False  # a sign of life came since the last event

    @property
    def quiet_since(self) -> float:
        return self.opened if self.last_event_at is None else self.last_event_at

    def hear(self, now: float) -> None:
        """A protocol event came: progress, and the only thing that is."""
        self.first_event_at = now if self.first_event_at is None else self.first_event_at
        self.last_event_at = now
        self.found_ended_at = None
        self.is_pinged = False
        self.has_left = False

    def due(self, situation: Situation, *, waits_for_input: bool, can_ask: bool) -> tuple[float, Due]:
        """What comes next if nothing else does, and when."""
        clocks, quiet = self.clocks, self.quiet_since
        total: tuple[float, Due] = (self.opened + clocks.total_s, "total")
        if situation in ("interrupted", "interrupted-unproved"):
            # Input is ours to give; an authorisation may come from elsewhere, so that is waited for a little (§7.6.1).
            grace = LEAVE_GRACE_S if waits_for_input else clocks.silence_s
            return total if self.has_left else min((quiet + grace, "leave"), total)
        if self.ended_at is not None:
            return self.ended_at + clocks.close_s, "not-closed"
        if situation == "unproved":
            return min((quiet + min(clocks.silence_s, clocks.hang_s), "end-not-signalled"), total)
        hang: tuple[float, Due] = (quiet + clocks.hang_s, "hang")
        if self.found_ended_at is not None:
            return min((self.found_ended_at + IN_FLIGHT_S, "end-not-signalled"), hang, total)
        if self.asked_at is not None or not can_ask or clocks.silence_s >= clocks.hang_s:
            return min(hang, total)
        return min((quiet + clocks.silence_s, "ask"), hang, total)

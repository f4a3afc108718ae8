"""Names what ran out when a stream did not end in time, by what came instead of the end (R30, R31)."""

from __future__ import annotations

from a2a_lab.core import stream_findings as found
from a2a_lab.core.closures import Closure
from a2a_lab.core.model import Task
from a2a_lab.core.quoting import counted
from a2a_lab.core.stream_content import StreamContent
from a2a_lab.core.stream_times import Due, StreamTimes
from a2a_lab.verdicts import Finding, Verdict


def out_of_time(
    what: Due, content: StreamContent, times: StreamTimes, settled: Task | None, *, comments: int, now: float
) -> tuple[Closure, list[Finding]]:
    """The closure of a stream whose time is up, and why. `settled` is the task as an ask showed it."""
    if what == "not-closed":
        open_s = now - (now if times.ended_at is None else times.ended_at)
        verdict = None if content.is_strict else Verdict.HINT
        detail = f"still open {open_s:.1f} s after the end"
        return "final-without-close", [found.NOT_CLOSED(detail, verdict=verdict, open_s=open_s)]
    if what == "total" and content.situation in ("interrupted", "interrupted-unproved"):
        return "interrupted-open", []
    quiet = now - times.quiet_since
    state = content.state.value if content.state else "none"
    ended = content.state if content.is_terminal else None
    if ended is None and settled is not None and settled.state.is_terminal:
        ended = settled.state
    if ended is not None:
        detail = f"the task is {ended.value}, the stream said nothing for {quiet:.1f} s"
        return _silent(times), [found.END_NOT_SIGNALLED(detail, waited_s=quiet, state=state)]
    if what == "total" and times.last_event_at is not None:
        detail = (
            f"{counted(content.events, 'event')} in {now - times.opened:.1f} s and no end; the last state was {state}"
        )
        return "drip-hang", [found.DRIP_HANG(detail, waited_s=quiet, state=state)]
    kind = found.LIVE_HANG if times.is_pinged else found.IDLE_HANG
    detail = f"no event for {quiet:.1f} s ({counted(comments, 'comment')}); the last state was {state}"
    return _silent(times), [kind(detail, waited_s=quiet, state=state)]


def _silent(times: StreamTimes) -> Closure:
    return "live-hang" if times.is_pinged else "idle-hang"

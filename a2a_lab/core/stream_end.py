"""What can only be said once a stream is over: its artifacts as a whole, its end signal, and what settling showed."""

from __future__ import annotations

from typing import Final

from a2a_lab.core import stream_findings as found
from a2a_lab.core.closures import ENDED, Closure
from a2a_lab.core.model import State, Task
from a2a_lab.core.quoting import counted, listed
from a2a_lab.core.stream_content import StreamContent
from a2a_lab.core.stream_times import StreamTimes
from a2a_lab.verdicts import Finding, Verdict

BURST_S: Final = 0.01  # events within this time came in one piece
LATE_S: Final = 0.5  # a first event later than this is no immediate feedback
_NAMED: Final = 20  # artifacts listed in one finding


def last_findings(
    content: StreamContent,
    closure: Closure,
    *,
    times: StreamTimes,
    settled: Task | None,
    declared_streaming: bool,
) -> list[Finding]:
    """The findings of the whole."""
    is_settled = settled is not None and settled.state.is_terminal
    last = [] if is_settled and closure != "reset" else _left_behind(content, closure)
    if closure == "reset" and is_settled:
        last = [found.STREAM_RESET("the connection broke; the task is known to have ended", verdict=Verdict.HINT)]
    last += _end_signal(content, closure)
    if content.state is State.COMPLETED and closure in ENDED:
        last += content.reassembly.complete()
        last += _without_artifact(content) if declared_streaming and content.op == "stream" else []
    return last + _delivery(content, times)


def _left_behind(content: StreamContent, closure: Closure) -> list[Finding]:
    """A connection that broke or an error leaves a task, and perhaps artifacts, whose end nobody knows."""
    left = []
    if closure == "reset":
        left.append(found.STREAM_RESET(f"the connection broke after {counted(content.events, 'event')}"))
    names = [artifact.id for artifact in content.reassembly.artifacts]
    if closure in ("reset", "error-frame") and names:
        left.append(found.OPEN_ARTIFACT(f"nobody knows what becomes of {listed(names)}", found=names[:_NAMED]))
    return left


def _end_signal(content: StreamContent, closure: Closure) -> list[Finding]:
    """Up to 0.3 the end of a stream is final:true, whatever the state (R29)."""
    state = content.state.value if content.state else "none"
    if content.final_seen and content.situation == "ended" and not content.is_terminal:
        return [found.FINAL_WHILE_ACTIVE(f"final:true came in state {state}; ask for the task", state=state)]
    if content.is_strict or content.final_seen or not content.status_events or closure not in ENDED:
        return []
    return [found.FINAL_MISSING(f"the stream ended in state {state} without final:true", state=state)]


def _without_artifact(content: StreamContent) -> list[Finding]:
    """The record's rule: declared streaming that completes without any artifact is no success (R28)."""
    if content.has_result:
        return []
    which = "no artifact that holds a part" if content.artifact_events else "no artifact"
    detail = f"{counted(content.events, 'event')}, state completed, and {which}; do not mark the task complete"
    return [found.WITHOUT_ARTIFACT(detail, events=content.events)]


def _delivery(content: StreamContent, times: StreamTimes) -> list[Finding]:
    """Several events in one burst, late: somebody on the way buffered the stream."""
    first, last = times.first_event_at, times.last_event_at
    if first is None or last is None or content.events < 3:
        return []
    waited = first - times.opened
    if waited <= LATE_S or last - first > BURST_S:
        return []
    return [found.ALL_AT_ONCE(f"{counted(content.events, 'event')} came at once after {waited:.1f} s", waited_s=waited)]

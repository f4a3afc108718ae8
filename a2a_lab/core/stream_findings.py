"""The findings of the stream watch: what a stream can do wrong besides its artifacts (A6, R28-R31)."""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _finding(
    slug: str,
    means: str,
    verdict: Verdict,
    *,
    clause: str | None = None,
    judge: Judge = Judge.SPEC,
    kind: Kind = Kind.CONFORMANCE,
    rule: str = "A6, R31",
    other: str | None = None,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.STREAM,
        verdict=verdict,
        kind=kind,
        judge=judge,
        rule=rule,
        clause=clause,
        means=means,
        other=other,
    )


_ERROR = Verdict.CONFORMANCE_ERROR
_PATTERNS = "A2A 1.0.1 §3.1.2 MUST (two patterns)"
_CLOSE = "A2A 1.0.1 §3.1.2, §3.1.6 MUST close; 0.3.0 §7.2, §9.3"

FIRST_EVENT = _finding(
    "first-event", "the stream does not begin with the object that it must begin with", _ERROR, clause=_PATTERNS
)
MESSAGE_MIXED = _finding(
    "message-mixed",
    "a message stands in a stream that holds something else as well",
    _ERROR,
    clause=_PATTERNS,
    other="0.3 has no such rule",
)
TASK_REPEATED = _finding(
    "task-repeated",
    "a task snapshot stands in the middle of the stream; it replaces what was known",
    Verdict.HINT,
    clause=_PATTERNS,
    rule="R29",
)
FOREIGN_TASK = _finding(
    "foreign-task", "an event of another task came in this stream; it is not used", _ERROR, clause="A2A 1.0.1 §3.4.2"
)
FOREIGN_CONTEXT = _finding(
    "foreign-context",
    "the context is not the one that was given or that the stream began with",
    _ERROR,
    clause="A2A 1.0.1 §3.4.1 MUST NOT",
)
EVENT_AFTER_END = _finding(
    "event-after-end", "an event came after the end; the result that was final is kept", _ERROR, clause=_CLOSE
)
END_REPEATED = _finding(
    "end-repeated",
    "the end was said twice in the same words",
    Verdict.ACCEPT,
    clause="A2A 1.0.1 §11.7 MAY resend",
    kind=Kind.NOTE,
)
WITHOUT_ARTIFACT = _finding(
    "stream-without-artifact",
    "streaming is declared, and the task completed without any artifact: reassembly is aborted, nothing is complete",
    _ERROR,
    clause="A2A 1.0.1 §3.7 SHOULD, §3.1.2 (zero or more)",
    judge=Judge.POLICY,
    rule="A6, R28",
    other="by the specification this stream is legal",
)
FINAL_MISSING = _finding(
    "final-missing",
    "the stream ended, but no event said final:true",
    Verdict.HINT,
    clause="A2A 0.3.0 §7.2.2 TaskStatusUpdateEvent.final (required)",
    rule="R29",
    other="a strict reader keeps waiting",
)
FINAL_WHILE_ACTIVE = _finding(
    "final-while-active",
    "final:true ended the stream, but not the task: it goes on by tasks/get",
    Verdict.HINT,
    clause="A2A 0.3.0 §7.2.2 TaskStatusUpdateEvent.final",
)
NOT_CLOSED = _finding(
    "not-closed", "the end was signalled, but the stream was not closed; the result is kept", _ERROR, clause=_CLOSE
)
EOF_NONTERMINAL = _finding(
    "eof-nonterminal",
    "the stream was closed before the task came to an end: not complete, ask for the task",
    _ERROR,
    clause=_CLOSE,
)
TRUNCATED = _finding(
    "stream-truncated",
    "the stream was cut inside an event, which is then no event: not complete, ask for the task",
    _ERROR,
    clause="HTML Standard §9.2.6 (an incomplete event is discarded); A2A 1.0.1 §3.1.2",
    other="a lenient reader would take the incomplete event",
)
TAIL_DROPPED = _finding(
    "tail-dropped",
    "after the end came the beginning of another event, or the connection was cut",
    Verdict.ACCEPT,
    clause="HTML Standard §9.2.6",
    kind=Kind.NOTE,
)
STREAM_RESET = _finding(
    "stream-reset",
    "the connection broke before the task came to an end: subscribe again or ask, never send again",
    Verdict.ORPHAN,
    judge=Judge.POLICY,
    rule="R31, R35",
)
OPEN_ARTIFACT = _finding(
    "open-artifact",
    "the stream failed with artifacts of a task that nobody knows the end of",
    Verdict.ORPHAN,
    judge=Judge.POLICY,
    rule="R35",
)
STREAM_ERROR = _finding(
    "stream-error",
    "an error ended the stream: the task is not complete, ask for it",
    _ERROR,
    clause="A2A 1.0.1 §9.4.2, §11.7",
)
ERROR_BEFORE_STREAM = _finding(
    "error-before-stream",
    "the agent declined the streaming call; what follows from that is decided where the answer is used",
    Verdict.REFUSE,
    clause="JSON-RPC 2.0 §5.1; A2A 1.0.1 §9.5",
    kind=Kind.NOTE,
)
SLOW = _finding(
    "slow",
    "nothing came for a while; the task is alive, so the watch goes on",
    Verdict.ACCEPT,
    judge=Judge.POLICY,
    kind=Kind.NOTE,
    rule="R30",
)
END_NOT_SIGNALLED = _finding(
    "end-not-signalled",
    "the task has ended, and the stream does not say so; the result is recovered by asking",
    Verdict.HANG,
    clause=_CLOSE,
    rule="R30",
)
IDLE_HANG = _finding(
    "idle-hang", "nothing came within the limit", Verdict.HANG, judge=Judge.POLICY, clause=_CLOSE, rule="R30"
)
LIVE_HANG = _finding(
    "live-hang",
    "only comments came within the limit: signs of life are no progress",
    Verdict.HANG,
    judge=Judge.POLICY,
    clause="HTML Standard §9.2.6 (comments)",
    rule="R30",
    other="a long computation with keep-alives may be healthy",
)
DRIP_HANG = _finding(
    "drip-hang",
    "events kept coming until the total limit, but no end",
    Verdict.HANG,
    judge=Judge.POLICY,
    clause=_CLOSE,
    rule="R30",
)
CLIENT_LEFT = _finding(
    "client-left",
    "the client stopped reading before any limit; the stream is not judged beyond that",
    Verdict.ACCEPT,
    judge=Judge.POLICY,
    kind=Kind.NOTE,
)
ALL_AT_ONCE = _finding(
    "all-at-once",
    "every event came in one burst at the end: nothing was delivered on the way",
    Verdict.ACCEPT,
    clause="A2A 1.0.1 §3.1.2 (immediate feedback)",
    kind=Kind.NOTE,
)

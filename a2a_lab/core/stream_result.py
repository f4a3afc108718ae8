"""What came of a stream: its closure, its task and artifacts, and the findings. A value, made once at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from a2a_lab.core.closures import ENDED, HANGS, Closure
from a2a_lab.core.model import Artifact, Message, Part, RpcError, State, Task
from a2a_lab.errors import StreamFault
from a2a_lab.verdicts import Finding, Verdict, worst


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamResult:
    """`state` is what the stream said last; `settled` the task as asking for it showed it, None where nobody asked.

    `artifacts` are all that was received, `open_ids` those that are not sealed, `flawed_ids` those that must not be
    reported as complete, `unused` parts that belong to none. `last_event_at` and `opened` are on the caller's clock,
    `waited_s` is from the last protocol event (or the request) to the end.
    """

    closure: Closure
    findings: tuple[Finding, ...]
    state: State | None
    task_id: str | None
    context_id: str | None
    artifacts: tuple[Artifact, ...]
    opened: float
    ended: float
    last_event_at: float | None
    events: int
    comments: int
    message: Message | None = None
    task: Task | None = None
    settled: Task | None = None
    error: RpcError | None = None
    final_seen: bool = False
    artifact_events: int = 0
    open_ids: tuple[str, ...] = ()
    flawed_ids: tuple[str, ...] = ()
    unused: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Of the stage `stream`."""
        return worst(finding.verdict for finding in self.findings)

    @property
    def is_hang(self) -> bool:
        return self.closure in HANGS

    @property
    def waited_s(self) -> float:
        return self.ended - (self.opened if self.last_event_at is None else self.last_event_at)

    @property
    def is_complete(self) -> bool:
        """Whether the task may be marked complete: it said so, the stream is whole, and no rule aborted it (A6)."""
        aborted = any(finding.slug == "stream-without-artifact" for finding in self.findings)
        return self.state is State.COMPLETED and self.closure in ENDED and not aborted and not self.flawed_ids

    @property
    def recovered(self) -> Task | None:
        """The ended task that asking found where the stream did not show the end; its artifacts are the result."""
        is_unseen = self.state is None or not self.state.is_terminal or self.is_hang
        ended = self.settled is not None and self.settled.state.is_terminal
        return self.settled if is_unseen and ended else None

    def raise_for_fault(self) -> None:
        """Raise StreamFault with the worst finding, for callers who want an error where the stream did not conform."""
        severe = [f for f in self.findings if f.verdict.severity >= Verdict.CONFORMANCE_ERROR.severity]
        if severe:
            finding = max(severe, key=lambda finding: finding.verdict.severity)
            raise StreamFault(f"{finding.slug}: {finding.detail}", finding=finding, closure=self.closure)

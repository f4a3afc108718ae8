"""What happens in streams and tasks, in a few words: events, tasks, artifacts, and watches with round clocks."""

from __future__ import annotations

from typing import Any

from a2a_lab.core.model import Artifact, Message, Part, RpcError, State, StreamEvent, Task
from a2a_lab.core.policy import Clocks
from a2a_lab.core.stream import StreamWatch

CLOCKS = Clocks(silence_s=1, hang_s=2, total_s=10, close_s=2)


def art(name: str, *texts: str, title: str | None = None, **metadata: Any) -> Artifact:
    parts = tuple(Part(kind="text", text=text) for text in texts)
    return Artifact(id=name, parts=parts, name=title, metadata=metadata)


def task(state: State, *artifacts: Artifact, id: str = "t1", context: str | None = "c1") -> Task:
    return Task(id=id, context_id=context, state=state, wire_state=state.value, artifacts=artifacts)


def snapshot(state: State, *artifacts: Artifact, id: str = "t1", context: str | None = "c1") -> StreamEvent:
    shown = task(state, *artifacts, id=id, context=context)
    return StreamEvent(kind="task", task_id=id, context_id=context, state=state, wire_state=state.value, task=shown)


def status(
    state: State,
    *,
    final: bool | None = None,
    id: str | None = "t1",
    context: str | None = "c1",
    text: str | None = None,
) -> StreamEvent:
    said = None if text is None else Message(id="a", role="agent", parts=(Part(kind="text", text=text),))
    return StreamEvent(
        kind="status", task_id=id, context_id=context, state=state, wire_state=state.value, final=final, message=said
    )


def chunk(artifact: Artifact, *, append: bool = False, last: bool | None = None, id: str | None = "t1") -> StreamEvent:
    return StreamEvent(kind="artifact", task_id=id, context_id="c1", artifact=artifact, append=append, last_chunk=last)


def message(text: str = "hi", *, task_id: str | None = None) -> StreamEvent:
    said = Message(id="a", role="agent", parts=(Part(kind="text", text=text),))
    return StreamEvent(kind="message", task_id=task_id, message=said)


def failure(code: int = -32603, name: str | None = "InternalError") -> StreamEvent:
    return StreamEvent(kind="error", error=RpcError(code=code, message="oops", name=name))


NOISE = StreamEvent(kind="unknown")
SUBMITTED, WORKING, COMPLETED = State.SUBMITTED, State.WORKING, State.COMPLETED


def watch(version: str = "1.0", **options: Any) -> StreamWatch:
    """A watch over a request that left at 0."""
    return StreamWatch(version, options.pop("clocks", CLOCKS), opened=0.0, **options)


def watched(version: str, *events: StreamEvent, ending: Any = "close", **options: Any) -> Any:
    """The result after these events, a tenth of a second apart, and this ending."""
    watching = watch(version, **options)
    for place, event in enumerate(events):
        watching.receive(event, 0.1 * (place + 1))
    watching.close(0.1 * (len(events) + 1), ending)
    return watching.result


def slugs(findings: Any) -> list[str]:
    return [finding.slug for finding in findings]


def texts(artifacts: Any) -> dict[str, list[str]]:
    return {artifact.id: [part.text or "" for part in artifact.parts] for artifact in artifacts}

"""What a stream says in the end: one snapshot of its task, or what came in its place; and what was received by then.

A probe or a commit is read by the last word of its stream, as a unary call is by its answer (R22).
"""

from __future__ import annotations

from a2a_lab.core.model import Artifact, Message, RpcError, Task
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.wire.dialects import Answer


def last_word(result: StreamResult, answer: Answer | None) -> Task | Message | RpcError | None:
    """The task as it stands at the end, or the message or error that came instead; `answer` where no stream came."""
    if result.recovered is not None:
        return result.recovered
    if result.task_id is not None and result.state is not None:
        return Task(
            id=result.task_id,
            context_id=result.context_id,
            state=result.state,
            wire_state=result.state.value,
            message=result.message,
            artifacts=received(result),
            metadata=result.task.metadata if result.task else {},
        )
    if answer is not None:
        return answer.task or answer.message or answer.error
    return result.message or result.error


def received(result: StreamResult) -> tuple[Artifact, ...]:
    """Artifacts by id: those that asking showed, then those that the stream brought."""
    found = {artifact.id: artifact for artifact in (result.recovered.artifacts if result.recovered else ())}
    return tuple((found | {artifact.id: artifact for artifact in result.artifacts}).values())

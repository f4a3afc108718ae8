"""Reads the body of a JSON-RPC call: HTTP shape, JSON, envelope, result, in that order, each with its findings.

Never raises for what a peer sent. What a result may look like is asked of the dialect; `rest_answers` does the same for
HTTP+JSON, which has no envelope.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from a2a_lab.core.model import Json, Task
from a2a_lab.core.policy import Bounds
from a2a_lab.core.quoting import quoted
from a2a_lab.errors import LimitExceeded, MalformedJson
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire import envelope, http_shape, strict_json
from a2a_lab.wire.messages import PUSHES, Answer, Headers, Op
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.sse import SseReader

if TYPE_CHECKING:
    from a2a_lab.wire.binding import BoundDialect

STREAM_ON_SEND = FindingKind(
    slug="stream-on-send",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    kind=Kind.CONFORMANCE,
    judge=Judge.SPEC,
    rule="R1",
    clause="A2A 1.0.1 §3.1.1, §9.4.1; 0.3.0 §7.1",
    means="a call that is answered once was answered with an event stream",
)
BIG_NUMBER = FindingKind(
    slug="big-number",
    stage=Stage.RPC,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="R32",
    means="an integer beyond 2^53-1 stands in the data; readers in other languages will see another number",
)

# Errors of the draft that say what later versions leave to HTTP: nobody was let in, and nothing can be graded (R2).
_AT_THE_DOOR: Final[Mapping[str, NotGradeable]] = {
    "AuthenticationRequired": NotGradeable.AUTH_NEEDED,
    "AuthorizationFailed": NotGradeable.AUTH_NEEDED,
    "RateLimitExceeded": NotGradeable.THROTTLED,
}

EVENT_STREAM: Final = "text/event-stream"
NOTHING: Final[Json] = object()  # no document at all; None is the JSON null


def read_answer(
    dialect: BoundDialect,
    op: Op,
    *,
    rpc_id: Json,
    status: int,
    headers: Headers,
    body: bytes,
    bounds: Bounds,
) -> Answer:
    """A whole body as the answer to `op`. The body wins over the status where it holds a JSON-RPC response."""
    shape = http_shape.read(status, headers)
    findings: list[Finding] = []
    document: Json = NOTHING
    if not body.strip():
        findings.append(http_shape.EMPTY_ANSWER(f"HTTP {status} with an empty body"))
    elif shape.media_type == EVENT_STREAM:
        findings.append(STREAM_ON_SEND(f"{dialect.names[op]} was answered with {EVENT_STREAM}"))
        document = last_frame(body, bounds, findings)
    else:
        try:
            document = parse(body, bounds, findings)
        except MalformedJson as fault:
            findings.append(finding_of(fault))
    read = Answer()
    if shape.finding is not None and not _is_response(document):
        findings = [shape.finding]  # the failure explains whatever else is odd about the body
    elif document is not NOTHING:
        read = _read_document(dialect, op, document, rpc_id, findings)
        findings += _judge_labels(shape, status)
    at_the_door = _AT_THE_DOOR.get((read.error.name or "") if read.error is not None else "")
    if at_the_door is not None and shape.not_gradeable is None:
        assert read.error is not None
        kind = http_shape.THROTTLED if at_the_door is NotGradeable.THROTTLED else http_shape.AUTH_NEEDED
        findings.append(kind(f"error {quoted(read.error.code)} {read.error.name}: {quoted(read.error.message, 200)}"))
    return dataclasses.replace(
        read,
        findings=tuple(findings),
        not_gradeable=None if _has_result(read) else shape.not_gradeable or at_the_door,
        retry_after_s=shape.retry_after_s,
        challenge=shape.challenge,
    )


def parse(data: bytes | str, bounds: Bounds, findings: list[Finding]) -> Json:
    """Strict JSON, with a note for integers that other readers would see differently (R32)."""
    document, big = strict_json.parse_noting(data, bounds=bounds)
    if big:
        findings.append(BIG_NUMBER(f"{len(big)} such integers, the first {big[0]}", found=len(big)))
    return document


def finding_of(fault: MalformedJson | LimitExceeded) -> Finding:
    """The finding that the strict readers always give."""
    assert fault.finding is not None
    return fault.finding


def _read_document(dialect: BoundDialect, op: Op, document: Json, rpc_id: Json, findings: list[Finding]) -> Answer:
    opened = envelope.read(document, rpc_id=rpc_id, dialect=dialect.id, findings=findings)
    if opened.error is not None:
        if not opened.is_ours:
            return Answer()
        if not any(finding.slug == envelope.CODE_RANGE.slug for finding in findings):  # else no agent declined it
            findings.append(envelope.declined(dialect.names[op], opened.error))
        return Answer(error=opened.error, unmatched=_beside(dialect, op, opened.result))
    if not opened.has_result:
        return Answer()
    answer = read_outcome(dialect, op, opened.result, findings)
    return answer if opened.is_ours else Answer(unmatched=answer.task)


def _beside(dialect: BoundDialect, op: Op, result: Json) -> Task | None:
    """The task that stands beside an error, whatever else is wrong with it: the error has been judged already."""
    return read_outcome(dialect, op, result, []).task if result is not None else None


def read_outcome(dialect: BoundDialect, op: Op, result: Json, findings: list[Finding]) -> Answer:
    """The result of a call that succeeded, as what the operation may return."""
    if op == "extended-card" or op in PUSHES:
        return Answer(result=result)
    reader = dialect.reader(in_stream=False)
    if op == "list":
        answer = Answer(result=result, tasks=_read_list(result, reader))
    else:
        read = dialect.read_result(op, result, reader)
        answer = Answer(result=result, task=read) if isinstance(read, Task) else Answer(result=result, message=read)
    findings += reader.findings
    return answer


def _read_list(result: Json, reader: ObjectReader) -> tuple[Task, ...]:
    if not isinstance(result, dict):
        reader.wrong_type(result, dict, "/result")
        return ()
    listed = reader.typed(result, "tasks", list, "/result") or ()
    read = (reader.task(entry, f"/result/tasks/{index}") for index, entry in enumerate(listed))
    return tuple([task for task in read if task is not None])


def last_frame(body: bytes, bounds: Bounds, findings: list[Finding]) -> Json:
    """The last JSON frame of a stream that should not be one: enough to know which task was started."""
    document: Json = NOTHING
    try:
        for event in SseReader(bounds).feed(body):
            document = parse(event.data, bounds, findings)
    except (MalformedJson, LimitExceeded) as fault:
        findings.append(finding_of(fault))
    return document


def _has_result(read: Answer) -> bool:
    """Whether the agent let the call in and did what was asked, whatever the status says (R35)."""
    return read.task is not None or read.message is not None


def _is_response(document: Json) -> bool:
    """Whether a body under a failing status is the agent's own answer, and not that of something in between."""
    return isinstance(document, dict) and "jsonrpc" in document and ("result" in document or "error" in document)


def _judge_labels(shape: http_shape.HttpShape, status: int) -> list[Finding]:
    labels = [] if shape.media_type == EVENT_STREAM else [http_shape.judge_media(shape.media_type)]
    if status != 200:
        labels.append(http_shape.HTTP_STATUS(f"a JSON-RPC answer under HTTP {status}; the body counts", found=status))
    return [finding for finding in labels if finding is not None]

"""Reads the body of a call over HTTP+JSON: HTTP shape, JSON, then a result or an error body, each with its findings.

There is no envelope: the status says which of the two is meant. Never raises for what a peer sent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from a2a_lab.core.model import Json
from a2a_lab.core.policy import Bounds
from a2a_lab.core.quoting import quoted
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import Finding, Stage
from a2a_lab.wire import envelope, faults, http_shape, rest_errors
from a2a_lab.wire.answers import EVENT_STREAM, NOTHING, STREAM_ON_SEND, finding_of, last_frame, parse, read_outcome
from a2a_lab.wire.messages import Answer, Headers, Op

if TYPE_CHECKING:
    from a2a_lab.wire.binding import BoundDialect

_RESULT: Final = "/result"


def read_answer(dialect: BoundDialect, op: Op, *, status: int, headers: Headers, body: bytes, bounds: Bounds) -> Answer:
    """A whole body as the answer to `op`."""
    shape = http_shape.read(status, headers, wanted="an A2A error body")
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
    if shape.finding is not None:
        read, findings = _failed(dialect, op, document, shape, status, findings)
    elif document is NOTHING:
        read = Answer()
    else:
        read = _succeeded(dialect, op, document, shape, status, findings)
        findings += _judge_labels(shape, status)
    return dataclasses.replace(
        read,
        findings=placed(findings),
        not_gradeable=shape.not_gradeable,
        retry_after_s=shape.retry_after_s,
        challenge=shape.challenge,
    )


def placed(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings whose pointers begin at the body itself: what JSON-RPC has under `result` is all there is here."""
    return tuple(
        dataclasses.replace(one, at=one.at.removeprefix(_RESULT)) if one.at and one.at.startswith(_RESULT) else one
        for one in findings
    )


def foreign_envelope(dialect: BoundDialect, stage: Stage) -> Finding:
    """The finding that a JSON-RPC response came where the binding has none."""
    detail = (
        f"a JSON-RPC response came, but the call was made over {dialect.binding}; declare the binding that is spoken"
    )
    return faults.VERSION_NOT_HONOURED(detail, stage=stage, expected=dialect.binding)


def _failed(
    dialect: BoundDialect, op: Op, document: Json, shape: http_shape.HttpShape, status: int, parsed: list[Finding]
) -> tuple[Answer, list[Finding]]:
    """An HTTP failure: the agent's own error where the body holds one, else that of whatever answered."""
    assert shape.finding is not None
    found: list[Finding] = []
    error = rest_errors.read(document, status=status, media=shape.media_type, dialect=dialect.id, op=op, findings=found)
    if error is None:
        return Answer(error=rest_errors.no_route(status, op)), [shape.finding]
    if shape.not_gradeable is not None:
        return Answer(error=error), [shape.finding]
    return Answer(error=error), [*parsed, *found, envelope.declined(dialect.names[op], error)]


def _succeeded(
    dialect: BoundDialect, op: Op, document: Json, shape: http_shape.HttpShape, status: int, findings: list[Finding]
) -> Answer:
    if isinstance(document, dict) and "jsonrpc" in document:
        findings.append(foreign_envelope(dialect, Stage.RPC))
        opened = envelope.read(document, rpc_id=document.get("id"), dialect=dialect.id, findings=findings)
        if opened.error is not None:
            return Answer(error=opened.error)
        return read_outcome(dialect, op, opened.result, findings) if opened.has_result else Answer()
    if isinstance(document, dict) and isinstance(document.get("error"), dict) and "status" not in document:
        found: list[Finding] = []
        error = rest_errors.read(document, status=None, media=None, dialect=dialect.id, op=op, findings=found)
        assert error is not None  # whatever the object holds, it is read as an error
        findings.append(rest_errors.ERROR_UNDER_SUCCESS(f"HTTP {status} with {quoted(document)}", found=status))
        findings += [*found, envelope.declined(dialect.names[op], error)]
        return Answer(error=error)
    return read_outcome(dialect, op, document, findings)


def _judge_labels(shape: http_shape.HttpShape, status: int) -> list[Finding]:
    labels = [] if shape.media_type == EVENT_STREAM else [http_shape.judge_media(shape.media_type)]
    if status != 200:
        labels.append(http_shape.HTTP_STATUS(f"an answer under HTTP {status}; the body counts", found=status))
    return [finding for finding in labels if finding is not None]

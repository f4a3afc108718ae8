"""The JSON-RPC binding: one POST a call, whatever the dialect. A dialect gives names, parameters and shapes."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from a2a_lab.core.model import Binding, Json, Message, StreamEvent, Task
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import LimitExceeded, MalformedJson, Misuse
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire import envelope, http_shape, strict_json
from a2a_lab.wire.messages import STREAMING, Answer, Headers, Op, OutMessage, RequestFacts, WireRequest
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.sse import SseReader

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

_UNKNOWN: Final = StreamEvent(kind="unknown")
_NOTHING: Final = object()  # no document at all; None is the JSON null


class JsonRpcDialect(ABC):
    """What the dialects over JSON-RPC have in common."""

    id: ClassVar[str]
    binding: ClassVar[Binding] = "JSONRPC"
    names: ClassVar[Mapping[Op, str]]
    version_header: ClassVar[str | None] = None
    extensions_header: ClassVar[str]

    def request(
        self,
        op: Op,
        *,
        url: str,
        rpc_id: Json,
        message: OutMessage | None = None,
        task_id: str | None = None,
        tenant: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        accepts: tuple[str, ...] = (),
        return_immediately: bool | None = None,
        history_length: int | None = None,
        extensions: tuple[str, ...] = (),
        context_id: str | None = None,
    ) -> WireRequest:
        """A request of ours. `message` is needed by send and stream, `task_id` by get, cancel and subscribe.

        `tenant` is that of the chosen interface, echoed exactly; None or empty leaves it out (D2). `context_id` narrows
        `list`. Raises Misuse for an operation that the dialect does not have.
        """
        if op not in self.names:
            raise Misuse(f"A2A {self.id} has no {op!r}; it has {', '.join(sorted(self.names))}")
        if op in ("send", "stream") and message is None:
            raise Misuse(f"{op} needs a message")
        if op in ("get", "cancel", "subscribe") and not task_id:
            raise Misuse(f"{op} needs a task id")
        params = self.write_params(
            op,
            message=message,
            task_id=task_id,
            tenant=tenant or None,
            metadata=metadata,
            accepts=accepts,
            return_immediately=return_immediately,
            history_length=history_length,
            context_id=context_id,
        )
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if op in STREAMING else "application/json",
        }
        if self.version_header is not None:
            headers["A2A-Version"] = self.version_header
        if extensions:
            headers[self.extensions_header] = ", ".join(extensions)
        body = envelope.write(self.names[op], rpc_id, params)
        return WireRequest(method="POST", url=url, headers=headers, body=body)

    def read_answer(
        self,
        op: Op,
        *,
        rpc_id: Json,
        status: int,
        headers: Headers,
        body: bytes,
        bounds: Bounds = strict_json.DEFAULT_BOUNDS,
    ) -> Answer:
        """Read a whole body as the answer to `op`. Never raises for what a peer sent: it is all in the findings."""
        shape = http_shape.read(status, headers)
        findings: list[Finding] = []
        document: Json = _NOTHING
        if not body.strip():
            findings.append(http_shape.EMPTY_ANSWER(f"HTTP {status} with an empty body"))
        elif shape.media_type == "text/event-stream":
            findings.append(STREAM_ON_SEND(f"{self.names[op]} was answered with text/event-stream"))
            document = self._last_frame(body, bounds, findings)
        else:
            try:
                document = self._parse(body, bounds, findings)
            except MalformedJson as fault:
                findings.append(_of(fault))
        read = Answer()
        if shape.finding is not None and not _is_response(document):
            findings = [shape.finding]  # the failure explains whatever else is odd about the body
        elif document is not _NOTHING:
            read = self._read_document(op, document, rpc_id, findings)
            findings += _judge_labels(shape, status)
        return dataclasses.replace(
            read,
            findings=tuple(findings),
            not_gradeable=shape.not_gradeable,
            retry_after_s=shape.retry_after_s,
            challenge=shape.challenge,
        )

    def read_event(
        self,
        data: str,
        *,
        rpc_id: Json,
        bounds: Bounds = strict_json.DEFAULT_BOUNDS,
        name: str = "",
    ) -> tuple[StreamEvent, list[Finding]]:
        """Read the data of one server-sent event; `name` is its `event:` field. All findings are of stage `stream`."""
        reader = self.reader(in_stream=True)
        outer: list[Finding] = []
        event = _UNKNOWN
        try:
            document = self._parse(data, bounds, outer)
        except MalformedJson as fault:
            return _UNKNOWN, [restaged(_of(fault))]
        if not name and envelope.is_plain_result(document, rpc_id):
            event = self.read_update(document["result"], reader)
        elif name == "error" and isinstance(document, dict) and "code" in document and "jsonrpc" not in document:
            outer.append(envelope.NOT_A_RESPONSE("an error event holds a bare error, expected a JSON-RPC response"))
            error = envelope.read_error(document, dialect=self.id, findings=outer)
            event = StreamEvent(kind="error", error=error)
        else:
            opened = envelope.read(document, rpc_id=rpc_id, dialect=self.id, findings=outer)
            if opened.error is not None:
                event = StreamEvent(kind="error", error=opened.error)
            elif opened.has_result:
                event = self.read_update(opened.result, reader)
        return event, [restaged(finding) for finding in outer] + reader.findings if outer else reader.findings

    def parse_request(self, body: bytes) -> RequestFacts:
        """Read a consumer's request. Raises MalformedJson."""
        document, _ = strict_json.parse_noting(body)
        if not isinstance(document, dict):
            return RequestFacts(op=None, method=None, rpc_id=None)
        method = document.get("method")
        op = next((op for op, name in self.names.items() if name == method), None)
        params = document.get("params")
        named = method if isinstance(method, str) else None
        facts = RequestFacts(op=op, method=named, rpc_id=document.get("id"))
        return self.read_params(facts, params) if isinstance(params, dict) else facts

    # -- what a dialect gives

    @abstractmethod
    def reader(self, *, in_stream: bool) -> ObjectReader:
        """A fresh reader of this dialect's objects."""

    @abstractmethod
    def write_params(
        self,
        op: Op,
        *,
        message: OutMessage | None,
        task_id: str | None,
        tenant: str | None,
        metadata: Mapping[str, Json] | None,
        accepts: tuple[str, ...],
        return_immediately: bool | None,
        history_length: int | None,
        context_id: str | None,
    ) -> dict[str, Json] | None:
        """The params of a request."""

    @abstractmethod
    def read_result(self, op: Op, result: Json, reader: ObjectReader) -> Task | Message | None:
        """The result of a unary call; None with a finding where it is no shape that the call may return."""

    @abstractmethod
    def read_update(self, result: Json, reader: ObjectReader) -> StreamEvent:
        """The result of one stream frame."""

    @abstractmethod
    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        """Complete the facts of a request from its params."""

    # -- reading

    def _parse(self, data: bytes | str, bounds: Bounds, findings: list[Finding]) -> Json:
        document, big = strict_json.parse_noting(data, bounds=bounds)
        if big:
            findings.append(BIG_NUMBER(f"{len(big)} such integers, the first {big[0]}", found=len(big)))
        return document

    def _read_document(self, op: Op, document: Json, rpc_id: Json, findings: list[Finding]) -> Answer:
        opened = envelope.read(document, rpc_id=rpc_id, dialect=self.id, findings=findings)
        if opened.error is not None:
            if not opened.is_ours:
                return Answer()
            if not any(finding.slug == envelope.CODE_RANGE.slug for finding in findings):  # else no agent declined it
                findings.append(envelope.declined(self.names[op], opened.error))
            return Answer(error=opened.error)
        if not opened.has_result:
            return Answer()
        if op == "extended-card":
            return Answer(result=opened.result if opened.is_ours else None)
        reader = self.reader(in_stream=False)
        if op == "list":
            answer = Answer(result=opened.result, tasks=self._read_list(opened.result, reader))
        else:
            read = self.read_result(op, opened.result, reader)
            if not opened.is_ours:
                answer = Answer(unmatched=read if isinstance(read, Task) else None)
            elif isinstance(read, Task):
                answer = Answer(result=opened.result, task=read)
            else:
                answer = Answer(result=opened.result, message=read)
        findings += reader.findings
        return answer

    def _read_list(self, result: Json, reader: ObjectReader) -> tuple[Task, ...]:
        if not isinstance(result, dict):
            reader.wrong_type(result, dict, "/result")
            return ()
        listed = reader.typed(result, "tasks", list, "/result") or ()
        read = (reader.task(entry, f"/result/tasks/{index}") for index, entry in enumerate(listed))
        return tuple([task for task in read if task is not None])

    def _last_frame(self, body: bytes, bounds: Bounds, findings: list[Finding]) -> Json:
        """The last JSON frame of a stream that should not be one: enough to know which task was started."""
        document: Json = _NOTHING
        try:
            for event in SseReader(bounds).feed(body):
                document = self._parse(event.data, bounds, findings)
        except (MalformedJson, LimitExceeded) as fault:
            findings.append(_of(fault))
        return document


def _is_response(document: Json) -> bool:
    """Whether a body under a failing status is the agent's own answer, and not that of something in between."""
    return isinstance(document, dict) and "jsonrpc" in document and ("result" in document or "error" in document)


def _judge_labels(shape: http_shape.HttpShape, status: int) -> list[Finding]:
    labels = [] if shape.media_type == "text/event-stream" else [http_shape.judge_media(shape.media_type)]
    if status != 200:
        labels.append(http_shape.HTTP_STATUS(f"a JSON-RPC answer under HTTP {status}; the body counts", found=status))
    return [finding for finding in labels if finding is not None]


def _of(fault: MalformedJson | LimitExceeded) -> Finding:
    assert fault.finding is not None  # both readers always give one
    return fault.finding


def restaged(finding: Finding) -> Finding:
    """A finding of a call, as one of the stream it was meant to open."""
    return dataclasses.replace(finding, stage=Stage.STREAM)

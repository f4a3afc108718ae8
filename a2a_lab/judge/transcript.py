"""Reads exchanges as calls: which dialect and operation, what was asked, what was answered, event by event.

Mapping only. Measures and judges start from here, so that both see the same facts, and neither sees who made the
call, in which posture, or what an agent was told to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from a2a_lab.core.model import Artifact, Interface, Json, RpcError, State, StreamEvent, Task
from a2a_lab.core.policy import Bounds
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.errors import LimitExceeded, MalformedJson
from a2a_lab.verdicts import Finding
from a2a_lab.wire.dialects import Answer, Dialect, Op, RequestFacts, spoken
from a2a_lab.wire.exchange import RENEWED, Chunk, Exchange
from a2a_lab.wire.http_shape import media_type
from a2a_lab.wire.rest_paths import LEGACY_PREFIX
from a2a_lab.wire.spoken import Spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One event of a stream, with the milliseconds since the cell began."""

    at_ms: float
    event: StreamEvent


@dataclass(slots=True, kw_only=True)
class Call:
    """One exchange, read. `events` where the answer was a stream, `answer` where it was a whole body.

    Neither is set where no answer came. `watched` is what became of a stream, once it was judged. `last_heard_ms` is
    when the last protocol event came, the start of the call if none did; comments do not count (R30).
    """

    exchange: Exchange
    dialect: Dialect
    op: Op
    asked: RequestFacts
    answer: Answer | None = None
    events: list[Heard] = field(default_factory=list)
    is_stream: bool = False
    findings: list[Finding] = field(default_factory=list)
    watched: StreamResult | None = None

    @property
    def rpc_id(self) -> Json:
        return self.asked.rpc_id

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The URLs that the called interface may have: over HTTP+JSON one of 1.0 may end in a tenant, and one
        of 0.3 may end in the /v1 of its paths.
        """
        endpoint = self.asked.endpoint or self.exchange.url
        if self.dialect.binding != "HTTP+JSON":
            return (endpoint,)
        return endpoint, endpoint.rpartition("/")[0] if self.dialect.id == "1.0" else f"{endpoint}{LEGACY_PREFIX}"

    def tenant_at(self, url: str) -> str | None:
        """The tenant that the call names at the interface of a URL."""
        endpoint, base = self.asked.endpoint, url.partition("?")[0].rstrip("/")
        if self.dialect.binding != "HTTP+JSON" or not endpoint.startswith(f"{base}/"):
            return self.asked.tenant or None
        return unquote(endpoint.removeprefix(f"{base}/")) or self.asked.tenant or None

    @property
    def is_send(self) -> bool:
        return self.op in ("send", "stream")

    @property
    def last_heard_ms(self) -> float:
        return self.events[-1].at_ms if self.events else self.exchange.started_ms

    @property
    def quiet_s(self) -> float:
        """Seconds without a protocol event before the call ended."""
        return max(0.0, self.exchange.ended_ms - self.last_heard_ms) / 1000

    @property
    def error(self) -> RpcError | None:
        if self.answer is not None:
            return self.answer.error
        return next((heard.event.error for heard in self.events if heard.event.error is not None), None)

    @property
    def tasks(self) -> list[Task]:
        """Every state of a task that the call showed, in order; a status update counts as a bare snapshot."""
        if self.answer is not None:
            return [self.answer.task] if self.answer.task else list(self.answer.tasks)
        return [task for heard in self.events if (task := _snapshot(heard.event)) is not None]

    @property
    def artifacts(self) -> list[tuple[str | None, Artifact]]:
        """Every artifact that came, with the task it was said to belong to."""
        found: list[tuple[str | None, Artifact]] = [
            (task.id, artifact) for task in self.tasks for artifact in task.artifacts
        ]
        return found + [
            (heard.event.task_id, heard.event.artifact) for heard in self.events if heard.event.artifact is not None
        ]


def read_calls(
    exchanges: Iterable[Exchange], *, bounds: Bounds | None = None, interfaces: Iterable[Interface] = ()
) -> list[Call]:
    """The A2A calls among the exchanges, in order; card fetches and foreign traffic are left out.

    `interfaces` are those of the bound card: where a request may be of several dialects, they decide.
    """
    heard = spoken(*interfaces)
    told = [exchange for exchange in exchanges if exchange.purpose != RENEWED]
    calls = (read_call(exchange, bounds=bounds or Bounds(), heard=heard) for exchange in told)
    return [call for call in calls if call is not None]


def read_request(exchange: Exchange, *, heard: Spoken | None = None) -> Call | None:
    """The request as a call without an answer, in the dialect that it names itself; None where it is no call."""
    dialect = (heard or spoken()).dialect_of(exchange)
    if dialect is None:
        return None
    try:
        asked = dialect.parse_request(exchange.request_body, method=exchange.method, url=exchange.url)
    except MalformedJson:
        return None
    if asked.op is None:
        return None
    return Call(exchange=exchange, dialect=dialect, op=asked.op, asked=asked)


def read_call(exchange: Exchange, *, bounds: Bounds, heard: Spoken | None = None) -> Call | None:
    """The exchange as a call with whatever answered it; None where it is no call."""
    call = read_request(exchange, heard=heard)
    if call is None or exchange.status is None:
        return call
    media = media_type(exchange.response_headers)
    is_stream = media == call.dialect.stream_media and call.dialect.is_stream(media, exchange.body) is not False
    if is_stream and call.op in ("stream", "subscribe"):
        call.is_stream = True
        _read_stream(call, bounds)
    elif exchange.fault is None:
        read_body(call, bounds)
    return call


def read_body(call: Call, bounds: Bounds) -> None:
    """Read the whole body as the answer; one to a streaming call is read as that of the plain send."""
    exchange = call.exchange
    assert exchange.status is not None
    call.answer = call.dialect.read_answer(
        "send" if call.op == "stream" else call.op,
        rpc_id=call.rpc_id,
        status=exchange.status,
        headers=exchange.response_headers,
        body=exchange.body,
        bounds=bounds,
    )
    call.findings += call.answer.findings


def _read_stream(call: Call, bounds: Bounds) -> None:
    exchange, reader = call.exchange, call.dialect.frames(bounds)
    chunks = exchange.chunks or [Chunk(offset_ms=exchange.ended_ms, data=exchange.body)]
    for chunk in chunks:
        try:
            raws = reader.feed(chunk.data)
        except LimitExceeded as limit:
            raws = list(limit.fields.get("events", ()))
        for raw in raws:
            event, findings = call.dialect.read_event(raw.data, rpc_id=call.rpc_id, bounds=bounds, name=raw.name)
            call.findings += findings
            call.events.append(Heard(at_ms=chunk.offset_ms, event=event))


def _snapshot(event: StreamEvent) -> Task | None:
    if event.task is not None:
        return event.task
    if event.kind != "status" or event.task_id is None:
        return None
    return Task(
        id=event.task_id,
        context_id=event.context_id,
        state=event.state or State.UNKNOWN,
        wire_state=event.wire_state,
        message=event.message,
    )

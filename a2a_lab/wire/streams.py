"""Reads the answer to a streaming call, whatever it turns out to be: bytes and time in, watched events out.

Joins the three readers, so that live traffic and recorded evidence take one path: `sse` cuts, a dialect decodes,
`core.stream` watches. The status is looked at before the media type, and a body that is no event stream is read as the
plain answer that it is, never as an empty stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from a2a_lab.core.closures import Closure, Ending
from a2a_lab.core.model import Json, StreamEvent, Task
from a2a_lab.core.policy import Bounds
from a2a_lab.core.quoting import quoted
from a2a_lab.core.stream import Action, StreamWatch
from a2a_lab.core.stream_content import StreamOp, described
from a2a_lab.core.stream_findings import ERROR_BEFORE_STREAM
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.errors import LimitExceeded, Misuse
from a2a_lab.verdicts import FindingKind, Judge, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire import http_shape, strict_json
from a2a_lab.wire.binding import restaged
from a2a_lab.wire.dialects import Answer, Dialect
from a2a_lab.wire.envelope import RPC_ERROR
from a2a_lab.wire.grpc_errors import GRPC_FAILURE
from a2a_lab.wire.http_faults import judge_fault
from a2a_lab.wire.messages import Headers
from a2a_lab.wire.sse import STREAM_LIMIT, SseEvent


def _finding(slug: str, means: str, verdict: Verdict, *, clause: str, other: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.STREAM,
        verdict=verdict,
        kind=Kind.CONFORMANCE,
        judge=Judge.SPEC,
        rule="A6, R31",
        clause=clause,
        means=means,
        other=other,
    )


_MEDIA = "A2A 1.0.1 §9.4.2; 0.3.0 §7.2 (text/event-stream)"
NO_STREAM_MEDIA = _finding(
    "no-stream-media-type",
    "the stream has no Content-Type; it is read as an event stream",
    Verdict.HINT,
    clause=_MEDIA,
    other="a strict reader refuses it",
)
WRONG_MEDIA = _finding(
    "wrong-media",
    "a streaming call was answered with something that is no event stream; its framing is not guessed",
    Verdict.CONFORMANCE_ERROR,
    clause=_MEDIA,
)
EMPTY_DATA = _finding(
    "empty-data",
    "an event with empty data: a keep-alive at best",
    Verdict.HINT,
    clause="A2A 1.0.1 §9.4.2 (data is a JSON-RPC response)",
    other="a strict reader calls it no JSON",
)
KEEP_ALIVE_EVENT = _finding(
    "keep-alive-event",
    "a keep-alive was sent as a named event with data, which clients take for a response",
    Verdict.HINT,
    clause="A2A 1.0.1 §9.4.2 (data is a JSON-RPC response)",
    other="a strict reader calls it no response; a comment is what keep-alives are for",
)
STREAM_STATUS = _finding(
    "stream-status", "a stream came under another status than 200", Verdict.HINT, clause="A2A 1.0.1 §9.4.2 (HTTP 200)"
)
STREAM_UTF8 = _finding(
    "stream-bad-utf8", "the bytes of an event are not UTF-8", Verdict.CONFORMANCE_ERROR, clause="HTML Standard §9.2.6"
)

_KEEP_ALIVES: Final = frozenset({"ping", "heartbeat", "keepalive", "keep-alive", "keep_alive"})
_JSON: Final = ("application/json", "application/a2a+json", None)


class StreamReader:
    """The answer to one `stream` or `subscribe` request, being read.

        reader = StreamReader(dialect, StreamWatch(...), rpc_id=...)
        reader.open(status, headers, now)
        reader.feed(chunk, now) as it comes; reader.tick(now) at reader.deadline(now); reader.close(now, "close")

    until `is_over`; then `result`. `answer` is the plain answer where one came instead of a stream.
    """

    def __init__(
        self,
        dialect: Dialect,
        watch: StreamWatch,
        *,
        rpc_id: Json,
        bounds: Bounds = strict_json.DEFAULT_BOUNDS,
    ) -> None:
        self.dialect = dialect
        self.watch = watch
        self.answer: Answer | None = None
        self._rpc_id = rpc_id
        self._bounds = bounds
        self._frames = dialect.frames(bounds)
        self._status: int | None = None
        self._headers: Headers = {}
        self._media: str | None = None
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._is_stream: bool | None = None  # None until the first bytes decide, where no media type does

    # -- what comes in

    def open(self, status: int, headers: Headers, now: float) -> None:
        """The head of the answer came."""
        self._status, self._headers = status, headers
        self._media = http_shape.media_type(headers)
        self._is_stream = self.dialect.is_stream(self._media, b"") if 200 <= status <= 299 else False
        if self._is_stream and status != 200:
            self.watch.note(STREAM_STATUS(f"the stream came under HTTP {status}", found=status))

    def feed(self, chunk: bytes, now: float) -> list[StreamEvent]:
        """Bytes of the body came; the events that they complete, watched for as long as the watch is on.

        What the watch does not use is among them: events of another task, and those that come once it has given up.
        Whoever keeps the books is told of all that the agent said (R35).
        """
        if self._status is None:
            raise Misuse("the head of the answer was not told; call open first")
        if self._is_stream is None and chunk.strip():
            self._is_stream = self.dialect.is_stream(self._media, chunk)
            if self._is_stream and self._media is None:
                self.watch.note(NO_STREAM_MEDIA())
        if not self._is_stream:
            self._keep(chunk, now)
            return []
        comments, blanks = self._frames.comments, self._frames.blanks
        try:
            read = self._watched(self._frames.feed(chunk), now)
        except LimitExceeded as limit:
            read = self._watched(limit.fields["events"], now)
            self._stop_at(limit, now)
        if signs := self._frames.comments - comments + self._frames.blanks - blanks:
            self.watch.comment(now, signs)
        return read

    def close(self, now: float, ending: Ending = "close", *, fault: str | None = None, url: str = "") -> None:
        """The body ended, by `fault` where the transport has a word. An end inside an event is told apart here."""
        if self.watch.is_over:
            self._read_late(ending)
            return
        self._note_fault(fault, url)
        if self._is_stream is False:
            self._read_answer(now, ending)
        elif ending == "close" and self._frames.close():
            self.watch.close(now, "truncated", dropped=self._frames.dropped)
        else:
            self.watch.close(now, ending, dropped=self._frames.dropped)

    def asked(self, answer: Answer | Task | None, now: float) -> None:
        """What asking for the task gave: an answer, a task, or None for nothing usable."""
        self.watch.asked(answer.task if isinstance(answer, Answer) else answer, now)

    # -- time and end

    def deadline(self, now: float) -> float | None:
        return self.watch.deadline(now)

    def tick(self, now: float) -> Action:
        return self.watch.tick(now)

    @property
    def is_over(self) -> bool:
        return self.watch.is_over

    @property
    def result(self) -> StreamResult:
        return self.watch.result

    @property
    def not_gradeable(self) -> NotGradeable | None:
        """Why the call cannot be judged at all (R2), where that is so."""
        return self.answer.not_gradeable if self.answer is not None else None

    # -- inside

    def _watched(self, events: Iterable[SseEvent], now: float) -> list[StreamEvent]:
        read: list[StreamEvent] = []
        is_on = not self.watch.is_over
        for event in events:
            if not event.data or (event.name and event.name in _KEEP_ALIVES and '"jsonrpc"' not in event.data):
                if is_on:
                    self.watch.note(KEEP_ALIVE_EVENT(f"event {event.name!r}") if event.data else EMPTY_DATA())
                    self.watch.comment(now)
                continue
            if is_on and not event.is_utf8:
                self.watch.note(STREAM_UTF8(f"event {self._frames.events}, of {len(event.data)} characters"))
            decoded, findings = self.dialect.read_event(
                event.data, rpc_id=self._rpc_id, bounds=self._bounds, name=event.name
            )
            if is_on:
                if findings:
                    self.watch.note(*findings)
                self.watch.receive(decoded, now)
                is_on = decoded.kind == "artifact" or not self.watch.is_over  # no chunk ends a stream
            if decoded.kind != "unknown":
                read.append(decoded)
        return read

    def _keep(self, chunk: bytes, now: float) -> None:
        self._body_bytes += len(chunk)
        if self._body_bytes > self._bounds.body_bytes:
            bound = self._bounds.body_bytes
            detail = f"the answer passed body_bytes = {bound}; raise the bound if that is meant"
            self._stop_at(LimitExceeded(detail, finding=STREAM_LIMIT(detail, bound="body_bytes", limit=bound)), now)
        else:
            self._body.append(chunk)

    def _stop_at(self, limit: LimitExceeded, now: float) -> None:
        if self.watch.is_over:
            return
        assert limit.finding is not None  # the readers always give one
        self.watch.note(limit.finding)
        self.watch.close(now, "limit")

    def _note_fault(self, fault: str | None, url: str) -> None:
        """What the peer did wrong in HTTP itself. That an open stream breaks is for the watch to say, by what came."""
        broke = fault is not None and fault.startswith("reset") and self._status is not None
        if fault is not None and fault.startswith("limit"):
            detail = f"the stream passed a bound of the reader ({fault.removeprefix('limit: ')}) and was left there"
            self.watch.note(STREAM_LIMIT(detail, bound=fault))
        elif not broke and (one := judge_fault(fault, status=self._status, url=url)) is not None:
            self.watch.note(restaged(one))

    def _read_late(self, ending: Ending) -> None:
        """A whole plain body that came after the watch had given up changes no closure, but says what was started."""
        if self._is_stream is False and self.answer is None and ending == "close" and self._body:
            self.answer = self._read_body()

    def _read_body(self) -> Answer:
        assert self._status is not None  # _is_stream is set by open
        return self.dialect.read_answer(
            self.watch.content.op,
            rpc_id=self._rpc_id,
            status=self._status,
            headers=self._headers,
            body=b"".join(self._body),
            bounds=self._bounds,
        )

    def _read_answer(self, now: float, ending: Ending) -> None:
        """No stream came: read the body as the answer to the call, and say which kind of refusal it is."""
        assert self._status is not None  # _is_stream is set by open
        op: StreamOp = self.watch.content.op
        media = self._media
        is_success = 200 <= self._status <= 299
        if is_success and media not in (*_JSON, self.dialect.stream_media):
            start = quoted(b"".join(self._body)[:60].decode(errors="replace"))
            detail = f"Content-Type {quoted(media)}, expected {self.dialect.stream_media}; the body begins {start}"
            self.watch.refuse("wrong-media", now, [WRONG_MEDIA(detail, found=media)])
            return
        answer = self.answer = self._read_body()
        findings = [restaged(finding) for finding in answer.findings if finding.slug != RPC_ERROR.slug]
        has_failed = not is_success or any(one.slug == GRPC_FAILURE.slug for one in findings)
        closure: Closure = "http-error" if has_failed else "wrong-media"
        if answer.error is not None:
            closure = "rpc-error-before-stream"
            findings.append(ERROR_BEFORE_STREAM(described(answer.error), code=quoted(answer.error.code)))
        elif not has_failed:
            detail = f"{self.dialect.names[op]} was answered with plain JSON, expected {self.dialect.stream_media}"
            findings.append(WRONG_MEDIA(detail, found=media))
        task = answer.task or (answer.unmatched if answer.error is None else None)
        self.watch.refuse(closure, now, findings, task=task)

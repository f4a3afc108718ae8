"""The gRPC binding as evidence has it: a POST at the method's path, ProtoJSON for the messages, trailers for errors.

Whoever carries the call (`net.grpc_calls`, the recorder) makes bytes of the JSON and JSON of the bytes, by `protojson`;
here it is read and written as text, so that a recording is judged where protobuf is not installed. A failed call has
`{"error": {code, status, message, details}}` in place of an answer or after the last event: what its trailers said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from a2a_lab.core.addresses import authority, dialled
from a2a_lab.core.model import Binding, Json, RpcError, StreamEvent
from a2a_lab.core.policy import Bounds
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire import answers, envelope, faults, frames, grpc_errors, http_shape, rest_answers, strict_json
from a2a_lab.wire.binding import BoundDialect, restaged
from a2a_lab.wire.messages import Answer, Headers, Op, RequestFacts, WireRequest
from a2a_lab.wire.protojson import BESIDE
from a2a_lab.wire.spoken import grpc_method


def _fault(slug: str, means: str, verdict: Verdict, clause: str) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RPC,
        verdict=verdict,
        kind=Kind.NOTE if verdict is Verdict.ACCEPT else Kind.CONFORMANCE,
        judge=Judge.SPEC,
        rule="R1, P5",
        clause=clause,
        means=means,
    )


UNDECODABLE = _fault(
    "grpc-undecodable",
    "the bytes are no message of the type that the method has, or one that has no JSON form",
    Verdict.CONFORMANCE_ERROR,
    "A2A 1.0.1 §10.1 (the normative proto); §5.5 (ProtoJSON)",
)
WRONG_WIRE_TYPE = _fault(
    "grpc-wire-type",
    "a field has another wire type than the proto gives it, so that every reader skips it",
    Verdict.CONFORMANCE_ERROR,
    "A2A 1.0.1 §10.1 (the normative proto)",
)
UNKNOWN_FIELD = _fault(
    "grpc-unknown-field",
    "the message has fields that the published proto does not have; they are skipped, and gone where it is handed on",
    Verdict.ACCEPT,
    "A2A 1.0.1 §5.7 SHOULD ignore",
)
SEVERAL_ANSWERS = _fault(
    "grpc-several-answers",
    "a call that is answered once was answered with more than one message",
    Verdict.CONFORMANCE_ERROR,
    "A2A 1.0.1 §10.3 (unary methods)",
)

_UNKNOWN: Final = StreamEvent(kind="unknown")


class GrpcDialect(BoundDialect):
    """What the dialects over gRPC have in common. `service` is the full name of the service, `calls` its methods."""

    binding: ClassVar[Binding] = "GRPC"
    stream_media: ClassVar[str] = frames.GRPC

    def is_stream(self, media: str | None, begins: bytes) -> bool | None:
        """A stream that fails before its first message is an answer, which only the first line tells."""
        return not begins.startswith(frames.ERROR_LINE) if begins else None

    def frames(self, bounds: Bounds) -> frames.FrameReader:
        return frames.LineReader(bounds)

    def write_call(
        self,
        op: Op,
        params: Mapping[str, Json] | None,
        *,
        url: str,
        rpc_id: Json,
        task_id: str | None,
        headers: Mapping[str, str],
    ) -> WireRequest:
        """A request of ours; `rpc_id` has no place in it. `url` is the interface's, with a scheme or without."""
        place = dialled(url)
        said = {name.lower(): value.replace(", ", ",") for name, value in headers.items()}
        body = json.dumps(params or {}, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return WireRequest(
            method="POST",
            url=f"{place.scheme}://{authority(place)}/{self.names[op]}",
            headers={"content-type": frames.GRPC, "te": "trailers"} | said,
            body=body,
        )

    def read_body(self, op: Op, *, rpc_id: Json, status: int, headers: Headers, body: bytes, bounds: Bounds) -> Answer:
        """Read what answered `op`. Never raises for what a peer sent: it is all in the findings."""
        found: list[Finding] = []
        lines = [one for one in body.split(b"\n") if one.strip()]
        if not lines:
            return Answer(findings=(http_shape.EMPTY_ANSWER(f"{self.names[op]} was answered without a message"),))
        if len(lines) > 1 and not lines[-1].startswith(frames.ERROR_LINE):
            found.append(SEVERAL_ANSWERS(f"{self.names[op]} was answered with {len(lines)} messages", found=len(lines)))
        try:
            document = answers.parse(lines[-1 if lines[-1].startswith(frames.ERROR_LINE) else 0], bounds, found)
        except MalformedJson as fault:
            return Answer(findings=(*found, answers.finding_of(fault)))
        if isinstance(document, dict) and "error" in document:
            return self._failed(op, document["error"], found)
        document = _opened(document, found)
        answer = Answer() if document is None else answers.read_outcome(self, op, document, found)
        return replace(answer, findings=rest_answers.placed(found))

    def read_event(
        self,
        data: str,
        *,
        rpc_id: Json,
        bounds: Bounds = strict_json.DEFAULT_BOUNDS,
        name: str = "",
    ) -> tuple[StreamEvent, list[Finding]]:
        """Read one line of a stream. All findings are of stage `stream`."""
        reader = self.reader(in_stream=True)
        outer: list[Finding] = []
        try:
            document = answers.parse(data, bounds, outer)
        except MalformedJson as fault:
            return _UNKNOWN, [restaged(answers.finding_of(fault))]
        if isinstance(document, dict) and "error" in document:
            failed = grpc_errors.read(document["error"], dialect=self.id, op="stream", findings=outer)
            outer += [failed.finding] if failed.finding is not None else []
            error = failed.error or RpcError(code=_code(document["error"]), message=_message(document["error"]))
            return StreamEvent(kind="error", error=error), [*map(restaged, outer)]
        document = _opened(document, outer)
        event = _UNKNOWN if document is None else self.read_update(document, reader)
        return event, list(rest_answers.placed([*map(restaged, outer), *reader.findings]))

    def parse_request(self, body: bytes, *, method: str = "POST", url: str = "") -> RequestFacts:
        """Read a consumer's request. Raises MalformedJson for a body that is no JSON."""
        called = grpc_method(url)
        op = next((op for op, name in self.names.items() if called == name), None)
        facts = RequestFacts(op=op, method=self.names[op] if op else None, rpc_id=None)
        if op is None or method != "POST":
            return replace(facts, op=None)
        found: list[Finding] = []
        params, _ = strict_json.parse_noting(body)
        params = _opened(params, found)
        facts = replace(facts, endpoint=url.removesuffix(f"/{called}"))
        read = self.read_params(facts, params) if isinstance(params, dict) else facts
        return replace(read, findings=(*found, *read.findings))

    def _failed(self, op: Op, error: Json, found: list[Finding]) -> Answer:
        failed = grpc_errors.read(error, dialect=self.id, op=op, findings=found)
        if failed.finding is not None:
            return Answer(error=failed.error, findings=(failed.finding,), not_gradeable=failed.not_gradeable)
        assert failed.error is not None  # whatever is no failure of the transport is an error
        return Answer(error=failed.error, findings=(*found, envelope.declined(self.names[op], failed.error)))


def _opened(document: Json, found: list[Finding]) -> Json:
    """A message without what was said beside it, which is judged; None where it could not be read at all."""
    if not isinstance(document, dict) or BESIDE not in document:
        return document
    beside = document[BESIDE] if isinstance(document[BESIDE], dict) else {}
    if (several := beside.get("several")) is not None:
        detail = f"the message holds {listed(several)} at once; protobuf keeps the last of them"
        found.append(faults.RESULT_SHAPE(detail, found=several, at="/result"))
    if (wrong := beside.get("wrong")) is not None:
        found.append(WRONG_WIRE_TYPE(f"of another type than the proto says: {listed(wrong)}", found=wrong))
    if (unknown := beside.get("unknown")) is not None:
        found.append(UNKNOWN_FIELD(f"not in the proto: {listed(unknown)}", found=unknown))
    if "malformed" in beside:
        found.append(UNDECODABLE(f"{beside.get('bytes')} bytes: {quoted(beside['malformed'], 200)}"))
        return None
    return {name: value for name, value in document.items() if name != BESIDE}


def _code(said: Json) -> Json:
    return said.get("code") if isinstance(said, dict) else None


def _message(said: Json) -> str:
    message = said.get("message") if isinstance(said, dict) else None
    return message if isinstance(message, str) else ""

"""The HTTP+JSON binding: one path an operation, bare objects for answers and events, the HTTP status for errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from a2a_lab.core.model import Binding, Json, RpcError, StreamEvent
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import MalformedJson, Misuse
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire import (
    answers,
    envelope,
    http_media,
    request_flaws,
    rest_answers,
    rest_errors,
    rest_paths,
    strict_json,
)
from a2a_lab.wire.binding import BoundDialect, restaged
from a2a_lab.wire.messages import STREAMING, Answer, Headers, Op, RequestFacts, WireRequest

SUBSCRIBE_VERB = FindingKind(
    slug="subscribe-verb",
    stage=Stage.STREAM,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.SPEC,
    rule="R1",
    clause="A2A 1.0.1 §5.3, §11.3.2 (POST); its proto has GET",
    means="the agent does not take a subscription by POST; the texts contradict each other, so GET is tried",
)

_UNKNOWN: Final = StreamEvent(kind="unknown")
_NO_SUCH_VERB: Final = (404, 405)


class RestDialect(BoundDialect):
    """What the dialects over HTTP+JSON have in common. `paths` lie below the interface, after `prefix`."""

    binding: ClassVar[Binding] = "HTTP+JSON"
    prefix: ClassVar[str] = ""
    paths: ClassVar[Mapping[Op, rest_paths.Path]]
    media_type: ClassVar[str]

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
        """A path and a verb for each call; `rpc_id` has no place in it. The tenant is a segment of the path."""
        if op not in self.paths:
            raise Misuse(f"the lab does not call {self.names[op]}; it reads such calls in recordings")
        fields = dict(params or {})
        verb, path = self.paths[op]
        segment, _ = fields.pop("tenant", None), fields.pop("id", None)  # both stand in the path
        there = rest_paths.write(
            url,
            self.prefix + path,
            tenant=segment,
            task_id=task_id,
            query=fields if verb == "GET" else {},
        )
        own = {"Accept": "text/event-stream" if op in STREAMING else self._accept}
        body = b""
        if verb == "POST" and op != "subscribe":
            own["Content-Type"] = self.media_type
            body = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return WireRequest(method=verb, url=there, headers={**own, **headers}, body=body)

    def other_way(self, op: Op, request: WireRequest, status: int | None) -> tuple[WireRequest, Finding] | None:
        """Two texts, two ways: prose subscribes by POST, the proto by GET; 1.0.1 labels a body unlike 1.0.0."""
        media_type = http_media.other_media_type(request.headers, status)
        if media_type is not None:
            headers = {**request.headers, "Content-Type": media_type}
            return replace(request, headers=headers), http_media.media_type_refused(request.url)
        if op != "subscribe" or request.method != "POST" or status not in _NO_SUCH_VERB:
            return None
        note = SUBSCRIBE_VERB(f"POST {request.url} was answered {status}; GET is tried", status=status)
        return WireRequest(method="GET", url=request.url, headers=request.headers), note

    def read_body(self, op: Op, *, rpc_id: Json, status: int, headers: Headers, body: bytes, bounds: Bounds) -> Answer:
        """Read a whole body as the answer to `op`. Never raises for what a peer sent: it is all in the findings."""
        return rest_answers.read_answer(self, op, status=status, headers=headers, body=body, bounds=bounds)

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
        try:
            document = answers.parse(data, bounds, outer)
        except MalformedJson as fault:
            return _UNKNOWN, [restaged(answers.finding_of(fault))]
        if not name and type(document) is dict and "error" not in document and "jsonrpc" not in document:
            event = self.read_update(document, reader)
        elif isinstance(document, dict) and "jsonrpc" in document:
            outer.append(rest_answers.foreign_envelope(self, Stage.STREAM))
            opened = envelope.read(document, rpc_id=document.get("id"), dialect=self.id, findings=outer)
            if opened.error is not None:
                event = StreamEvent(kind="error", error=opened.error)
            else:
                event = self.read_update(opened.result, reader)
        elif (error := self._error_event(document, name, outer)) is not None:
            event = StreamEvent(kind="error", error=error)
        else:
            event = self.read_update(document, reader)
        if not outer and not reader.findings:
            return event, reader.findings
        return event, list(rest_answers.placed([*map(restaged, outer), *reader.findings]))

    def parse_request(self, body: bytes, *, method: str = "POST", url: str = "") -> RequestFacts:
        """Read a consumer's request. Raises MalformedJson for a body that is none."""
        place = rest_paths.find(method, url)
        if place is None or place.op not in self.names:
            return RequestFacts(op=None, method=None, rpc_id=None)
        params: Json = dict(place.query)
        if method == "POST" and body.strip():
            params, _ = strict_json.parse_noting(body)
        facts = RequestFacts(
            op=place.op,
            method=self.names[place.op],
            rpc_id=None,
            endpoint=place.base.removesuffix(self.prefix) if self.prefix else place.base,
        )
        fields = params if isinstance(params, dict) else {}
        if "historyLength" in place.query and place.query["historyLength"].isdecimal():
            fields = {**fields, "historyLength": int(place.query["historyLength"])}
        facts = self.read_params(facts, fields if place.task_id is None else {**fields, "id": place.task_id})
        return replace(facts, findings=(*request_flaws.lacks(facts), *facts.findings))

    @property
    def _accept(self) -> str:
        return ", ".join(dict.fromkeys((self.media_type, "application/json")))

    def _error_event(self, document: Json, name: str, findings: list[Finding]) -> RpcError | None:
        """An error inside a stream: its event is named so, or its body is that of an error answer."""
        if not isinstance(document, dict) or (name != "error" and "error" not in document):
            return None
        error = rest_errors.read(document, status=None, media=None, dialect=self.id, op="stream", findings=findings)
        if error is not None:
            return error
        return envelope.read_error(document.get("error", document), dialect=self.id, findings=findings)

"""The JSON-RPC binding: one POST a call, whatever the dialect. A dialect gives names, parameters and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from a2a_lab.core.model import Binding, Json, StreamEvent
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import Finding
from a2a_lab.wire import answers, envelope, request_flaws, strict_json
from a2a_lab.wire.binding import BoundDialect, restaged
from a2a_lab.wire.messages import STREAMING, Answer, Headers, Op, RequestFacts, WireRequest

_UNKNOWN: Final = StreamEvent(kind="unknown")


class JsonRpcDialect(BoundDialect):
    """What the dialects over JSON-RPC have in common."""

    binding: ClassVar[Binding] = "JSONRPC"

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
        """One POST, whatever is called."""
        own = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if op in STREAMING else "application/json",
        }
        body = envelope.write(self.names[op], rpc_id, params)
        return WireRequest(method="POST", url=url, headers={**own, **headers}, body=body)

    def read_body(self, op: Op, *, rpc_id: Json, status: int, headers: Headers, body: bytes, bounds: Bounds) -> Answer:
        """Read a whole body as the answer to `op`. Never raises for what a peer sent: it is all in the findings."""
        return answers.read_answer(self, op, rpc_id=rpc_id, status=status, headers=headers, body=body, bounds=bounds)

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
            document = answers.parse(data, bounds, outer)
        except MalformedJson as fault:
            return _UNKNOWN, [restaged(answers.finding_of(fault))]
        if not name and envelope.is_plain_result(document, rpc_id):
            event = self.read_update(document["result"], reader)
        elif name == "error" and isinstance(document, dict) and "code" in document and "jsonrpc" not in document:
            outer.append(envelope.NOT_A_RESPONSE("an error event holds a bare error, expected a JSON-RPC response"))
            error = envelope.read_error(document, dialect=self.id, findings=outer)
            event = StreamEvent(kind="error", error=error)
        else:
            opened = envelope.read(document, rpc_id=rpc_id, dialect=self.id, findings=outer)
            if opened.error is not None:
                beside = None if opened.result is None else self.read_update(opened.result, self.reader(in_stream=True))
                event = StreamEvent(kind="error", error=opened.error, task_id=beside.task_id if beside else None)
            elif opened.has_result:
                event = self.read_update(opened.result, reader)
        return event, [restaged(finding) for finding in outer] + reader.findings if outer else reader.findings

    def parse_request(self, body: bytes, *, method: str = "POST", url: str = "") -> RequestFacts:
        """Read a consumer's request. Raises MalformedJson."""
        if method != "POST":
            return RequestFacts(op=None, method=None, rpc_id=None)
        document, _ = strict_json.parse_noting(body)
        if not isinstance(document, dict):
            return RequestFacts(op=None, method=None, rpc_id=None)
        called, params = document.get("method"), document.get("params")
        op = next((op for op, name in self.names.items() if name == called), None)
        named = called if isinstance(called, str) else None
        facts = RequestFacts(op=op, method=named, rpc_id=document.get("id"), endpoint=url)
        facts = self.read_params(facts, params) if isinstance(params, dict) else facts
        flaws = (*request_flaws.envelope_flaws(document), *request_flaws.lacks(facts))
        return replace(facts, findings=(*flaws, *facts.findings))

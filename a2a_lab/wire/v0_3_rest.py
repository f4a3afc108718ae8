"""A2A 0.3 over HTTP+JSON as its SDKs speak it: paths below /v1, and the JSON of the 0.3 proto (wire-facts 5.2, 7.1).

The proto's names differ from those of JSON-RPC: a message has `content`, states are TASK_STATE_*, a file is
`fileWithUri` or `fileWithBytes`, data is nested once more. A stream ends by `final:true` all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from a2a_lab.core.model import Json
from a2a_lab.verdicts import Finding
from a2a_lab.wire import parts, rest_bases, updates
from a2a_lab.wire.messages import Op, OutMessage, RequestFacts, WireRequest
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.rest import RestDialect
from a2a_lab.wire.rest_paths import LEGACY_PREFIX, PATHS, PUSH_PATHS, Path
from a2a_lab.wire.spelling import V0_3_PROTO
from a2a_lab.wire.wrapped import WrappedObjects


class Proto03(WrappedObjects):
    """The objects of the 0.3 proto, whatever carries them; over HTTP+JSON the task stands in the path."""

    id = "0.3"
    extensions_header = "X-A2A-Extensions"

    def other_way(self, op: Op, request: WireRequest, status: int | None) -> tuple[WireRequest, Finding] | None:
        """One way more: a card's URL that ends in /v1 may hold the /v1 of the paths."""
        there = rest_bases.other_base(request.url, status)
        if there is not None:
            return replace(request, url=there), rest_bases.base_holds_version(request.url, there)
        return super().other_way(op, request, status)

    def reader(self, *, in_stream: bool) -> ObjectReader:
        return ObjectReader(V0_3_PROTO, in_stream=in_stream)

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
    ) -> dict[str, Json]:
        """The fields of the proto's requests; a cancel repeats the task's resource name, as the proto has it."""
        if message is not None:
            configuration: dict[str, Json] = {"acceptedOutputModes": list(accepts)} if accepts else {}
            if return_immediately is not None and op == "send":
                configuration["blocking"] = not return_immediately
            if history_length is not None:
                configuration["historyLength"] = history_length
            params: dict[str, Json] = {"message": _write_message(message)}
            params |= {"configuration": configuration} if configuration else {}
            return params | ({"metadata": dict(metadata)} if metadata else {})
        if op == "get" and history_length is not None:
            return {"historyLength": history_length}
        return {"name": f"tasks/{task_id}"} if op == "cancel" else {}

    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        return updates.read_request(facts, params, self.reader(in_stream=False), "blocking")


class Rest03(Proto03, RestDialect):
    """The dialect "0.3" over HTTP+JSON."""

    media_type = "application/json"  # 0.3.0 §3.2.3 MUST
    prefix = LEGACY_PREFIX
    paths: ClassVar[Mapping[Op, Path]] = {**PATHS, "extended-card": ("GET", "/card")}
    names: ClassVar[Mapping[Op, str]] = {
        op: f"{verb} {LEGACY_PREFIX}{path}" for op, (verb, path) in {**paths, **PUSH_PATHS}.items()
    }


def _write_message(message: OutMessage) -> dict[str, Json]:
    written: dict[str, Json] = {
        "messageId": message.message_id,
        "role": V0_3_PROTO.user,
        "content": [parts.write_nested(part) for part in message.parts],
    }
    if message.context_id:
        written["contextId"] = message.context_id
    if message.task_id:
        written["taskId"] = message.task_id
    if message.metadata:
        written["metadata"] = dict(message.metadata)
    return written

"""A2A 0.3 over JSON-RPC: `message/send` and its kin, objects told apart by `kind` (wire-facts 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from a2a_lab.core.model import Json, Message, StreamEvent, Task
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.wire import faults, parts, updates
from a2a_lab.wire.jsonrpc import JsonRpcDialect
from a2a_lab.wire.messages import Op, OutMessage, RequestFacts
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.spelling import V0_3, Spelling


class JsonRpc03(JsonRpcDialect):
    """The dialect "0.3" over JSON-RPC. It has no tenant and no version header: neither is sent."""

    id = "0.3"
    spelling: ClassVar[Spelling] = V0_3
    extensions_header = "X-A2A-Extensions"
    names: ClassVar[Mapping[Op, str]] = {
        "send": "message/send",
        "stream": "message/stream",
        "get": "tasks/get",
        "cancel": "tasks/cancel",
        "subscribe": "tasks/resubscribe",
        "extended-card": "agent/getAuthenticatedExtendedCard",
        "push-set": "tasks/pushNotificationConfig/set",
        "push-get": "tasks/pushNotificationConfig/get",
        "push-list": "tasks/pushNotificationConfig/list",
        "push-delete": "tasks/pushNotificationConfig/delete",
    }

    def reader(self, *, in_stream: bool) -> ObjectReader:
        return ObjectReader(self.spelling, in_stream=in_stream)

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
        """`returnImmediately` is `blocking: false` here; the extended card takes no params at all."""
        if op == "extended-card":
            return None
        params: dict[str, Json] = {}
        if message is not None:
            params["message"] = _write_message(message)
            configuration: dict[str, Json] = {"acceptedOutputModes": list(accepts)} if accepts else {}
            if return_immediately is not None and op == "send":
                configuration["blocking"] = not return_immediately
            if history_length is not None:
                configuration["historyLength"] = history_length
            if configuration:
                params["configuration"] = configuration
        else:
            params["id"] = task_id
            if op == "get" and history_length is not None:
                params["historyLength"] = history_length
        if metadata:
            params["metadata"] = dict(metadata)
        return params

    def read_result(self, op: Op, result: Json, reader: ObjectReader) -> Task | Message | None:
        """A bare task, or for send a bare message, told apart by kind."""
        at = "/result"
        if not isinstance(result, dict):
            reader.wrong_type(result, dict, at)
            return None
        if op in ("get", "cancel") and isinstance(result.get("status"), dict):
            return reader.task(result, at)
        if updates.kind_by_shape(result) in ("task", "message"):
            if result.get("kind") not in ("task", "message"):
                found_kind = quoted(result.get("kind"))
                reader.say(faults.RESULT_SHAPE, f"kind is {found_kind}; it tells task and message apart", at=at)
            return updates.read_bare(reader, result)
        found = [name for name in ("task", "message") if isinstance(result.get(name), dict)]
        detail = f"the result is neither a task nor a message, but holds {listed(sorted(result))}"
        reader.say(faults.RESULT_SHAPE, detail, at=at)
        if len(found) != 1:
            return None
        reader.foreign(f"the result is wrapped as {found[0]}", at=at)
        event = updates.read_wrapped(reader, result, found[0])
        return event.task or event.message

    def read_update(self, result: Json, reader: ObjectReader) -> StreamEvent:
        """A task, a message, a status-update or an artifact-update; the kind says which."""
        if not isinstance(result, dict):
            return updates.unknown(reader, result)
        kind = result.get("kind")
        if isinstance(kind, str) and kind in updates.BY_KIND:
            return updates.BY_KIND[kind](reader, result, "/result")
        found = updates.wrapped(reader, result)
        if len(found) == 1:
            reader.foreign(f"the event is wrapped as {found[0]}", at="/result")
            return updates.read_wrapped(reader, result, found[0])
        if found or updates.kind_by_shape(result) is None:
            return updates.unknown(reader, result, found)
        reader.say(faults.RESULT_SHAPE, f"kind is {quoted(kind)}; it tells the events apart", at="/result/kind")
        return updates.read_plain(reader, result)

    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        return updates.read_request(facts, params, self.reader(in_stream=False), "blocking")


def _write_message(message: OutMessage) -> dict[str, Json]:
    written: dict[str, Json] = {
        "kind": "message",
        "messageId": message.message_id,
        "role": V0_3.user,
        "parts": [parts.write_0_3(part) for part in message.parts],
    }
    if message.context_id:
        written["contextId"] = message.context_id
    if message.task_id:
        written["taskId"] = message.task_id
    if message.metadata:
        written["metadata"] = dict(message.metadata)
    return written

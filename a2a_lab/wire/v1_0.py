"""A2A 1.0: ProtoJSON names, one-of wrappers; over JSON-RPC PascalCase methods (wire-facts 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from a2a_lab.core.model import Json, StreamEvent
from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire import parts, updates
from a2a_lab.wire.jsonrpc import JsonRpcDialect
from a2a_lab.wire.messages import Op, OutMessage, RequestFacts
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.spelling import V1_0
from a2a_lab.wire.wrapped import WrappedObjects

FINAL_IN_1_0 = FindingKind(
    slug="final-in-1.0",
    stage=Stage.STREAM,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.SPEC,
    rule="A6",
    clause="A2A 1.0.1 App. A (final was removed)",
    means="a status update carries final, which 1.0 does not have: it proves nothing",
)


class Version10(WrappedObjects):
    """The objects of 1.0, whatever carries them."""

    id = "1.0"
    version_header = "1.0"
    extensions_header = "A2A-Extensions"

    def reader(self, *, in_stream: bool) -> ObjectReader:
        return ObjectReader(V1_0, in_stream=in_stream)

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
        """Members with default values are left out, as ProtoJSON does; metadata exists on send and cancel only."""
        params: dict[str, Json] = {"tenant": tenant} if tenant else {}
        if message is not None:
            params["message"] = _write_message(message)
            configuration: dict[str, Json] = {}
            if accepts:
                configuration["acceptedOutputModes"] = list(accepts)
            if history_length is not None:
                configuration["historyLength"] = history_length
            if return_immediately:
                configuration["returnImmediately"] = True
            if configuration:
                params["configuration"] = configuration
        elif op == "list":
            params |= {"contextId": context_id} if context_id else {}
        elif op in ("get", "cancel", "subscribe"):
            params["id"] = task_id
            if op == "get" and history_length is not None:
                params["historyLength"] = history_length
        if metadata and op in ("send", "stream", "cancel"):
            params["metadata"] = dict(metadata)
        return params

    def read_update(self, result: Json, reader: ObjectReader) -> StreamEvent:
        event = super().read_update(result, reader)
        if event.final is None:
            return event
        reader.say(FINAL_IN_1_0, f"final is {event.final}; only a terminal state ends a 1.0 stream", at="/result")
        return event._replace(final=None)

    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        return updates.read_request(facts, params, self.reader(in_stream=False), "returnImmediately")


class JsonRpc10(Version10, JsonRpcDialect):
    """The dialect "1.0" over JSON-RPC."""

    names: ClassVar[Mapping[Op, str]] = {
        "send": "SendMessage",
        "stream": "SendStreamingMessage",
        "get": "GetTask",
        "cancel": "CancelTask",
        "subscribe": "SubscribeToTask",
        "list": "ListTasks",
        "extended-card": "GetExtendedAgentCard",
        "push-set": "CreateTaskPushNotificationConfig",
        "push-get": "GetTaskPushNotificationConfig",
        "push-list": "ListTaskPushNotificationConfigs",
        "push-delete": "DeleteTaskPushNotificationConfig",
    }


def _write_message(message: OutMessage) -> dict[str, Json]:
    written: dict[str, Json] = {
        "messageId": message.message_id,
        "role": V1_0.user,
        "parts": [parts.write_1_0(part) for part in message.parts],
    }
    if message.context_id:
        written["contextId"] = message.context_id
    if message.task_id:
        written["taskId"] = message.task_id
    if message.metadata:
        written["metadata"] = dict(message.metadata)
    return written

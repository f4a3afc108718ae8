"""A2A 1.0 over JSON-RPC: PascalCase methods, one-of wrappers, ProtoJSON names (wire-facts 5)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from a2a_lab.core.model import Json, Message, StreamEvent, Task
from a2a_lab.core.quoting import listed
from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire import faults, parts, updates
from a2a_lab.wire.jsonrpc import JsonRpcDialect
from a2a_lab.wire.messages import Op, OutMessage, RequestFacts
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.spelling import V1_0

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


class JsonRpc10(JsonRpcDialect):
    """The dialect "1.0"."""

    id = "1.0"
    version_header = "1.0"
    extensions_header = "A2A-Extensions"
    names: ClassVar[Mapping[Op, str]] = {
        "send": "SendMessage",
        "stream": "SendStreamingMessage",
        "get": "GetTask",
        "cancel": "CancelTask",
        "subscribe": "SubscribeToTask",
        "list": "ListTasks",
        "extended-card": "GetExtendedAgentCard",
    }

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

    def read_result(self, op: Op, result: Json, reader: ObjectReader) -> Task | Message | None:
        """Send wraps a task or a message; get and cancel give the bare task (§9.4)."""
        at = "/result"
        if not isinstance(result, dict):
            reader.wrong_type(result, dict, at)
            return None
        wrapped = [name for name in ("task", "message") if isinstance(result.get(name), dict)]
        if op in ("get", "cancel"):
            if wrapped == ["task"] and "id" not in result:
                reader.say(faults.RESULT_SHAPE, f"the task of {op} is wrapped; it is meant bare", at=at)
                return reader.task(result["task"], f"{at}/task")
            return reader.task(result, at)
        if len(wrapped) == 1:
            name = wrapped[0]
            return (reader.task if name == "task" else reader.message)(result[name], f"{at}/{name}")
        if len(wrapped) == 2:
            reader.say(faults.RESULT_SHAPE, "the result holds both task and message; exactly one is meant", at=at)
            return None
        detail = f"the result holds neither task nor message, but {listed(sorted(result))}"
        reader.say(faults.RESULT_SHAPE, detail, at=at)
        if updates.kind_by_shape(result) is None:
            return None
        reader.foreign("the result is not wrapped", at=at)
        return updates.read_bare(reader, result)

    def read_update(self, result: Json, reader: ObjectReader) -> StreamEvent:
        """Exactly one of task, message, statusUpdate, artifactUpdate (§3.2.3)."""
        if not isinstance(result, dict):
            return updates.unknown(reader, result)
        only = next(iter(result)) if len(result) == 1 else ""
        found = [only] if only in updates.BY_NAME else updates.wrapped(reader, result)
        if len(found) == 1:
            event = updates.read_wrapped(reader, result, found[0])
        elif not found and updates.kind_by_shape(result) is not None:
            reader.foreign("the event is not wrapped", at="/result")
            event = updates.read_plain(reader, result)
        else:
            return updates.unknown(reader, result, found)
        if event.final is None:
            return event
        reader.say(FINAL_IN_1_0, f"final is {event.final}; only a terminal state ends a 1.0 stream", at="/result")
        return dataclasses.replace(event, final=None)

    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        return updates.read_request(facts, params, self.reader(in_stream=False), "returnImmediately")


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

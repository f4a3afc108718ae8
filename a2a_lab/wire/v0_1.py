"""The draft of A2A (spec tag v0.1.0) over JSON-RPC: `tasks/send` and `tasks/sendSubscribe`, task ids made by clients.

The id that our task gets is that of our message, which is as unique; the draft's messages have none of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from a2a_lab.core.model import Json, Message, StreamEvent, Task
from a2a_lab.core.quoting import listed
from a2a_lab.wire import faults, parts, updates
from a2a_lab.wire.draft_objects import DraftReader, read_event
from a2a_lab.wire.jsonrpc import JsonRpcDialect
from a2a_lab.wire.messages import Op, OutMessage, RequestFacts
from a2a_lab.wire.objects import ObjectReader


class JsonRpc01(JsonRpcDialect):
    """The dialect "0.1". It has no version header, no extensions, no accepted modes and no word on waiting."""

    id = "0.1"
    extensions_header = ""
    names: ClassVar[Mapping[Op, str]] = {
        "send": "tasks/send",
        "stream": "tasks/sendSubscribe",
        "get": "tasks/get",
        "cancel": "tasks/cancel",
        "subscribe": "tasks/resubscribe",
        "push-set": "tasks/pushNotification/set",
        "push-get": "tasks/pushNotification/get",
    }

    def reader(self, *, in_stream: bool) -> DraftReader:
        return DraftReader(in_stream=in_stream)

    def task_id_of(self, message: OutMessage) -> str:
        """The client makes the id; the agent MUST use it (§6.1)."""
        return message.task_id or message.message_id

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
        """The task's id and its message; a session is what later versions call a context."""
        params: dict[str, Json] = {"id": task_id if message is None else self.task_id_of(message)}
        if message is not None:
            if message.context_id:
                params["sessionId"] = message.context_id
            written: dict[str, Json] = {
                "role": "user",
                "parts": [parts.write_0_3(part, tag="type") for part in message.parts],
            }
            params["message"] = written | ({"metadata": dict(message.metadata)} if message.metadata else {})
        if history_length is not None and op in ("send", "stream", "get"):
            params["historyLength"] = history_length
        return params | ({"metadata": dict(metadata)} if metadata else {})

    def read_result(self, op: Op, result: Json, reader: ObjectReader) -> Task | Message | None:
        """Every call answers with the bare task."""
        at = "/result"
        if not isinstance(result, dict):
            reader.wrong_type(result, dict, at)
            return None
        if isinstance(result.get("status"), dict):
            return reader.task(result, at)
        wrapped = [name for name in ("task", "message") if isinstance(result.get(name), dict)]
        reader.say(faults.RESULT_SHAPE, f"the result is no task, but holds {listed(sorted(result))}", at=at)
        if len(wrapped) == 1:
            reader.foreign(f"the result is wrapped as {wrapped[0]}", at=at)
            return (reader.task if wrapped == ["task"] else reader.message)(result[wrapped[0]], f"{at}/{wrapped[0]}")
        return reader.message(result, at) if "parts" in result else None

    def read_update(self, result: Json, reader: ObjectReader) -> StreamEvent:
        """A status update or an artifact update; the events of later versions are understood."""
        if not isinstance(result, dict):
            return updates.unknown(reader, result)
        found = updates.wrapped(reader, result)
        if len(found) == 1 and isinstance(result.get(found[0]), dict) and "id" not in result:
            reader.foreign(f"the event is wrapped as {found[0]}", at="/result")
            return updates.read_wrapped(reader, result, found[0])
        if result.get("kind") in ("task", "message"):
            reader.foreign(f"the event is a {result['kind']}", at="/result/kind")
            return updates.read_plain(reader, result)
        assert isinstance(reader, DraftReader)  # this dialect makes no other
        return read_event(reader, result, "/result")

    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        """The session of the params is the context of the message; the task is named beside it, never in it."""
        reader = self.reader(in_stream=False)
        read = updates.read_request(facts, params, reader, "")
        read = dataclasses.replace(read, configures_push=params.get("pushNotification") is not None)
        if read.message is None:
            return read
        return dataclasses.replace(
            read, message=dataclasses.replace(read.message, context_id=reader.session(params, ""))
        )

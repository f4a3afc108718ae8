"""A2A 0.3 over gRPC: the messages of `a2a.v1`, where a task is named as a resource, `tasks/{id}` (wire-facts 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from a2a_lab.core.model import Json
from a2a_lab.wire.grpc import GrpcDialect
from a2a_lab.wire.messages import Op, OutMessage, RequestFacts
from a2a_lab.wire.proto_0_3 import SERVICE
from a2a_lab.wire.v0_3_rest import Proto03

_TASKS: Final = "tasks/"
_METHODS: Final[Mapping[Op, str]] = {
    "send": "SendMessage",
    "stream": "SendStreamingMessage",
    "get": "GetTask",
    "cancel": "CancelTask",
    "subscribe": "TaskSubscription",
    "extended-card": "GetAgentCard",
    "push-set": "CreateTaskPushNotificationConfig",
    "push-get": "GetTaskPushNotificationConfig",
    "push-list": "ListTaskPushNotificationConfig",
    "push-delete": "DeleteTaskPushNotificationConfig",
}


class Grpc03(Proto03, GrpcDialect):
    """The dialect "0.3" over gRPC."""

    names: ClassVar[Mapping[Op, str]] = {op: f"{SERVICE}/{name}" for op, name in _METHODS.items()}

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
        """As over HTTP+JSON, with the task's resource name where there is no path for it."""
        written = super().write_params(
            op,
            message=message,
            task_id=task_id,
            tenant=tenant,
            metadata=metadata,
            accepts=accepts,
            return_immediately=return_immediately,
            history_length=history_length,
            context_id=context_id,
        )
        return {"name": f"{_TASKS}{task_id}", **written} if op in ("get", "cancel", "subscribe") else written

    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        read, name = super().read_params(facts, params), params.get("name")
        if not isinstance(name, str) or not name.startswith(_TASKS):
            return read
        return replace(read, task_id=name.removeprefix(_TASKS).partition("/")[0])

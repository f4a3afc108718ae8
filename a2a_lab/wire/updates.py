"""What a stream frame may hold, in both generations' clothes: task, message, status update, artifact update.

1.0 wraps each under its name, 0.3 tells them apart by `kind`. The other generation's clothes are understood and
reported, since agents in the field mix them within one stream.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Final

from a2a_lab.core.model import Json, Message, StreamEvent, Task
from a2a_lab.core.quoting import quoted
from a2a_lab.wire import faults
from a2a_lab.wire.messages import RequestFacts
from a2a_lab.wire.objects import ObjectReader

Read = Callable[[ObjectReader, Json, str], StreamEvent]

_UNKNOWN: Final = StreamEvent(kind="unknown")


def _task(reader: ObjectReader, obj: Json, at: str) -> StreamEvent:
    task = reader.task(obj, at)
    if task is None:
        return _UNKNOWN
    return StreamEvent(
        kind="task",
        task_id=task.id or None,
        context_id=task.context_id,
        state=task.state,
        wire_state=task.wire_state,
        task=task,
    )


def _message(reader: ObjectReader, obj: Json, at: str) -> StreamEvent:
    message = reader.message(obj, at)
    if message is None:
        return _UNKNOWN
    return StreamEvent(kind="message", task_id=message.task_id, context_id=message.context_id, message=message)


def _status(reader: ObjectReader, obj: Json, at: str) -> StreamEvent:
    if not isinstance(obj, dict):
        reader.wrong_type(obj, dict, at)
        return _UNKNOWN
    task_id, context_id = _ids(reader, obj, at)
    state, wire_state, message = reader.status(obj, at)
    return StreamEvent(
        kind="status",
        task_id=task_id,
        context_id=context_id,
        state=state,
        wire_state=wire_state,
        message=message,
        final=reader.flag(obj, "final", at),
    )


def _artifact(reader: ObjectReader, obj: Json, at: str) -> StreamEvent:
    if not isinstance(obj, dict):
        reader.wrong_type(obj, dict, at)
        return _UNKNOWN
    task_id, context_id = _ids(reader, obj, at)
    artifact = reader.artifact(obj.get("artifact"), f"{at}/artifact")
    if artifact is None:
        return _UNKNOWN
    return StreamEvent(
        kind="artifact",
        task_id=task_id,
        context_id=context_id,
        artifact=artifact,
        append=reader.flag(obj, "append", at) is True,
        last_chunk=reader.flag(obj, "lastChunk", at),
    )


def _ids(reader: ObjectReader, obj: Mapping[str, Json], at: str) -> tuple[str | None, str | None]:
    task_id = reader.identifier(obj, "taskId", at) or None
    context_id = reader.text(obj, "contextId", at) or None
    if context_id is None:
        reader.say(faults.MEMBER_MISSING, f"contextId is missing at {at}", at=f"{at}/contextId")
    return task_id, context_id


BY_NAME: Final[Mapping[str, Read]] = {
    "task": _task,
    "message": _message,
    "statusUpdate": _status,
    "artifactUpdate": _artifact,
}
BY_KIND: Final[Mapping[str, Read]] = {
    "task": _task,
    "message": _message,
    "status-update": _status,
    "artifact-update": _artifact,
}


_AT: Final = {name: f"/result/{name}" for name in BY_NAME}


def kind_by_shape(obj: Mapping[str, Json]) -> str | None:
    """The 0.3 kind of an object that does not say it, by its members."""
    if "artifact" in obj:
        return "artifact-update"
    if "status" in obj:
        return "status-update" if "taskId" in obj else "task"
    return "message" if "parts" in obj else None


def wrapped(reader: ObjectReader, result: Mapping[str, Json]) -> list[str]:
    """The 1.0 members that are set, by their camelCase names."""
    return [name for name in BY_NAME if reader.member(result, name, "/result") is not None]


def read_wrapped(reader: ObjectReader, result: Mapping[str, Json], name: str) -> StreamEvent:
    """The content of one 1.0 member."""
    content = result[name] if name in result else reader.member(result, name, "/result")
    return BY_NAME[name](reader, content, _AT[name])


def read_plain(reader: ObjectReader, result: Mapping[str, Json]) -> StreamEvent:
    """An object that is told apart by kind, or by shape where the kind is missing or not one of the four."""
    kind = result.get("kind")
    read = BY_KIND.get(kind) if isinstance(kind, str) else None
    if read is None:
        read = BY_KIND.get(kind_by_shape(result) or "")
    return unknown(reader, result) if read is None else read(reader, result, "/result")


def read_bare(reader: ObjectReader, result: Mapping[str, Json]) -> Task | Message | None:
    """The task or message in a unary result that is told apart by kind."""
    event = read_plain(reader, result)
    return event.task or (event.message if event.kind == "message" else None)


def unknown(reader: ObjectReader, result: Json, found: list[str] | None = None) -> StreamEvent:
    """A frame that is none of the four, or several of them at once."""
    holds = f"{' and '.join(found)} at once" if found else quoted(result)
    detail = f"the event holds {holds}; exactly one of task, message, status update, artifact update is meant"
    reader.say(faults.RESULT_SHAPE, detail, at="/result", found=holds)
    return _UNKNOWN


PUSH_SETTINGS: Final = ("taskPushNotificationConfig", "pushNotificationConfig", "pushNotification")
"""The member of a send's configuration that holds where to push to, in 1.0, before, and in the proto of 0.3."""


def read_request(facts: RequestFacts, params: Mapping[str, Json], reader: ObjectReader, waits: str) -> RequestFacts:
    """Complete what a consumer asked from its params; `waits` is the dialect's member for (not) blocking."""
    reader.role = reader.spelling.user
    message = params.get("message")
    configuration = reader.structure(params, "configuration", "/params")
    accepts = reader.typed(configuration, "acceptedOutputModes", list, "/params/configuration") or ()
    flag = reader.typed(configuration, waits, bool, "/params/configuration")
    history = configuration.get("historyLength", params.get("historyLength"))
    return dataclasses.replace(
        facts,
        message=None if message is None else reader.message(message, "/params/message"),
        task_id=reader.text(params, "id", "/params"),
        tenant=reader.text(params, "tenant", "/params"),
        metadata=reader.structure(params, "metadata", "/params"),
        accepts=tuple(mode for mode in accepts if isinstance(mode, str)),
        return_immediately=flag if waits == "returnImmediately" or flag is None else not flag,
        history_length=history if type(history) is int else None,
        configures_push=any(configuration.get(name) is not None for name in PUSH_SETTINGS),
        findings=tuple(reader.findings),
    )

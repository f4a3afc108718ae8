"""Results and events that are told apart by a wrapper, as ProtoJSON writes a one-of: 1.0, and 0.3 over HTTP+JSON."""

from __future__ import annotations

from a2a_lab.core.model import Json, Message, StreamEvent, Task
from a2a_lab.core.quoting import listed
from a2a_lab.wire import faults, updates
from a2a_lab.wire.binding import BoundDialect
from a2a_lab.wire.messages import Op
from a2a_lab.wire.objects import ObjectReader


class WrappedObjects(BoundDialect):
    """The reading half of a version whose one-ofs are wrapped."""

    def read_result(self, op: Op, result: Json, reader: ObjectReader) -> Task | Message | None:
        """Send wraps a task or a message; get and cancel give the bare task (§9.4, §11.4)."""
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
            return updates.read_wrapped(reader, result, found[0])
        if not found and updates.kind_by_shape(result) is not None:
            reader.foreign("the event is not wrapped", at="/result")
            return updates.read_plain(reader, result)
        return updates.unknown(reader, result, found)

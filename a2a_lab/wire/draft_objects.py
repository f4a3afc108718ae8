"""Reads the objects and events of the draft (spec tag v0.1.0): artifacts by index, sessions, no ids of messages.

Events have no discriminator: a status update has `status`, an artifact update `artifact`, both are keyed by `id`. How
chunks join is said inside the artifact.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from a2a_lab.core.model import Artifact, Json, Message, StreamEvent, Task
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Verdict
from a2a_lab.wire import faults, updates, values
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.spelling import V0_1

_LATER = ("taskId", "contextId", "artifactId", "messageId")  # names that came with 0.2


class DraftReader(ObjectReader):
    """Reads one answer or event of the draft. An artifact's id is its index as text."""

    __slots__ = ()

    def __init__(self, *, in_stream: bool) -> None:
        super().__init__(V0_1, in_stream=in_stream)

    def task(self, obj: Json, at: str) -> Task | None:
        if not isinstance(obj, dict):
            self.wrong_type(obj, dict, at)
            return None
        self.check_kind(obj, "task", at)
        state, wire_state, message = self.status(obj, at)
        return Task(
            id=self.identifier(obj, "id", at),
            context_id=self.session(obj, at),
            state=state,
            wire_state=wire_state,
            message=message,
            artifacts=self._artifacts(obj, at),
            metadata=self.structure(obj, "metadata", at),
        )

    def session(self, obj: Mapping[str, Json], at: str) -> str | None:
        return self.text(obj, "sessionId", at) or self.text(obj, "contextId", at) or None

    def message(self, obj: Json, at: str) -> Message | None:
        if not isinstance(obj, dict):
            self.wrong_type(obj, dict, at)
            return None
        self.check_kind(obj, "message", at)
        role = obj.get("role")
        if role != self.role:
            values.judge_role(self, role, f"{at}/role")
        return Message(
            id=None,
            role=role if isinstance(role, str) else None,
            parts=self.parts(obj, at),
            metadata=self.structure(obj, "metadata", at),
        )

    def artifact(self, obj: Json, at: str) -> Artifact | None:
        if not isinstance(obj, dict):
            self.wrong_type(obj, dict, at)
            return None
        self.check_kind(obj, "", at)
        return Artifact(
            id=self._index(obj, at),
            parts=self.parts(obj, at),
            name=self.text(obj, "name", at),
            metadata=self.structure(obj, "metadata", at),
        )

    def check_kind(self, obj: Mapping[str, Json], expected: str, at: str) -> None:
        """The draft tags nothing but parts, and names ids otherwise."""
        later = [name for name in ("kind", *_LATER) if name in obj]
        if later:
            self.foreign(f"{' and '.join(later)} stand at {at or 'the result'}", at=f"{at}/{later[0]}")

    def _index(self, obj: Mapping[str, Json], at: str) -> str:
        index = obj.get("index")
        if index is None:
            named = obj.get("artifactId")
            return named if isinstance(named, str) and named else "0"
        if type(index) is not int or index < 0:
            detail = f"{at}/index is {quoted(index)}, expected a whole number of at least 0"
            self.say(faults.WRONG_TYPE, detail, at=f"{at}/index", found=quoted(index))
            return str(index)[:80]
        return str(index)

    def _artifacts(self, obj: Mapping[str, Json], at: str) -> tuple[Artifact, ...]:
        """Artifacts that share an index are parts of one result (§6.7), so they are joined."""
        listed = self.typed(obj, "artifacts", list, at) or ()
        joined: dict[str, Artifact] = {}
        for place, entry in enumerate(listed):
            artifact = self.artifact(entry, f"{at}/artifacts/{place}")
            if artifact is None:
                continue
            first = joined.get(artifact.id)
            joined[artifact.id] = (
                artifact if first is None else dataclasses.replace(first, parts=first.parts + artifact.parts)
            )
        return tuple(joined.values())


def read_event(reader: DraftReader, result: Mapping[str, Json], at: str) -> StreamEvent:
    """A status update or an artifact update, told apart by its member."""
    found = [name for name in ("status", "artifact") if reader.member(result, name, at) is not None]
    if len(found) != 1:
        return updates.unknown(reader, result, found)
    if found == ["artifact"]:
        return _artifact_update(reader, result, at)
    if "final" not in result and any(name in result for name in ("artifacts", "history", "sessionId")):
        detail = f"a whole task stands at {at}; a stream of the draft has status and artifact updates"
        reader.say(faults.RESULT_SHAPE, detail, at=at, verdict=Verdict.HINT)
        return updates.BY_NAME["task"](reader, result, at)
    reader.check_kind(result, "", at)
    state, wire_state, message = reader.status(result, at)
    return StreamEvent(
        kind="status",
        task_id=_id(reader, result, at),
        state=state,
        wire_state=wire_state,
        message=message,
        final=reader.flag(result, "final", at),
    )


def _artifact_update(reader: DraftReader, result: Mapping[str, Json], at: str) -> StreamEvent:
    reader.check_kind(result, "", at)
    inner = result["artifact"]
    artifact = reader.artifact(inner, f"{at}/artifact")
    if artifact is None:
        return StreamEvent(kind="unknown")
    beside = [name for name in ("append", "lastChunk") if name in result and name not in inner]
    if beside:
        reader.foreign(f"{' and '.join(beside)} stand beside the artifact", at=f"{at}/{beside[0]}")
    flags = {**inner, **{name: result[name] for name in beside}}
    return StreamEvent(
        kind="artifact",
        task_id=_id(reader, result, at),
        artifact=artifact,
        append=reader.flag(flags, "append", f"{at}/artifact") is True,
        last_chunk=reader.flag(flags, "lastChunk", f"{at}/artifact"),
    )


def _id(reader: DraftReader, result: Mapping[str, Json], at: str) -> str | None:
    """The task of an update; `taskId` is that of later versions, and has been reported as such."""
    if "id" not in result and isinstance(result.get("taskId"), str):
        return str(result["taskId"])
    return reader.identifier(result, "id", at) or None

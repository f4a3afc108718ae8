"""Reads tasks, messages, artifacts and status objects of one dialect into the core's nouns.

Generous in what it decodes and strict in what it reports: an object in another generation's spelling is still read,
so that a page can show what was meant, and each departure is a finding. Decides nothing about the exchange.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from a2a_lab.core.model import Artifact, Json, Message, Part, State, Task
from a2a_lab.core.quoting import listed as listed_names
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Finding, FindingKind, Stage, Verdict
from a2a_lab.wire import faults, parts, values
from a2a_lab.wire.spelling import Spelling

# ProtoJSON readers must take both names; what is sent must be camelCase (§5.5).
_SNAKE: Final = {
    "artifactId": "artifact_id",
    "artifactUpdate": "artifact_update",
    "contextId": "context_id",
    "lastChunk": "last_chunk",
    "mediaType": "media_type",
    "messageId": "message_id",
    "statusUpdate": "status_update",
    "taskId": "task_id",
}
_ALIKE: Final = 20  # findings of one kind that are kept of one answer
_EMPTY: Final[Mapping[str, Json]] = {}


class ObjectReader:
    """Reads one answer or event; `findings` collects what was wrong with it.

    `in_stream` moves everything to the stage `stream`.
    """

    __slots__ = ("_times", "findings", "in_stream", "role", "spelling")  # one is made for every event of a stream

    def __init__(self, spelling: Spelling, *, in_stream: bool) -> None:
        self.spelling = spelling
        self.findings: list[Finding] = []
        self.in_stream = in_stream
        self.role = spelling.agent  # who is expected to speak
        self._times: dict[str, int] = {}

    # -- reporting

    def say(self, kind: FindingKind, detail: str, *, at: str, verdict: Verdict | None = None, **values: Any) -> None:
        """Keep a finding, but not thousands alike: a hostile answer repeats one fault as often as it likes."""
        times = self._times[kind.slug] = self._times.get(kind.slug, 0) + 1
        if times <= _ALIKE:
            stage = Stage.STREAM if self.in_stream else None
            self.findings.append(kind(detail, at=at or None, verdict=verdict, stage=stage, **values))

    def say_once(self, kind: FindingKind, detail: str, *, at: str, **values: Any) -> None:
        """Keep a finding that one mention an answer is enough for."""
        if kind.slug not in self._times:
            self.say(kind, detail, at=at, **values)

    def foreign(self, what: str, *, at: str) -> None:
        """Report another generation's shape."""
        detail = f"{what}, but the call was made in {self.spelling.dialect}; declare the version that is spoken"
        self.say_once(faults.VERSION_NOT_HONOURED, detail, at=at, expected=self.spelling.dialect)

    # -- members

    def member(self, obj: Mapping[str, Json], name: str, at: str) -> Json:
        """A member by its camelCase name, or by its snake_case one with a finding; null counts as unset."""
        value = obj.get(name)
        if value is None and (snake := _SNAKE.get(name)) is not None and obj.get(snake) is not None:
            value = obj[snake]
            self.say_once(faults.SNAKE_CASE, f"{snake} is written for {name}", at=f"{at}/{snake}", found=snake)
        return value

    def typed(self, obj: Mapping[str, Json], name: str, expected: type, at: str) -> Any:
        """A member of one JSON type; another type is a finding and counts as unset."""
        value = self.member(obj, name, at)
        if value is None or type(value) is expected:
            return value
        self.wrong_type(value, expected, f"{at}/{name}")
        return None

    def text(self, obj: Mapping[str, Json], name: str, at: str) -> str | None:
        value = obj.get(name)
        if type(value) is str or (value is None and name not in _SNAKE):
            return value
        other: str | None = self.typed(obj, name, str, at)
        return other

    def flag(self, obj: Mapping[str, Json], name: str, at: str) -> bool | None:
        value = obj.get(name)
        if type(value) is bool or (value is None and _SNAKE.get(name) not in obj):
            return value
        other: bool | None = self.typed(obj, name, bool, at)
        return other

    def identifier(self, obj: Mapping[str, Json], name: str, at: str) -> str:
        """An id that everything else hangs on; empty where it is missing, which is a finding."""
        value = obj.get(name)
        if type(value) is not str:
            value = self.text(obj, name, at)
        if not value:
            self.say(faults.ID_MISSING, f"{name} is missing or empty at {at or 'the top'}", at=f"{at}/{name}")
            return ""
        return value

    def wrong_type(self, value: Json, expected: type, at: str) -> None:
        names = {str: "a string", list: "an array", dict: "an object", bool: "true or false"}
        detail = f"{at} is {quoted(value)}, expected {names[expected]}"
        self.say(faults.WRONG_TYPE, detail, at=at, found=quoted(value))

    def structure(self, obj: Mapping[str, Json], name: str, at: str) -> Mapping[str, Json]:
        """A free-form object such as metadata; empty where there is none."""
        if name not in obj:
            return _EMPTY
        found: Mapping[str, Json] | None = self.typed(obj, name, dict, at)
        return _EMPTY if found is None else found

    # -- objects

    def task(self, obj: Json, at: str) -> Task | None:
        if not isinstance(obj, dict):
            self.wrong_type(obj, dict, at)
            return None
        self.check_kind(obj, "task", at)
        identifier = self.identifier(obj, "id", at)
        context_id = self.text(obj, "contextId", at)
        if self.spelling.has_kind and not context_id:
            self.say(faults.MEMBER_MISSING, f"contextId is missing at {at or 'the task'}", at=f"{at}/contextId")
        state, wire_state, message = self.status(obj, at)
        return Task(
            id=identifier,
            context_id=context_id or None,
            state=state,
            wire_state=wire_state,
            message=message,
            artifacts=self._artifacts(obj, at),
            metadata=self.structure(obj, "metadata", at),
        )

    def status(self, owner: Mapping[str, Json], at: str) -> tuple[State, Json, Message | None]:
        """State, the state as the peer spelt it, and the status message of a task or a status update."""
        status = self.typed(owner, "status", dict, at)
        if status is None:
            self.say(faults.STATE_MISSING, f"there is no status at {at or 'the task'}", at=f"{at}/status")
            return State.UNKNOWN, None, None
        at = f"{at}/status"
        wire_state = status.get("state")
        state = self.spelling.states.get(wire_state) if isinstance(wire_state, str) else None
        if state is None:
            state = values.other_state(self, wire_state, f"{at}/state")
        elif state is State.UNKNOWN:
            self.say(faults.INDETERMINATE_STATE, f"the state is {quoted(wire_state)}", at=f"{at}/state")
        if (stamp := status.get("timestamp")) is not None:
            values.judge_timestamp(self, stamp, f"{at}/timestamp")
        message = status.get("message")
        return state, wire_state, None if message is None else self.message(message, f"{at}/message")

    def message(self, obj: Json, at: str) -> Message | None:
        if not isinstance(obj, dict):
            self.wrong_type(obj, dict, at)
            return None
        self.check_kind(obj, "message", at)
        identifier = self.text(obj, "messageId", at)
        if not identifier:
            self.say(faults.MEMBER_MISSING, f"messageId is missing at {at or 'the message'}", at=f"{at}/messageId")
        role = obj.get("role")
        if role != self.role:
            values.judge_role(self, role, f"{at}/role")
        return Message(
            id=identifier or None,
            role=role if isinstance(role, str) else None,
            parts=self.parts(obj, at, self._content_of(obj, at)),
            # Clients that write every member of the proto send "" for what is unset.
            context_id=self.text(obj, "contextId", at) or None,
            task_id=self.text(obj, "taskId", at) or None,
            metadata=self.structure(obj, "metadata", at),
        )

    def artifact(self, obj: Json, at: str) -> Artifact | None:
        if not isinstance(obj, dict):
            self.wrong_type(obj, dict, at)
            return None
        return Artifact(
            id=self.identifier(obj, "artifactId", at),
            parts=self.parts(obj, at),
            name=self.text(obj, "name", at),
            metadata=self.structure(obj, "metadata", at),
        )

    def parts(self, owner: Mapping[str, Json], at: str, name: str = "parts") -> tuple[Part, ...]:
        listed = self.typed(owner, name, list, at)
        if not listed:
            self.say(faults.EMPTY_PARTS, f"there are no parts at {at or 'the top'}", at=f"{at}/{name}")
            return ()
        return parts.read_all(self, listed, f"{at}/{name}")

    def _content_of(self, message: Mapping[str, Json], at: str) -> str:
        """The member that holds a message's parts: the dialect's own, or the other one where only that is there."""
        own = self.spelling.content
        other = "parts" if own == "content" else "content"
        if own in message or not isinstance(message.get(other), list):
            return own
        self.foreign(f"the parts of the message at {at or 'the top'} stand in {other}", at=f"{at}/{other}")
        return other

    def check_kind(self, obj: Mapping[str, Json], expected: str, at: str) -> None:
        """0.3 tells objects apart by `kind`; 1.0 has no such member."""
        kind = obj.get("kind")
        if self.spelling.has_kind:
            if kind is None:
                self.say(faults.MEMBER_MISSING, f"kind is missing at {at or 'the result'}", at=f"{at}/kind")
            elif kind != expected:
                self.say(faults.WRONG_TYPE, f"kind is {quoted(kind)}, expected {expected!r}", at=f"{at}/kind")
        elif kind is not None:
            detail = f"kind {quoted(kind)} stands at {at or 'the result'}"
            self.say_once(faults.LEGACY_MEMBER, detail, at=f"{at}/kind")

    def _artifacts(self, obj: Mapping[str, Json], at: str) -> tuple[Artifact, ...]:
        listed = self.typed(obj, "artifacts", list, at)
        if not listed:
            return ()
        read = (self.artifact(entry, f"{at}/artifacts/{index}") for index, entry in enumerate(listed))
        artifacts = tuple([artifact for artifact in read if artifact is not None])
        if len({artifact.id for artifact in artifacts}) < len(artifacts):
            repeated = [name for name, times in Counter(a.id for a in artifacts).items() if times > 1]
            detail = f"artifact ids are there twice: {listed_names(repeated)}"
            self.say(faults.ID_REPEATED, detail, at=f"{at}/artifacts", found=repeated[:_ALIKE])
        return artifacts

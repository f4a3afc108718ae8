"""How a simulated agent speaks the older dialects: 0.3 and 0.2 over JSON-RPC, 0.3 over HTTP+JSON, and the draft.

Only what differs from 1.0. Up to 0.3 a stream ends by `final: true`; what tells objects apart changes in each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from a2a_lab.vendors.moves import Chunk, Move, Part, Say, SimTask, Snapshot, Status
from a2a_lab.vendors.speech import BROADER, ERRORS, Document, Speech, ends, essence


def _file(part: Part, as_uri: str) -> Document:
    """Before 1.0 only a file can say its media type; text or data of another than the implied one goes as a file."""
    return {"mimeType": part.mode, as_uri: f"data:{part.mode},{part.text}"}


class LegacySpeech(Speech):
    """0.3 over JSON-RPC: everything is tagged with `kind`."""

    version = "0.3"
    wants_version = False
    opens_with_task = False
    ops: ClassVar[Mapping[str, str]] = {
        "message/send": "send",
        "message/stream": "stream",
        "tasks/get": "get",
        "tasks/cancel": "cancel",
        "tasks/resubscribe": "subscribe",
        "agent/getAuthenticatedExtendedCard": "extended-card",
    }

    def state(self, word: str) -> str:
        return word

    def part(self, part: Part) -> Document:
        if part.data is not None:
            return {"kind": "data", "data": part.data}
        if part.mode == "text/plain":
            return {"kind": "text", "text": part.text}
        return {"kind": "file", "file": _file(part, "uri")}

    def message(self, task: SimTask, parts: tuple[Part, ...]) -> Document:
        return {"kind": "message"} | super().message(task, parts) | {"role": "agent"}

    def task(self, task: SimTask, *, state: str | None = None) -> Document:
        return {"kind": "task"} | super().task(task, state=state)

    def answer(self, task: SimTask) -> Document:
        return self.task(task)

    def event(self, task: SimTask, move: Move) -> Document | None:
        wrapped = super().event(task, move)
        if wrapped is None:
            return None
        inner: Document = next(iter(wrapped.values()))
        match move:
            case Status():
                return {"kind": "status-update"} | inner
            case Chunk():
                return {"kind": "artifact-update"} | inner | {"append": move.append, "lastChunk": move.last}
            case _:
                return inner

    def final(self, move: Status) -> Document:
        return {"final": ends(move) if move.final is None else move.final}

    def error(self, name: str, text: str) -> Document:
        return {"code": ERRORS[BROADER.get(name, name)], "message": text}

    def mode_of(self, part: Mapping[str, Any]) -> str:
        file = part.get("file")
        return essence(file.get("mimeType") if isinstance(file, Mapping) else None, part)

    def is_immediate(self, params: Mapping[str, Any]) -> bool:
        settings = params.get("configuration") or {}
        return settings.get("blocking") is False


class Speech02(LegacySpeech):
    """0.2: what 0.3 has, but for the extended card, which was no method then."""

    version = "0.2"
    ops: ClassVar[Mapping[str, str]] = {name: op for name, op in LegacySpeech.ops.items() if op != "extended-card"}


class ProtoSpeech(LegacySpeech):
    """0.3 over HTTP+JSON: wrapped as in 1.0, and named as in the 0.3 proto."""

    def state(self, word: str) -> str:
        written = Speech.state(self, word)
        return "TASK_STATE_CANCELLED" if written == "TASK_STATE_CANCELED" else written

    def part(self, part: Part) -> Document:
        if part.data is not None:
            return {"data": {"data": part.data}}
        return {"text": part.text} if part.mode == "text/plain" else {"file": _file(part, "fileWithUri")}

    def message(self, task: SimTask, parts: tuple[Part, ...]) -> Document:
        written = Speech.message(self, task, parts)
        return {"content" if name == "parts" else name: value for name, value in written.items()}

    def task(self, task: SimTask, *, state: str | None = None) -> Document:
        return Speech.task(self, task, state=state)

    def answer(self, task: SimTask) -> Document:
        return {"task": self.task(task)}

    def event(self, task: SimTask, move: Move) -> Document | None:
        return Speech.event(self, task, move)

    def final(self, move: Status) -> Document:
        """ProtoJSON leaves false out."""
        return {"final": True} if super().final(move)["final"] else {}

    def said(self, params: Mapping[str, Any]) -> Document:
        message = super().said(params)
        return {"parts" if name == "content" else name: value for name, value in message.items()}


class DraftSpeech(LegacySpeech):
    """The draft: parts by `type`, artifacts by `index`, ids of tasks by the client, no task or message in streams."""

    version = "0.1"
    clients_make_ids = True
    codes: ClassVar[Mapping[str, int]] = {"StreamingNotSupported": -32006, "InvalidTaskState": -32009}
    ops: ClassVar[Mapping[str, str]] = {
        "tasks/send": "send",
        "tasks/sendSubscribe": "stream",
        "tasks/get": "get",
        "tasks/cancel": "cancel",
        "tasks/resubscribe": "subscribe",
    }

    def part(self, part: Part) -> Document:
        return {"type" if name == "kind" else name: value for name, value in super().part(part).items()}

    def message(self, task: SimTask, parts: tuple[Part, ...]) -> Document:
        return {"role": "agent", "parts": [self.part(part) for part in parts]}

    def artifact(self, task: SimTask, name: str, parts: list[Part] | tuple[Part, ...]) -> Document:
        names = list(task.artifacts)
        index = names.index(name) if name in names else len(names)
        return {"name": name, "index": index, "parts": [self.part(part) for part in parts]}

    def task(self, task: SimTask, *, state: str | None = None) -> Document:
        written = Speech.task(self, task, state=state)
        return {"sessionId" if name == "contextId" else name: value for name, value in written.items()}

    def event(self, task: SimTask, move: Move) -> Document | None:
        ids = {"id": move.task_id or task.id}
        match move:
            case Status():
                return ids | {"status": self.status(task, move.state, move.parts)} | self.final(move)
            case Snapshot():
                state = move.state or task.state
                return ids | {"status": self.status(task, state, task.status_parts), "final": ends(move)}
            case Chunk():
                flags = {"append": move.append, "lastChunk": move.last}
                return ids | {"artifact": self.artifact(task, move.artifact, move.parts) | flags}
            case Say():
                return ids | {"status": self.status(task, task.state, move.parts), "final": not task.is_open}
            case _:
                return None

    def error(self, name: str, text: str) -> Document:
        return {"code": self.codes[name], "message": text} if name in self.codes else super().error(name, text)

    def said(self, params: Mapping[str, Any]) -> Document:
        return super().said(params) | {"taskId": params.get("id"), "contextId": params.get("sessionId")}


_SPEECHES: Mapping[tuple[str, str], type[Speech]] = {
    ("1.0", "JSONRPC"): Speech,
    ("1.0", "HTTP+JSON"): Speech,
    ("0.3", "JSONRPC"): LegacySpeech,
    ("0.3", "HTTP+JSON"): ProtoSpeech,
    ("0.2", "JSONRPC"): Speech02,
    ("0.1", "JSONRPC"): DraftSpeech,
}


def speech_of(dialect: str, binding: str) -> Speech:
    """How a dialect is spoken over a binding."""
    return _SPEECHES[dialect, binding]()

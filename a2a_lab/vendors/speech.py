"""How a simulated agent writes and reads the two dialects. Its own small code: a peer must not share the client's.

Writes what official SDKs of the dialect write (wire-facts 5-8): 1.0 leaves false and empty members out and spells
states TASK_STATE_*; 0.3 tags everything with `kind` and ends with `final: true`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Literal

from a2a_lab.vendors.moves import INTERRUPTED, TERMINAL, Chunk, Move, Part, Say, SimTask, Snapshot, Status

Document = dict[str, Any]

ERRORS: Mapping[str, int] = {
    "ParseError": -32700,
    "InvalidRequest": -32600,
    "MethodNotFound": -32601,
    "InvalidParams": -32602,
    "TaskNotFound": -32001,
    "TaskNotCancelable": -32002,
    "UnsupportedOperation": -32004,
    "ContentTypeNotSupported": -32005,
    "ExtendedAgentCardNotConfigured": -32007,
    "VersionNotSupported": -32009,
}

_OPS: Mapping[str, Mapping[str, str]] = {
    "1.0": {
        "SendMessage": "send",
        "SendStreamingMessage": "stream",
        "GetTask": "get",
        "CancelTask": "cancel",
        "SubscribeToTask": "subscribe",
        "GetExtendedAgentCard": "extended-card",
    },
    "0.3": {
        "message/send": "send",
        "message/stream": "stream",
        "tasks/get": "get",
        "tasks/cancel": "cancel",
        "tasks/resubscribe": "subscribe",
        "agent/getAuthenticatedExtendedCard": "extended-card",
    },
}

_STATES = TERMINAL | INTERRUPTED | {"submitted", "working"}


class RpcProblem(Exception):
    """An error answer of the protocol, by its A2A or JSON-RPC name."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name, self.text = name, text


class Speech:
    """One dialect as an agent speaks it."""

    def __init__(self, dialect: Literal["1.0", "0.3"]) -> None:
        self.dialect = dialect
        self.is_new = dialect == "1.0"
        self.ops = _OPS[dialect]

    def state(self, word: str) -> str:
        """The dialect's spelling; a word that is no state of ours is written as it is."""
        if word not in _STATES or not self.is_new:
            return word
        return "TASK_STATE_" + word.upper().replace("-", "_")

    def part(self, part: Part) -> Document:
        """Only file parts of 0.3 can say their media type; any text or data there that is not of the implied one goes
        as a file."""
        content: Document = {"data": part.data} if part.data is not None else {"text": part.text}
        if self.is_new:
            return content | {"mediaType": part.mode}
        if part.data is not None:
            return {"kind": "data", "data": part.data}
        if part.mode == "text/plain":
            return {"kind": "text", "text": part.text}
        return {"kind": "file", "file": {"mimeType": part.mode, "uri": f"data:{part.mode},{part.text}"}}

    def message(self, task: SimTask, parts: tuple[Part, ...]) -> Document:
        written: Document = {
            "messageId": secrets.token_hex(8),
            "role": "ROLE_AGENT" if self.is_new else "agent",
            "parts": [self.part(part) for part in parts],
            "taskId": task.id,
            "contextId": task.context_id,
        }
        return written if self.is_new else {"kind": "message"} | written

    def status(self, task: SimTask, state: str, parts: tuple[Part, ...]) -> Document:
        shown: Document = {"state": self.state(state)}
        return shown | ({"message": self.message(task, parts)} if parts else {})

    def artifact(self, name: str, parts: list[Part] | tuple[Part, ...]) -> Document:
        return {"artifactId": name, "parts": [self.part(part) for part in parts]}

    def task(self, task: SimTask, *, state: str | None = None) -> Document:
        """The bare task, as GetTask and CancelTask answer it."""
        written: Document = {
            "id": task.id,
            "contextId": task.context_id,
            "status": self.status(task, state or task.state, task.status_parts),
        }
        if task.artifacts:
            written["artifacts"] = [self.artifact(name, parts) for name, parts in task.artifacts.items()]
        if task.metadata:
            written["metadata"] = dict(task.metadata)
        return written if self.is_new else {"kind": "task"} | written

    def answer(self, task: SimTask) -> Document:
        """The result of a send: 1.0 wraps the task."""
        return {"task": self.task(task)} if self.is_new else self.task(task)

    def event(self, task: SimTask, move: Move) -> Document | None:
        """The result member of one stream event; None for moves that are no events."""
        ids: Document = {"taskId": move.task_id or task.id, "contextId": move.context_id or task.context_id}
        match move:
            case Snapshot():
                written = self.task(task, state=move.state) | {"id": ids["taskId"], "contextId": ids["contextId"]}
                return {"task": written} if self.is_new else written
            case Status():
                update = ids | {"status": self.status(task, move.state, move.parts)}
                if self.is_new:
                    return {"statusUpdate": update | ({"final": move.final} if move.final is not None else {})}
                final = move.state in TERMINAL | INTERRUPTED if move.final is None else move.final
                return {"kind": "status-update"} | update | {"final": final}
            case Chunk():
                update = ids | {"artifact": self.artifact(move.artifact, move.parts)}
                if self.is_new:
                    flags = {"append": move.append, "lastChunk": move.last}
                    return {"artifactUpdate": update | {name: True for name, value in flags.items() if value}}
                return {"kind": "artifact-update"} | update | {"append": move.append, "lastChunk": move.last}
            case Say():
                said = self.message(task, move.parts)
                return {"message": said} if self.is_new else said
            case _:
                return None

    def error(self, name: str, text: str) -> Document:
        """An error object; 1.0 adds ErrorInfo, as its SDKs do."""
        written: Document = {"code": ERRORS[name], "message": text}
        if self.is_new and -32099 <= ERRORS[name] <= -32001:
            reason = "".join("_" + letter if letter.isupper() else letter for letter in name).lstrip("_").upper()
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}
            written["data"] = [info]
        return written

    def mode_of(self, part: Mapping[str, Any]) -> str:
        """The media type of a part as received, lower case and without parameters; "" where none can be told."""
        file = part.get("file")
        stated = part.get("mediaType") if self.is_new else file.get("mimeType") if isinstance(file, Mapping) else None
        implied = "text/plain" if "text" in part else "application/json" if "data" in part else ""
        return str(stated or implied).split(";")[0].strip().lower()

    def is_immediate(self, params: Mapping[str, Any]) -> bool:
        """Whether the client asked not to wait for the end."""
        settings = params.get("configuration") or {}
        return bool(settings.get("returnImmediately")) if self.is_new else settings.get("blocking") is False

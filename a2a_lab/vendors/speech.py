"""How a simulated agent writes and reads A2A 1.0; the other dialects are written down where they differ.

An agent's own small code: a peer must not share the client's. Writes what official SDKs write (wire-facts 5-8): false
and empty members are left out, states are spelt TASK_STATE_*.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

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
# What only the draft has errors of its own for.
BROADER: Mapping[str, str] = {
    "StreamingNotSupported": "UnsupportedOperation",
    "InvalidTaskState": "UnsupportedOperation",
}
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"

_STATES = TERMINAL | INTERRUPTED | {"submitted", "working"}


class RpcProblem(Exception):
    """An error answer of the protocol, by its A2A or JSON-RPC name."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name, self.text = name, text


def error_info(name: str) -> Document:
    """The detail by which 1.0 names an error."""
    reason = "".join("_" + letter if letter.isupper() else letter for letter in name).lstrip("_").upper()
    return {"@type": ERROR_INFO, "reason": reason, "domain": "a2a-protocol.org"}


def is_a2a(name: str) -> bool:
    """Whether an error is one of A2A's own, not of JSON-RPC."""
    return -32099 <= ERRORS[name] <= -32001


class Speech:
    """1.0 as an agent speaks it. `opens_with_task`: every stream begins with the task as it stands."""

    version: ClassVar[str] = "1.0"
    wants_version: ClassVar[bool] = True
    opens_with_task: ClassVar[bool] = True
    clients_make_ids: ClassVar[bool] = False
    ops: ClassVar[Mapping[str, str]] = {
        "SendMessage": "send",
        "SendStreamingMessage": "stream",
        "GetTask": "get",
        "CancelTask": "cancel",
        "SubscribeToTask": "subscribe",
        "GetExtendedAgentCard": "extended-card",
    }

    # -- what it writes

    def state(self, word: str) -> str:
        """The dialect's spelling; a word that is no state of ours is written as it is."""
        return "TASK_STATE_" + word.upper().replace("-", "_") if word in _STATES else word

    def part(self, part: Part) -> Document:
        content: Document = {"data": part.data} if part.data is not None else {"text": part.text}
        return content | {"mediaType": part.mode}

    def message(self, task: SimTask, parts: tuple[Part, ...]) -> Document:
        return {
            "messageId": secrets.token_hex(8),
            "role": "ROLE_AGENT",
            "parts": [self.part(part) for part in parts],
            "taskId": task.id,
            "contextId": task.context_id,
        }

    def status(self, task: SimTask, state: str, parts: tuple[Part, ...]) -> Document:
        shown: Document = {"state": self.state(state)}
        return shown | ({"message": self.message(task, parts)} if parts else {})

    def artifact(self, task: SimTask, name: str, parts: list[Part] | tuple[Part, ...]) -> Document:
        return {"artifactId": name, "parts": [self.part(part) for part in parts]}

    def task(self, task: SimTask, *, state: str | None = None) -> Document:
        """The bare task, as GetTask and CancelTask answer it."""
        written: Document = {
            "id": task.id,
            "contextId": task.context_id,
            "status": self.status(task, state or task.state, task.status_parts),
        }
        if task.artifacts:
            written["artifacts"] = [self.artifact(task, name, parts) for name, parts in task.artifacts.items()]
        return written | ({"metadata": dict(task.metadata)} if task.metadata else {})

    def answer(self, task: SimTask) -> Document:
        """The result of a send: 1.0 wraps the task."""
        return {"task": self.task(task)}

    def event(self, task: SimTask, move: Move) -> Document | None:
        """What one stream event holds; None for moves that are no events."""
        ids: Document = {"taskId": move.task_id or task.id, "contextId": move.context_id or task.context_id}
        match move:
            case Snapshot():
                written = self.task(task, state=move.state) | {"id": ids["taskId"], "contextId": ids["contextId"]}
                return {"task": written}
            case Status():
                update = ids | {"status": self.status(task, move.state, move.parts)}
                return {"statusUpdate": update | self.final(move)}
            case Chunk():
                flags = {"append": move.append, "lastChunk": move.last}
                update = ids | {"artifact": self.artifact(task, move.artifact, move.parts)}
                return {"artifactUpdate": update | {name: True for name, value in flags.items() if value}}
            case Say():
                return {"message": self.message(task, move.parts)}
            case _:
                return None

    def final(self, move: Status) -> Document:
        """The end signal of a status update: 1.0 has none, so it is there only where a misbehaviour says so."""
        return {} if move.final is None else {"final": move.final}

    def error(self, name: str, text: str) -> Document:
        """An error object of JSON-RPC, with the ErrorInfo that SDKs add."""
        name = BROADER.get(name, name)
        written: Document = {"code": ERRORS[name], "message": text}
        return written | ({"data": [error_info(name)]} if is_a2a(name) else {})

    # -- what it reads

    def said(self, params: Mapping[str, Any]) -> Document:
        """The message of a request: `parts`, `metadata`, and in `taskId` and `contextId` where it goes."""
        message = params.get("message")
        return dict(message) if isinstance(message, Mapping) else {}

    def mode_of(self, part: Mapping[str, Any]) -> str:
        """The media type of a part as received, lower case and without parameters; "" where none can be told."""
        return essence(part.get("mediaType"), part)

    def is_immediate(self, params: Mapping[str, Any]) -> bool:
        """Whether the client asked not to wait for the end."""
        settings = params.get("configuration") or {}
        return bool(settings.get("returnImmediately"))


def essence(stated: object, part: Mapping[str, Any]) -> str:
    """The media type that a part states, or else the one that its content implies."""
    implied = "text/plain" if "text" in part else "application/json" if "data" in part else ""
    return str(stated or implied).split(";")[0].strip().lower()


def ends(move: Status | Snapshot) -> bool:
    """Whether an honest agent before 1.0 says `final` with this move."""
    return move.state in TERMINAL | INTERRUPTED

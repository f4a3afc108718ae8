"""The nouns of the protocol, without a dialect: what `wire/` makes of JSON and what the rules decide about.

Values here are as the peer sent them; a value of the wrong type stays visible (`Interface.version` may be a
number) so that a gate can name it. Nothing is coerced (P5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

Json = Any
"""A parsed JSON value: None, bool, int, float, str, list or dict."""

Binding = Literal["JSONRPC", "HTTP+JSON", "GRPC"]


class State(StrEnum):
    """Task states in the words of the records; `UNKNOWN` stands for anything that is no state of the dialect."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input-required"
    AUTH_REQUIRED = "auth-required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    REJECTED = "rejected"
    UNKNOWN = "unknown"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL

    @property
    def is_interrupted(self) -> bool:
        return self in INTERRUPTED


TERMINAL = frozenset({State.COMPLETED, State.FAILED, State.CANCELED, State.REJECTED})
INTERRUPTED = frozenset({State.INPUT_REQUIRED, State.AUTH_REQUIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One place where an agent can be called. `pointer` is the JSON Pointer of the entry in the card."""

    url: str
    binding: str
    version: Json
    tenant: str | None = None
    pointer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill; None for modes that the card does not state."""

    id: str
    input_modes: tuple[str, ...] | None = None
    output_modes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A card as read: raw bytes and parsed document are both kept, the rest is derived from them.

    `form` is the shape the card is written in: "1.0" (non-empty supportedInterfaces), "0.3", "0.2" or "0.1".
    `capabilities` holds only members that are booleans; absent and null mean not offered (D7).
    """

    raw: bytes
    document: Mapping[str, Json]
    form: str
    name: str
    version: str
    interfaces: tuple[Interface, ...]
    capabilities: Mapping[str, bool]
    default_input_modes: tuple[str, ...] | None
    default_output_modes: tuple[str, ...] | None
    skills: tuple[Skill, ...]
    required_extensions: tuple[str, ...] = ()

    def skill(self, name: str | None) -> Skill | None:
        return next((skill for skill in self.skills if skill.id == name), None)

    @property
    def signatures(self) -> Json:
        """The raw `signatures` member (None where absent or null); anything may stand there."""
        return self.document.get("signatures")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part. `media_type` is what the peer wrote, None if nothing; `raw` is base64 text as received."""

    kind: Literal["text", "data", "raw", "url", "unknown"]
    media_type: str | None = None
    text: str | None = None
    data: Json = None
    raw: str | None = None
    url: str | None = None
    filename: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    id: str
    parts: tuple[Part, ...]
    name: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: str | None
    role: str | None
    parts: tuple[Part, ...]
    context_id: str | None = None
    task_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A snapshot of a task. `wire_state` is the state as the peer spelt it."""

    id: str
    context_id: str | None
    state: State
    wire_state: Json
    message: Message | None = None
    artifacts: tuple[Artifact, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcError:
    """An error answer. `name` is the A2A or JSON-RPC name of the code *in this dialect*, None for others."""

    code: Json
    message: str
    name: str | None = None
    data: Json = None


class StreamEvent(NamedTuple):
    """One event of a stream. Exactly the member that `kind` names is set; ids and state are lifted out.

    Read by its members, never unpacked. A tuple, since one is made for every chunk of a stream, and a frozen dataclass
    of so many members costs three times as much to make: half of what parsing its JSON does.
    """

    kind: Literal["task", "message", "status", "artifact", "error", "unknown"]
    task_id: str | None = None
    context_id: str | None = None
    state: State | None = None
    wire_state: Json = None
    task: Task | None = None
    message: Message | None = None
    artifact: Artifact | None = None
    append: bool = False
    last_chunk: bool | None = None
    final: bool | None = None
    error: RpcError | None = None

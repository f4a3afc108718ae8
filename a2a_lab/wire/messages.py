"""What goes over the wire and comes back, in the core's words: the values every dialect takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from a2a_lab.core.model import Json, Message, Part, RpcError, Task
from a2a_lab.verdicts import Finding, NotGradeable

Op = Literal[
    "send",
    "stream",
    "get",
    "cancel",
    "subscribe",
    "list",
    "extended-card",
    "push-set",
    "push-get",
    "push-list",
    "push-delete",
]
Headers = Mapping[str, str] | list[tuple[str, str]]

STREAMING: frozenset[Op] = frozenset({"stream", "subscribe"})
PUSHES: frozenset[Op] = frozenset({"push-set", "push-get", "push-list", "push-delete"})
"""Calls about push notifications. The lab makes none; recordings hold those of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutMessage:
    """A message of ours. `task_id` continues an interrupted task, `context_id` opens a new one beside it (R24)."""

    message_id: str
    parts: tuple[Part, ...]
    context_id: str | None = None
    task_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """One HTTP request, ready to be sent."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A unary answer, read. At most one of `task`, `message`, `error` is set; none where the answer is unusable.

    `unmatched` is a task that came under somebody else's request id, or beside an error: never to be used, but perhaps
    running (R35).
    `tasks` is what `list` gave. `not_gradeable` replaces a verdict (R2); `retry_after_s` and `challenge` quote the
    headers behind it. `result` is the raw result, e.g. the card of `extended-card`.
    """

    findings: tuple[Finding, ...] = ()
    task: Task | None = None
    message: Message | None = None
    error: RpcError | None = None
    result: Json = None
    tasks: tuple[Task, ...] = ()
    unmatched: Task | None = None
    not_gradeable: NotGradeable | None = None
    retry_after_s: float | None = None
    challenge: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """A recorded request, read: what a consumer asked. `op` is None for a method that the dialect does not have.

    `endpoint` is the URL of the interface that was called: over HTTP+JSON without the path of the operation.
    """

    op: Op | None
    method: str | None
    rpc_id: Json
    message: Message | None = None
    task_id: str | None = None
    tenant: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    accepts: tuple[str, ...] = ()
    return_immediately: bool | None = None
    history_length: int | None = None
    findings: tuple[Finding, ...] = ()
    endpoint: str = ""
    configures_push: bool = False


class HttpRequest(Protocol):
    """A recorded request as evidence shows it; an Exchange is one."""

    @property
    def method(self) -> str: ...

    @property
    def url(self) -> str: ...

    @property
    def request_headers(self) -> Headers: ...

    @property
    def request_body(self) -> bytes: ...

"""Which dialects the lab speaks, and what every one of them can do. To add one, write its module and list it here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from a2a_lab.core.model import Binding, Interface, Json, StreamEvent
from a2a_lab.core.policy import Bounds
from a2a_lab.core.version import SPELLINGS
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Finding
from a2a_lab.wire import strict_json
from a2a_lab.wire.frames import FrameReader
from a2a_lab.wire.messages import Answer, Headers, HttpRequest, Op, OutMessage, RequestFacts, WireRequest
from a2a_lab.wire.spoken import Spoken
from a2a_lab.wire.v0_1 import JsonRpc01
from a2a_lab.wire.v0_2 import JsonRpc02
from a2a_lab.wire.v0_3 import JsonRpc03
from a2a_lab.wire.v0_3_grpc import Grpc03
from a2a_lab.wire.v0_3_rest import Rest03
from a2a_lab.wire.v1_0 import JsonRpc10
from a2a_lab.wire.v1_0_grpc import Grpc10
from a2a_lab.wire.v1_0_rest import Rest10

__all__ = [
    "BINDINGS",
    "DIALECTS",
    "Answer",
    "Dialect",
    "Op",
    "OutMessage",
    "RequestFacts",
    "WireRequest",
    "dialect_for",
    "dialect_of_request",
    "spoken",
]


class Dialect(Protocol):
    """One protocol version over one binding: a mapping between JSON on the wire and the core's words, nothing more."""

    @property
    def id(self) -> str: ...

    @property
    def binding(self) -> Binding: ...

    @property
    def names(self) -> Mapping[Op, str]:
        """The operations it has, with their names on the wire."""

    def request(
        self,
        op: Op,
        *,
        url: str,
        rpc_id: Json,
        message: OutMessage | None = None,
        task_id: str | None = None,
        tenant: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        accepts: tuple[str, ...] = (),
        return_immediately: bool | None = None,
        history_length: int | None = None,
        extensions: tuple[str, ...] = (),
        context_id: str | None = None,
    ) -> WireRequest:
        """A request of ours, ready to be sent."""

    def read_answer(
        self,
        op: Op,
        *,
        rpc_id: Json,
        status: int,
        headers: Headers,
        body: bytes,
        bounds: Bounds = strict_json.DEFAULT_BOUNDS,
    ) -> Answer:
        """A whole body, read as the answer to `op`; what is wrong with it is in the findings."""

    def read_event(
        self, data: str, *, rpc_id: Json, bounds: Bounds = strict_json.DEFAULT_BOUNDS, name: str = ""
    ) -> tuple[StreamEvent, list[Finding]]:
        """The data of one server-sent event, read."""

    def parse_request(self, body: bytes, *, method: str = "POST", url: str = "") -> RequestFacts:
        """A recorded request of some consumer, read."""

    @property
    def stream_media(self) -> str:
        """The media type of a stream."""

    def is_stream(self, media: str | None, begins: bytes) -> bool | None:
        """Whether a success is a stream, by its media type or else by its first bytes; None until these are there."""

    def frames(self, bounds: Bounds) -> FrameReader:
        """A reader that cuts a stream into events."""

    def task_id_of(self, message: OutMessage) -> str | None:
        """The task that must answer a message of ours, where that is known beforehand."""

    def other_way(self, op: Op, request: WireRequest, status: int | None) -> tuple[WireRequest, Finding] | None:
        """The same call as another text of the version has it, after an answer with `status`; and a note on that."""


# Newest first: a request that several of them may have sent counts as one of the first.
DIALECTS: Final[tuple[Dialect, ...]] = (
    JsonRpc10(),
    JsonRpc03(),
    JsonRpc02(),
    JsonRpc01(),
    Rest10(),
    Rest03(),
    Grpc10(),
    Grpc03(),
)

BINDINGS: Final[tuple[str, ...]] = tuple(dict.fromkeys(dialect.binding for dialect in DIALECTS))
"""The bindings that are spoken."""

_NAME_OF: Final = {spelt: name for name, spellings in SPELLINGS.items() for spelt in spellings}


def dialect_for(version: str, binding: str = "JSONRPC") -> Dialect:
    """The dialect of a version as cards spell it ("1.0", "0.3.0", "0.2.6") over a binding.

    Raises Misuse for one that the lab does not speak: the version gate comes first (A2).
    """
    wanted = _NAME_OF.get(version)
    found = next((dialect for dialect in DIALECTS if (dialect.id, dialect.binding) == (wanted, binding)), None)
    if found is None:
        spoken = ", ".join(f"{dialect.id} over {dialect.binding}" for dialect in DIALECTS)
        raise Misuse(f"no dialect {version!r} over {binding}; spoken are {spoken}", version=version, binding=binding)
    return found


def dialect_of_request(request: HttpRequest | bytes) -> Dialect | None:
    """The dialect that a recorded request (or the body of a JSON-RPC one) names; None where it is no call of A2A.

    `tasks/get` and its like count as 0.3, and so does `message/send`: see `Spoken` for what more evidence tells.
    """
    return spoken().dialect_of(_Posted(request) if isinstance(request, bytes) else request)


def spoken(*interfaces: Interface) -> Spoken:
    """The dialects of one recording, as its requests name them; `interfaces` are those that its card declares."""
    return Spoken(DIALECTS, interfaces)


class _Posted:
    """A body that was posted somewhere."""

    def __init__(self, body: bytes) -> None:
        self.method, self.url, self.request_body = "POST", "", body
        self.request_headers: Headers = {}

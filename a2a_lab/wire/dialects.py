"""Which dialects the lab speaks, and what every one of them can do. To add one, write its module and list it here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from a2a_lab.core.model import Binding, Json, StreamEvent
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import MalformedJson, Misuse
from a2a_lab.verdicts import Finding
from a2a_lab.wire import strict_json
from a2a_lab.wire.messages import Answer, Headers, Op, OutMessage, RequestFacts, WireRequest
from a2a_lab.wire.v0_3 import JsonRpc03
from a2a_lab.wire.v1_0 import JsonRpc10

__all__ = [
    "DIALECTS",
    "Answer",
    "Dialect",
    "Op",
    "OutMessage",
    "RequestFacts",
    "WireRequest",
    "dialect_for",
    "dialect_of_request",
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

    def parse_request(self, body: bytes) -> RequestFacts:
        """A recorded request of some consumer, read."""


DIALECTS: Final[tuple[Dialect, ...]] = (JsonRpc10(), JsonRpc03())

# How cards and forms spell the dialects that are spoken; every patch of 0.3 is one wire.
_SPELLINGS: Final = {"1.0": "1.0", "0.3": "0.3", "0.3.0": "0.3"}


def dialect_for(version: str, binding: Binding = "JSONRPC") -> Dialect:
    """The dialect of a version or card form ("1.0", "0.3", "0.3.0") over a binding.

    Raises Misuse for one that the lab does not speak: the version gate comes first (A2).
    """
    wanted = _SPELLINGS.get(version)
    found = next((dialect for dialect in DIALECTS if (dialect.id, dialect.binding) == (wanted, binding)), None)
    if found is None:
        spoken = ", ".join(f"{dialect.id} over {dialect.binding}" for dialect in DIALECTS)
        raise Misuse(f"no dialect {version!r} over {binding}; spoken are {spoken}", version=version, binding=binding)
    return found


def dialect_of_request(body: bytes) -> Dialect | None:
    """The dialect whose method a recorded request names; None for none. `tasks/get` and its like count as 0.3."""
    try:
        document, _ = strict_json.parse_noting(body)
    except MalformedJson:
        return None
    method = document.get("method") if isinstance(document, dict) else None
    return next((dialect for dialect in DIALECTS if method in dialect.names.values()), None)

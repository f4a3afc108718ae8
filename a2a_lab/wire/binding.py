"""What every dialect consists of: objects in the version's own shapes, and a binding that carries them.

The version half (`v1_0`, `v0_3`, ...) writes parameters and reads results; the binding half (`jsonrpc`, `rest`) makes
HTTP of them. A dialect is one of each.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from a2a_lab.core.model import Binding, Json, Message, StreamEvent, Task
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Finding, Stage
from a2a_lab.wire import strict_json
from a2a_lab.wire.frames import EVENT_STREAM, FrameReader
from a2a_lab.wire.messages import Answer, Headers, Op, OutMessage, RequestFacts, WireRequest
from a2a_lab.wire.objects import ObjectReader
from a2a_lab.wire.sse import SseReader


class BoundDialect(ABC):
    """The hooks that the two halves meet in, and what does not depend on either."""

    id: ClassVar[str]
    binding: ClassVar[Binding]
    names: ClassVar[Mapping[Op, str]]
    version_header: ClassVar[str | None] = None
    extensions_header: ClassVar[str]
    stream_media: ClassVar[str] = EVENT_STREAM

    # -- what a version gives

    @abstractmethod
    def reader(self, *, in_stream: bool) -> ObjectReader:
        """A fresh reader of this dialect's objects."""

    @abstractmethod
    def write_params(
        self,
        op: Op,
        *,
        message: OutMessage | None,
        task_id: str | None,
        tenant: str | None,
        metadata: Mapping[str, Json] | None,
        accepts: tuple[str, ...],
        return_immediately: bool | None,
        history_length: int | None,
        context_id: str | None,
    ) -> dict[str, Json] | None:
        """The params of a request."""

    @abstractmethod
    def read_result(self, op: Op, result: Json, reader: ObjectReader) -> Task | Message | None:
        """The result of a unary call; None with a finding where it is no shape that the call may return."""

    @abstractmethod
    def read_update(self, result: Json, reader: ObjectReader) -> StreamEvent:
        """The content of one stream frame."""

    @abstractmethod
    def read_params(self, facts: RequestFacts, params: Mapping[str, Json]) -> RequestFacts:
        """Complete the facts of a request from its params."""

    # -- what a binding gives

    @abstractmethod
    def write_call(
        self,
        op: Op,
        params: Mapping[str, Json] | None,
        *,
        url: str,
        rpc_id: Json,
        task_id: str | None,
        headers: Mapping[str, str],
    ) -> WireRequest:
        """The params as a request to the interface at `url`; `headers` are the version's own."""

    @abstractmethod
    def read_body(self, op: Op, *, rpc_id: Json, status: int, headers: Headers, body: bytes, bounds: Bounds) -> Answer:
        """A whole body as the answer to a call that the dialect has."""

    # -- what is the same in all

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
        """A request of ours. `message` is needed by send and stream, `task_id` by get, cancel and subscribe.

        `tenant` is that of the chosen interface, echoed exactly; None or empty leaves it out (D2). `context_id` narrows
        `list`. Only JSON-RPC has a place for `rpc_id`. Raises Misuse for an operation that the dialect does not have.
        """
        self.demand(op, message, task_id)
        params = self.write_params(
            op,
            message=message,
            task_id=task_id,
            tenant=tenant or None,
            metadata=metadata,
            accepts=accepts,
            return_immediately=return_immediately,
            history_length=history_length,
            context_id=context_id,
        )
        own = self.service_headers(extensions)
        return self.write_call(op, params, url=url, rpc_id=rpc_id, task_id=task_id, headers=own)

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
        """Read a whole body as the answer to `op`. Never raises for what a peer sent: it is all in the findings.

        Raises Misuse for an operation that the dialect does not have.
        """
        self._has(op)
        return self.read_body(op, rpc_id=rpc_id, status=status, headers=headers, body=body, bounds=bounds)

    def _has(self, op: Op) -> None:
        if op not in self.names:
            known = ", ".join(sorted(self.names))
            raise Misuse(f"A2A {self.id} over {self.binding} has no {op!r}; it has {known}")

    def task_id_of(self, message: OutMessage) -> str | None:
        """The task that must answer a message, where that is known beforehand; None where the agent makes the id."""
        return message.task_id

    def other_way(self, op: Op, request: WireRequest, status: int | None) -> tuple[WireRequest, Finding] | None:
        """The same call as another text of the version has it, after an answer with `status`; and a note on that."""
        return None

    def is_stream(self, media: str | None, begins: bytes) -> bool | None:
        """Whether a success is a stream, by its media type or else by its first bytes; None until these are there."""
        if media is not None:
            return media == EVENT_STREAM
        return begins.lstrip()[:1] not in (b"{", b"[") if begins.strip() else None

    def frames(self, bounds: Bounds) -> FrameReader:
        """A reader that cuts a stream of this binding into events."""
        return SseReader(bounds)

    def demand(self, op: Op, message: OutMessage | None, task_id: str | None) -> None:
        """Raise Misuse for an operation that the dialect does not have, or that lacks what it is about."""
        self._has(op)
        if op in ("send", "stream") and message is None:
            raise Misuse(f"{op} needs a message")
        if op in ("get", "cancel", "subscribe") and not task_id:
            raise Misuse(f"{op} needs a task id")

    def service_headers(self, extensions: tuple[str, ...]) -> dict[str, str]:
        """The headers by which the version says itself and the extensions that are spoken, where it has extensions."""
        headers = {"A2A-Version": self.version_header} if self.version_header is not None else {}
        is_said = bool(extensions and self.extensions_header)
        return headers | ({self.extensions_header: ", ".join(extensions)} if is_said else {})


def restaged(finding: Finding) -> Finding:
    """A finding of a call, as one of the stream it was meant to open."""
    return dataclasses.replace(finding, stage=Stage.STREAM)

"""Calls one target in its dialect: builds the request, sends it, reads the answer. Judges nothing, decides nothing.

Tenant, selecting headers and credentials of the target go with every call, so that no call can forget them (D2). A
redirect is followed where the core allows it, and a throttled call is tried once more where the peer says when (R2).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Mapping, Set
from dataclasses import dataclass, replace

from a2a_lab.core.addresses import dialled
from a2a_lab.core.model import Json
from a2a_lab.core.patience import RETRY_DEFAULT_S
from a2a_lab.core.policy import Bounds
from a2a_lab.core.redirects import REDIRECTS, judge_post_redirect
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.net.client import Http, LiveStream
from a2a_lab.net.credentials import Source
from a2a_lab.net.grpc_calls import over_grpc
from a2a_lab.verdicts import Finding, NotGradeable
from a2a_lab.wire.dialects import Answer, Dialect, Op, OutMessage, WireRequest
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.http_faults import judge_fault

PATIENCE_S = 5.0  # of a caller that has no clocks; a peer that wants more than this is not asked again (R2)
_MAY_BE_THROTTLED = (429, 503)


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One unary call: the evidence, and what the wire made of it. `answer` is None where no HTTP answer came."""

    exchange: Exchange
    rpc_id: Json
    answer: Answer | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A streaming call whose answer has begun, or the fault that came instead (`live.exchange.fault`)."""

    live: LiveStream
    rpc_id: Json
    findings: tuple[Finding, ...] = ()


class Caller:
    """One consumer's calls to one target. `plain` are hosts that may be spoken to over gRPC without TLS.

    Raises Misuse where the target is one of gRPC and the extra for it is not installed.
    """

    def __init__(
        self,
        http: Http,
        dialect: Dialect,
        target: ResolvedTarget,
        *,
        credentials: Source | None,
        bounds: Bounds,
        extensions: tuple[str, ...] = (),
        plain: Set[str] = frozenset(),
        patience_s: float = PATIENCE_S,
    ) -> None:
        """`patience_s` is how long a peer may ask to be left alone before a call is made once more."""
        self.dialect = dialect
        self.target = target
        self._selectors = dict(target.headers)
        self._credentials = credentials
        self._http = over_grpc(http) if dialect.binding == "GRPC" else http
        self._url = target.dispatch_url
        if dialect.binding == "GRPC":
            self._url = str(dialled(target.dispatch_url, plain=plain))
        self._bounds = bounds
        self._extensions = extensions
        self._patience_s = patience_s
        self._numbers = itertools.count(1)
        # What the agent would have otherwise than the dialect writes it: headers, and where its operations lie.
        self._learned: dict[str, str] = {}
        self.was_answered = False  # by any HTTP answer at all

    def now_ms(self) -> float:
        """Milliseconds since the cell began."""
        return self._http.recorder.now_ms()

    async def call(
        self,
        op: Op,
        *,
        purpose: str,
        message: OutMessage | None = None,
        task_id: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        accepts: tuple[str, ...] = (),
        return_immediately: bool | None = None,
        total_s: float | None = None,
    ) -> Called:
        """One unary call, ended at `total_s` seconds at the latest (None: only by the transport or the lab's cap)."""
        rpc_id, request = self._request(op, message, task_id, metadata, accepts, return_immediately)
        began_ms = self.now_ms()
        called = await self._once(op, rpc_id, request, purpose, total_s)
        wait_s = self._wait_s(called.answer)
        left_s = None if total_s is None else total_s - (self.now_ms() - began_ms) / 1000
        if wait_s is not None and (left_s is None or wait_s < left_s):
            await asyncio.sleep(wait_s)
            called = await self._once(op, rpc_id, request, purpose, None if left_s is None else left_s - wait_s)
        return called

    def _wait_s(self, answer: Answer | None) -> float | None:
        """How long to wait before a call is made once more; None where it was let in, or asks for too much patience."""
        if answer is None or answer.not_gradeable is not NotGradeable.THROTTLED:
            return None
        wait_s = RETRY_DEFAULT_S if answer.retry_after_s is None else answer.retry_after_s
        return wait_s if wait_s <= self._patience_s else None

    @contextlib.asynccontextmanager
    async def open(
        self,
        op: Op,
        *,
        purpose: str,
        message: OutMessage | None = None,
        task_id: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        accepts: tuple[str, ...] = (),
        open_s: float | None = None,
    ) -> AsyncIterator[Opened]:
        """A streaming call; leaving the context closes it. `open_s` bounds the wait for the answer to begin.

        One that is throttled is made once more, as a unary call is.
        """
        rpc_id, request = self._request(op, message, task_id, metadata, accepts, None)
        notes: tuple[Finding, ...] = ()
        hops, may_retry = 0, True
        async with contextlib.AsyncExitStack() as stack:
            while True:  # ended by the one retry, and by the core's bound on redirects
                live = await stack.enter_async_context(self._stream(request, purpose, open_s))
                again, found = self._again(op, request, live.exchange, hops)
                notes += found
                if again is None:
                    wait_s = await self._turned_away(op, rpc_id, live, open_s) if may_retry else None
                    if wait_s is None:
                        break
                    may_retry = False
                    await stack.aclose()
                    await asyncio.sleep(wait_s)
                    continue
                hops += 1
                await stack.aclose()
                request = again
            yield Opened(live=live, rpc_id=rpc_id, findings=notes)

    async def _turned_away(self, op: Op, rpc_id: Json, live: LiveStream, open_s: float | None) -> float | None:
        """How long a streaming call that was throttled has to wait; what was read of its answer is put back."""
        if live.exchange.status not in _MAY_BE_THROTTLED:
            return None
        live.unread(await live.rest(self._patience_s if open_s is None else open_s))
        return self._wait_s(self.read(op, rpc_id, live.exchange))

    async def _once(self, op: Op, rpc_id: Json, request: WireRequest, purpose: str, total_s: float | None) -> Called:
        notes: tuple[Finding, ...] = ()
        for hops in itertools.count():
            exchange = await self._http.send(
                request.method,
                request.url,
                request.headers,
                request.body,
                purpose=purpose,
                total_s=total_s,
                credentials=self._credentials,
            )
            again, found = self._again(op, request, exchange, hops)
            notes += found
            if again is None:
                break
            request = again
        if (fault := judge_fault(exchange.fault, status=exchange.status, url=exchange.url)) is not None:
            notes += (fault,)
        return Called(exchange=exchange, rpc_id=rpc_id, answer=self.read(op, rpc_id, exchange), findings=notes)

    def read(self, op: Op, rpc_id: Json, exchange: Exchange) -> Answer | None:
        """What a whole body says as the answer to `op`; None where the transport failed before there was one."""
        self.was_answered |= exchange.status is not None
        if exchange.status is None or exchange.fault is not None:
            return None
        return self.dialect.read_answer(
            op,
            rpc_id=rpc_id,
            status=exchange.status,
            headers=exchange.response_headers,
            body=exchange.body,
            bounds=self._bounds,
        )

    def _request(
        self,
        op: Op,
        message: OutMessage | None,
        task_id: str | None,
        metadata: Mapping[str, Json] | None,
        accepts: tuple[str, ...],
        return_immediately: bool | None,
    ) -> tuple[Json, WireRequest]:
        rpc_id = f"lab-{next(self._numbers)}"
        request = self.dialect.request(
            op,
            url=self._url,
            rpc_id=rpc_id,
            message=message,
            task_id=task_id,
            tenant=self.target.tenant_id,
            metadata=metadata,
            accepts=accepts,
            return_immediately=return_immediately,
            extensions=self._extensions,
        )
        learned = {name: value for name, value in self._learned.items() if name in request.headers}
        return rpc_id, replace(request, headers={**request.headers, **learned, **self._selectors})

    def _stream(
        self, request: WireRequest, purpose: str, open_s: float | None
    ) -> contextlib.AbstractAsyncContextManager[LiveStream]:
        return self._http.stream(
            request.method,
            request.url,
            request.headers,
            request.body,
            purpose=purpose,
            open_s=open_s,
            credentials=self._credentials,
        )

    def _again(
        self, op: Op, request: WireRequest, exchange: Exchange, hops: int
    ) -> tuple[WireRequest | None, tuple[Finding, ...]]:
        """The call as it is to be made once more: elsewhere, or as another text of the version has it."""
        other = self.dialect.other_way(op, request, exchange.status)
        if other is not None:
            self._learn(request, other[0])
            return other[0], (other[1],)
        there, found = self._moved(exchange, request.url, hops)
        return (replace(request, url=there) if there is not None else None), found

    def _learn(self, asked: WireRequest, other: WireRequest) -> None:
        self._learned |= {name: value for name, value in other.headers.items() if asked.headers.get(name) != value}
        below = asked.url.removeprefix(self._url.rstrip("/"))
        if other.url != asked.url and other.url.endswith(below):
            self._url = other.url.removesuffix(below)

    def _moved(self, exchange: Exchange, url: str, hops: int) -> tuple[str | None, tuple[Finding, ...]]:
        """Where the call is to be repeated, if the answer redirects it and the core allows it (R10)."""
        if exchange.status not in REDIRECTS:
            return None, ()
        hop = judge_post_redirect(url=url, status=exchange.status, location=exchange.header("location"), hops=hops)
        return hop.url, hop.findings

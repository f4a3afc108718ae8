"""A recorder for calls over gRPC: passes messages on as the bytes they are and as they come, and keeps a copy.

It stands at a port of its own for one place that a card names. What it keeps is in the agent's terms, in the form that
the lab's own calls have (`grpc_calls`), so that judging does not see who made them. Methods that are none of A2A's are
passed on as well. Only the user agent is its own, which grpcio does not let go by.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from a2a_lab.core.addresses import authority, dialled, is_wildcard
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import Withheld
from a2a_lab.net import grpc_channel
from a2a_lab.net.client import Reach
from a2a_lab.net.front import HOST
from a2a_lab.net.grpc_calls import DEADLINE_EXCEEDED, ended, local_fault, outcome, texts
from a2a_lab.net.keeping import Kept
from a2a_lab.wire import frames, protobuf, protojson
from a2a_lab.wire.exchange import Exchange, GrpcBytes

_OWN: Final = ("user-agent", "grpc-accept-encoding", "accept-encoding", "te", "content-type")
"""Metadata of the connection to the recorder, which the connection to the agent has of its own."""
_EARLY_S: Final = 0.05  # by which grpcio's clock may be ahead of the loop's


class GrpcFront:
    """Stands in front of the place at `url`. `keep` begins the copy of an exchange; `cut_by` says who leaves it.

    `admit` gives what a call carries on to the agent, and raises Withheld for one that does not go on.
    """

    def __init__(
        self,
        url: str,
        *,
        keep: Callable[[Exchange], Kept],
        admit: Callable[[Exchange], Awaitable[Mapping[str, str]]],
        cut_by: Callable[[], str],
        reach: Reach,
        fault: str,
    ) -> None:
        self._admit = admit
        place = parse_url(url, binding="GRPC")
        place = dialled(url, plain={place.host} if is_wildcard(place.host) else frozenset())  # its own machine is meant
        self.own = f"{place.scheme}://{authority(place)}"
        self._keep, self._cut_by, self._reach, self._fault_header = keep, cut_by, reach, fault
        self._server: Any = None
        self._channel: Any = None
        self._open = contextlib.AsyncExitStack()
        self.address = ""

    async def start(self) -> str:
        """Listen; gives `host:port`. Raises Misuse where the extra `grpc` is not installed."""
        aio = grpc_channel.require()
        self._channel = await self._open.enter_async_context(grpc_channel.opened(self.own, self._reach, None))
        self._server = aio.server(options=grpc_channel.UNBOUNDED)
        self._server.add_generic_rpc_handlers((_everything(self._handle),))
        self.address = f"{HOST}:{self._server.add_insecure_port(f'{HOST}:0')}"
        await self._server.start()
        return self.address

    async def stop(self) -> None:
        """Stop: what still answers is cancelled."""
        if self._server is not None:
            await self._server.stop(None)
        await self._open.aclose()

    async def _handle(self, path: str, requests: Any, context: Any) -> None:
        """One call, until its status is passed on or one of the two has gone."""
        sent = [(name, value) for name, value in context.invocation_metadata() or () if name not in _OWN]
        asked = texts(context.invocation_metadata())
        exchange = Exchange(
            method="POST",
            url=self.own + path,
            request_headers=[("content-type", frames.GRPC), *asked],
            grpc=GrpcBytes(),
        )
        kept = self._keep(exchange)
        try:
            extra = {name.lower(): value for name, value in (await self._admit(exchange)).items()}
        except Withheld as held:
            await self._broken(context, kept, f"limit: withheld, {held.reason}")
            kept.close()
            return
        except asyncio.CancelledError:  # the consumer did not wait for its turn
            kept.left(self._cut_by())
            kept.close()
            raise
        sent = [*((name, value) for name, value in sent if name not in extra), *extra.items()]
        schema = protobuf.schema_of(path)
        method = schema.methods[path] if schema is not None else None
        left_s = context.time_remaining()
        until = None if left_s is None else asyncio.get_running_loop().time() + left_s
        call = self._channel.stream_stream(path)(metadata=sent, timeout=left_s)
        try:
            sending = asyncio.create_task(self._send(requests, call, kept, method))
            try:
                await self._answer(call, context, kept, method, until)
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
        except asyncio.CancelledError:
            kept.left(self._cut_by())
            raise
        finally:
            call.cancel()
            kept.close()
            if method is not None and not method.is_stream:
                exchange.chunks = []  # one message, whose time is that of the exchange

    async def _send(self, requests: Any, call: Any, kept: Kept, method: protobuf.Method | None) -> None:
        """The consumer's messages, each kept before it goes on."""
        body = b""
        async for raw in requests:
            if method is not None:
                body += protojson.line(protojson.read_message(method.request, raw))
            if kept.exchange.grpc is not None and kept.exchange.grpc.request is None:
                kept.exchange.grpc.request = raw
            kept.request(body.rstrip(b"\n"), is_whole=True)
            await call.write(raw)
        await call.done_writing()

    async def _answer(
        self, call: Any, context: Any, kept: Kept, method: protobuf.Method | None, until: float | None
    ) -> None:
        """What the agent says, as it says it: head, messages, status. `until` is when the consumer gives up."""
        import grpc

        initial = await call.initial_metadata()
        if call.done() and await _is_late(call, until):
            return kept.left(self._cut_by())
        if call.done() and (fault := await local_fault(call, self._channel)) is not None:
            return await self._broken(context, kept, fault)
        kept.head(200, [("content-type", frames.GRPC), *texts(initial)])
        await context.send_initial_metadata(tuple(initial or ()))
        said = kept.exchange.grpc
        while True:
            try:
                raw = await call.read()
            except (grpc.aio.AioRpcError, KeyError):
                break
            if raw is grpc.aio.EOF:
                break
            if method is not None:
                kept.data(protojson.line(protojson.read_message(method.answer, raw)))
            if said is not None and kept.is_keeping:
                said.messages.append(raw)
            await context.write(raw)
        if await _is_late(call, until):
            return kept.left(self._cut_by())
        if (fault := await local_fault(call, self._channel)) is not None:
            return await self._broken(context, kept, fault)
        trailers, failed = await ended(call)
        if failed is not None:
            kept.data(failed)
        kept.exchange.response_headers += trailers
        if said is not None:
            said.trailers = [name for name, _ in trailers]
        kept.ended()
        context.set_trailing_metadata(tuple(await call.trailing_metadata() or ()))
        code, told = await outcome(call)
        context.set_code(next(one for one in grpc.StatusCode if one.value[0] == code))
        context.set_details(told)

    async def _broken(self, context: Any, kept: Kept, fault: str) -> None:
        """The connection to the agent broke; the consumer is told so, and by whom."""
        import grpc

        kept.failed(fault)
        context.set_trailing_metadata(((self._fault_header, fault.encode("ascii", "replace").decode()[:200]),))
        context.set_code(grpc.StatusCode.UNAVAILABLE)
        context.set_details(f"a2a-lab recorder: the agent at {self.own} gave no whole answer: {fault}"[:400])


async def _is_late(call: Any, until: float | None) -> bool:
    """Whether the call ended because the consumer's own deadline passed: grpcio says so as if the agent had."""
    if until is None or (await outcome(call))[0] != DEADLINE_EXCEEDED:
        return False
    return asyncio.get_running_loop().time() >= until - _EARLY_S


def _everything(handle: Callable[[str, Any, Any], Any]) -> Any:
    """A handler of every method there is, messages as bytes."""
    import grpc

    class Everything(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            async def handled(requests: Any, context: Any) -> None:
                await handle(details.method, requests, context)

            return grpc.stream_stream_rpc_method_handler(handled)

    return Everything()

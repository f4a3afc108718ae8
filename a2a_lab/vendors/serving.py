"""Puts a simulated vendor behind a real socket: one OS-given port on loopback each, all in one event loop.

Every answer carries the nonce of its agent, by which the lab knows that what answers is what it started (R40).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from a2a_lab.vendors.traffic import Incoming, Reply

NONCE_HEADER = "X-A2A-Lab-Nonce"


class Vendor(Protocol):
    """What can be put behind a socket."""

    async def handle(self, request: Incoming) -> Reply: ...

    def store(self) -> dict[str, Any]: ...

    def close(self) -> None: ...


def application(vendor: Vendor, nonce: str) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The ASGI application of one vendor."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (NONCE_HEADER.lower().encode(), nonce.encode())]
            await send(message)

        request = Request(scope, receive)
        incoming = Incoming(
            method=request.method,
            path=request.url.path,
            query=dict(request.query_params),
            headers=dict(request.headers),
            body=await request.body(),
        )
        reply = await vendor.handle(incoming)
        await _response(reply)(scope, receive, stamped)

    return app


def _response(reply: Reply) -> Response:
    headers, status, kind = dict(reply.headers), reply.status, reply.media_type
    if isinstance(reply.body, bytes):
        return Response(reply.body, status, headers, kind)
    return StreamingResponse(reply.body, status, headers, kind)


class _Server(uvicorn.Server):
    """Many of these share a process whose end is the lab's business, so none of them takes the signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Listening:
    """A vendor behind its socket. `start` returns when it accepts connections."""

    def __init__(self, vendor: Vendor, nonce: str, listener: socket.socket) -> None:
        config = uvicorn.Config(
            application(vendor, nonce),
            lifespan="off",
            log_config=None,
            access_log=False,
            log_level="critical",
            server_header=False,
            ws="none",
        )
        self.vendor = vendor
        self._server = _Server(config)
        self._listener = listener
        self._job: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._job = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        while not self._server.started:
            if self._job.done():
                await self._job
            await asyncio.sleep(0)

    async def stop(self) -> None:
        """Stop at once: work is ended, open streams are cut."""
        self.vendor.close()
        self._server.should_exit = self._server.force_exit = True
        if self._job is not None:
            await self._job


class Ports:
    """Hands out listening sockets on loopback, no port twice in the life of the process."""

    def __init__(self) -> None:
        self._given: set[int] = set()

    def listener(self) -> socket.socket:
        taken: list[socket.socket] = []  # held until a fresh one is found, so that the OS cannot offer them again
        try:
            while True:
                found = socket.create_server(("127.0.0.1", 0), backlog=128)
                port = found.getsockname()[1]
                if port not in self._given:
                    self._given.add(port)
                    return found
                taken.append(found)
        finally:
            for other in taken:
                other.close()

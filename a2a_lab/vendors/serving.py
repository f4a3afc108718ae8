"""Puts a simulated vendor behind a real socket: one OS-given port on loopback each, all in one event loop.

Every answer carries the nonce of its agent, by which the lab knows that what answers is what it started (R40).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

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


class Listening:
    """A vendor behind its socket, from `start` to `stop`.

    Of uvicorn only its HTTP protocol is used: its server object takes the signals of the process and wakes up ten
    times a second, which a process of hundreds of agents cannot have.
    """

    def __init__(self, vendor: Vendor, nonce: str, listener: socket.socket) -> None:
        self.vendor = vendor
        self._listener = listener
        self._state = ServerState()
        self._config = uvicorn.Config(
            application(vendor, nonce),
            lifespan="off",
            log_config=None,
            access_log=False,
            log_level="critical",
            ws="none",
            timeout_keep_alive=60,  # longer than any pause of a cell, so that no client finds its connection gone
        )
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Accept connections from now on."""
        self._config.load()
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.Protocol:
            return self._config.http_protocol_class(self._config, self._state, {}, loop)  # type: ignore[call-arg]

        self._server = await loop.create_server(protocol, sock=self._listener)

    def stop(self) -> None:
        """Stop at once: work is ended, open streams are cut, waiting calls are dropped."""
        self.vendor.close()
        if self._server is not None:
            self._server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        for task in list(self._state.tasks):
            task.cancel()


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

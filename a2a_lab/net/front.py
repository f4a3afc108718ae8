"""One ASGI application behind a socket of this machine, on a port that the system chooses.

Of uvicorn only its HTTP protocol is used: its server object takes the signals of the process, and looks at the clock
ten times a second. Nothing is added to an answer: no Date, no Server. Header names are handed to the application as
they were written, which ASGI does not do: `as_written` has them.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from uvicorn.server import ServerState

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
# Longer than clients keep a connection that they do not use, so that none finds its connection gone.
KEEP_ALIVE_S = 300
_WRITTEN = "a2a-lab.headers"  # of the state that uvicorn hands on with each request of a connection
SETTLE_S = 0.3  # in which a client that is gone already is seen to be gone


class Front:
    """Serves the application from `start` to `stop`."""

    def __init__(self, app: App) -> None:
        self._config = uvicorn.Config(
            app,
            interface="asgi3",
            http="h11",
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        self._state = ServerState()
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        """Listen; gives the origin. Raises OSError where the machine has no port left."""
        self._config.load()
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.Protocol:
            written: list[tuple[bytes, bytes]] = []
            kind: Any = self._config.http_protocol_class
            made = kind(self._config, self._state, {_WRITTEN: written}, loop)
            _overhear(made.conn, written)
            return made  # type: ignore[no-any-return]

        listener = socket.create_server((HOST, 0), backlog=128)
        self._server = await loop.create_server(protocol, sock=listener)
        return f"http://{HOST}:{listener.getsockname()[1]}"

    async def stop(self) -> None:
        """Stop: what is about to end may end, what still answers is cancelled, and open connections are cut."""
        if self._server is not None:
            self._server.close()
        if self._state.tasks:
            await asyncio.wait(self._state.tasks, timeout=SETTLE_S)
        tasks = list(self._state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in list(self._state.connections):
            connection.transport.abort()


def as_written(scope: Message) -> list[tuple[bytes, bytes]]:
    """The headers of a request with their names spelt as the client did; `scope["headers"]` has them in lower case."""
    return list(scope.get("state", {}).get(_WRITTEN) or scope["headers"])


def _overhear(connection: Any, written: list[tuple[bytes, bytes]]) -> None:
    """Keep the header names of each request before uvicorn folds them; the next one comes once this is answered."""
    plain = connection.next_event

    def next_event() -> Any:
        event = plain()
        if hasattr(event, "target"):  # a request, of the kinds of event that h11 has
            written[:] = event.headers.raw_items()
        return event

    connection.next_event = next_event

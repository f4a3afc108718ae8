"""Small hostile and honest gRPC servers in the process, on real sockets: bytes in, bytes out, no SDK."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from a2a_lab.net.grpc_channel import require

Handler = Callable[[bytes, Any], AsyncIterator[bytes]]
"""Gives the messages of an answer, as bytes; `context` is grpcio's."""

SERVICE = "lf.a2a.v1.A2AService"


@contextlib.asynccontextmanager
async def grpc_peer(
    service: str = SERVICE, *, tls: tuple[bytes, bytes] | None = None, **methods: Handler
) -> AsyncIterator[str]:
    """Serve each method by its handler; yields `host:port`. `tls` are a private key and a certificate, as PEM."""
    aio = require()
    import grpc

    class Any_(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            handler = methods.get(details.method.rpartition("/")[2])
            is_ours = details.method.startswith(f"/{service}/")
            return grpc.unary_stream_rpc_method_handler(handler) if handler is not None and is_ours else None

    server = aio.server()
    server.add_generic_rpc_handlers((Any_(),))
    if tls is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([tls]))
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@contextlib.asynccontextmanager
async def http2_peer(answer: Callable[[int], bytes]) -> AsyncIterator[str]:
    """Answer every request of HTTP/2 with frames of `answer`, which is given the number of its stream."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readexactly(24)  # the preface of the client
            writer.write(frame(SETTINGS, 0, 0))
            while True:
                head = await reader.readexactly(9)
                await reader.readexactly(int.from_bytes(head[:3], "big"))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                if kind == SETTINGS and not flags:
                    writer.write(frame(SETTINGS, 1, 0))
                elif kind == DATA and flags & END:
                    writer.write(answer(stream))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


DATA, HEADERS, RST_STREAM, SETTINGS = 0, 1, 3, 4
END, END_HEADERS = 1, 4
STATUS_200, STATUS_404 = b"\x88", b"\x8d"
"""The header :status, as the static table of HPACK has it."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def head(stream: int, status: bytes, *, flags: int = END_HEADERS, **headers: str) -> bytes:
    """A HEADERS frame, every header as a literal of HPACK."""
    literals = [
        b"\0" + bytes([len(text)]) + text if place == 0 else bytes([len(text)]) + text
        for name, value in headers.items()
        for place, text in enumerate((name.replace("_", "-").encode(), value.encode()))
    ]
    return frame(HEADERS, flags, stream, status + b"".join(literals))


def message(raw: bytes) -> bytes:
    """A message as gRPC frames it: not compressed, and its length."""
    return b"\0" + len(raw).to_bytes(4, "big") + raw

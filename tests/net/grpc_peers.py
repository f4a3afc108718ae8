"""Small hostile and honest gRPC servers in the process, on real sockets: bytes in, bytes out, no SDK."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from a2a_lab.net.grpc_channel import require

Handler = Callable[[bytes, Any], AsyncIterator[bytes]]
"""Gives the messages of an answer, as bytes; `context` is grpcio's."""

SERVICE = "lf.a2a.v1.A2AService"


@contextlib.asynccontextmanager
async def grpc_peer(service: str = SERVICE, **methods: Handler) -> AsyncIterator[str]:
    """Serve each method by its handler; yields `host:port`."""
    aio = require()
    import grpc

    class Any_(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            handler = methods.get(details.method.rpartition("/")[2])
            is_ours = details.method.startswith(f"/{service}/")
            return grpc.unary_stream_rpc_method_handler(handler) if handler is not None and is_ours else None

    server = aio.server()
    server.add_generic_rpc_handlers((Any_(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)

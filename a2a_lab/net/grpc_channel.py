"""Opens gRPC channels as the operator reaches a target: plain text or TLS by scheme, proxy, own certificates, bounds.

grpcio is imported on first use, quiet, since its core writes to the standard error of whoever loads it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

from a2a_lab.core.policy import Bounds
from a2a_lab.errors import Misuse
from a2a_lab.net.client import USER_AGENT, Reach
from a2a_lab.wire.protobuf import NEEDS_EXTRA

UNBOUNDED: Final[list[tuple[str, Any]]] = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 1_000_000),
    ("grpc.absolute_max_metadata_size", 1_000_000),
]
"""Options of whoever passes on what others say: a bound of its own would cut their traffic."""


def require() -> ModuleType:
    """The module grpc.aio. Raises Misuse with what to install where it is missing."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")  # its handlers print at every vendor that is launched
    try:
        import google.protobuf
        import grpc.aio
    except ImportError as fault:
        raise Misuse(NEEDS_EXTRA) from fault
    del google
    module: ModuleType = grpc.aio
    return module


def is_available() -> bool:
    """Whether the extra `grpc` is installed."""
    try:
        require()
    except Misuse:
        return False
    return True


@contextlib.asynccontextmanager
async def opened(url: str, reach: Reach, bounds: Bounds | None, *, authority: str | None = None) -> AsyncIterator[Any]:
    """A channel to the host of a URL, closed when the context is left. `authority` is what it is asked as, if not that.

    `bounds` None takes whatever comes, for whoever passes it on. Nothing is retried: what is sent once leaves once.
    """
    aio, place = require(), urlsplit(url)
    limits = UNBOUNDED if bounds is None else _limits(bounds)
    options = [
        *limits,
        ("grpc.enable_retries", 0),
        ("grpc.primary_user_agent", USER_AGENT),
        ("grpc.enable_http_proxy", int(reach.trust_env or reach.proxy is not None)),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if reach.proxy is not None:
        options.append(("grpc.http_proxy", reach.proxy))
    if authority is not None:
        options += [
            ("grpc.default_authority", authority),
            ("grpc.ssl_target_name_override", authority.rpartition(":")[0]),
        ]
    if place.scheme == "https":
        channel = aio.secure_channel(place.netloc, _credentials(reach), options=options)
    else:
        channel = aio.insecure_channel(place.netloc, options=options)
    async with channel:
        yield channel


def _limits(bounds: Bounds) -> list[tuple[str, Any]]:
    return [
        ("grpc.max_receive_message_length", bounds.body_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", bounds.header_bytes),
        ("grpc.absolute_max_metadata_size", bounds.header_bytes),
    ]


def _credentials(reach: Reach) -> Any:
    """Trust as httpx has it: the usual roots, and the operator's beside them."""
    import certifi
    import grpc

    roots = Path(certifi.where()).read_bytes()
    if reach.ca_bundle:
        roots += b"\n" + Path(reach.ca_bundle).read_bytes()
    chain = Path(reach.client_cert).read_bytes() if reach.client_cert else None
    key = Path(reach.client_key or reach.client_cert or "").read_bytes() if chain else None
    return grpc.ssl_channel_credentials(roots, key, chain)

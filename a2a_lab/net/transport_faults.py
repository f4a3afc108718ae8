"""The words for what can go wrong below HTTP and in it: one word a fault, the same live and in every recording."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Final

import httpx

from a2a_lab.net.unpacking import Undecodable

# How it is said that an answer is missing or incomplete, by httpx and over gRPC.
_CUT: Final = ("server disconnected", "peer closed connection", "reset")


def fault_of(problem: BaseException) -> str:
    """The word for a transport fault; the text of the library where there is no word."""
    match problem:
        case httpx.ConnectTimeout():
            return "connect-timeout"
        case httpx.ReadTimeout():
            return "read-timeout"
        case httpx.WriteTimeout():
            return "write-timeout"
        case httpx.ConnectError():
            return _connect_fault(problem)
        case httpx.RemoteProtocolError() if "buffer" in str(problem).lower():
            return "limit: header_bytes"
        case Undecodable():
            return f"undecodable: {problem}"
        case httpx.RemoteProtocolError() if not str(problem).lower().startswith(_CUT):
            return f"malformed: {problem}"
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            return _tls_fault(problem) or "reset-after-request"
        case httpx.ProxyError():
            return f"proxy: {problem}"
        case _:
            return f"{type(problem).__name__}: {problem}"


def _causes(problem: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = problem
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _tls_fault(problem: BaseException) -> str | None:
    """In TLS 1.3 a server says only after the handshake that it wants a certificate of the client's."""
    return next((f"tls: {cause}" for cause in _causes(problem) if isinstance(cause, ssl.SSLError)), None)


def _connect_fault(problem: BaseException) -> str:
    if (tls := _tls_fault(problem)) is not None:
        return tls
    if any(isinstance(cause, socket.gaierror) for cause in _causes(problem)):
        return "dns"
    return (
        "connect-refused" if "refused" in str(problem) or "attempts failed" in str(problem) else f"connect: {problem}"
    )

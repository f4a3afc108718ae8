"""Calls over gRPC, as evidence: sends the bytes of one message, and writes down every message and when it came.

An `Http` that opens its answers in another way: clocks, bounds, cancelling and recording are those of every other call,
and what is read of an answer is the JSON of its messages, a line each (`wire.protojson`). A failing status becomes a
last line of its own. grpcio is needed here and nowhere below; without it `over_grpc` says what to install.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from a2a_lab.core.policy import Bounds
from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.net import grpc_channel
from a2a_lab.net.client import NONCE_HEADER, Http
from a2a_lab.wire import frames, protobuf, protojson
from a2a_lab.wire.exchange import Exchange, GrpcBytes
from a2a_lab.wire.grpc_errors import CODES

Pairs = list[tuple[str, str]]

UNKNOWN, DEADLINE_EXCEEDED, PERMISSION_DENIED, UNAUTHENTICATED = 2, 4, 7, 16
DETAILS: Final = "grpc-status-details-bin"
# Headers of the transport itself, which grpcio writes on its own.
_NOT_METADATA: Final = frozenset({"content-type", "te", "user-agent", "host"})
_KEY: Final = re.compile(r"[0-9a-z_.-]+")
_VALUE: Final = re.compile(r"[\x20-\x7e]*")
# What grpcio says of a failure of its own side. The peer's words never decide more than which fault it is called.
_NEVER_CONNECTED: Final = re.compile(r"failed to connect|errors? resolving|DNS resolution|name resolution", re.I)
_WORDS: Final = (
    (re.compile(r"certificate|handshake|SSL", re.I), "tls"),
    (re.compile(r"resolv|resolution", re.I), "dns"),
    (re.compile(r"refused", re.I), "connect-refused"),
)
_BROKEN: Final = re.compile(
    r"socket closed|connection reset|broken pipe|RST_STREAM|GOAWAY|stream removed|transport closed|recvmsg|sendmsg"
    r"|endpoint clos|connection (?:closed|aborted)|cancelling all calls|failed parsing HTTP/2",
    re.I,
)
_NO_TRAILERS: Final = re.compile(r"^Stream removed$|END_STREAM flag received|http2 header with status: (?P<status>\d+)")
_TOO_LARGE: Final = re.compile(r"CLIENT: (?:Received message|Decompressed message) larger than max", re.I)
_METADATA_LARGE: Final = re.compile(r"metadata size exceeds", re.I)


class Broken(httpx.TransportError):
    """A call that ended on our side of the wire, or on the way. `word` is what evidence calls it."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


def over_grpc(http: Http) -> Http:
    """The calls of the same cell over gRPC. Raises Misuse where the extra `grpc` is not installed."""
    grpc_channel.require()
    return GrpcCalls(http)


class GrpcCalls(Http):
    """What one cell sends and receives over gRPC, written into the recorder of its other exchanges."""

    def __init__(self, http: Http) -> None:
        super().__init__(
            http._client,
            http.recorder,
            bounds=http._bounds,
            connect_to=http._connect_to,
            transport_timeout_s=http._read_timeout,
            cap_s=http._cap_s,
            gate=http._gate,
            expect_nonce=http.expect_nonce,
            reach=http.reach,
        )

    @contextlib.asynccontextmanager
    async def _open(self, exchange: Exchange) -> AsyncIterator[Any]:
        path = urlsplit(exchange.url).path
        schema = protobuf.schema_of(path)
        if schema is None:
            raise HarnessFault(f"{exchange.url} is no method of A2A over gRPC; run the cell again")
        method = schema.methods[path]
        raw = protojson.write_message(method.request, exchange.request_body)
        exchange.grpc = GrpcBytes(request=raw)
        there, override = self._connected(exchange.url)
        async with grpc_channel.opened(
            there, self.reach, self._bounds, authority=override[0][1] if override else None
        ) as channel:
            call = channel.unary_stream(path)(raw, metadata=metadata_of(exchange.request_headers))
            try:
                yield await self._answer(call, channel, exchange, method)
            finally:
                call.cancel()

    async def _answer(self, call: Any, channel: Any, exchange: Exchange, method: protobuf.Method) -> GrpcAnswer:
        """Wait for the head of the answer, or for the failure that came instead."""
        initial = await self._in_time(call.initial_metadata())
        if call.done() and (fault := await local_fault(call, channel, self._bounds)) is not None:
            raise Broken(fault)
        exchange.status = 200
        exchange.response_headers = [("content-type", frames.GRPC), *texts(initial)]
        self._recognise(exchange)
        if call.done() and (await outcome(call))[0] != 0:
            await note_end(call, exchange)  # there is no more to come: whoever looks at the head may see why
        return GrpcAnswer(self, call, channel, exchange, method)

    def _recognise(self, exchange: Exchange) -> None:
        """A gRPC server of a vendor has no place for the nonce; one that says another is somebody else's."""
        if exchange.header(NONCE_HEADER) is not None:
            super()._recognise(exchange)

    def _note_fault(self, exchange: Exchange, problem: BaseException) -> None:
        if not isinstance(problem, Broken):
            super()._note_fault(exchange, problem)
            return
        exchange.fault = problem.word
        if problem.word.startswith("limit"):
            exchange.ending = "open"
        elif exchange.status is not None:
            exchange.ending = "reset"

    async def _in_time(self, waiting: Any) -> Any:
        """The result of a wait, bounded as httpx bounds the wait for bytes: by the transport timeout."""
        try:
            async with asyncio.timeout(self._read_timeout):
                return await waiting
        except TimeoutError as late:
            raise httpx.ReadTimeout("the transport timeout passed without a message") from late


class GrpcAnswer:
    """An answer being read, in the shape that `Http` reads: its messages as lines of JSON."""

    def __init__(self, calls: GrpcCalls, call: Any, channel: Any, exchange: Exchange, method: protobuf.Method) -> None:
        self.headers: Mapping[str, str] = {}
        self._calls, self._call, self._channel = calls, call, channel
        self._exchange, self._method = exchange, method

    async def aiter_raw(self) -> AsyncIterator[bytes]:
        import grpc

        exchange = self._exchange
        assert exchange.grpc is not None
        while True:
            try:
                raw = await self._calls._in_time(self._call.read())
            except (grpc.aio.AioRpcError, KeyError):  # older grpcio has no word for a status that no table has
                break
            if raw is grpc.aio.EOF:
                break
            exchange.grpc.messages.append(raw)
            yield protojson.line(protojson.read_message(self._method.answer, raw))
        fault = await local_fault(self._call, self._channel, self._calls._bounds)
        if fault is not None:
            raise Broken(fault)
        failed = await note_end(self._call, exchange)
        if failed is not None:
            yield failed


async def outcome(call: Any) -> tuple[int, str]:
    """The status of a call that is over: its code, UNKNOWN for one that no table has, and its message."""
    try:
        code: int = (await call.code()).value[0]
    except KeyError:
        return UNKNOWN, ""
    return code, await call.details() or ""


async def note_end(call: Any, exchange: Exchange) -> bytes | None:
    """Write down the trailers of a call that is over, once; gives the line that says its failure, if it failed."""
    assert exchange.grpc is not None
    trailers, failed = await ended(call)
    if not exchange.grpc.trailers:
        exchange.response_headers += trailers
        exchange.grpc.trailers = [name for name, _ in trailers]
    return failed


async def ended(call: Any) -> tuple[Pairs, bytes | None]:
    """The trailers of a call that is over, and the line that says its failure; None where it succeeded."""
    code, said = await outcome(call)
    if (found := _NO_TRAILERS.search(said)) is not None:
        # grpcio tells the HTTP status only where that came before the body; what it makes of a 401 is of use.
        code = code if code in (PERMISSION_DENIED, UNAUTHENTICATED) else UNKNOWN
        under = f" (HTTP {found['status']})" if found["status"] else ""
        told = f"an answer without a status of gRPC{under}: of a server of another kind, or its trailers were dropped"
        return [], protojson.line({"error": {"code": code, "status": CODES[code], "message": told}})
    sent = list(await call.trailing_metadata() or ())
    trailers: Pairs = [("grpc-status", str(code)), *([("grpc-message", said)] if said else []), *texts(sent)]
    if code == 0:
        return trailers, None
    status: dict[str, Any] = {"code": code, "status": CODES[code], "message": said}
    packed = next((value for key, value in sent if key == DETAILS and isinstance(value, bytes)), None)
    if packed is not None:
        status["details"] = protojson.read_status(packed)
    return trailers, protojson.line({"error": status})


def metadata_of(headers: Pairs) -> list[tuple[str, str | bytes]]:
    """Headers as gRPC has them: names in lower case, binary ones as bytes; those of the transport left out.

    Raises Misuse for a header that gRPC cannot carry; it names the header and never its value.
    """
    found: list[tuple[str, str | bytes]] = []
    for name, value in ((name.lower(), value) for name, value in headers):
        if name in _NOT_METADATA or name.startswith((":", "grpc-")):
            continue
        if not _KEY.fullmatch(name) or not _VALUE.fullmatch(value):
            raise Misuse(
                f"header {name!r} cannot be sent as gRPC metadata: its name must be of a-z, 0-9, dot, dash and "
                "underscore, its value of printable ASCII"
            )
        try:
            found.append((name, base64.b64decode(f"{value.rstrip('=')}==") if name.endswith("-bin") else value))
        except binascii.Error as fault:
            raise Misuse(f"header {name!r} cannot be sent as gRPC metadata: a name in -bin wants base64") from fault
    return found


def texts(metadata: Any) -> Pairs:
    """Metadata as headers; binary values in the base64 that the wire has them in."""
    return [
        (name, base64.b64encode(value).decode("ascii").rstrip("=") if isinstance(value, bytes) else str(value))
        for name, value in metadata or ()
    ]


async def local_fault(call: Any, channel: Any, bounds: Bounds | None = None) -> str | None:
    """The word for a failure of the connection, or of a bound of ours; None where the peer ended the call itself.

    A peer that was reached may say that it could not connect to whatever stands behind it, in grpcio's own words: then
    the channel to it is ready still.
    """
    code, said = await outcome(call)
    name = CODES[code]
    if name == "RESOURCE_EXHAUSTED" and _TOO_LARGE.search(said):
        return f"limit: body_bytes {bounds.body_bytes if bounds else 0}"
    if name == "RESOURCE_EXHAUSTED" and _METADATA_LARGE.search(said):
        return "limit: header_bytes"
    if name == "UNAVAILABLE" and _NEVER_CONNECTED.search(said) and channel.get_state().name != "READY":
        return next((word for text, word in _WORDS if text.search(said)), f"connect: {said}")
    if _NO_TRAILERS.search(said):
        return None  # an answer came, though not one of gRPC
    if name in ("UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED") and _BROKEN.search(said):
        return "reset-after-request"
    return None

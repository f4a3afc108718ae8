"""HTTP as evidence: sends one request, reads what comes within bounds, and writes down every byte and when it came.

Decides nothing about A2A. A fault of the transport is a word in the exchange, not an exception, because it is a
fact about the peer. Redirects are never followed here: whoever follows one asks the core first (R10).
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpx

from a2a_lab import __version__
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.net.credentials import Source
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.gate import Gate
from a2a_lab.net.transport_faults import fault_of
from a2a_lab.net.unpacking import Undecodable, Unpacker
from a2a_lab.wire.exchange import RENEWED, Chunk, Exchange
from a2a_lab.wire.http_shape import media_type

USER_AGENT = f"a2a-lab/{__version__} (interoperability lab)"
NONCE_HEADER = "X-A2A-Lab-Nonce"
UNAUTHENTICATED = "16"  # what 401 is over gRPC
CONNECT_S = 10.0  # a peer that takes longer to accept a connection is down for our purposes
_AS_THEY_CAME = "a2a_lab_headers"
QUEUE_CHUNKS = 64  # of one stream, read ahead of its judge; then the peer has to wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How a target is reached, as httpx users know it: TLS, proxy, and curl's connect-to.

    `connect_to` maps "host:port", or a host, to "host:port" or to "http://host:port" (R43). Only the second changes the
    scheme: then https is asked for and judged, and plain http is on the wire, as a replay on this machine needs.
    """

    ca_bundle: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    proxy: str | None = None
    trust_env: bool = True
    connect_to: Mapping[str, str] = field(default_factory=dict)


def tls_context(reach: Reach) -> ssl.SSLContext:
    """One context for all clients of a run: making one costs 40 ms, sharing it nothing. Raises OSError or SSLError."""
    context = httpx.create_ssl_context(trust_env=reach.trust_env)
    if reach.ca_bundle:
        context.load_verify_locations(cafile=reach.ca_bundle)
    if reach.client_cert:
        context.load_cert_chain(reach.client_cert, reach.client_key, password=_no_password)
    return context


def _no_password() -> str:
    """Asked for by OpenSSL; without an answer it would ask whoever sits at the terminal, and wait."""
    raise OSError("the private key is encrypted, and a run has nobody to ask; store it without a passphrase")


def new_client(reach: Reach, context: ssl.SSLContext) -> httpx.AsyncClient:
    """A client for one worker. One per worker, since a shared pool rescans every connection on each request.

    Raises Misuse for a proxy that httpx cannot use, whether given or found in the environment.
    """
    try:
        client = httpx.AsyncClient(
            verify=context,
            proxy=reach.proxy,
            trust_env=reach.trust_env,
            follow_redirects=False,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            event_hooks={"response": [_keep_headers]},
        )
        # Every GET of a cell sends the same headers (R33), and evidence has all that was sent.
        client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        return client
    except (ValueError, ImportError, httpx.InvalidURL) as fault:
        raise Misuse(
            f"the proxy cannot be used: {fault}; expected http://HOST:PORT or https://HOST:PORT, in --proxy, "
            "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"
        ) from fault


async def _keep_headers(response: httpx.Response) -> None:
    """Keep the headers as they came, and hide a Location from httpx, which reads it even where it is not to follow.

    One that is no URL would come back as a fault of the transport, and what the peer answered would be lost.
    """
    response.extensions[_AS_THEY_CAME] = list(response.headers.multi_items())
    response.headers.pop("location", None)


class Http:
    """What one cell sends and receives. Every exchange lands in the recorder before its first byte leaves."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        recorder: Recorder,
        *,
        bounds: Bounds,
        connect_to: Mapping[str, str] | None = None,
        transport_timeout_s: float | None = None,
        cap_s: float = 600.0,
        expect_nonce: str | None = None,
        gate: Gate | None = None,
        reach: Reach | None = None,
    ) -> None:
        self._client = client
        self._gate = gate
        self.reach = reach or Reach()
        self.recorder = recorder
        self._bounds = bounds
        self._connect_to = dict(connect_to or {})
        self._read_timeout = transport_timeout_s
        self._cap_s = cap_s
        self.expect_nonce = expect_nonce

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        purpose: str,
        total_s: float | None = None,
        credentials: Source | None = None,
    ) -> Exchange:
        """One request and its whole answer, ended at `total_s` seconds at the latest (None: the lab's own cap).

        Where its credentials are refused with 401 and can be renewed it is sent once more, the same. Raises Withheld
        where it was not sent at all.
        """
        sent = await credentials.headers(url) if credentials is not None else {}
        exchange = await self._sent(method, url, {**headers, **sent}, body, purpose, total_s)
        if (fresh := await _renewed(exchange, credentials, sent)) is not None:
            exchange = await self._sent(method, url, {**headers, **fresh}, body, purpose, total_s)
        return exchange

    async def _sent(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, purpose: str, total_s: float | None
    ) -> Exchange:
        exchange = await self._begin(method, url, headers, body, purpose)
        limit = self._cap_s if total_s is None else total_s
        try:
            async with asyncio.timeout(limit), self._open(exchange) as response:
                unpack = Unpacker(response.headers.get("content-encoding"), self._bounds.body_bytes)
                parts = []
                async for raw in response.aiter_raw():
                    parts.append(unpack(raw))
                    if unpack.over:
                        exchange.fault, exchange.ending = f"limit: body_bytes {self._bounds.body_bytes}", "open"
                        break
                else:
                    unpack.close()
                exchange.body = b"".join(parts)
        except TimeoutError:
            exchange.ending, exchange.fault = "open", "read-timeout"
            exchange.cut_by = "cap" if total_s is None else "total-limit"
        except (httpx.HTTPError, httpx.InvalidURL, Undecodable, OSError) as problem:
            self._note_fault(exchange, problem)
        exchange.ended_ms = self.recorder.now_ms()
        self._ended(exchange)
        return exchange

    @contextlib.asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        purpose: str,
        open_s: float | None,
        credentials: Source | None = None,
    ) -> AsyncIterator[LiveStream]:
        """One request whose answer is read as it comes. `open_s` bounds the wait for the response headers.

        Refused credentials are renewed as in `send`.
        """
        sent = await credentials.headers(url) if credentials is not None else {}
        async with contextlib.AsyncExitStack() as stack:
            opening = self._opening(method, url, {**headers, **sent}, body, purpose, open_s)
            live = await stack.enter_async_context(opening)
            if (fresh := await _renewed(live.exchange, credentials, sent)) is not None:
                await stack.aclose()
                opening = self._opening(method, url, {**headers, **fresh}, body, purpose, open_s)
                live = await stack.enter_async_context(opening)
            yield live

    @contextlib.asynccontextmanager
    async def _opening(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, purpose: str, open_s: float | None
    ) -> AsyncIterator[LiveStream]:
        live = LiveStream(await self._begin(method, url, headers, body, purpose), self.recorder, self._bounds)
        task = asyncio.create_task(live.pump(self._open(live.exchange), self._note_fault))
        try:
            await live.opened(self._cap_s if open_s is None else open_s)
            yield live
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            live.exchange.ended_ms = self.recorder.now_ms()
            self._ended(live.exchange)

    async def _begin(self, method: str, url: str, headers: Mapping[str, str], body: bytes, purpose: str) -> Exchange:
        if self._gate is not None:
            await self._gate.enter()
        return self.recorder.begin(
            Exchange(
                method=method,
                url=url,
                request_headers=[("User-Agent", USER_AGENT), *headers.items()],
                request_body=body,
                purpose=purpose,
            )
        )

    def _ended(self, exchange: Exchange) -> None:
        if self._gate is not None:
            self._gate.heard(exchange.status, exchange.response_headers)

    @contextlib.asynccontextmanager
    async def _open(self, exchange: Exchange) -> AsyncIterator[httpx.Response]:
        url, extra = self._connected(exchange.url)
        request = self._client.build_request(
            exchange.method,
            url,
            headers=exchange.request_headers + extra,
            content=exchange.request_body or None,
            timeout=httpx.Timeout(self._read_timeout, connect=CONNECT_S, pool=None),
            extensions={"sni_hostname": httpx.URL(exchange.url).host} if extra else None,
        )
        response = await self._client.send(request, stream=True)
        try:
            exchange.status = response.status_code
            exchange.response_headers = response.extensions[_AS_THEY_CAME]
            self._recognise(exchange)
            yield response
        finally:
            await response.aclose()

    def _recognise(self, exchange: Exchange) -> None:
        """What answers must be what the lab started; a port may have been taken by somebody else (DESIGN 9)."""
        found = exchange.header(NONCE_HEADER)
        if self.expect_nonce is not None and found != self.expect_nonce:
            raise HarnessFault(
                f"{exchange.url} is answered by something that the lab did not start (nonce {found!r}); "
                "nothing it said was used. Run the cell again"
            )

    def _connected(self, url: str) -> tuple[str, list[tuple[str, str]]]:
        """The URL to connect to, and the Host header that keeps naming the one that was asked for."""
        if not self._connect_to:
            return url, []
        asked = httpx.URL(url)
        port = asked.port or (443 if asked.scheme == "https" else 80)
        there = self._connect_to.get(f"{asked.host}:{port}") or self._connect_to.get(asked.host)
        if not there:
            return url, []
        scheme, _, there = there.rpartition("://")
        host, _, other_port = there.rpartition(":")
        url = str(asked.copy_with(scheme=scheme or asked.scheme, host=host, port=int(other_port)))
        return url, [("Host", asked.netloc.decode("ascii"))]

    def _note_fault(self, exchange: Exchange, problem: BaseException) -> None:
        exchange.fault = fault_of(problem)
        if isinstance(problem, httpx.ReadError | httpx.WriteError) and self._may_be_tls(exchange):
            exchange.fault = "tls: the connection was reset before anything was ever answered"
        exchange.ending = "reset" if exchange.status is not None else exchange.ending
        if exchange.fault == "read-timeout":
            exchange.cut_by, exchange.ending = "transport-timeout", "open"

    def _may_be_tls(self, exchange: Exchange) -> bool:
        """Whether a reset may be how a server of TLS 1.3 declines us: its alert is lost where it closes at once.

        Only of a GET, which starts nothing, and where this origin has not answered anything yet.
        """
        here = httpx.URL(exchange.url)
        is_first = all(
            one.status is None or httpx.URL(one.url).netloc != here.netloc for one in self.recorder.exchanges
        )
        return exchange.method == "GET" and here.scheme == "https" and exchange.status is None and is_first


async def _renewed(exchange: Exchange, credentials: Source | None, sent: Mapping[str, str]) -> Mapping[str, str] | None:
    """What the request carries when it is sent once more because its credentials were refused; None where it is not."""
    if credentials is None or exchange.status is None or not sent:
        return None
    if exchange.status != 401 and exchange.header("grpc-status") != UNAUTHENTICATED:
        credentials.let_through()
        return None
    fresh = await credentials.again(exchange.url, sent)
    if fresh is not None:
        exchange.purpose = RENEWED
    return fresh


class LiveStream:
    """An answer while it arrives. A task of its own reads, so that waiting with a deadline never loses a byte."""

    def __init__(self, exchange: Exchange, recorder: Recorder, bounds: Bounds) -> None:
        self.exchange = exchange
        self._recorder = recorder
        self._bounds = bounds
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(QUEUE_CHUNKS)
        self._is_open = asyncio.Event()
        self.harness_fault: HarnessFault | None = None

    async def opened(self, limit_s: float) -> None:
        """Wait for the response headers, or for the fault that came instead."""
        try:
            async with asyncio.timeout(limit_s):
                await self._is_open.wait()
        except TimeoutError:
            self.exchange.fault, self.exchange.cut_by = "read-timeout", "hang-limit"
        if self.harness_fault is not None:
            raise self.harness_fault

    async def next(self, timeout_s: float | None) -> bytes | None:
        """The next bytes; None at the end of the body (`exchange.ending` says how it ended). Raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            return await self._queue.get()

    async def rest(self, limit_s: float) -> bytes:
        """The whole remaining body, for an answer that is no stream."""
        parts = []
        try:
            async with asyncio.timeout(limit_s):
                while (data := await self._queue.get()) is not None:
                    parts.append(data)
        except TimeoutError:
            self.exchange.fault, self.exchange.cut_by, self.exchange.ending = "read-timeout", "total-limit", "open"
        return b"".join(parts)

    def unread(self, body: bytes) -> None:
        """Put back what `rest` gave: it comes again, and then the end."""
        for piece in (body, None) if body else (None,):
            self._queue.put_nowait(piece)

    async def pump(self, opening: Any, note_fault: Any) -> None:
        exchange, total = self.exchange, 0
        exchange.ending = "open"
        try:
            async with opening as response:
                self._is_open.set()
                unpack = Unpacker(response.headers.get("content-encoding"), self._bounds.stream_bytes)
                async for raw in response.aiter_raw():
                    data = unpack(raw)
                    total += len(data)
                    exchange.chunks.append(Chunk(offset_ms=self._recorder.now_ms(), data=data))
                    if unpack.over:
                        exchange.fault = f"limit: stream_bytes {self._bounds.stream_bytes}"
                        break
                    await self._queue.put(data)
                else:
                    exchange.ending = "close"
                    if media_type(exchange.response_headers) != "text/event-stream":
                        unpack.close()  # a stream may end between two events, and its packing with it
        except (httpx.HTTPError, httpx.InvalidURL, Undecodable, OSError) as problem:
            note_fault(exchange, problem)
        except HarnessFault as fault:
            self.harness_fault = fault
        finally:
            exchange.body = b"".join(chunk.data for chunk in exchange.chunks)
            exchange.ended_ms = self._recorder.now_ms()
            self._is_open.set()
        await self._queue.put(None)

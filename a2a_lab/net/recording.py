"""A recorder between one consumer and one agent: passes on what they say, byte by byte and as it comes, and keeps it.

It stands at an origin of its own, one a pair, and path for path in the agent's place. What it keeps is in the agent's
terms (the agent's URLs, the agent's bytes), so that judging does not see it. When one side goes away it leaves the
other; when the agent breaks off, so does it. What it changes in cards and redirects, and nowhere else, is in
`recorded_cards`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Final, Protocol, Self

import httpx

from a2a_lab.core.addresses import authority, dialled
from a2a_lab.core.consumer_findings import CARD_OFFERED_ELSEWHERE, RECORDING_FULL
from a2a_lab.core.policy import Bounds
from a2a_lab.core.quoting import quoted
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import HarnessFault, Misuse, Withheld
from a2a_lab.net import grpc_channel
from a2a_lab.net.client import CONNECT_S, NONCE_HEADER, Reach, tls_context
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.front import Front, Message, Receive, Send, as_written
from a2a_lab.net.grpc_recording import GrpcFront
from a2a_lab.net.keeping import LEFT, STOPPED, Budget, Kept, Listener
from a2a_lab.net.recorded_cards import CARD_BYTES, Pairs, RecordedCards, may_be_card
from a2a_lab.net.transport_faults import fault_of
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import Exchange, first_header
from a2a_lab.wire.rewriting import grpc_places

FAULT_HEADER: Final = "x-a2a-lab-fault"
NOT_OURS: Final = "not-what-was-started"
WITHHELD: Final = "withheld"  # how the fault of a request begins that the guard did not let go on
QUEUED: Final = 16  # pieces of an upload that are read ahead of the agent
_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)


class Guard(Protocol):
    """Stands behind the recorder where the agent is not ours: whether a request may go on to it, and with what."""

    async def admit(self, exchange: Exchange) -> Mapping[str, str]:
        """The headers that the agent wants of whoever calls. Raises Withheld where the request does not go on."""
        ...

    async def again(self, exchange: Exchange, sent: Mapping[str, str]) -> Mapping[str, str] | None:
        """Headers to send the request with once more, after 401; None where the answer stands."""
        ...

    def heard(self, exchange: Exchange) -> None:
        """The agent has answered."""
        ...

    def leads(self, urls: Sequence[str]) -> None:
        """The answer leads there, past the recorder. Raises Withheld where it is not handed on."""
        ...


class RecordingProxy:
    """Stands in front of the agent at `to`, as an async context manager; `url` is what the consumer is pointed at.

    `to` is what a user would give: its path is kept. `cut_by` is the word for exchanges that the consumer leaves;
    whoever ends the consumer sets it first. With `nonce` only an agent that answers with it is passed on. `aliases` are
    paths at which the recorder offers what the agent serves at another; what is kept names the path that was asked for.
    """

    def __init__(
        self,
        to: str,
        recorder: Recorder,
        *,
        bounds: Bounds | None = None,
        reach: Reach | None = None,
        listener: Listener | None = None,
        nonce: str | None = None,
        guard: Guard | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        try:
            place = parse_url(to)
        except ValueError as fault:
            raise Misuse(f"{fault}; expected the address of an agent, such as http://127.0.0.1:9999") from fault
        self.to, self.recorder = to, recorder
        self.own = place.origin
        self.cut_by = LEFT
        self.harness_fault: HarnessFault | None = None
        self.withheld: Withheld | None = None
        self._guard = guard
        self._reach = reach or Reach()
        self._bounds = bounds or Bounds()
        self._budget = Budget()
        self._listener, self._nonce = listener, nonce
        self._aliases = {alias.encode(): path.encode() for alias, path in (aliases or {}).items()}
        # The path as it was typed: clients join a base with and without its final slash in different ways.
        path = "" if place.path == "/" and not to.partition("?")[0].endswith("/") else place.path
        self._tail = path + (f"?{place.query}" if place.query else "")
        self._front = Front(self._app)
        self._client: httpx.AsyncClient | None = None
        self._cards = RecordedCards(self.own)
        self._fronts: dict[str, GrpcFront] = {}

    @property
    def url(self) -> str:
        """Where the consumer finds the agent now."""
        return f"{self._cards.recorder}{self._tail}"

    @property
    def findings(self) -> list[Finding]:
        """What the recorder changed, could not see, or did not keep."""
        offered = [
            CARD_OFFERED_ELSEWHERE(
                f"{quoted(alias.decode())} is answered with what the agent serves at {quoted(path.decode())}",
                found=path.decode(),
                at=alias.decode(),
            )
            for alias, path in self._aliases.items()
        ]
        return [*offered, *self._cards.findings, *([RECORDING_FULL()] if self._budget.is_spent else [])]

    async def __aenter__(self) -> Self:
        reach = self._reach
        self._client = httpx.AsyncClient(
            verify=tls_context(reach) if self.own.startswith("https:") else False,  # a context costs 40 ms
            proxy=reach.proxy,
            trust_env=reach.trust_env,
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            # A connection of its own for each request: one that the agent is about to close must not fail the next.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )
        self._cards.recorder = await self._front.start()
        return self

    async def _stand_in(self, kept: Kept) -> None:
        """Stand in front of what a card names over gRPC as well, where that is the agent's own host.

        Where the extra for it is not installed these places stay as they are, and `findings` say so.
        """
        if not kept.is_readable or not grpc_channel.is_available():
            return
        for url in grpc_places(kept.body(), own=self.own):
            if url in self._cards.fronts:
                continue
            place = authority(dialled(url))
            if place not in self._fronts:
                front = GrpcFront(
                    url,
                    keep=self._kept,
                    admit=self._admit,
                    cut_by=lambda: self.cut_by,
                    reach=self._reach,
                    fault=FAULT_HEADER,
                )
                await front.start()
                self._fronts[place] = front
            self._cards.fronts[url] = self._fronts[place].address

    async def _admit(self, exchange: Exchange) -> Mapping[str, str]:
        """What a request carries on to the agent beside its own. Raises Withheld, and remembers it."""
        try:
            return await self._guard.admit(exchange) if self._guard is not None else {}
        except Withheld as fault:
            self.withheld = fault
            raise

    def _kept(self, exchange: Exchange) -> Kept:
        """Begin the copy of an exchange."""
        return Kept(exchange, self.recorder, bounds=self._bounds, budget=self._budget, listener=self._listener)

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._front.stop()
        for front in self._fronts.values():
            await front.stop()
        if self._client is not None:
            await self._client.aclose()

    async def _app(self, scope: Message, receive: Receive, send: Send) -> None:
        """One exchange, until its answer is whole or one of the two has gone."""
        if scope["type"] != "http":
            return
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        sent = _without_hops(as_written(scope))
        exchange = Exchange(
            method=scope["method"],
            url=self.own + target.decode("latin-1"),
            request_headers=[(name, self._as_asked(name, value)) for name, value in _texts(sent)],
        )
        kept = self._kept(exchange)
        ear = _Ear(receive)
        listening = asyncio.create_task(ear.listen())
        passing = asyncio.create_task(self._pass(kept, scope, sent, target, ear, send))
        try:
            await asyncio.wait({passing, listening}, return_when=asyncio.FIRST_COMPLETED)
            if passing.done():
                passing.result()
            else:
                kept.left(self.cut_by)
        except asyncio.CancelledError:
            kept.left(STOPPED)
            raise
        except Exception as problem:
            self.harness_fault = HarnessFault(f"the recorder failed at {exchange.url}: {problem!r}; run the cell again")
            raise
        finally:
            for task in (passing, listening):
                task.cancel()
            await asyncio.gather(passing, listening, return_exceptions=True)
            kept.close()

    async def _pass(self, kept: Kept, scope: Message, sent: Pairs, target: bytes, ear: _Ear, send: Send) -> None:
        assert self._client is not None
        body, is_whole = await ear.body(self._bounds.body_bytes)
        kept.request(body, is_whole=is_whole)
        is_chunked = first_header(_texts(scope["headers"]), "transfer-encoding") is not None
        is_at_hand = is_whole and not is_chunked

        def request(extra: Mapping[str, str]) -> httpx.Request:
            assert self._client is not None
            own = {b"host", *(name.lower().encode() for name in extra)}
            return httpx.Request(
                scope["method"],
                self.own,
                headers=[*((name, value) for name, value in sent if name.lower() not in own), *_encoded(extra)],
                content=(body or None) if is_at_hand else ear.again(body),
                # The target as it came: httpx would resolve dots and escape characters of its own choice.
                extensions={"target": self._as_served(target), "timeout": self._client.timeout.as_dict()},
            )

        try:
            extra = await self._admit(kept.exchange)
            response = await self._client.send(request(extra), stream=True)
            if self._guard is not None:
                fresh = await self._guard.again(kept.exchange, extra) if response.status_code == 401 else None
                if fresh is not None and is_at_hand:
                    await response.aclose()
                    response = await self._client.send(request(fresh), stream=True)
        except Withheld as fault:
            kept.failed(f"{WITHHELD}: {fault.reason}")
            await _bad_gateway(send, "the lab lets nothing more through", fault.reason)
            return
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as problem:
            kept.failed(fault_of(problem))
            await _bad_gateway(send, f"the agent at {self.own} gave no answer", kept.exchange.fault or "")
            return
        try:
            kept.head(response.status_code, _texts(response.headers.raw))
            if self._guard is not None:
                self._guard.heard(kept.exchange)
            if not self._is_recognised(kept.exchange):
                kept.failed(NOT_OURS)
                await _bad_gateway(send, f"{self.own} is answered by something else", NOT_OURS)
                return
            await self._answer(kept, response, send)
        except Withheld as fault:
            self.withheld = fault
            kept.failed(f"withheld: {fault.reason}")
            await _bad_gateway(send, "the lab lets nothing more through", fault.reason)
        except (httpx.HTTPError, OSError) as problem:
            # Returning without the end of the answer makes the server break the connection, as the agent did.
            kept.failed(fault_of(problem))
        finally:
            await response.aclose()

    async def _answer(self, kept: Kept, response: httpx.Response, send: Send) -> None:
        headers = self._cards.redirected(kept.exchange, _without_hops(response.headers.raw))
        pieces = response.aiter_raw()
        held: list[bytes] = []
        if may_be_card(kept.exchange):
            size = 0
            async for raw in pieces:
                kept.data(raw)
                held.append(raw)
                size += len(raw)
                if size > CARD_BYTES:
                    break
            else:
                await self._stand_in(kept)
                held, headers = self._cards.hand_on(kept, held, headers)
        if self._guard is not None:
            self._guard.leads(self._cards.past(kept.exchange))
        start = {"type": "http.response.start", "status": response.status_code}
        await send({**start, "headers": headers})
        for raw in held:
            await send({"type": "http.response.body", "body": raw, "more_body": True})
        async for raw in pieces:
            kept.data(raw)
            await send({"type": "http.response.body", "body": raw, "more_body": True})
        kept.ended()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _as_served(self, target: bytes) -> bytes:
        """The target as the agent knows it, where the recorder offers it under another path."""
        path, mark, query = target.partition(b"?")
        return self._aliases.get(path, path) + mark + query

    def _as_asked(self, name: str, value: str) -> str:
        """A request header in the agent's terms: the Host that the agent was asked by."""
        return self.own.partition("://")[2] if name.lower() == "host" else value

    def _is_recognised(self, exchange: Exchange) -> bool:
        if self._nonce is None or exchange.header(NONCE_HEADER) == self._nonce:
            return True
        self.harness_fault = HarnessFault(
            f"{exchange.url} is answered by something that the lab did not start; nothing it said was passed on. "
            "Run the cell again"
        )
        return False


class _Ear:
    """Hears the consumer's side of one exchange: its upload, and that it went away."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(QUEUED)
        self._is_whole = False

    async def listen(self) -> None:
        """Returns once the consumer has gone."""
        while (message := await self._receive())["type"] != "http.disconnect":
            if message.get("body"):
                await self._pieces.put(message["body"])
            if not message.get("more_body"):
                await self._pieces.put(None)

    async def body(self, most: int) -> tuple[bytes, bool]:
        """The upload, and whether it is whole; what is more than `most` is still to come."""
        body = bytearray()
        while len(body) <= most:
            piece = await self._pieces.get()
            if piece is None:
                self._is_whole = True
                break
            body += piece
        return bytes(body), self._is_whole

    async def again(self, begun: bytes) -> AsyncIterator[bytes]:
        """The upload as it goes on to the agent."""
        if begun:
            yield begun
        while not self._is_whole:
            piece = await self._pieces.get()
            self._is_whole = piece is None
            if piece is not None:
                yield piece


def _without_hops(headers: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """The headers that are for the other end, and not for the next connection (RFC 9110 7.6.1)."""
    pairs = list(headers)
    named = first_header(_texts(pairs), "connection") or ""
    own = _HOP_BY_HOP | {token.strip().lower() for token in named.split(",") if token.strip()}
    return [(name, value) for name, value in pairs if name.decode("latin-1").lower() not in own]


def _encoded(headers: Mapping[str, str]) -> Pairs:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


async def _bad_gateway(send: Send, what: str, fault: str) -> None:
    """502, with the fault by name: the consumer must not take it for an answer of the agent."""
    body = json.dumps({"error": f"a2a-lab recorder: {what}: {fault}"}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (FAULT_HEADER.encode(), fault.encode("ascii", "replace")[:200]),
    ]
    await send({"type": "http.response.start", "status": 502, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})

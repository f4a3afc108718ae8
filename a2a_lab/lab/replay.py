"""Serves recorded exchanges as a vendor on a port of this machine: what was answered, when, and how it broke (R43).

A small server of its own, since web servers neither cut a connection nor leave an answer unfinished. One consumer at a
time is what it is made for; several get the recorded answers in the order in which they ask.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.lab.incoming import BadRequest, read_request
from a2a_lab.lab.likeness import operation_of
from a2a_lab.lab.performance import BEFORE_CONNECTING, Performance, Piece, perform, reason, shortcoming
from a2a_lab.lab.repertoire import Asked, Hit, Match, Miss, Repertoire, origins
from a2a_lab.wire.exchange import Exchange

HOST: Final = "127.0.0.1"
_FLUSH_S: Final = 2.0  # a reset throws away what the system has not handed over yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request and what became of it. `number` is the recorded entry (from 0), None where nothing matched.

    `differs` are JSON Pointers at which it has other content than what was recorded, and was answered all the same.
    """

    method: str
    url: str
    operation: str
    told: str
    number: int | None = None
    turn: int = 0
    turns: int = 0
    again: bool = False
    differs: tuple[str, ...] = ()

    @property
    def matched(self) -> bool:
        return self.number is not None


class Replay:
    """A recording behind a socket, as an async context manager.

    `pace` multiplies every recorded pause (0 for none). `rewrite` puts the replay's own origin into what it answers,
    for clients that know no connect-to; signatures over it break. `told` is called once a request, before its answer.
    Raises Misuse for a port that cannot be had, RecordFault where nothing was recorded.
    """

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        *,
        port: int = 0,
        pace: float = 1.0,
        match: Match = "ids",
        rewrite: bool = False,
        told: Callable[[Served], None] | None = None,
    ) -> None:
        if not exchanges:
            raise RecordFault("there is no request to answer: the evidence holds no HTTP exchange")
        if not 0 <= pace <= 100:
            raise Misuse(f"pace {pace:g}: expected a factor for the recorded pauses, from 0 to 100")
        self._exchanges = list(exchanges)
        self._repertoire = Repertoire(exchanges, match=match)
        self._wanted_port, self._pace, self._told = port, pace, told
        self._rewrite = rewrite
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._refusing: socket.socket | None = None
        self.served: list[Served] = []

    # -- what whoever connects needs to know

    @property
    def port(self) -> int:
        if self._server is None:
            raise Misuse("the replay is not running; enter it with `async with`")
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def connect_to(self) -> dict[str, str]:
        """For each recorded origin where to connect instead, as `Reach.connect_to` and --connect-to have it."""
        made = {}
        for origin, here in origins(self._exchanges).items():
            is_down = all((one.fault or "").startswith(BEFORE_CONNECTING) for one in here)
            port = self._refusing.getsockname()[1] if is_down and self._refusing else self.port
            made[origin] = f"http://{HOST}:{port}"
        return made

    @property
    def shortcomings(self) -> list[str]:
        """What of the recording no socket can show again, a sentence each."""
        down = {origin for origin, there in self.connect_to.items() if there != self.url}
        exact = [id(one) for origin, here in origins(self._exchanges).items() if origin in down for one in here]
        told = [shortcoming(one) for one in self._exchanges if id(one) not in exact or one.fault == "dns"]
        return [sentence for sentence in dict.fromkeys(told) if sentence]

    # -- life

    async def __aenter__(self) -> Self:
        try:
            self._server = await asyncio.start_server(self._connected, HOST, self._wanted_port)
        except (OSError, OverflowError) as fault:
            raise Misuse(f"port {self._wanted_port} of {HOST} cannot be had: {fault}; give another, or 0") from fault
        self._refusing = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._refusing.bind((HOST, 0))  # bound and never listening: whoever connects is refused
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None and self._refusing is not None
        self._server.close()
        self._refusing.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def forever(self) -> None:
        """Serve until cancelled."""
        await asyncio.Event().wait()

    # -- one connection

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while (asked := await read_request(reader, writer)) is not None:
                    if not await self._answer(asked, reader, writer):
                        break
        except BadRequest as fault:
            with contextlib.suppress(ConnectionError):
                await _write(writer, _refusal(400, str(fault)), pace=0)
        finally:
            writer.close()

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Write one answer; whether the connection may serve another."""
        found = self._repertoire.find(asked)
        is_head = asked.method == "HEAD"
        if isinstance(found, Miss):
            answer = _refusal(found.status, found.why, is_head=is_head)
        else:
            moved = self._moved() if self._rewrite else None
            answer = perform(found.exchange, found.renames, is_head=is_head, origins=moved)
        self._tell(asked, found, answer)
        await _write(writer, answer, pace=self._pace)
        if answer.end == "open":
            while await reader.read(65536):
                pass  # until the consumer leaves
        elif answer.end == "reset":
            await _flushed(writer)
            _cut(writer)
        return answer.end == "close"

    def _moved(self) -> dict[str, str]:
        """The recorded origins as URLs spell them, each with ours in its place."""
        return {
            f"{parts.scheme}://{parts.netloc}": self.url for parts in (urlsplit(one.url) for one in self._exchanges)
        }

    def _tell(self, asked: Asked, found: Hit | Miss, answer: Performance) -> None:
        if isinstance(found, Miss):
            served = Served(
                method=asked.method,
                url=f"{asked.place}{asked.target}",
                operation=operation_of(asked.body),
                told=f"{found.status}: {found.why}",
            )
        else:
            served = Served(
                method=asked.method,
                url=found.exchange.url,
                operation=operation_of(asked.body),
                number=found.number,
                turn=found.turn,
                turns=found.turns,
                again=found.again,
                differs=found.differs,
                told=answer.told,
            )
        self.served.append(served)
        if self._told is not None:
            self._told(served)


def _refusal(status: int, why: str, *, is_head: bool = False) -> Performance:
    body = b"" if is_head else f"a2a-lab replay: {why}\n".encode()
    return Performance(
        status=status,
        headers=(("Content-Type", "text/plain; charset=utf-8"),),
        pieces=(Piece(wait_s=0.0, data=body),) if body else (),
    )


async def _write(writer: asyncio.StreamWriter, answer: Performance, *, pace: float) -> None:
    """The head, the pieces as separate writes with their pauses, and the end of the framing where there is one."""
    await asyncio.sleep(answer.wait_s * pace)
    if answer.status is None:
        return
    size = sum(len(piece.data) for piece in answer.pieces)
    lines = [
        f"HTTP/1.1 {answer.status} {reason(answer.status)}",
        *(f"{name}: {value}" for name, value in answer.headers),
    ]
    if answer.is_chunked:
        lines.append("Transfer-Encoding: chunked")
    elif answer.status >= 200 and answer.status != 204:
        lines.append(f"Content-Length: {size}")
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))
    for piece in answer.pieces:
        if piece.wait_s * pace > 0:
            await writer.drain()
            await asyncio.sleep(piece.wait_s * pace)
        if answer.is_chunked and piece.data:
            writer.write(f"{len(piece.data):x}\r\n".encode() + piece.data + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        else:
            writer.write(piece.data)
    if answer.is_chunked and answer.end == "close":
        writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _flushed(writer: asyncio.StreamWriter) -> None:
    """Wait until what was written has reached the other side, as far as the system tells."""
    until = asyncio.get_running_loop().time() + _FLUSH_S
    while asyncio.get_running_loop().time() < until:
        if writer.transport.get_write_buffer_size() == 0 and _unsent(writer) == 0:
            return
        await asyncio.sleep(0.005)


def _unsent(writer: asyncio.StreamWriter) -> int:
    """Bytes that the system still holds for the other side; 0 where it does not tell."""
    if sys.platform != "linux":
        return 0
    import fcntl
    import termios

    held = writer.get_extra_info("socket")
    try:
        return int(struct.unpack("i", fcntl.ioctl(held.fileno(), termios.TIOCOUTQ, b"\0\0\0\0"))[0])
    except OSError:
        return 0


def _cut(writer: asyncio.StreamWriter) -> None:
    """End the connection with a reset instead of a farewell."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()

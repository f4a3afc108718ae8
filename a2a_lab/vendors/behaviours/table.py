"""What a misbehaviour is: a name, a sentence, the rule it breaks, and one small function for each place it acts.

The places are the seams of a simulated agent, in the order a request meets them. No function is told who asks,
in which posture or as part of which pair: it sees the request and its own options, as a real fault would.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from a2a_lab.vendors.moves import Moves, SimTask
from a2a_lab.vendors.traffic import Incoming, Reply

if TYPE_CHECKING:
    from a2a_lab.vendors.tables import Table

Options = Mapping[str, Any]
Document = dict[str, Any]


class Scene(Protocol):
    """What a card behaviour may look at: counts of what reached the agent, its own base URL, its key."""

    card_gets: int
    messages: int
    base: str

    def sign(self, document: Document, *, again: int = 0) -> Document:
        """The document with a signature; another `again` gives another signature over the same content."""


@dataclass(slots=True, kw_only=True)
class Call:
    """One call. `rpc_id` is that of JSON-RPC, size that of the parts.

    `op` is send, stream, get, cancel, subscribe or extended-card.
    """

    request: Incoming
    rpc_id: Any
    op: str
    params: Mapping[str, Any]
    size: int = 0
    immediate: bool = False
    as_stream: bool = False


@dataclass(slots=True, kw_only=True)
class Turn:
    """One message being worked on. `refused` are the wanted modes the runtime does not take; `again` says that the
    task was waiting for this input."""

    call: Call
    task: SimTask
    accepted: tuple[str, ...]
    refused: tuple[str, ...]
    output: str
    again: bool
    work_s: float


Serve = Callable[[Call], Awaitable[Reply]]
CallFault = Callable[[Call, Serve, Options], Awaitable[Reply]]
Frames = AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a misbehaviour. A default of `...` means that it must be given."""

    name: str
    kind: Literal["text", "texts", "whole", "seconds", "flag", "any"]
    says: str
    default: Any = ...
    words: tuple[str, ...] = ()

    def read(self, table: Table) -> Any:
        """The option's value from a misbehaviour's table; raises Misuse."""
        default = None if self.default is ... else self.default
        if self.default is not ... and self.name not in table:
            table.take(self.name)
            return default
        match self.kind:
            case "text":
                return table.text(self.name, one_of=self.words)
            case "texts":
                return list(table.texts(self.name, empty=False))
            case "whole":
                return table.integer(self.name)
            case "seconds":
                return table.number(self.name)
            case "flag":
                return table.flag(self.name, False)
            case "any":
                if self.name not in table:
                    table.refuse(self.name, "a value")
                return table.take(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """A misbehaviour: its name, one sentence, and the rule it breaks (DESIGN, RULINGS or a clause of the protocol).

    How it must be called when met is not said here: that depends on the dialect and on who asks (`faults.toml`).
    `ops` are the calls it can act on, `bindings` those it can act over; `filters` says whether `on` and `min_bytes`
    mean anything for it. `speaks`: the wire is of the version that its option `dialect` names, whatever the card says.
    """

    name: str
    says: str
    breaks: str
    options: tuple[Option, ...] = ()
    ops: tuple[str, ...] = ("send", "stream")
    bindings: tuple[str, ...] = ("JSONRPC", "HTTP+JSON")
    speaks: bool = False
    card: Callable[[Document, Scene, Options], Document] | None = None
    signed_card: Callable[[Document, Scene, Options], Document] | None = None
    card_reply: Callable[[Reply, Scene, Options], Reply] | None = None
    call: CallFault | None = None
    modes: Callable[[tuple[str, ...], Call, Options], tuple[str, ...]] | None = None
    moves: Callable[[Moves, Turn, Options], Moves] | None = None
    frames: Callable[[Frames, Options], Frames] | None = None
    envelope: Callable[[Document, Options], Document] | None = None

    @property
    def filters(self) -> bool:
        is_of_calls = not (self.card or self.signed_card or self.card_reply or self.speaks)
        return is_of_calls and self.ops == ("send", "stream")

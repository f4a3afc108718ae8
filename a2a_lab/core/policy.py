"""What the operator decides: limits, trust, and what the consumer intends. Every default stands here, with its why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from a2a_lab.core.signatures import KeySet


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Deadlines in seconds, all on protocol events; comments and pings never reset them (A6, R30)."""

    silence_s: float = 5.0  # then the agent is asked once; conformant agents answered in well under 1 s
    hang_s: float = 10.0  # then it is a hang
    total_s: float = 60.0  # for one message, however busy: its answer or stream, a retry, and every look at its task
    close_s: float = 2.0  # how long a socket may stay open after the end was signalled (R31)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a reader takes from a peer before it stops and names the bound (DESIGN 9)."""

    body_bytes: int = 10_000_000
    stream_bytes: int = 64_000_000
    header_bytes: int = 64_000
    json_depth: int = 128
    events: int = 100_000
    event_bytes: int = 4_000_000  # a 70 kB line is ordinary, see case sse-11
    redirects: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The operator's choices. `supports` are protocol versions in order of preference (R21)."""

    supports: tuple[str, ...] = ("1.0", "0.3")
    bindings: tuple[str, ...] = ("JSONRPC",)
    topology: Literal["auto", "direct", "gateway"] = "auto"
    signature_policy: Literal["prefer", "require"] = "prefer"
    trusted_keys: KeySet | None = None
    jku_allow: frozenset[str] = frozenset()
    allow_http: frozenset[str] = frozenset()
    allow_origins: frozenset[str] = frozenset()
    probe: Literal["strict", "lenient"] = "strict"
    probe_control: bool = False  # one more probe, in a mode that nobody declared (R23)
    drift: Literal["fail-closed", "renegotiate", "once"] = "fail-closed"
    revalidate: Literal["full", "conditional"] = "full"
    max_renegotiations: int = 1
    clocks: Clocks = field(default_factory=Clocks)
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What the consumer wants: the mode it means to send, and what it could send instead.

    `payloads` maps each media type the consumer can send, in order of preference, to the bytes of that payload.
    """

    mode: str = "text/plain"
    payloads: Mapping[str, bytes] = field(default_factory=dict)
    skill: str | None = None
    requires: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()
    stream: bool = False

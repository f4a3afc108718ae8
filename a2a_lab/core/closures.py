"""How streams end: one table from where a stream stood and how its body ended to its closure (wire-facts 7.3, R31)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Situation = Literal["error", "message", "ended", "unproved", "interrupted", "interrupted-unproved", "active"]
"""Where a stream stands. `unproved`: a terminal state, or an interrupted one, without its dialect's end signal."""

Ending = Literal["close", "truncated", "reset", "left", "limit"]
"""How the body ended: closed whole, closed inside an event, cut, left by us, or stopped at a bound of ours."""

Closure = Literal[
    "final-proved",
    "interrupted-closed",
    "interrupted-open",
    "message-only",
    "final-without-close",
    "close-without-final",
    "eof-nonterminal",
    "truncated",
    "error-frame",
    "idle-hang",
    "live-hang",
    "drip-hang",
    "overrun",
    "wrong-media",
    "reset",
    "limit",
    "http-error",
    "rpc-error-before-stream",
    "left",
]
"""How a stream ended. `left`: the client went before anything could be judged."""

CLOSURES: Final[Mapping[Situation, Mapping[Ending, Closure]]] = {
    "error": {
        "close": "error-frame",
        "truncated": "error-frame",
        "reset": "error-frame",
        "left": "error-frame",
        "limit": "error-frame",
    },
    "message": {
        "close": "message-only",
        "truncated": "message-only",
        "reset": "message-only",
        "left": "message-only",
        "limit": "limit",
    },
    "ended": {
        "close": "final-proved",
        "truncated": "final-proved",
        "reset": "final-proved",
        "left": "final-proved",
        "limit": "limit",
    },
    "unproved": {
        "close": "close-without-final",
        "truncated": "close-without-final",
        "reset": "close-without-final",
        "left": "left",
        "limit": "limit",
    },
    "interrupted": {
        "close": "interrupted-closed",
        "truncated": "interrupted-closed",
        "reset": "interrupted-closed",
        "left": "interrupted-open",
        "limit": "limit",
    },
    "interrupted-unproved": {
        "close": "close-without-final",
        "truncated": "close-without-final",
        "reset": "close-without-final",
        "left": "interrupted-open",
        "limit": "limit",
    },
    "active": {
        "close": "eof-nonterminal",
        "truncated": "truncated",
        "reset": "reset",
        "left": "left",
        "limit": "limit",
    },
}

HANGS: Final = frozenset[Closure]({"idle-hang", "live-hang", "drip-hang"})

ENDED: Final = frozenset[Closure]({"final-proved", "final-without-close", "close-without-final", "overrun"})
"""Closures of streams whose end was seen, so that a completed state in them counts."""

UNSETTLED: Final = HANGS | frozenset[Closure]({"eof-nonterminal", "truncated", "error-frame", "reset", "limit", "left"})
"""Closures after which the task must be asked for, since its end was not seen."""

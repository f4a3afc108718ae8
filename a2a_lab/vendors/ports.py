"""Hands out ports of 127.0.0.1 that the system chose, and keeps each from being given twice in a run.

An agent that is told its port binds it itself, a moment later. Until the run ends the port stays bound here as well,
without listening: Linux lets a second socket bind and listen when both say SO_REUSEADDR, and gives the port to
nobody who asks for any. Elsewhere the port is let go of at once, and the nonce tells who answers.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from types import TracebackType

HOST = "127.0.0.1"


class Ports:
    """The ports of one run; leaving the context gives them back."""

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def next(self) -> int:
        """A port that is free now, and that this object gives to nobody else. Raises OSError when there is none."""
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        held.bind((HOST, 0))
        port: int = held.getsockname()[1]
        if sys.platform == "linux":
            # After the bind, so that the system did not take "may be shared" for "may be given again".
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._held.append(held)
        else:
            held.close()
        return port

    def close(self) -> None:
        for held in self._held:
            with contextlib.suppress(OSError):
                held.close()
        self._held.clear()

    def __enter__(self) -> Ports:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

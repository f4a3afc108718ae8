"""One event loop on a thread of its own, so that the synchronous API works in a terminal and in Jupyter alike (R41)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
CLEAN_UP_S = 20.0  # cancelling tasks at their agents and writing the footer takes a moment; then we leave all the same
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code, also where a loop is running already.

    Ctrl-C cancels the work, lets it clean up, and is then raised as it came.
    """
    ended = threading.Event()

    async def whole() -> T:
        try:
            return await work
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(whole(), _background())
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        ended.wait(CLEAN_UP_S)
        raise


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="a2a-lab", daemon=True).start()
        return _loop

"""What the Python echo agents have in common: their options, their request log, and how they are served.

Runs inside a vendor's own environment, beside whichever SDK that vendor has, and therefore knows none of them: only
the standard library, and uvicorn when it serves. Each agent.py brings the SDK, this file brings the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
NONCE_HEADER = b"x-a2a-lab-nonce"
# Headers that say how a client behaves; anything that may carry a credential is left out.
LOGGED_HEADERS = ("a2a-version", "a2a-extensions", "accept", "content-type", "if-none-match", "user-agent", "x-tenant")


def echo_options(description: str) -> argparse.ArgumentParser:
    """The options that every echo agent understands; an agent adds those of its own SDK."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1")
    parser.add_argument("--mount", default="/", metavar="PATH", help="path of the RPC endpoint, as it is served")
    parser.add_argument("--interface-slash", action="store_true", help="the card names the endpoint with a final slash")
    parser.add_argument("--modes", nargs="+", default=["text/plain"], metavar="MIME", help="declared input modes")
    parser.add_argument("--output-modes", nargs="+", default=["text/plain"], metavar="MIME", help="declared outputs")
    parser.add_argument(
        "--hang",
        nargs="?",
        type=int,
        const=0,
        default=None,
        metavar="N",
        help="tasks never finish; with N the first N tasks still do",
    )
    parser.add_argument("--work", type=float, default=0.0, metavar="SECONDS", help="pause before each event")
    parser.add_argument("--log", type=Path, default=None, metavar="FILE", help="append one JSON line a request")
    parser.add_argument("--nonce", default="", help=f"value of the header {NONCE_HEADER.decode()} of every response")
    return parser


def signing_options(parser: argparse.ArgumentParser) -> None:
    """Options of agents whose SDK can sign a card."""
    parser.add_argument("--sign", type=Path, default=None, metavar="KEY.json", help="private JWK to sign the card with")
    parser.add_argument("--card-name", default="echo", help="name of the agent on the card")
    parser.add_argument("--tamper", action="store_true", help="change the card after it was signed")


def interface_url(options: argparse.Namespace) -> str:
    """Where the card says that the endpoint is."""
    mount = options.mount if options.mount.startswith("/") else "/" + options.mount
    slash = "/" if options.interface_slash and not mount.endswith("/") else ""
    return f"http://{HOST}:{options.port}{mount}{slash}"


def signing_key(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The private JWK in the file, and the protected header to sign with; the key names itself and its algorithm."""
    key = json.loads(path.read_text(encoding="utf-8"))
    missing = [name for name in ("kid", "alg", "d") if name not in key]
    if missing:
        raise SystemExit(f"{path}: not a private JWK with kid and alg; missing: {', '.join(missing)}")
    return key, {"alg": key["alg"], "kid": key["kid"], "typ": "JOSE"}


class Pace:
    """Decides how long a task takes: a pause before each event, and tasks that never finish."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._pause_s: float = options.work
        self._finishing: float = float("inf") if options.hang is None else options.hang

    async def pause(self) -> None:
        if self._pause_s:
            await asyncio.sleep(self._pause_s)

    async def work(self) -> None:
        """Return for a task that finishes; wait for ever for one that hangs."""
        self._finishing -= 1
        if self._finishing < 0:
            await asyncio.Event().wait()


class Recorded:
    """The app with every request written down before it is handled, and every response stamped with the nonce."""

    def __init__(self, app: App, *, log: Path | None, nonce: str) -> None:
        self._app = app
        self._log = log
        self._nonce = nonce.encode("ascii")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = [await receive()]
        while seen[-1].get("more_body"):
            seen.append(await receive())
        self._write(scope, b"".join(message.get("body", b"") for message in seen))

        async def replayed() -> Message:
            return seen.pop(0) if seen else await receive()

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start" and self._nonce:
                message["headers"] = [*message.get("headers", ()), (NONCE_HEADER, self._nonce)]
            await send(message)

        await self._app(scope, replayed, stamped)

    def _write(self, scope: Message, body: bytes) -> None:
        if self._log is not None:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            write_down(self._log, scope["method"], scope["path"], headers, body)


def write_down(log: Path, method: str, path: str, headers: Mapping[str, str], body: bytes) -> None:
    """Append one request to the log, as one JSON line."""
    sent = {name.lower(): value for name, value in headers.items()}
    line = {
        "at": round(time.time(), 6),
        "method": method,
        "path": path,
        "headers": {name: sent[name] for name in LOGGED_HEADERS if name in sent},
        "rpc": rpc_method(body),
        "bytes": len(body),
    }
    # One write of one line, to a file that only its owner reads: the bodies stay out, the paths may still tell.
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, (json.dumps(line, ensure_ascii=True) + "\n").encode("ascii"))
    finally:
        os.close(handle)


def rpc_method(body: bytes) -> str | None:
    """The JSON-RPC method that a request body names, if it names one."""
    try:
        call = json.loads(body)
    except ValueError:
        return None
    method = call.get("method") if isinstance(call, dict) else None
    return method if isinstance(method, str) else None


def serve(app: App, options: argparse.Namespace) -> None:
    """Serve until the process is told to end. Open streams do not hold the end up: they may never finish."""
    import uvicorn

    uvicorn.run(
        Recorded(app, log=options.log, nonce=options.nonce),
        host=HOST,
        port=options.port,
        log_level="warning",
        timeout_graceful_shutdown=1,
        server_header=False,
    )

"""A plain HTTP server in a thread that is what a test makes it, and remembers every request with all its headers."""

from __future__ import annotations

import json
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CARD = "/.well-known/agent-card.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """One answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


Answering = Callable[[Asked], Says]


class Server(ThreadingHTTPServer):
    """`url` is its origin, `asked` what it was asked."""

    daemon_threads = True

    def __init__(self, answer: Answering, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[Asked] = []
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off the handshake is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = Asked(
            method=self.command,
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        self.server.asked.append(asked)
        says = self.server.answer(asked)
        self.send_response(says.status)
        for name, value in says.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(says.body)))
        self.end_headers()
        self.wfile.write(says.body)

    do_GET = do_POST = _serve

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed; tests read `asked`."""


@contextmanager
def serving(answer: Answering, context: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(answer, context)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def card(url: str, **members: Any) -> dict[str, Any]:
    """A whole unsigned 1.0 card of an agent whose calls go to `url`."""
    return {
        "name": "plain",
        "description": "an agent of the tests",
        "version": "1.0",
        "capabilities": {},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "echo", "name": "echo", "description": "says it again", "tags": ["echo"]}],
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    } | members


def says_json(document: Any, status: int = 200, **headers: str) -> Says:
    return Says(
        status=status, body=json.dumps(document).encode(), headers={"Content-Type": "application/json", **headers}
    )


def completed(asked: Asked) -> Says:
    """The answer of an agent that completes every message with one line of text."""
    request = json.loads(asked.body)
    message = request["params"].get("message") or {}
    task = {
        "id": f"t-{message.get('messageId', request['params'].get('id'))}".replace("t-t-", "t-"),
        "contextId": message.get("contextId") or "c-1",
        "status": {"state": "TASK_STATE_COMPLETED"},
        "artifacts": [{"artifactId": "a-1", "parts": [{"text": "done"}]}],
    }
    result = {"task": task} if request["method"] == "SendMessage" else task
    return says_json({"jsonrpc": "2.0", "id": request["id"], "result": result})


def agent(document: Callable[[str], dict[str, Any]] = lambda origin: card(f"{origin}/rpc")) -> Answering:
    """An agent with the card at its well-known place, made of the Host that it is asked under."""

    def answer(asked: Asked) -> Says:
        if asked.method == "POST":
            return completed(asked)
        if asked.path == CARD:
            return says_json(document(f"http://{asked.headers['host']}"))
        return Says(status=404)

    return answer


class _Speaker(socketserver.BaseRequestHandler):
    says = b""

    def handle(self) -> None:
        self.request.recv(65536)
        self.request.sendall(self.says)


@contextmanager
def speaking(says: bytes) -> Iterator[str]:
    """The URL of a port that answers whatever it is asked with these bytes, and closes."""
    handler = type("Speaker", (_Speaker,), {"says": says})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()

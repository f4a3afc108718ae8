"""An echo agent on python-a2a 0.5.10, deterministic and without a model, on that library's own Flask app.

Its card declares JSON-RPC at its URL, where the library speaks none: it takes bare messages there, and tasks at
/tasks/send. All of that is the library's doing.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from echo_kit import HOST, NONCE_HEADER, echo_options, interface_url, write_down
from flask import Response, request
from python_a2a import (
    A2AServer,
    AgentCard,
    AgentSkill,
    Message,
    MessageRole,
    Task,
    TaskState,
    TaskStatus,
    TextContent,
)
from python_a2a.server.http import create_flask_app


class Echo(A2AServer):
    """Answers with what it was told; the library calls it on one thread a request."""

    def __init__(self, card: AgentCard, options: argparse.Namespace) -> None:
        super().__init__(agent_card=card)
        self._pause_s: float = options.work
        self._finishing: float = float("inf") if options.hang is None else options.hang

    def _work(self) -> None:
        time.sleep(self._pause_s)
        self._finishing -= 1
        if self._finishing < 0:
            threading.Event().wait()

    def handle_message(self, message: Message) -> Message:
        self._work()
        return Message(
            content=TextContent(text="echo: " + getattr(message.content, "text", f"[{message.content.type}]")),
            role=MessageRole.AGENT,
            parent_message_id=message.message_id,
            conversation_id=message.conversation_id,
        )

    def handle_task(self, task: Task) -> Task:
        self._work()
        message: dict[str, Any] = task.message or {}
        parts = message.get("parts") or [message.get("content") or {}]
        text = " ".join(part.get("text") or f"[{part.get('type')}]" for part in parts)
        task.artifacts = [{"parts": [{"type": "text", "text": f"echo: {text}"}]}]
        task.status = TaskStatus(state=TaskState.COMPLETED)
        return task


def main() -> None:
    parser = echo_options(__doc__)
    options = parser.parse_args()
    if options.mount != "/":
        parser.error("python-a2a serves at / only")
    card = AgentCard(
        name="echo",
        description="Answers with what it was told",
        url=interface_url(options),
        version="1.0.0",
        capabilities={"streaming": True},
        default_input_modes=options.modes,
        default_output_modes=options.output_modes,
        skills=[AgentSkill(name="Echo", description="Answers with what it was told", tags=["echo"])],
    )
    app = create_flask_app(Echo(card, options))

    @app.before_request
    def write() -> None:
        if options.log:
            write_down(options.log, request.method, request.path, dict(request.headers), request.get_data())

    @app.after_request
    def stamp(response: Response) -> Response:
        if options.nonce:
            response.headers[NONCE_HEADER.decode()] = options.nonce
        return response

    app.run(host=HOST, port=options.port)


if __name__ == "__main__":
    main()

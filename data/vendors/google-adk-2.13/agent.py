"""An echo agent on google-adk 2.13.0, deterministic and without a model: an agent of its own kind, served by to_a2a.

The card, the task and its events are ADK's doing; what the agent yields becomes one artifact.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from echo_kit import HOST, Pace, echo_options, serve
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai.types import Content, Part


class Echo(BaseAgent):
    """Answers with what it was told: the text as it came, other parts by their type."""

    pace: Any

    async def _run_async_impl(self, context: InvocationContext) -> AsyncGenerator[Event, None]:
        await self.pace.pause()
        await self.pace.work()
        text = "echo: " + " ".join(described(part) for part in context.user_content.parts or ())
        content = Content(role="model", parts=[Part(text=text)])
        yield Event(author=self.name, invocation_id=context.invocation_id, content=content)


def described(part: Part) -> str:
    if part.text is not None:
        return part.text
    blob = part.inline_data or part.file_data
    return f"[{(blob and blob.mime_type) or 'untyped'}]"


def main() -> None:
    parser = echo_options(__doc__)
    options = parser.parse_args()
    if options.mount != "/" or options.modes != ["text/plain"] or options.output_modes != ["text/plain"]:
        parser.error("ADK writes its card itself: the endpoint at /, and text/plain only")
    echo = Echo(name="echo", description="Answers with what it was told", pace=Pace(options))
    serve(to_a2a(echo, host=HOST, port=options.port), options)


if __name__ == "__main__":
    main()

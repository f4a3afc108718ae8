"""An echo agent on crewai 1.15.30: a CrewAI agent served over A2A; a script plays its model.

The card, the checks of what comes in, the task and its events are CrewAI's doing, on top of a2a-sdk 0.3.26.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

# Settings, traces and memory are written below the home folder; and nothing is to be sent anywhere.
os.environ |= {"HOME": os.getcwd(), "CREWAI_STORAGE_DIR": os.getcwd(), "CREWAI_DISABLE_TELEMETRY": "true"}
os.environ |= {"CREWAI_TRACING_ENABLED": "false", "CREWAI_DISABLE_TRACKING": "true", "OTEL_SDK_DISABLED": "true"}

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from crewai import Agent, BaseLLM
from crewai.a2a import A2AServerConfig
from crewai.a2a.config import AgentCardSigningConfig
from crewai.a2a.utils.agent_card import inject_a2a_server_methods
from crewai.a2a.utils.task import cancel, execute
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from echo_kit import Pace, echo_options, interface_url, serve, signing_key, signing_options
from jwt.algorithms import ECAlgorithm

TASK = re.compile(r"Current Task: (.*)")


class Scripted(BaseLLM):
    """Plays the model: repeats the task that the prompt holds."""

    pace: Any

    async def acall(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        await self.pace.pause()
        await self.pace.work()
        prompt = messages if isinstance(messages, str) else str(messages[-1]["content"])
        found = TASK.search(prompt)
        return f"Thought: I now know\nFinal Answer: echo: {found[1].strip() if found else prompt}"

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        return asyncio.run(self.acall(messages))

    def supports_function_calling(self) -> bool:
        return False


class Executor(AgentExecutor):
    """Hands what comes in to CrewAI."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        await execute(self._agent, context, event_queue)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await cancel(context, event_queue)


def signing(path: Path | None) -> AgentCardSigningConfig | None:
    """CrewAI takes its key as PEM."""
    if path is None:
        return None
    key, header = signing_key(path)
    private = ECAlgorithm.from_jwk(json.dumps(key))
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return AgentCardSigningConfig(private_key_pem=pem, key_id=header["kid"], algorithm=header["alg"])


def main() -> None:
    parser = echo_options(__doc__)
    signing_options(parser)
    options = parser.parse_args()
    url = interface_url(options)
    served = A2AServerConfig(
        name=options.card_name,
        signing_config=signing(options.sign),
        description="Answers with what it was told",
        url=url,
        default_input_modes=options.modes,
        default_output_modes=options.output_modes,
    )
    model = Scripted(model="scripted", pace=Pace(options))
    agent = Agent(role="echo", goal="Answers with what it was told", backstory="-", llm=model, a2a=served)
    if not hasattr(agent, "to_agent_card"):
        inject_a2a_server_methods(agent)
    handler = DefaultRequestHandler(agent_executor=Executor(agent), task_store=InMemoryTaskStore())
    card = agent.to_agent_card(url)
    if options.tamper:
        card.description += ", and was changed after signing"
    app = A2AStarletteApplication(agent_card=card, http_handler=handler)
    serve(app.build(rpc_url=options.mount), options)


if __name__ == "__main__":
    main()

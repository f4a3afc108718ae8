"""A hierarchical CrewAI crew whose manager holds the agent as an A2A endpoint; a script plays its models.

The script delegates once, and answers in its own words whenever it is asked again, as a model would. What CrewAI tells
its caller is the crew's output; what it tells only its event bus (a delegation that failed, and was put to the model as
one more message) is noted as reported beside the answer.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

# Settings, traces and memory are written below the home folder; and nothing is to be sent anywhere.
os.environ |= {"HOME": os.getcwd(), "CREWAI_STORAGE_DIR": os.getcwd(), "CREWAI_DISABLE_TELEMETRY": "true"}
os.environ |= {"CREWAI_TRACING_ENABLED": "false", "CREWAI_DISABLE_TRACKING": "true", "OTEL_SDK_DISABLED": "true"}

from consumer_kit import Reported, Seen, consumer_options, payload_of, run, times_option
from crewai import Agent, BaseLLM, Crew, Process, Task
from crewai.a2a import A2AClientConfig
from crewai.a2a.updates import PollingConfig, StreamingConfig
from crewai.events import crewai_event_bus
from crewai.events.types.a2a_events import (
    A2AArtifactReceivedEvent,
    A2AConnectionErrorEvent,
    A2AConversationCompletedEvent,
    A2ADelegationCompletedEvent,
    A2APollingStatusEvent,
    A2AResponseReceivedEvent,
    A2AStreamingChunkEvent,
)

CARD_PATH = "/.well-known/agent-card.json"
OWN_WORDS = "the manager's own words"
ASK_S = 0.3
FROM_THE_AGENT = (
    A2AArtifactReceivedEvent,
    A2APollingStatusEvent,
    A2AResponseReceivedEvent,
    A2AStreamingChunkEvent,
)
FAILING = (A2AConnectionErrorEvent, A2AConversationCompletedEvent, A2ADelegationCompletedEvent)
FLUSH_S = 10.0


class Scripted(BaseLLM):
    """Delegates at first, if it is told of an agent; then answers by itself."""

    endpoint: str
    text: str
    seen: Any
    asked: int = 0

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        self.asked += 1
        prompt = messages if isinstance(messages, str) else " ".join(str(each.get("content")) for each in messages)
        delegate = self.asked == 1 and "remote A2A agents" in prompt
        if delegate:
            self.seen.matched("the model read the cards in its prompt, and chose")
        answer = {
            "a2a_ids": [self.endpoint] if delegate else [],
            "message": self.text if delegate else OWN_WORDS,
            "is_a2a": delegate,
        }
        return json.dumps(answer)

    async def acall(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        return self.call(messages, *args, **kwargs)

    def supports_function_calling(self) -> bool:
        return False


def listen(seen: Seen) -> None:
    """Note what CrewAI says on its event bus."""
    for kind in FROM_THE_AGENT:

        @crewai_event_bus.on(kind)
        def received(source: Any, event: Any) -> None:
            seen.event()

    for kind in FAILING:

        @crewai_event_bus.on(kind)
        def ended(source: Any, event: Any) -> None:
            if isinstance(event, A2ADelegationCompletedEvent):
                seen.status(str(getattr(event.status, "value", event.status)))
            if event.error:
                seen.beside(event.error)


async def delegated(remote: A2AClientConfig, text: str, seen: Seen) -> str:
    """What one crew answers that holds the agent; crews of one process share CrewAI's caches."""
    model = Scripted(model="scripted", endpoint=remote.endpoint, text=text, seen=seen)
    manager = Agent(role="manager", goal="delegate", backstory="-", llm=model, allow_delegation=True, a2a=[remote])
    worker = Agent(role="worker", goal="-", backstory="-", llm=model)
    task = Task(description="answer the user", expected_output="text")
    crew = Crew(agents=[worker], tasks=[task], process=Process.hierarchical, manager_agent=manager)
    return str((await crew.kickoff_async()).raw)


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    if payload_of(options).kind != "text":
        raise Reported("the manager of a crew delegates text only")
    endpoint = options.url.rstrip("/") + (options.card_path or CARD_PATH)
    listen(seen)
    updates = StreamingConfig() if options.op == "stream" else PollingConfig(interval=ASK_S, timeout=options.timeout)
    remote = A2AClientConfig(
        endpoint=endpoint,
        timeout=math.ceil(options.timeout),
        max_turns=2,
        trust_remote_completion_status=True,
        accepted_output_modes=["text/plain"],
        updates=updates,
    )
    try:
        for _ in range(options.times):
            answer = await delegated(remote, payload_of(options).text, seen)
    finally:
        crewai_event_bus.flush(FLUSH_S)
    seen.event()
    if answer == OWN_WORDS or seen.state != "completed":
        seen.message(answer)
    else:
        seen.artifact("output", answer)


if __name__ == "__main__":
    run(converse, times_option(consumer_options(__doc__)))

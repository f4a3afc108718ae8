"""A LangGraph supervisor with one remote worker: discover, let the supervisor choose, hand over, report.

The supervisor is that of langgraph-supervisor; where a model would choose, a script does what the model would: it reads
what the prompt says of the worker, hands over when that serves, and closes when the worker has answered. The card is
fetched before the choice and lies in the graph's state from then on, as LangGraph programs carry what they know: later
turns of the conversation find it there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import AgentCard
from consumer_10 import noted, request_of
from consumer_kit import Reported, Seen, consumer_options, run, times_option
from google.protobuf.json_format import MessageToDict, ParseDict
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt.chat_agent_executor import AgentState
from langgraph_supervisor import create_supervisor

WORKER = "remote"
STREAMS = "It streams."
HAND_OVER = f"transfer_to_{WORKER}"


class State(AgentState):
    """The messages of the conversation, and the card as it was found, in a form that a checkpointer keeps."""

    card: dict[str, Any]


class Scripted(BaseChatModel):
    """Plays the model: hands over once if the worker serves, then repeats what the worker said."""

    wants_streaming: bool
    seen: Any
    handed_over: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> BaseChatModel:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        described = " ".join(str(message.content) for message in messages if isinstance(message, SystemMessage))
        if self.handed_over:
            answer = AIMessage(content=str(messages[-1].content))
        elif self.wants_streaming and STREAMS not in described:
            answer = AIMessage(content="no agent that streams")
        else:
            self.handed_over = True
            self.seen.matched("the supervisor read of the card in its prompt, and handed over")
            answer = AIMessage(content="", tool_calls=[{"name": HAND_OVER, "args": {}, "id": "call-1"}])
        return ChatResult(generations=[ChatGeneration(message=answer)])


async def converse(options: argparse.Namespace, seen: Seen) -> None:
    streaming = options.op == "stream"
    async with httpx.AsyncClient(timeout=options.timeout) as http:

        async def discover(state: State) -> dict[str, Any]:
            if state.get("card"):
                return {}
            card = await A2ACardResolver(http, options.url).get_agent_card(relative_card_path=options.card_path)
            streams = STREAMS if card.capabilities.streaming else ""
            skills = ", ".join(skill.name for skill in card.skills)
            prompt = f"Agent {WORKER} is {card.name}: {card.description}. Skills: {skills}. {streams}"
            return {"card": MessageToDict(card), "messages": [SystemMessage(prompt)]}

        async def hand_over(state: State) -> dict[str, Any]:
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                supported_protocol_bindings=["JSONRPC", "HTTP+JSON"],
            )
            client = ClientFactory(config).create(ParseDict(state["card"], AgentCard()))
            async for event in client.send_message(request_of(options)):
                noted(seen, event)
            return {"messages": [AIMessage(content=seen.said(None), name=WORKER)]}

        model = Scripted(wants_streaming=streaming, seen=seen)
        worker = StateGraph(State).add_node("call", hand_over).add_edge(START, "call").add_edge("call", END)
        supervisor = create_supervisor(
            [worker.compile(name=WORKER)],
            model=model,
            state_schema=State,
        )
        graph = StateGraph(State).add_node("discover", discover).add_node("supervisor", supervisor.compile())
        graph.add_edge(START, "discover").add_edge("discover", "supervisor").add_edge("supervisor", END)
        thread = {"configurable": {"thread_id": "the user's"}}
        kept = graph.compile(checkpointer=InMemorySaver())
        for _ in range(options.times):  # turns of one conversation: its state goes on
            model.handed_over = False
            ended = await kept.ainvoke({"messages": [{"role": "user", "content": options.text}]}, thread)
        if not seen.events:
            raise Reported(f"the supervisor handed nothing over: {ended['messages'][-1].content}")


if __name__ == "__main__":
    run(converse, times_option(consumer_options(__doc__)))

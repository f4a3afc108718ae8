"""An echo agent on langgraph-api 0.16.7 with the in-memory runtime: a graph of one node, deterministic, no model.

The server makes an A2A agent of every graph by itself: card, tasks and events are all its doing. It loads this file
once more, by its path, for the graph and for the middleware that writes requests down.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from echo_kit import HOST, Pace, Recorded, echo_options
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from starlette.applications import Starlette
from starlette.middleware import Middleware

ARGUMENTS = "A2A_LAB_ECHO"  # how the options reach the file as the server loads it


def made(arguments: list[str]) -> tuple[Any, Starlette]:
    """The graph and the app whose middleware the server puts before its own."""
    options = echo_options(__doc__).parse_args(arguments)
    pace = Pace(options)

    class State(TypedDict):
        messages: Annotated[list[Any], add_messages]

    async def echo(state: State) -> dict[str, Any]:
        await pace.pause()
        await pace.work()
        content = state["messages"][-1].content
        text = content if isinstance(content, str) else " ".join(described(block) for block in content)
        return {"messages": [{"role": "assistant", "content": f"echo: {text}"}]}

    graph = StateGraph(State).add_node("echo", echo).add_edge(START, "echo").add_edge("echo", END).compile()
    return graph, Starlette(middleware=[Middleware(Recorded, log=options.log, nonce=options.nonce)])


def described(block: Any) -> str:
    if isinstance(block, str):
        return block
    return block["text"] if block.get("type") == "text" else f"[{block.get('type')} {block.get('mime_type')}]"


def main() -> None:
    parser = echo_options(__doc__)
    options = parser.parse_args()
    if options.mount != "/" or options.modes != ["text/plain"] or options.output_modes != ["text/plain"]:
        parser.error("the server chooses its paths, and its modes, by itself")
    os.environ[ARGUMENTS] = "\n".join(sys.argv[1:])
    # Nothing is to be sent anywhere, and no newer version asked for.
    os.environ |= {
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
    }

    from langgraph_api.cli import run_server

    here = str(Path(__file__).resolve())
    run_server(
        HOST,
        options.port,
        graphs={"echo": f"{here}:graph"},
        http={"app": f"{here}:app"},
        open_browser=False,
        allow_blocking=True,  # the request log is written where a request comes in
        disable_persistence=True,
    )


if __name__ == "__main__":
    main()
else:
    graph, app = made(os.environ[ARGUMENTS].split("\n"))

"""An echo agent on the official Python SDK 0.2.16, deterministic and without a model.

Everything on the wire is the SDK's doing: the card at agent.json only, protocol version 0.2.6, no signatures.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from echo_03 import Echo, echo_card
from echo_kit import Pace, echo_options, serve


def main() -> None:
    options = echo_options(__doc__).parse_args()
    handler = DefaultRequestHandler(agent_executor=Echo(Pace(options)), task_store=InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=echo_card(options), http_handler=handler)
    serve(app.build(rpc_url=options.mount), options)


if __name__ == "__main__":
    main()

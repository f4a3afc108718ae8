"""An echo agent on the official Python SDK 0.3.26, deterministic and without a model.

Everything on the wire is the SDK's doing; options choose what a deployment may choose (where the endpoint is mounted,
a signature), or make the executor misbehave.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCard
from a2a.utils.signing import create_agent_card_signer
from echo_03 import Echo, echo_card
from echo_kit import Pace, echo_options, serve, signing_key, signing_options
from jwt import PyJWK


def card_of(options: argparse.Namespace) -> AgentCard:
    """The card, signed and tampered with as the options say."""
    card = echo_card(options)
    card.name = options.card_name
    if options.sign:
        key, header = signing_key(options.sign)
        card = create_agent_card_signer(PyJWK.from_dict(key), header)(card)
    if options.tamper:
        card.description += ", and was changed after signing"
    return card


def main() -> None:
    parser = echo_options(__doc__)
    signing_options(parser)
    options = parser.parse_args()
    handler = DefaultRequestHandler(agent_executor=Echo(Pace(options)), task_store=InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=card_of(options), http_handler=handler)
    serve(app.build(rpc_url=options.mount), options)


if __name__ == "__main__":
    main()

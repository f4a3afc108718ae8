"""Verifies a signed card as a client on the official Python SDK 1.3.0 does that was given a key."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

from a2a.client.card_resolver import parse_agent_card
from a2a.types import AgentCard
from a2a.utils.signing import create_signature_verifier
from jwt import PyJWK
from verifier_kit import run


def verify(card: AgentCard, key: dict[str, Any]) -> None:
    create_signature_verifier(lambda kid, jku: PyJWK.from_dict(key), [key["alg"]])(card)


if __name__ == "__main__":
    run(__doc__, parse_agent_card, verify)

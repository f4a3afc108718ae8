"""Verifies a signed card by crewai 1.15.30's own function; its client calls it where a public key is configured."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "shared"))

os.environ |= {"HOME": os.getcwd(), "CREWAI_STORAGE_DIR": os.getcwd(), "CREWAI_DISABLE_TELEMETRY": "true"}
os.environ |= {"CREWAI_TRACING_ENABLED": "false", "CREWAI_DISABLE_TRACKING": "true", "OTEL_SDK_DISABLED": "true"}

from a2a.types import AgentCard
from crewai.a2a.utils.agent_card_signing import verify_agent_card_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm
from verifier_kit import run


def verify(card: AgentCard, key: dict[str, Any]) -> bool:
    public = ECAlgorithm.from_jwk(json.dumps(key)).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signatures = card.signatures or []
    return any(verify_agent_card_signature(card, each, public, [key["alg"]]) for each in signatures)


if __name__ == "__main__":
    run(__doc__, AgentCard.model_validate, verify)

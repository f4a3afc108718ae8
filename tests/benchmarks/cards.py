"""The card path: bytes to verdict and digests, beside json + rfc8785 + jwcrypto with nothing judged."""

from __future__ import annotations

import json
import time
from hashlib import sha256

import rfc8785
from jwcrypto import jwk, jws

from a2a_lab.core.canonical import content_digest, full_digest
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Policy
from a2a_lab.core.signatures import verify_card
from a2a_lab.wire.cards import read_card
from tests.benchmarks.measuring import beside, told

ROUNDS = 100


def _signed(skills: int) -> tuple[bytes, jwk.JWK]:
    card = {
        "name": "bench",
        "description": "a card of many skills",
        "version": "1.0.0",
        "supportedInterfaces": [
            {"url": "https://agent.example.test/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [
            {"id": f"skill-{n}", "name": f"Skill {n}", "description": "does one thing well", "tags": ["bench"]}
            for n in range(skills)
        ],
    }
    key = jwk.JWK.generate(kty="EC", crv="P-256", kid="bench")
    token = jws.JWS(rfc8785.dumps(card))
    token.add_signature(key, protected=json.dumps({"alg": "ES256", "typ": "JOSE", "kid": "bench"}))
    flat = json.loads(token.serialize())
    return json.dumps(
        card | {"signatures": [{"protected": flat["protected"], "signature": flat["signature"]}]}
    ).encode(), key


def main() -> None:
    for skills in (8, 80):
        raw, key = _signed(skills)
        keys = KeySet.from_jwks({"keys": [json.loads(key.export_public())]})

        def judged(raw: bytes = raw, keys: KeySet = keys) -> float:
            began = time.perf_counter()
            for _ in range(ROUNDS):
                card = read_card(raw).card
                assert card is not None
                report = verify_card(
                    card, keys, policy=Policy(), now=time.time(), served_from=None, interface=card.interfaces[0]
                )
                assert report.authoritative
                content_digest(card.document), full_digest(card.document)
            return (time.perf_counter() - began) / ROUNDS * 1e6

        def bare(raw: bytes = raw, key: jwk.JWK = key) -> float:
            began = time.perf_counter()
            for _ in range(ROUNDS):
                document = json.loads(raw)
                entry = document.pop("signatures")[0]
                payload = rfc8785.dumps(document)
                token = jws.JWS()
                token.allowed_algs = ["ES256"]
                token.deserialize(json.dumps({**entry, "payload": jws.base64url_encode(payload)}))
                token.verify(key)
                sha256(payload).hexdigest()
            return (time.perf_counter() - began) / ROUNDS * 1e6

        told(f"card of {len(raw)} bytes, signed", *beside(judged, bare), "us", "json + rfc8785 + jwcrypto")

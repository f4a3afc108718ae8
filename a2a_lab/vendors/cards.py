"""Makes the card of a simulated agent, and signs it with a key that lives only in this process.

The card says what the spec declares; what the runtime does instead is none of its business. Nothing in it is empty
or a default, so its JCS bytes are the same under every profile of R18 (on a 0.3 card: `raw`, as no text fixes more).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import rfc8785
from jwcrypto import jwk, jws

from a2a_lab.vendors.spec import AgentSpec

Document = dict[str, Any]


class Keys:
    """The signing keys of one host process, by name: "lab" is the one the lab trusts, "stranger" is not."""

    def __init__(self) -> None:
        self._keys = {
            name: jwk.JWK.generate(kty="EC", crv="P-256", kid=name, alg="ES256", use="sig")
            for name in ("lab", "stranger")
        }

    def public(self) -> dict[str, Document]:
        """Public JWKs by name."""
        return {name: key.export_public(as_dict=True) for name, key in self._keys.items()}

    def sign(self, document: Mapping[str, Any], name: str) -> Document:
        """The document with one JWS over its JCS bytes, in place of any signatures it had (1.0 section 8.4.2)."""
        bare = {key: value for key, value in document.items() if key != "signatures"}
        token = jws.JWS(rfc8785.dumps(bare))
        token.add_signature(self._keys[name], protected=json.dumps({"alg": "ES256", "typ": "JOSE", "kid": name}))
        flat = json.loads(token.serialize())
        return bare | {"signatures": [{"protected": flat["protected"], "signature": flat["signature"]}]}


def make_card(spec: AgentSpec, rpc_url: str) -> Document:
    """The unsigned card of an agent that is called at `rpc_url`."""
    card: Document = {
        "name": spec.name,
        "description": f"Simulated agent {spec.name} of the lab",
        "version": spec.version,
        "capabilities": {} if spec.streaming is None else {"streaming": spec.streaming},
        "defaultInputModes": list(spec.default_inputs),
        "defaultOutputModes": list(spec.outputs),
        "skills": [_skill(skill.id, skill.inputs, skill.outputs) for skill in spec.skills],
    }
    if spec.dialect == "1.0":
        interface: Document = {"url": rpc_url, "protocolBinding": spec.binding, "protocolVersion": "1.0"}
        card["supportedInterfaces"] = [interface | ({"tenant": spec.tenant} if spec.tenant else {})]
    elif spec.dialect == "0.3":
        card |= {"url": rpc_url, "preferredTransport": spec.binding, "protocolVersion": "0.3.0"}
    elif spec.dialect == "0.2":
        card |= {"url": rpc_url, "protocolVersion": "0.2.6"}
    else:  # the draft has no version to state
        card |= {"url": rpc_url, "authentication": {"schemes": []}}
    return merged(card, spec.extra)


def _skill(name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Document:
    skill: Document = {"id": name, "name": name, "description": f"Lab skill {name}", "tags": ["lab"]}
    modes = {"inputModes": list(inputs), "outputModes": list(outputs)}
    return skill | {key: value for key, value in modes.items() if value}


def merged(base: Mapping[str, Any], extra: Mapping[str, Any]) -> Document:
    """`extra` laid over `base`, table by table; anything but a table replaces."""
    result = dict(base)
    for key, value in extra.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result

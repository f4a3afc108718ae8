"""Hands out the card of a simulated agent: made, signed, and spoilt where its misbehaviours say so.

The place where card behaviours act, and what they may look at (`Scene`): how many cards and messages there were
before, the agent's base URL, and its signature.
"""

from __future__ import annotations

import json

from a2a_lab.vendors.behaviours import BEHAVIOURS
from a2a_lab.vendors.cards import Document, Keys, make_card
from a2a_lab.vendors.spec import AgentSpec
from a2a_lab.vendors.traffic import NOT_FOUND, Incoming, Reply, json_reply

CARD_PATH, LEGACY_CARD_PATH = "/.well-known/agent-card.json", "/.well-known/agent.json"


def card_paths(spec: AgentSpec) -> tuple[str, ...]:
    """Where an agent serves its card: 1.0 by the newer name, servers of 0.3 by both, older ones by the old one."""
    return {"1.0": (CARD_PATH,), "0.3": (CARD_PATH, LEGACY_CARD_PATH)}.get(spec.dialect, (LEGACY_CARD_PATH,))


class CardDesk:
    """The cards of one agent. `messages` is kept up by the agent."""

    def __init__(self, spec: AgentSpec, *, base: str, rpc_path: str, keys: Keys) -> None:
        self.base = base
        self.card_gets = self.messages = 0
        self._spec, self._rpc_url, self._keys = spec, base + rpc_path, keys
        self._signed: dict[tuple[str, int], Document] = {}
        self._faults = [(BEHAVIOURS[entry.name], entry.options) for entry in spec.misbehaviours]
        self._paths = card_paths(spec)

    def sign(self, document: Document, *, again: int = 0) -> Document:
        """Signed by the key of the spec. One signature per content, as ES256 would differ at every signing."""
        if not self._spec.signed_by:
            return document
        key = (json.dumps(document, sort_keys=True), again)
        if key not in self._signed:
            self._signed[key] = self._keys.sign(document, self._spec.signed_by)
        return self._signed[key]

    def reply(self, request: Incoming) -> Reply:
        """The answer to a GET: the card, or 404 where none is."""
        if request.path not in self._paths or request.method not in ("GET", "HEAD"):
            return NOT_FOUND
        self.card_gets += 1
        card = make_card(self._spec, self._rpc_url)
        for fault, options in self._faults:
            if fault.card:
                card = fault.card(card, self, options)
        card = self.sign(card)
        for fault, options in self._faults:
            if fault.signed_card:
                card = fault.signed_card(card, self, options)
        reply = json_reply(card)
        for fault, options in self._faults:
            if fault.card_reply:
                reply = fault.card_reply(reply, self, options)
        return reply

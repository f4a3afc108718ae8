"""The closed table of misbehaviours: name -> what it does, its options, the rule it breaks."""

from __future__ import annotations

from a2a_lab.vendors.behaviours import calls, card_changes, card_content, card_replies, events, modes, streams
from a2a_lab.vendors.behaviours.table import Behaviour

_MODULES = (card_replies, card_content, card_changes, modes, calls, streams, events)

BEHAVIOURS: dict[str, Behaviour] = {behaviour.name: behaviour for module in _MODULES for behaviour in module.BEHAVIOURS}

__all__ = ["BEHAVIOURS", "Behaviour"]

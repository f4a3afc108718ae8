"""The closed table of misbehaviours: name -> what it does, its options, the rule it breaks, how it must be named."""

from __future__ import annotations

from a2a_lab.vendors.behaviours import calls, carding, events, modes, streams
from a2a_lab.vendors.behaviours.table import Behaviour

BEHAVIOURS: dict[str, Behaviour] = {
    behaviour.name: behaviour for module in (carding, modes, calls, streams, events) for behaviour in module.BEHAVIOURS
}

__all__ = ["BEHAVIOURS", "Behaviour"]

"""Interoperability lab for the A2A (Agent2Agent) protocol: an enforcement core, and a lab that measures with it.

The names below are those of the source records, with the records' meaning, and what programs need first. They are
loaded when first used, so that importing the package costs nothing (R42).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    # discovery record
    "AgentCardResolutionError": "errors",
    "ResolvedTarget": "core.resolution",
    "negotiate_capabilities": "core.negotiation",
    # authority record
    "AgentCardConformanceError": "errors",
    "TaskTransition": "core.authority",
    "assert_card_authoritative": "core.authority",
    "commit_artifact": "core.commitment",
    # pinning record
    "AgentCardDriftError": "errors",
    "PinnedCard": "core.pinning",
    "canonical_digest": "core.pinning",
    "pin_card": "core.pinning",
    "revalidate_before_transition": "core.pinning",
    # the lab
    "CheckResult": "lab.check",
    "KeySet": "core.keys",
    "catalogue": "judge.catalogue",
    "LabError": "errors",
    "check_agent": "lab.api",
    "read_card": "wire.cards",
    "run_matrix": "lab.api",
    "verify_card": "core.signatures",
}
__all__ = [
    "AgentCardConformanceError",
    "AgentCardDriftError",
    "AgentCardResolutionError",
    "CheckResult",
    "KeySet",
    "LabError",
    "PinnedCard",
    "ResolvedTarget",
    "TaskTransition",
    "__version__",
    "assert_card_authoritative",
    "canonical_digest",
    "catalogue",
    "check_agent",
    "commit_artifact",
    "negotiate_capabilities",
    "pin_card",
    "read_card",
    "revalidate_before_transition",
    "run_matrix",
    "verify_card",
]

if TYPE_CHECKING:
    from a2a_lab.core.authority import TaskTransition, assert_card_authoritative
    from a2a_lab.core.commitment import commit_artifact
    from a2a_lab.core.keys import KeySet
    from a2a_lab.core.negotiation import negotiate_capabilities
    from a2a_lab.core.pinning import PinnedCard, canonical_digest, pin_card, revalidate_before_transition
    from a2a_lab.core.resolution import ResolvedTarget
    from a2a_lab.core.signatures import verify_card
    from a2a_lab.errors import (
        AgentCardConformanceError,
        AgentCardDriftError,
        AgentCardResolutionError,
        LabError,
    )
    from a2a_lab.judge.catalogue import catalogue
    from a2a_lab.lab.api import check_agent, run_matrix
    from a2a_lab.lab.check import CheckResult
    from a2a_lab.wire.cards import read_card


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'a2a_lab' has no attribute {name!r}")
    value = getattr(import_module(f"a2a_lab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)

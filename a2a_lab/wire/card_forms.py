"""The shapes that cards come in, told apart by their members, and what each shape requires (wire-facts 2).

A version number only tells the legacy shapes apart: a card may claim any number in any shape, and the version gate
judges the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from a2a_lab.core.model import Json

LEGACY: Final = (
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "protocolVersion",
    "supportsAuthenticatedExtendedCard",
    "security",
)
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "1.0": (
        "name",
        "description",
        "version",
        "supportedInterfaces",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    ),
    "0.3": (
        "name",
        "description",
        "version",
        "url",
        "protocolVersion",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    ),
    "0.2": (
        "name",
        "description",
        "version",
        "url",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
    ),
    "0.1": ("name", "version", "url", "capabilities", "skills"),
}
ANY_REQUIRED: Final = frozenset(name for names in REQUIRED.values() for name in names)
SNAKE: Final = {
    "supported_interfaces": "supportedInterfaces",
    "protocol_binding": "protocolBinding",
    "protocol_version": "protocolVersion",
    "preferred_transport": "preferredTransport",
    "additional_interfaces": "additionalInterfaces",
    "default_input_modes": "defaultInputModes",
    "default_output_modes": "defaultOutputModes",
    "input_modes": "inputModes",
    "output_modes": "outputModes",
    "push_notifications": "pushNotifications",
    "state_transition_history": "stateTransitionHistory",
    "extended_agent_card": "extendedAgentCard",
    "supports_authenticated_extended_card": "supportsAuthenticatedExtendedCard",
    "security_schemes": "securitySchemes",
    "security_requirements": "securityRequirements",
    "documentation_url": "documentationUrl",
    "icon_url": "iconUrl",
}


def form_of(top: Mapping[str, Json]) -> str:
    """The shape a card is written in: told by members, and by its version only among the legacy shapes."""
    interfaces = top.get("supportedInterfaces")
    if isinstance(interfaces, list) and interfaces:
        return "1.0"
    version = top.get("protocolVersion")
    if isinstance(version, str) and version.startswith("0.2"):
        return "0.2"
    if version is None and "authentication" in top:
        return "0.1"
    if version is None and "url" not in top and "supportedInterfaces" in top:
        return "1.0"  # a 1.0 card whose list of interfaces is empty or no list
    return "0.3"

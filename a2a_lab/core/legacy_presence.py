"""Says which members a 0.3 card has, and gives the two forms that signers in the field made of such a card.

Version 0.3 defines no canonical text, so these are facts about programs and not rules: the official Python SDK of
0.3 leaves out members equal to their default and then everything empty; CrewAI writes defaults out and keeps empties.
Both read the card into a schema first, so members that the schema does not know are in neither form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from a2a_lab.core.model import Json

# Each member leads to the message that stands there, alone, in a list or as the values of a map; "" is a plain value.
_MESSAGES: Mapping[str, Mapping[str, str]] = {
    "AgentCard": {
        **dict.fromkeys(
            (
                "defaultInputModes",
                "defaultOutputModes",
                "description",
                "documentationUrl",
                "iconUrl",
                "name",
                "preferredTransport",
                "protocolVersion",
                "security",
                "supportsAuthenticatedExtendedCard",
                "url",
                "version",
            ),
            "",
        ),
        "additionalInterfaces": "AgentInterface",
        "capabilities": "AgentCapabilities",
        "provider": "AgentProvider",
        "securitySchemes": "SecurityScheme",
        "skills": "AgentSkill",
    },
    "AgentInterface": dict.fromkeys(("transport", "url"), ""),
    "AgentCapabilities": {
        **dict.fromkeys(("pushNotifications", "stateTransitionHistory", "streaming"), ""),
        "extensions": "AgentExtension",
    },
    "AgentExtension": dict.fromkeys(("description", "params", "required", "uri"), ""),
    "AgentProvider": dict.fromkeys(("organization", "url"), ""),
    "AgentSkill": dict.fromkeys(
        ("description", "examples", "id", "inputModes", "name", "outputModes", "security", "tags"), ""
    ),
    "apiKey": dict.fromkeys(("description", "in", "name", "type"), ""),
    "http": dict.fromkeys(("bearerFormat", "description", "scheme", "type"), ""),
    "oauth2": {**dict.fromkeys(("description", "oauth2MetadataUrl", "type"), ""), "flows": "OAuthFlows"},
    "openIdConnect": dict.fromkeys(("description", "openIdConnectUrl", "type"), ""),
    "mutualTLS": dict.fromkeys(("description", "type"), ""),
    "OAuthFlows": dict.fromkeys(("authorizationCode", "clientCredentials", "implicit", "password"), "OAuthFlow"),
    "OAuthFlow": dict.fromkeys(("authorizationUrl", "refreshUrl", "scopes", "tokenUrl"), ""),
}

_MAPS = frozenset({"SecurityScheme"})  # members that name these are maps from a free name to the message

_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "AgentCard": {"preferredTransport": "JSONRPC", "protocolVersion": "0.3.0"},
    **{scheme: {"type": scheme} for scheme in ("apiKey", "http", "oauth2", "openIdConnect", "mutualTLS")},
}

# How the schemas tell schemes apart where `type` is missing: by a member that only one of them has.
_TELLTALES = {"in": "apiKey", "scheme": "http", "flows": "oauth2", "openIdConnectUrl": "openIdConnect"}


def legacy_form(card_document: Mapping[str, Json], *, defaults: Literal["dropped", "written"]) -> Json:
    """The card as a 0.3 schema holds it: no `signatures`, nothing unknown, nothing null, defaults as asked for."""
    return _message("AgentCard", card_document, defaults)


def _message(name: str, value: Json, defaults: str) -> Json:
    if not isinstance(value, Mapping):
        return value
    if name == "SecurityScheme":
        name = _scheme(value)
    usual = _DEFAULTS.get(name, {})
    form = {
        key: _item(_MESSAGES[name][key], item, defaults)
        for key, item in value.items()
        if key in _MESSAGES[name] and item is not None
    }
    if defaults == "written":
        return {key: item for key, item in usual.items() if key not in value} | form
    return {key: item for key, item in form.items() if key not in usual or item != usual[key]}


def _item(name: str, item: Json, defaults: str) -> Json:
    if not name:
        return item
    if isinstance(item, list):
        return [_message(name, one, defaults) for one in item]
    if name in _MAPS and isinstance(item, Mapping):
        return {key: _message(name, one, defaults) for key, one in item.items()}
    return _message(name, item, defaults)


def _scheme(value: Mapping[str, Json]) -> str:
    declared = value.get("type")
    if isinstance(declared, str) and declared in _DEFAULTS and declared != "AgentCard":
        return declared
    return next((scheme for member, scheme in _TELLTALES.items() if member in value), "mutualTLS")

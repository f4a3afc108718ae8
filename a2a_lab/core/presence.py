"""Says which members of a 1.0 card are written, and gives the form that specification section 8.4.1 signs.

Presence follows the proto: a REQUIRED member is always written, a member marked `optional` is written when set (an
explicit `false` stays), a message is written when sent, and every other member vanishes when it has its default. The
table is the descriptors of `specification/a2a.proto` at 1.0.1 as literals; a test holds it against the descriptors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.model import Json

Shape = Literal["one", "list", "map"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a message: how often it stands, what stands there, and when it is written.

    `type` is "string", "bool", "free" (opaque JSON) or the name of a message.
    """

    shape: Shape
    type: str
    presence: Literal["required", "optional", "default"]

    def is_default(self, value: Json) -> bool:
        """Whether the value carries no information under proto3 rules. Messages and free JSON have presence."""
        if self.shape != "one":
            return isinstance(value, list if self.shape == "list" else Mapping) and not value
        return (self.type == "string" and value == "") or (self.type == "bool" and value is False)

    def empty(self) -> Json:
        """What a REQUIRED member is written as when nobody set it."""
        if self.shape == "list":
            return []
        return "" if self.shape == "one" and self.type == "string" else {}


def _members(**rows: str) -> dict[str, Member]:
    """A message from rows such as `skills="required [AgentSkill]"`; without a word a member has default presence."""
    table = {}
    for name, row in rows.items():
        *word, written = row.split()
        shape: Shape = {"[": "list", "{": "map"}.get(written[0], "one")  # type: ignore[assignment]
        presence = word[0] if word else "default"
        table[name] = Member(shape=shape, type=written.strip("[]{}"), presence=presence)  # type: ignore[arg-type]
    return table


MESSAGES: Mapping[str, Mapping[str, Member]] = {
    "AgentCard": _members(
        name="required string",
        description="required string",
        supportedInterfaces="required [AgentInterface]",
        provider="AgentProvider",
        version="required string",
        documentationUrl="optional string",
        iconUrl="optional string",
        capabilities="required AgentCapabilities",
        securitySchemes="{SecurityScheme}",
        securityRequirements="[SecurityRequirement]",
        defaultInputModes="required [string]",
        defaultOutputModes="required [string]",
        skills="required [AgentSkill]",
    ),
    "AgentInterface": _members(
        url="required string", protocolBinding="required string", protocolVersion="required string", tenant="string"
    ),
    "AgentProvider": _members(url="required string", organization="required string"),
    "AgentCapabilities": _members(
        streaming="optional bool",
        pushNotifications="optional bool",
        extendedAgentCard="optional bool",
        extensions="[AgentExtension]",
    ),
    "AgentExtension": _members(uri="string", description="string", required="bool", params="free"),
    "AgentSkill": _members(
        id="required string",
        name="required string",
        description="required string",
        tags="required [string]",
        examples="[string]",
        inputModes="[string]",
        outputModes="[string]",
        securityRequirements="[SecurityRequirement]",
    ),
    "SecurityRequirement": _members(schemes="{StringList}"),
    "StringList": _members(list="[string]"),
    "SecurityScheme": _members(
        apiKeySecurityScheme="APIKeySecurityScheme",
        httpAuthSecurityScheme="HTTPAuthSecurityScheme",
        oauth2SecurityScheme="OAuth2SecurityScheme",
        openIdConnectSecurityScheme="OpenIdConnectSecurityScheme",
        mtlsSecurityScheme="MutualTlsSecurityScheme",
    ),
    "APIKeySecurityScheme": _members(description="string", location="required string", name="required string"),
    "HTTPAuthSecurityScheme": _members(description="string", scheme="required string", bearerFormat="string"),
    "OAuth2SecurityScheme": _members(description="string", flows="required OAuthFlows", oauth2MetadataUrl="string"),
    "OpenIdConnectSecurityScheme": _members(description="string", openIdConnectUrl="required string"),
    "MutualTlsSecurityScheme": _members(description="string"),
    "OAuthFlows": _members(
        authorizationCode="AuthorizationCodeOAuthFlow",
        clientCredentials="ClientCredentialsOAuthFlow",
        implicit="ImplicitOAuthFlow",
        password="PasswordOAuthFlow",
        deviceCode="DeviceCodeOAuthFlow",
    ),
    "AuthorizationCodeOAuthFlow": _members(
        authorizationUrl="required string",
        tokenUrl="required string",
        refreshUrl="string",
        scopes="required {string}",
        pkceRequired="bool",
    ),
    "ClientCredentialsOAuthFlow": _members(tokenUrl="required string", refreshUrl="string", scopes="required {string}"),
    "ImplicitOAuthFlow": _members(authorizationUrl="string", refreshUrl="string", scopes="{string}"),
    "PasswordOAuthFlow": _members(tokenUrl="string", refreshUrl="string", scopes="{string}"),
    "DeviceCodeOAuthFlow": _members(
        deviceAuthorizationUrl="required string",
        tokenUrl="required string",
        refreshUrl="string",
        scopes="required {string}",
    ),
}


def spec_form(card_document: Mapping[str, Json], *, keep_unknown: bool, fill: bool = True) -> dict[str, Json]:
    """The card as 8.4.1 signs it, without `signatures`; RFC 8785 then writes it.

    `keep_unknown` keeps members that the proto does not know, untouched (R18). A known member that is null is unset
    (R14). `fill` writes REQUIRED members that are absent, as the proto does; without it the result holds only what
    the card holds. Values of the wrong type stay, so that a signature over them fails instead of being mended.
    """
    known = {name: value for name, value in card_document.items() if name != "signatures"}
    form: dict[str, Json] = _message("AgentCard", known, keep_unknown, fill)
    return form


def _message(name: str, value: Json, keep_unknown: bool, fill: bool) -> Json:
    if not isinstance(value, dict):
        return value
    members = MESSAGES[name]
    form: dict[str, Json] = {}
    for key, item in value.items():
        member = members.get(key)
        if member is None:
            if keep_unknown:
                form[key] = item
        elif item or (item is not None and not (member.presence == "default" and member.is_default(item))):
            form[key] = _item(member, item, keep_unknown, fill) if member.type in MESSAGES else item
    if fill:
        for key, member in _REQUIRED[name]:
            if key not in form:
                form[key] = member.empty()
    return form


_REQUIRED = {
    name: [(key, member) for key, member in members.items() if member.presence == "required"]
    for name, members in MESSAGES.items()
}


def _item(member: Member, item: Json, keep_unknown: bool, fill: bool) -> Json:
    """A member that holds messages, as its shape says; what has another shape stays as it is."""
    if member.shape == "list" and isinstance(item, list):
        return [_message(member.type, one, keep_unknown, fill) for one in item]
    if member.shape == "map" and isinstance(item, dict):
        return {key: _message(member.type, one, keep_unknown, fill) for key, one in item.items()}
    return _message(member.type, item, keep_unknown, fill) if member.shape == "one" else item

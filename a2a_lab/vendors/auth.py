"""How an agent that is not ours wants to be authenticated to, as its file says; names of variables, never values.

Values only: `lab.live` makes sources of credentials of them. A secret that was pasted into the file is refused where it
can be told from the name of a variable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.typed import not_header_name, not_place, not_variable
from a2a_lab.core.urls import parse_url
from a2a_lab.vendors.tables import Table

KINDS: Final = ("static", "oauth2_cc", "exec")
AUTH_KEYS: Final = frozenset(
    [
        "card",
        "calls",
        "kind",
        "bearer_env",
        "api_key_env",
        "basic_env",
        "header_env",
        "command",
        "timeout_s",
        "token_url",
        "allow_token_host",
        "client_id_env",
        "client_secret_env",
        "scope",
        "audience",
        "client_auth",
    ]
)
TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticAuth:
    """Headers whose values stand in variables: a bearer token, `[HEADER=]VARIABLE`, `USER:PASSWORD`, or any header."""

    bearer_env: str = ""
    api_key_env: str = ""
    basic_env: str = ""
    header_env: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        named = [self.bearer_env, self.api_key_env.rpartition("=")[2], *self.basic_env.split(":")]
        return tuple(name for name in (*named, *self.header_env.values()) if name)

    @property
    def told(self) -> str:
        return "static"


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthAuth:
    """Client credentials at a token server; its host is allowed by name."""

    token_url: str
    client_id_env: str
    client_secret_env: str
    scope: str = ""
    audience: str = ""
    client_auth: Literal["basic", "post"] = "basic"

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.client_id_env, self.client_secret_env)

    @property
    def told(self) -> str:
        return f"oauth2_cc at {parse_url(self.token_url).host}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecAuth:
    """A program that prints headers and how long they hold."""

    command: tuple[str, ...]
    timeout_s: float = TIMEOUT_S

    @property
    def variables(self) -> tuple[str, ...]:
        return ()

    @property
    def told(self) -> str:
        return f"exec {os.path.basename(self.command[0])}"


Auth = StaticAuth | OAuthAuth | ExecAuth


def parse_auth(table: Table) -> Auth:
    """One table of credentials. Raises Misuse naming file, key, value and what was expected."""
    kind = table.text("kind", one_of=KINDS)
    made: Auth
    if kind == "static":
        made = _static(table)
    elif kind == "oauth2_cc":
        made = _oauth(table)
    else:
        command = table.texts("command", empty=False)
        made = ExecAuth(command=command, timeout_s=table.number("timeout_s", TIMEOUT_S, least=0.1))
    table.done()
    return made


def _static(table: Table) -> StaticAuth:
    bearer = _variable(table, "bearer_env", "")
    api_key, basic = table.text("api_key_env", ""), table.text("basic_env", "")
    header_env = table.free("header_env")
    table.done()  # before anything is missed: a misspelt key is why it is missing
    for name, variable in header_env.items():
        if not_header_name(name) or not isinstance(variable, str) or not_variable(variable):
            table.refuse("header_env", 'a table of header names and variables, such as {"X-Tenant-Key" = "TENANT_KEY"}')
    name, equals, variable = api_key.rpartition("=")
    if api_key and (not_variable(variable) or (equals and not_header_name(name))):
        table.refuse("api_key_env", 'the name of a variable, or HEADER=VARIABLE, such as "X-API-Key=KEY"')
    user, _, password = basic.partition(":")
    if basic and (not_variable(user) or not_variable(password)):
        table.refuse("basic_env", "two names of variables, USER_VARIABLE:PASSWORD_VARIABLE")
    if bearer and basic:
        table.refuse("basic_env", "left out where bearer_env is given: both set Authorization")
    if not (bearer or api_key or basic or header_env):
        table.refuse("bearer_env", "given, or api_key_env, basic_env or header_env: nothing would be sent")
    return StaticAuth(bearer_env=bearer, api_key_env=api_key, basic_env=basic, header_env=header_env)


def _oauth(table: Table) -> OAuthAuth:
    url = table.text("token_url")
    try:
        place = parse_url(url)
    except ValueError:
        table.refuse("token_url", "a URL, such as https://login.example/oauth2/token")
    if place.scheme != "https" and not is_loopback(place.host):
        table.refuse("token_url", "an https URL: it is given the client's secret")
    allowed = table.texts("allow_token_host", ())
    for host in allowed:
        if expected := not_place(host):
            table.refuse("allow_token_host", f"a list of hosts; {host!r} is not {expected}")
    if place.host not in [host.lower() for host in allowed]:
        table.refuse("allow_token_host", f"a list with {place.host!r}: the host of token_url is allowed by name")
    return OAuthAuth(
        token_url=url,
        client_id_env=_variable(table, "client_id_env"),
        client_secret_env=_variable(table, "client_secret_env"),
        scope=table.text("scope", ""),
        audience=table.text("audience", ""),
        client_auth=table.text("client_auth", "basic", one_of=("basic", "post")),  # type: ignore[arg-type]
    )


def _variable(table: Table, key: str, default: str | None = None) -> str:
    name = table.text(key, default)
    if name and (looks := not_variable(name)):
        table.refuse(key, f"the name of an environment variable; {looks}: the value itself stays out of the file")
    return name

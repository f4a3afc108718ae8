"""Credentials of one vendor, read from environment variables; never from a file, a parameter or a command line.

They are headers. Card fetches and calls may carry different ones. A request carries them only to origins that the
operator named, and a redirect never takes them along (D8).
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from a2a_lab.errors import Misuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Headers for card fetches and for calls. `secrets` are the bare values, for redaction."""

    card: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()

    @property
    def header_names(self) -> frozenset[str]:
        return frozenset(self.card) | frozenset(self.calls)

    def __bool__(self) -> bool:
        return bool(self.card or self.calls)

    def __repr__(self) -> str:
        # A traceback or a notebook cell must not show what this holds.
        return f"Credentials(headers={sorted(self.header_names)})"


def from_environment(
    *,
    bearer: str = "",
    api_key: str = "",
    basic: str = "",
    headers: Mapping[str, str] | None = None,
    send_with: str = "both",
    environment: Mapping[str, str] | None = None,
) -> Credentials:
    """Credentials out of environment variables.

    Every argument names variables, not values: `bearer="TOKEN"`, `api_key="X-API-Key=VAR"` (the header may be left
    out), `basic="USER_VAR:PASSWORD_VAR"`, `headers={"X-Tenant-Key": "VAR"}`. `send_with` is "card", "calls" or
    "both". Raises Misuse naming a variable that is not set, or a form that is not understood.
    """
    held = os.environ if environment is None else environment

    def value(variable: str, wanted_for: str) -> str:
        found = held.get(variable)
        if not found:
            raise Misuse(
                f"environment variable {variable!r} is {'empty' if found == '' else 'not set'}; {wanted_for} is read "
                f"from it. Export it first: export {variable}=…"
            )
        if "\n" in found or "\r" in found:
            raise Misuse(f"environment variable {variable!r} holds a line break; a header value cannot")
        return found

    made: dict[str, str] = {}
    secrets: set[str] = set()
    if bearer:
        token = value(bearer, "the bearer token")
        made["Authorization"] = f"Bearer {token}"
        secrets.add(token)
    if basic:
        user_variable, colon, password_variable = basic.partition(":")
        if not colon or not user_variable or not password_variable:
            raise Misuse(f"basic credentials {basic!r}: expected USER_VARIABLE:PASSWORD_VARIABLE, two variable names")
        if bearer:
            raise Misuse("bearer and basic credentials both set Authorization; give one of them")
        user, password = value(user_variable, "the user name"), value(password_variable, "the password")
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
        made["Authorization"] = f"Basic {encoded}"
        secrets |= {password, encoded}
    if api_key:
        name, equals, variable = api_key.rpartition("=")
        key = value(variable, "the API key")
        made[name if equals else "X-API-Key"] = key
        secrets.add(key)
    for name, variable in (headers or {}).items():
        made[name] = value(variable, f"header {name}")
        secrets.add(made[name])
    if send_with not in ("card", "calls", "both"):
        raise Misuse(f"credentials are sent with {send_with!r}; expected card, calls or both")
    return Credentials(
        card=made if send_with != "calls" else {},
        calls=made if send_with != "card" else {},
        secrets=frozenset(secrets),
    )


def header_variables(pairs: list[str]) -> dict[str, str]:
    """`NAME=VAR` pairs as a command line gives them. Raises Misuse naming the pair that is none."""
    made = {}
    for pair in pairs:
        name, equals, variable = pair.partition("=")
        if not equals or not name.strip() or not variable.strip():
            raise Misuse(f"--header-env {pair!r}: expected NAME=VARIABLE, e.g. X-Tenant-Key=TENANT_KEY")
        made[name.strip()] = variable.strip()
    return made

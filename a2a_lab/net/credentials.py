"""Credentials of one agent: what a request carries, to which origins, and what happens when it is refused.

Values come from environment variables, a token server or a helper program; never from a file, a parameter or a command
line. Card fetches and calls may carry different ones. A request carries them only to origins that the operator named,
and a redirect never takes them along (D8). When they are renewed is decided by `core.lease`.
"""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from a2a_lab.core.lease import Lease, Renewal
from a2a_lab.core.typed import like_secret, not_header_name, not_variable, where_not_header_value
from a2a_lab.errors import Misuse, Withheld

VALUE: Final = (
    "that looks like a value, give the NAME of an environment variable (letters, digits and _); what was given is not "
    "repeated here, as it may be the secret"
)
MayHave = Callable[[str], bool]
"""Whether a URL is one of those that the credentials are for."""


class Source(Protocol):
    """Where the headers of a request's credentials come from. `names` are those of the headers, as far as known."""

    @property
    def names(self) -> frozenset[str]: ...

    async def headers(self, url: str) -> Mapping[str, str]:
        """What a request to the URL carries. Raises Withheld where it should carry some and none can be had."""
        ...

    async def again(self, url: str, sent: Mapping[str, str]) -> Mapping[str, str] | None:
        """After a 401: what the same request carries when it is sent once more; None where it is not."""
        ...

    def let_through(self) -> None:
        """A request with these headers was answered by anything but 401."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Headers that stay as they are. `may_have` is None where the caller alone decides who gets them."""

    values: Mapping[str, str]
    may_have: MayHave | None = None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.values)

    async def headers(self, url: str) -> Mapping[str, str]:
        return self.values if self.may_have is None or self.may_have(url) else {}

    async def again(self, url: str, sent: Mapping[str, str]) -> Mapping[str, str] | None:
        return None

    def let_through(self) -> None:
        return None

    def __repr__(self) -> str:
        # A traceback or a notebook cell must not show what this holds.
        return f"Fixed(headers={sorted(self.values)})"


class Leased:
    """Headers that end: obtained when they are needed, by one request at a time, however many wait for them.

    `obtain` raises Withheld where it cannot; `know` is told every value, so that none is stored or shown.
    """

    def __init__(
        self,
        obtain: Callable[[], Awaitable[Lease]],
        *,
        may_have: MayHave,
        know: Callable[[list[str]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._obtain, self._may_have, self._know, self._clock = obtain, may_have, know, clock
        self._renewal = Renewal()
        self._one = asyncio.Lock()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._renewal.lease.headers) if self._renewal.lease is not None else frozenset()

    async def headers(self, url: str) -> Mapping[str, str]:
        if not self._may_have(url):
            return {}
        async with self._one:
            if self._renewal.wants(self._clock()):
                await self._renew()
            return self._held()

    async def again(self, url: str, sent: Mapping[str, str]) -> Mapping[str, str] | None:
        if not sent or not self._may_have(url):
            return None
        async with self._one:
            if self._renewal.has_newer(sent):
                return self._held()
            if not self._renewal.refused(sent):
                return None
            self._take(await self._obtain(), on_trial=True)
            return self._held()

    def let_through(self) -> None:
        self._renewal.let_through()

    async def _renew(self) -> None:
        try:
            self._take(await self._obtain())
        except Withheld:
            if self._renewal.must_have(self._clock()):
                raise  # else the one that is held is good for a while yet, and the next request tries again

    def _take(self, lease: Lease, *, on_trial: bool = False) -> None:
        self._know([value for header in lease.headers.values() for value in (header, header.partition(" ")[2])])
        self._renewal.took(lease, on_trial=on_trial)

    def _held(self) -> Mapping[str, str]:
        assert self._renewal.lease is not None
        return self._renewal.lease.headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What card fetches and calls carry; None for nothing. `secrets` are the bare values known beforehand.

    `origins` are those that any of it is for, beside that of the URL where the agent is looked for.
    """

    card: Source | None = None
    calls: Source | None = None
    secrets: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    @property
    def header_names(self) -> frozenset[str]:
        return frozenset().union(*(one.names for one in (self.card, self.calls) if one is not None))

    def __bool__(self) -> bool:
        return self.card is not None or self.calls is not None

    def __repr__(self) -> str:
        return f"Credentials(headers={sorted(self.header_names)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Static:
    """Headers out of environment variables, with the bare values in them."""

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Static(headers={sorted(self.headers)})"


def value_of(variable: str, wanted_for: str, held: Mapping[str, str]) -> str:
    """The value of a variable, fit for a header. Raises Misuse that names the variable and never its value.

    Nor does it repeat what may be a value that was given in place of a name.
    """
    found = held.get(variable)
    if not_variable(variable) or (not found and like_secret(variable)):
        raise Misuse(f"{wanted_for}: {VALUE}")
    if not found:
        raise Misuse(
            f"environment variable {variable!r} is {'empty' if found == '' else 'not set'}; {wanted_for} is read "
            f"from it. Export it first: export {variable}=…"
        )
    if where := where_not_header_value(found):
        raise Misuse(
            f"environment variable {variable!r}, {wanted_for}: {where}; a header holds printable ASCII on one line"
        )
    return found


def static_headers(
    *,
    bearer: str = "",
    api_key: str = "",
    basic: str = "",
    headers: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Static:
    """Headers whose values come from environment variables.

    Every argument names variables, not values: `bearer="TOKEN"`, `api_key="X-API-Key=VAR"` (the header may be left
    out), `basic="USER_VAR:PASSWORD_VAR"`, `headers={"X-Tenant-Key": "VAR"}`. Raises Misuse naming a variable that is
    not set, or a form that is not understood.
    """
    held = os.environ if environment is None else environment
    made: dict[str, str] = {}
    secrets: set[str] = set()
    if bearer:
        token = value_of(bearer, "the bearer token", held)
        made["Authorization"] = f"Bearer {token}"
        secrets.add(token)
    if basic:
        user_variable, colon, password_variable = basic.partition(":")
        if not colon or not user_variable or not password_variable:
            given = "what was given" if like_secret(basic) else repr(basic)
            raise Misuse(f"basic credentials, {given}: expected USER_VARIABLE:PASSWORD_VARIABLE, two variable names")
        if bearer:
            raise Misuse("bearer and basic credentials both set Authorization; give one of them")
        user, password = (
            value_of(user_variable, "the user name", held),
            value_of(password_variable, "the password", held),
        )
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
        made["Authorization"] = f"Basic {encoded}"
        secrets |= {password, encoded}
    if api_key:
        name, equals, variable = api_key.rpartition("=")
        key = value_of(variable, "the API key", held)
        made[_named(name) if equals else "X-API-Key"] = key
        secrets.add(key)
    for name, variable in (headers or {}).items():
        made[_named(name)] = value_of(variable, f"header {name}", held)
        secrets.add(made[name])
    return Static(headers=made, secrets=frozenset(secrets))


def _named(name: str) -> str:
    if expected := not_header_name(name):
        raise Misuse(f"header {name!r}: expected {expected}")
    return name


def from_environment(
    *,
    bearer: str = "",
    api_key: str = "",
    basic: str = "",
    headers: Mapping[str, str] | None = None,
    send_with: str = "both",
    environment: Mapping[str, str] | None = None,
) -> Credentials:
    """Credentials out of environment variables, as `static_headers` reads them; whoever calls decides who gets them.

    `send_with` is "card", "calls" or "both".
    """
    made = static_headers(bearer=bearer, api_key=api_key, basic=basic, headers=headers, environment=environment)
    if send_with not in ("card", "calls", "both"):
        raise Misuse(f"credentials are sent with {send_with!r}; expected card, calls or both")
    source = Fixed(made.headers) if made.headers else None
    return Credentials(
        card=source if send_with != "calls" else None,
        calls=source if send_with != "card" else None,
        secrets=made.secrets,
    )


def header_variables(pairs: list[str]) -> dict[str, str]:
    """`NAME=VAR` pairs as a command line gives them. Raises Misuse naming the pair that is none."""
    made = {}
    for pair in pairs:
        name, equals, variable = pair.partition("=")
        name, variable = name.strip(), variable.strip()
        if not equals or not name or not variable:
            raise Misuse(
                "--header-env: expected NAME=VARIABLE, e.g. X-Tenant-Key=TENANT_KEY; what was given is not repeated "
                "here, as it may be the secret"
            )
        if not_variable(variable):
            shown = "" if not_header_name(name) else f" {name}=…"
            raise Misuse(f"--header-env{shown}: {VALUE}")
        made[name] = variable
    return made

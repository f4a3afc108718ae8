"""Makes of what a live vendor is what reaches it: a policy, a resolver, TLS, and sources of its credentials.

The same for a vendor file and for the options of `check`. A variable that is not set, or a PEM file that cannot be
used, is refused here, before anything is sent.
"""

from __future__ import annotations

import os
import re
import ssl
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import httpx

from a2a_lab.core.addresses import is_named
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Clocks, Policy
from a2a_lab.core.resolvers import PathPrefix, Resolver, TenantHeader, TenantQuery
from a2a_lab.core.typed import like_secret, where_not_header_value
from a2a_lab.core.urls import origin, parse_url
from a2a_lab.errors import Misuse
from a2a_lab.net.client import Reach, tls_context
from a2a_lab.net.credentials import (
    VALUE,
    Credentials,
    Fixed,
    Leased,
    MayHave,
    Source,
    Static,
    static_headers,
    value_of,
)
from a2a_lab.net.helper import Helper
from a2a_lab.net.token_server import TokenServer
from a2a_lab.vendors.auth import Auth, ExecAuth, OAuthAuth, StaticAuth
from a2a_lab.vendors.live import LiveVendor

_PLACE: Final = re.compile(r"(https?://)?[^\s/@]+:\d{1,5}")
Know = Callable[[list[str]], None]


def policy_of(live: LiveVendor, *, clocks: Clocks | None = None, control: bool = False) -> Policy:
    """What the operator of the vendor decides."""
    return Policy(
        supports=live.dialects,
        bindings=live.bindings,
        topology=live.topology,
        signature_policy=live.signature_policy,
        trusted_keys=KeySet.from_jwks(dict(live.jwks)) if live.jwks is not None else None,
        jku_allow=frozenset(live.jku_allow),
        allow_http=frozenset(live.allow_http),
        allow_origins=frozenset(live.allow_origin),
        probe_control=control,
        clocks=clocks or live.patience,
    )


def resolver_of(live: LiveVendor) -> Resolver | None:
    """How a tenant is selected, where the protocol's own `tenant` member does not do it."""
    how, _, name = live.tenant_by.partition(":")
    if how == "header":
        return TenantHeader(tenant=live.tenant, header=name or "X-Tenant")
    if how == "query":
        return TenantQuery(tenant=live.tenant, name=name or "tenant")
    return PathPrefix(prefix=live.tenant) if how == "path" else None


def tenant_of(live: LiveVendor) -> str | None:
    return live.tenant if live.tenant and live.tenant_by == "interface" else None


def reach_of(live: LiveVendor) -> Reach:
    return Reach(
        ca_bundle=live.tls.ca_bundle or None,
        client_cert=live.tls.client_cert or None,
        client_key=live.tls.client_key or None,
        proxy=live.proxy or None,
        connect_to=connections(live.connect_to, f"{live.where}.connect_to" if live.where else "--connect-to"),
    )


def connections(entries: tuple[str, ...], where: str) -> dict[str, str]:
    """curl's connect-to. `where` is the option or key that a message names."""
    found: dict[str, str] = {}
    for entry in entries:
        there = entry.split("=") if "=" in entry else entry.rsplit(":", 2)
        if len(there) == 3 and there[0].count(":") == 1:
            there = [there[0], f"{there[1]}:{there[2]}"]
        if len(there) != 2 or not _PLACE.fullmatch(there[1]):
            raise Misuse(
                f"{where} {entry!r}: expected HOST:PORT=HOST:PORT, as in agent.example:443=127.0.0.1:8443; "
                "write =http://HOST:PORT where plain http is spoken there"
            )
        found[there[0].lower()] = there[1]
    return found


def context_of(live: LiveVendor) -> ssl.SSLContext:
    """The TLS context. Raises Misuse naming the files where they cannot be used."""
    try:
        return tls_context(reach_of(live))
    except OSError as fault:
        named = ", ".join(filter(None, (live.tls.ca_bundle, live.tls.client_cert, live.tls.client_key)))
        keys = "ca_bundle, client_cert and client_key" if live.where else "--ca-bundle, --client-cert and --client-key"
        begins = f"{live.where}: the" if live.where else "the"
        raise Misuse(f"{begins} TLS files cannot be used ({named}): {fault}; check {keys}") from fault


def warnings_of(live: LiveVendor) -> list[str]:
    """What an operator should see to, though nothing stands still for it."""
    key = live.tls.client_key or live.tls.client_cert
    if key and Path(key).exists() and Path(key).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        return [f"{key} can be read by others than its owner; a private key is for one user: chmod 600 {key}"]
    return []


def missing_variables(live: LiveVendor, held: Mapping[str, str] | None = None) -> list[str]:
    """Every variable that its file names and that is not there, or holds what no header carries; a clause each."""
    held = os.environ if held is None else held
    found = []
    for name, key in live.variables.items():
        if not held.get(name) and like_secret(name):
            found.append(f"{live.where}, {key}: {VALUE}")
        elif not held.get(name):
            found.append(f"{name} ({live.where}, {key}) is {'empty' if name in held else 'not set'}")
        elif where := where_not_header_value(held[name]):
            found.append(f"{name} ({live.where}, {key}): {where}, and a header holds printable ASCII")
    return found


def require_variables(lives: list[LiveVendor]) -> None:
    """Refuse to begin where a variable is missing. Raises Misuse in one sentence that names all of them."""
    found = list(dict.fromkeys(clause for live in lives for clause in missing_variables(live)))
    if found:
        raise Misuse(f"credentials are missing, and nothing was sent: {'; '.join(found)}. Export them first")


def credentials_of(live: LiveVendor, client: httpx.AsyncClient, know: Know) -> Credentials:
    """Sources of its credentials, each for the origin that its file names. Raises Misuse for a variable.

    `know` is told every secret as soon as it is one.
    """
    if live.auth_card is None and live.auth_calls is None:
        return Credentials()
    policy = policy_of(live)
    cards, calls = origin(live.card_url or live.url), origin(live.url or live.card_url)

    def may_have(*origins: str) -> MayHave:
        def judge(url: str) -> bool:
            place = parse_url(url)
            return place.origin in origins or is_named(place, policy)

        return judge

    if live.auth_card is live.auth_calls:
        assert live.auth_card is not None
        both = _source(live.auth_card, live, client, know, may_have(cards, calls))
        return Credentials(card=both, calls=both, origins=frozenset({cards, calls}))
    return Credentials(
        card=_source(live.auth_card, live, client, know, may_have(cards)) if live.auth_card else None,
        calls=_source(live.auth_calls, live, client, know, may_have(calls)) if live.auth_calls else None,
        origins=frozenset({cards} if live.auth_card else ()) | frozenset({calls} if live.auth_calls else ()),
    )


def _source(auth: Auth, live: LiveVendor, client: httpx.AsyncClient, know: Know, may_have: MayHave) -> Source:
    match auth:
        case StaticAuth():
            made = static_of(auth)
            know(sorted(made.secrets))
            return Fixed(made.headers, may_have)
        case OAuthAuth():
            secret = value_of(auth.client_secret_env, "the client's secret", os.environ)
            know([secret])
            server = TokenServer(
                url=auth.token_url,
                client_id=value_of(auth.client_id_env, "the client's id", os.environ),
                client_secret=secret,
                scope=auth.scope,
                audience=auth.audience,
                client_auth=auth.client_auth,
            )
            connect_to = reach_of(live).connect_to
            return Leased(lambda: server.obtain(client, know=know, connect_to=connect_to), may_have=may_have, know=know)
        case ExecAuth():
            helper = Helper(command=auth.command, folder=live.folder, timeout_s=auth.timeout_s)
            return Leased(lambda: helper.obtain(know=know), may_have=may_have, know=know)


def static_of(auth: StaticAuth) -> Static:
    return static_headers(
        bearer=auth.bearer_env, api_key=auth.api_key_env, basic=auth.basic_env, headers=auth.header_env
    )

"""What an operator can say to `check`, as options of a command line or as a vendor file, and what becomes of it.

Both ways lead to the same `LiveVendor`, so that an agent that was checked by hand is checked alike from its file.
Everything is read and refused here, before anything is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Clocks, Intent, Policy
from a2a_lab.core.tiers import PROD, Tier
from a2a_lab.core.typed import (
    not_extension,
    not_header_name,
    not_header_value,
    not_media_type,
    not_place,
    not_text,
    not_url,
)
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import Misuse
from a2a_lab.lab.costs import runs_of
from a2a_lab.lab.live import connections, policy_of
from a2a_lab.net import grpc_channel
from a2a_lab.net.credentials import VALUE, header_variables
from a2a_lab.vendors.auth import StaticAuth
from a2a_lab.vendors.live import DIALECTS, LIVE_CLOCKS, LOOPBACK_CLOCKS, TENANT_BY, LiveVendor, Tls, read_live
from a2a_lab.wire.dialects import BINDINGS

PROMPT: Final = "Hello from a2a-lab. Please answer in one line."


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What an operator can say about one agent. Everything that names a secret names an environment variable."""

    send: bool = False
    trust: str = ""
    signature_policy: str = "prefer"
    require: Sequence[str] = ()
    supports: Sequence[str] = ("1.0", "0.3")
    bindings: Sequence[str] = ("JSONRPC",)
    mode: str = "text/plain"
    text: str = PROMPT
    skill: str = ""
    accepts: Sequence[str] = ()
    extensions: Sequence[str] = ()
    tenant: str = ""
    tenant_by: str = "interface"
    topology: str = "auto"
    card_url: str = ""
    connect_to: Sequence[str] = ()
    header_env: Sequence[str] | str = ()
    bearer_env: str = ""
    api_key_env: str = ""
    basic_env: str = ""
    send_credentials_with: str = "both"
    allow_http: Sequence[str] = ()
    allow_origin: Sequence[str] = ()
    jku_allow: Sequence[str] = ()
    probe: str = "strict"
    control_probe: bool = False
    silence: float | None = None
    hang: float | None = None
    total: float | None = None
    ca_bundle: str = ""
    client_cert: str = ""
    client_key: str = ""
    proxy: str = ""
    out: str = "runs"


# What to ask for is said in an option; what the agent is and how it is reached stands in its file, where there is one.
_OF_THE_ASKING: Final = frozenset(
    {"send", "require", "mode", "text", "skill", "accepts", "extensions", "probe", "control_probe", "out"}
)
_NAMES: Final = {"bindings": "binding", "accepts": "accept", "extensions": "extension", "control_probe": "control"} | {
    "send_credentials_with": "credentials-with"
}


def option(name: str) -> str:
    """How the command line calls an option of `CheckOptions`."""
    return "--" + _NAMES.get(name, name).replace("_", "-")


def is_vendor_file(url: str) -> bool:
    """Whether what was given in place of a URL names a vendor file."""
    return url.endswith(".toml") and "://" not in url


def live_of(url: str, options: CheckOptions) -> LiveVendor:
    """The agent that is meant: that of a vendor file, or the one of the URL and the options.

    Raises Misuse naming the option or key, its value and what was expected.
    """
    judge_typed(options)
    if not is_vendor_file(url):
        return _of_options(url, options)
    usual = CheckOptions()
    for item in fields(options):
        if item.name not in _OF_THE_ASKING and getattr(options, item.name) != getattr(usual, item.name):
            raise Misuse(f"{option(item.name)} with {url}: what the agent is stands in its file; say it there")
    live = read_live(Path(url))
    if options.send and live.environment == PROD:
        raise Misuse(f'--send with {url}: environment = "prod" caps the tier at card; nothing is sent to it')
    wanted = Tier.FULL if options.control_probe else Tier.SEND
    if options.send and live.tier is not None and not live.tier.covers(wanted):
        needs = "--control" if live.tier.covers(Tier.SEND) else "--send"
        raise Misuse(f'{needs} with {url}: tier = "{live.tier}" in it; expected "{wanted}" or higher')
    runs = runs_of(options.mode, control=options.control_probe)
    if options.send and runs > live.max_runs:
        raise Misuse(f"--send with {url}: it may start {runs} agent runs, and max_runs = {live.max_runs} in it")
    return live


def policy_for(live: LiveVendor, options: CheckOptions) -> Policy:
    """The policy of the check: the agent's own, with what the options say about the asking."""
    policy = policy_of(live, control=options.control_probe)
    return replace(policy, probe=options.probe)  # type: ignore[arg-type]  # judge_typed checked it


def intent_of(options: CheckOptions, canary: str) -> Intent:
    """What is to be sent: the text, with a canary by which the payload is known in the evidence."""
    if options.mode == "application/json":
        body = json.dumps({"text": options.text, "id": canary}).encode()
    else:
        body = f"{options.text}\n[{canary}]".encode()
    return Intent(
        mode=options.mode,
        payloads={options.mode: body},
        skill=options.skill or None,
        requires=tuple(options.require),
        extensions=tuple(options.extensions),
        accepts=tuple(options.accepts),
    )


def judge_typed(options: CheckOptions) -> None:
    """Refuse every value that cannot be right, whatever the agent is."""
    for item in fields(options):
        value = getattr(options, item.name)
        for one in [value] if isinstance(value, str) else value if isinstance(value, Sequence) else ():
            if expected := not_text(one):
                if item.name.endswith("_env"):
                    raise Misuse(f"{option(item.name)}: {VALUE}")
                raise Misuse(f"{option(item.name)} {one!r}: expected {expected}")
    how, _, name = options.tenant_by.partition(":")
    for key, value, known in (
        ("signature_policy", options.signature_policy, ("prefer", "require")),
        ("topology", options.topology, ("auto", "direct", "gateway")),
        ("tenant_by", how, TENANT_BY),
        ("probe", options.probe, ("strict", "lenient")),
        ("send_credentials_with", options.send_credentials_with, ("card", "calls", "both")),
    ):
        if value not in known:
            raise Misuse(f"{option(key)} {value!r}: expected {', '.join(known[:-1])} or {known[-1]}")
    if name and how not in ("header", "query"):
        raise Misuse(f"--tenant-by {options.tenant_by!r}: only header and query take a name, as in header:X-Tenant")
    if how != "interface" and not options.tenant:
        raise Misuse(f"--tenant-by {options.tenant_by} selects a tenant, and none is given; add --tenant NAME")
    if how == "header" and (expected := (name and not_header_name(name)) or not_header_value(options.tenant)):
        raise Misuse(f"--tenant {options.tenant!r} by {options.tenant_by!r}: expected {expected}")
    for key, judge, values in (
        ("mode", not_media_type, [options.mode]),
        ("accepts", not_media_type, options.accepts),
        ("extensions", not_extension, options.extensions),
        ("allow_http", not_place, options.allow_http),
        ("allow_origin", not_place, options.allow_origin),
        ("jku_allow", not_place, options.jku_allow),
    ):
        for value in values:
            if expected := judge(value):
                raise Misuse(f"{option(key)} {value!r}: expected {expected}")
    for value in options.supports:
        if value not in DIALECTS:
            spoken = f"{', '.join(DIALECTS[:-1])} or {DIALECTS[-1]}"
            raise Misuse(f"--supports {value!r}: expected a version that the lab speaks: {spoken}")
    for value in options.bindings:
        if value not in BINDINGS:
            raise Misuse(f"--binding {value!r}: expected {' or '.join(BINDINGS)}; case counts")
        if value == "GRPC":
            grpc_channel.require()


def _of_options(url: str, options: CheckOptions) -> LiveVendor:
    try:
        host = parse_url(options.card_url or url).host
        parse_url(url)
    except ValueError as fault:
        raise Misuse(f"{fault}; expected a URL such as https://agent.example or http://127.0.0.1:9999") from fault
    for given in filter(None, (url, options.card_url)):
        if expected := not_url(given):
            raise Misuse(f"{given!r}: expected {expected}; --binding GRPC calls over it")
    connections(tuple(options.connect_to), "--connect-to")
    for name in ("ca_bundle", "client_cert", "client_key"):
        if (path := getattr(options, name)) and not Path(path).exists():
            raise Misuse(f"{option(name)} {path}: there is no such file; expected a PEM file")
    auth = _auth(options)
    return LiveVendor(
        name=host,
        url=url,
        card_url=options.card_url,
        dialects=tuple(options.supports),
        bindings=tuple(dict.fromkeys(options.bindings)),
        topology=options.topology,  # type: ignore[arg-type]  # judge_typed checked it, and the next one
        signature_policy=options.signature_policy,  # type: ignore[arg-type]
        tenant=options.tenant,
        tenant_by=options.tenant_by,
        jwks=_trusted(options.trust),
        allow_http=tuple(options.allow_http),
        allow_origin=tuple(options.allow_origin),
        jku_allow=tuple(options.jku_allow),
        clocks=_clocks(host, options),
        tls=Tls(ca_bundle=options.ca_bundle, client_cert=options.client_cert, client_key=options.client_key),
        proxy=options.proxy,
        connect_to=tuple(options.connect_to),
        auth_card=auth if options.send_credentials_with != "calls" else None,
        auth_calls=auth if options.send_credentials_with != "card" else None,
        rps=float("inf"),  # one agent, one cell, and somebody who watches
    )


def _auth(options: CheckOptions) -> StaticAuth | None:
    pairs = options.header_env
    named = header_variables([pairs] if isinstance(pairs, str) and pairs else [*pairs])
    if not (options.bearer_env or options.api_key_env or options.basic_env or named):
        return None
    return StaticAuth(
        bearer_env=options.bearer_env,
        api_key_env=options.api_key_env,
        basic_env=options.basic_env,
        header_env=named,
    )


def _clocks(host: str, options: CheckOptions) -> Clocks:
    usual = LOOPBACK_CLOCKS if is_loopback(host) else LIVE_CLOCKS
    clocks = Clocks(
        silence_s=usual.silence_s if options.silence is None else options.silence,
        hang_s=usual.hang_s if options.hang is None else options.hang,
        total_s=usual.total_s if options.total is None else options.total,
    )
    if not 0 < clocks.silence_s <= clocks.hang_s <= clocks.total_s < float("inf"):
        raise Misuse(
            f"--silence {clocks.silence_s:g}, --hang {clocks.hang_s:g}, --total {clocks.total_s:g}: "
            "each must be positive, and at most the next one"
        )
    return clocks


def _trusted(path: str) -> Mapping[str, Any] | None:
    if not path:
        return None
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as fault:
        raise Misuse(f"--trust {path}: {fault.strerror}; expected a JWK set file") from fault
    except ValueError as fault:
        raise Misuse(f'--trust {path}: not JSON ({fault}); expected a JWK set: {{"keys": [...]}}') from fault
    try:
        KeySet.from_jwks(document)
    except Misuse as fault:
        raise Misuse(f"--trust {path}: {fault.message}") from fault
    assert isinstance(document, Mapping)
    return document

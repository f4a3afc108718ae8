"""What an agent that is not ours is: where it is, how it is reached, and how far the lab may go with it (R37).

Values only, read from a vendor file with `reach = "live"` or made of the options of `check`; `lab.live` makes of them
what opens sockets. Every complaint names the file, the key, its value and what was expected.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Clocks
from a2a_lab.core.tiers import PROD, Grant, Tier, granted
from a2a_lab.core.typed import not_header_name, not_header_value, not_place, not_url
from a2a_lab.core.urls import origin, parse_url
from a2a_lab.errors import Misuse
from a2a_lab.vendors.auth import AUTH_KEYS, Auth, parse_auth
from a2a_lab.vendors.tables import Table, nearest

LIVE: Final = "live"
ENVIRONMENTS: Final = (PROD, "staging", "test", "local")
DIALECTS: Final = ("1.0", "0.3", "0.2", "0.1")
BINDINGS: Final = ("JSONRPC", "HTTP+JSON", "GRPC")
TENANT_BY: Final = ("interface", "header", "path", "query")
LOOPBACK_CLOCKS: Final = Clocks(silence_s=5.0, hang_s=10.0, total_s=60.0)  # R30: an agent on this machine
LIVE_CLOCKS: Final = Clocks(silence_s=30.0, hang_s=120.0, total_s=600.0)
MAX_RUNS: Final = 20
RPS: Final = 2.0
_OF_THE_SOCKET: Final = ("auth", "tls", "proxy", "connect_to")  # nothing of it matters to a judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM files: authorities beside those of the system, and the client's own certificate and key."""

    ca_bundle: str = ""
    client_cert: str = ""
    client_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveVendor:
    """One agent that somebody else runs. `url` or `card_url` is given; `where` is how sentences call its file.

    `tier` is what its file asks for, None where it does not say; `granted` is what holds in a matrix. `max_runs` bounds
    the agent runs of one run of the lab, `rps` the requests a second, `in_flight` the cells that talk to it at a time.
    `jwks` are the public keys that may sign its card. `kept` is the file as it is kept beside a run: a table that
    `parse_live` reads again. `held_for` are the origins that credentials are for (D8).
    """

    name: str
    url: str = ""
    card_url: str = ""
    title: str = ""
    version: str = LIVE
    where: str = ""
    folder: Path = field(default=Path())
    environment: str = ""
    tier: Tier | None = None
    allow_send: bool = False
    allow_trusting: bool = False
    max_runs: int = MAX_RUNS
    rps: float = RPS
    in_flight: int = 1
    dialects: tuple[str, ...] = ("1.0", "0.3")
    bindings: tuple[str, ...] = ("JSONRPC",)
    topology: Literal["auto", "direct", "gateway"] = "auto"
    tenant: str = ""
    tenant_by: str = "interface"
    signature_policy: Literal["prefer", "require"] = "prefer"
    jwks: Mapping[str, Any] | None = None
    allow_http: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    jku_allow: tuple[str, ...] = ()
    clocks: Clocks | None = None
    tls: Tls = field(default_factory=Tls)
    proxy: str = ""
    connect_to: tuple[str, ...] = ()
    auth_card: Auth | None = None
    auth_calls: Auth | None = None
    held_for: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where the agent is looked for."""
        return self.url or self.card_url

    @property
    def file(self) -> str:
        """What tells it from every other: the place of its file."""
        return str(self.folder / self.where)

    @property
    def granted(self) -> Grant:
        """How far a matrix may go with it, and why no further."""
        return granted(asked=self.tier, environment=self.environment, allow_send=self.allow_send, where=self.where)

    @property
    def patience(self) -> Clocks:
        """The clocks of its file, else those of R30."""
        return self.clocks or (LOOPBACK_CLOCKS if is_loopback(parse_url(self.address).host) else LIVE_CLOCKS)

    @property
    def variables(self) -> dict[str, str]:
        """Every environment variable that the file names, with the key that names it."""
        if self.auth_card is self.auth_calls:
            return dict.fromkeys(self.auth_card.variables, "auth") if self.auth_card is not None else {}
        auths = (("auth.card", self.auth_card), ("auth.calls", self.auth_calls))
        return {name: key for key, auth in reversed(auths) if auth is not None for name in auth.variables}


def read_live(file: Path) -> LiveVendor:
    """The vendor of one file. Raises Misuse naming file, key, value and what was expected."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as fault:
        raise Misuse(f"{file}: cannot be read: {fault.strerror}; expected a vendor file", file=str(file)) from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise Misuse(f"{file}: not TOML: {fault}", file=str(file)) from fault
    return parse_live(data, name=file.stem, where=file.name, folder=file.parent)


def parse_live(data: Mapping[str, Any], *, name: str, where: str, folder: Path) -> LiveVendor:
    """The vendor of a file's table. `folder` is where its files lie."""
    top = Table(data, where)
    if "reach" not in top and (found := [key for key in ("vendors", "agents", "consumers", "pairs") if key in top]):
        raise Misuse(
            f"{where}: looks like a matrix, as it has {found[0]!r}, and a vendor file is expected; a2a-lab plan and "
            "a2a-lab run take a matrix",
            where=where,
        )
    if top.text("reach") != LIVE:
        top.refuse("reach", f'"{LIVE}": only an agent that is reached live has a file like this')
    url, card_url = (_url(top, key) for key in ("url", "card_url"))
    if not (url or card_url):
        top.refuse("url", "the URL that its users are given, or card_url where its card lies")
    auth = _auths(top)
    keys = _keys(top, folder)
    vendor = LiveVendor(
        name=top.text("name", name),
        url=url,
        card_url=card_url,
        title=top.text("title", ""),
        version=_version(top),
        where=where,
        folder=folder,
        environment=top.text("environment", "", one_of=(*ENVIRONMENTS, "")),
        tier=Tier(top.text("tier", one_of=[tier.value for tier in Tier])) if "tier" in top else None,
        allow_send=top.flag("allow_send", False),
        allow_trusting=top.flag("allow_trusting", False),
        max_runs=top.integer("max_runs", MAX_RUNS),
        rps=top.number("rps", RPS, least=0.01),
        in_flight=top.integer("in_flight", 1, least=1),
        dialects=_words(top, "dialects", DIALECTS, ("1.0", "0.3")),
        bindings=_words(top, "bindings", BINDINGS, ("JSONRPC",)),
        topology=top.text("topology", "auto", one_of=("auto", "direct", "gateway")),  # type: ignore[arg-type]
        tenant=top.text("tenant", ""),
        tenant_by=_tenant_by(top),
        signature_policy=top.text("signature_policy", "prefer", one_of=("prefer", "require")),  # type: ignore[arg-type]
        jwks=keys,
        allow_http=_places(top, "allow_http"),
        allow_origin=_places(top, "allow_origin"),
        jku_allow=_places(top, "jku_allow"),
        clocks=_clocks(top, card_url or url),
        tls=_tls(top, folder),
        proxy=top.text("proxy", ""),
        connect_to=top.texts("connect_to", ()),
        auth_card=auth[0],
        auth_calls=auth[1],
        held_for=_held_for(auth, cards=origin(card_url or url), typed=origin(url or card_url)),
        kept={name: value for name, value in data.items() if name not in _OF_THE_SOCKET}
        | ({"trust": keys} if keys is not None else {}),
    )
    top.done()
    return vendor


def _url(top: Table, key: str) -> str:
    value = top.text(key, "")
    if value and (expected := not_url(value)):
        top.refuse(key, expected)
    if value and parse_url(value).userinfo:
        # The value is not repeated: it holds a password.
        raise Misuse(f"{top.where}.{key}: a user name stands in the URL; credentials come from variables, see [auth]")
    return value


def _held_for(auth: tuple[Auth | None, Auth | None], *, cards: str, typed: str) -> tuple[str, ...]:
    """The origins of what the operator typed, where there are credentials at all."""
    if auth == (None, None):
        return ()
    return tuple(sorted({typed, cards} if auth[0] is not None else {typed}))


def _version(top: Table) -> str:
    """A name that can stand in the key of a cell, between slashes."""
    value = top.text("version", LIVE)
    if not value or "/" in value or not value.isprintable():
        top.refuse("version", "a name without a slash, such as 2026-11")
    return value


def _words(top: Table, key: str, known: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    words = top.texts(key, default, empty=False)
    for word in words:
        if word not in known:
            top.refuse(key, f"a list of {', '.join(map(repr, known))}; {word!r}{nearest(word, known)}")
    return tuple(dict.fromkeys(words))


def _places(top: Table, key: str) -> tuple[str, ...]:
    places = top.texts(key, ())
    for place in places:
        if expected := not_place(place):
            top.refuse(key, f"a list of hosts or origins; {place!r} is not {expected}")
    return places


def _tenant_by(top: Table) -> str:
    value = top.text("tenant_by", "interface")
    how, _, name = value.partition(":")
    if how not in TENANT_BY or (name and how not in ("header", "query")):
        top.refuse("tenant_by", f"{', '.join(TENANT_BY)}, or header:NAME or query:NAME")
    if how == "header" and name and (expected := not_header_name(name)):
        top.refuse("tenant_by", f"header: and {expected}")
    if how == "header" and (expected := not_header_value(top.text("tenant", ""))):
        top.refuse("tenant", expected)
    if how != "interface" and not top.take("tenant", ""):
        top.refuse("tenant", f"the tenant that tenant_by = {value!r} selects")
    return value


def _clocks(top: Table, address: str) -> Clocks | None:
    if "clocks" not in top:
        return None
    table = Table(top.take("clocks"), f"{top.where}.clocks")
    usual = LOOPBACK_CLOCKS if is_loopback(parse_url(address).host) else LIVE_CLOCKS
    names = ("silence_s", "hang_s", "total_s")
    clocks = Clocks(**{name: table.number(name, getattr(usual, name), least=0.01) for name in names})
    if not clocks.silence_s <= clocks.hang_s <= clocks.total_s:
        table.refuse("silence_s", f"at most hang_s ({clocks.hang_s:g}), and that at most total_s ({clocks.total_s:g})")
    table.done()
    return clocks


def _tls(top: Table, folder: Path) -> Tls:
    table = Table(top.take("tls", {}), f"{top.where}.tls")
    found = {}
    for key in ("ca_bundle", "client_cert", "client_key"):
        path = table.text(key, "")
        if path and not (folder / path).is_file():
            table.refuse(key, "a PEM file, beside this file or by its whole path; there is none")
        found[key] = str(folder / path) if path else ""
    if found["client_key"] and not found["client_cert"]:
        table.refuse("client_cert", "the certificate that client_key belongs to")
    table.done()
    return Tls(**found)


def _keys(top: Table, folder: Path) -> Mapping[str, Any] | None:
    """The JWK set that `trust` names, or is: a run keeps what it trusted with its own copy of the file."""
    trust = top.take("trust", "")
    if trust == "":
        return None
    if isinstance(trust, str):
        try:
            trust = json.loads((folder / trust).read_text(encoding="utf-8"))
        except (OSError, ValueError) as fault:
            why = fault.strerror if isinstance(fault, OSError) else fault
            top.refuse("trust", f'a JWK set file, {{"keys": [...]}} ({why})')
    try:
        KeySet.from_jwks(trust)
    except Misuse as fault:
        raise Misuse(f"{top.where}.trust: {fault.message}", where=top.where, key="trust") from fault
    assert isinstance(trust, Mapping)
    return trust


def _auths(top: Table) -> tuple[Auth | None, Auth | None]:
    """Those for cards and those for calls: one table for both, or a table each."""
    data = top.take("auth", {})
    table = Table(data, f"{top.where}.auth", hides=True)
    if "kind" in table:
        both = parse_auth(table)
        return both, both
    found = {
        name: parse_auth(Table(table.take(name), f"{table.where}.{name}", hides=True))
        for name in ("card", "calls")
        if name in table
    }
    if data and not found:
        odd = sorted(set(table.keys()) - AUTH_KEYS)
        if odd:
            raise Misuse(f"{table.where}: unknown key {odd[0]!r}{nearest(odd[0], AUTH_KEYS)}", where=table.where)
        table.refuse("kind", "given, or tables [auth.card] and [auth.calls]")
    table.done()
    return found.get("card"), found.get("calls")

"""Finds the key that a signature means, and says whether that key may speak here (A1, R20).

A trusted key of that `kid` always wins. Only without one is the header's `jku` looked at, and only where the operator
allowed its host; a host that the signer chose proves nothing. Fetches nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from a2a_lab.core.addresses import Reach, reach_of
from a2a_lab.core.jws import Entry
from a2a_lab.core.keys import Key, KeySet
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.signature_findings import JKU_NOT_ALLOWED, JKU_NOT_FETCHED, UNKNOWN_KEY
from a2a_lab.core.urls import Url, parse_url
from a2a_lab.verdicts import FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A key, or why there is none. `wanted_jku` is set where fetching an allowed URL may bring it."""

    key: Key | None = None
    why: FindingKind = UNKNOWN_KEY
    detail: str = ""
    wanted_jku: str | None = None


def find_key(entry: Entry, keys: KeySet, jku_keys: Mapping[str, KeySet], policy: Policy) -> Found:
    """The key that signed, as the entry claims, from the trusted set or from an allowed and fetched `jku`."""
    kid = quoted(entry.kid)
    if key := keys.get(entry.kid):
        return Found(key=key)
    if entry.jku is None:
        return Found(detail=f"no trusted key is called {kid}; enrol it if you know whose it is")
    jku = quoted(entry.jku)
    if why := why_not_allowed(entry.jku, policy.jku_allow):
        return Found(
            why=JKU_NOT_ALLOWED, detail=f"no trusted key is called {kid}, and its jku {jku} {why}; it is not asked"
        )
    if entry.jku not in jku_keys:
        return Found(why=JKU_NOT_FETCHED, detail=f"key {kid} may be at {jku}, not fetched yet", wanted_jku=entry.jku)
    fetched = jku_keys[entry.jku]
    if key := fetched.get(entry.kid):
        return Found(key=key)
    left_out = f" (left out: {listed(fetched.left_out)})" if fetched.left_out else ""
    return Found(detail=f"the JWK set at {jku} has no usable key {kid}{left_out}")


def why_not_allowed(jku: str, allowed: frozenset[str]) -> str | None:
    """Why a `jku` must not be asked, None where it may: https, and its host, host:port, origin or URL allowed by name.

    Plain http is for loopback only, where simulated agents are. A host matches exactly, never its subdomains.
    """
    try:
        url = parse_url(jku)
    except ValueError as fault:
        return f"cannot be asked: {fault}"
    if url.userinfo:
        return "carries a user name, behind which another host can hide"
    if url.scheme != "https" and reach_of(url.host) is not Reach.LOOPBACK:
        return "is not https (RFC 7515 4.1.2)"
    place = {url.host, f"{url.host}:{url.port}", url.origin}
    if jku not in allowed and not place & {name.lower().rstrip("/") for name in allowed}:
        return f"is at {quoted(url.host)}, which is not allowed (--jku-allow)"
    return None


def why_elsewhere(key: Key, served_from: str | None, interface: Interface | None, card: Card) -> str | None:
    """Why a key that is bound to origins may not speak here: neither where the card is served nor where it leads.

    Without a chosen interface and without a place every interface of the card has to be within the key's origins.
    """
    if key.origins is None:
        return None
    places = [_place(served_from, "JSONRPC")] if served_from is not None else []
    if interface is not None:
        places.append(_place(interface.url, interface.binding))
    if not places:
        places = [_place(entry.url, entry.binding) for entry in card.interfaces]
    own = listed(sorted(key.origins))
    if not places:
        return f"speaks for {own}, and the card names no place at all"
    foreign = [place for place in places if place not in key.origins]
    return f"speaks for {own} and not for {quoted(foreign[0])}" if foreign else None


def _place(url: str, binding: str) -> str:
    """The origin of a URL, the URL itself where it has none. GRPC names host and port, so it counts as https."""
    try:
        parsed: Url = parse_url(url, binding=binding)
    except ValueError:
        return url
    return replace(parsed, scheme="https").origin if binding == "GRPC" else parsed.origin

"""Says what kind of place a host is, and refuses the places a remote card must not send us to (D8, R11).

A card is text from somebody else. Without this check it could aim our payload, and our credentials, at a service
behind our own firewall. Knows the address as written and resolves no name, so that live and offline agree.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Set
from dataclasses import replace
from enum import StrEnum

from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import quoted
from a2a_lab.core.urls import Url, parse_url
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _refusal(slug: str, means: str, *, rule: str = "D8, R11", **more: str) -> FindingKind:
    judge = Judge.SPEC if "clause" in more else Judge.POLICY
    return FindingKind(
        slug=slug,
        stage=Stage.RESOLVE,
        verdict=Verdict.REFUSE,
        kind=Kind.CONFORMANCE,
        judge=judge,
        rule=rule,
        means=means,
        **more,
    )


URL_MALFORMED = _refusal("url-malformed", "the dispatch URL is no absolute URL that every client reads alike")
URL_USERINFO = _refusal("url-userinfo", "the dispatch URL carries a user name, behind which another host can hide")
URL_DOT_SEGMENTS = _refusal(
    "url-dot-segments", "the dispatch URL holds `.` or `..`, which some clients resolve before they send"
)
ADDRESS_WILDCARD = _refusal("address-wildcard", "the dispatch URL names all interfaces, which is no destination")
ADDRESS_LOOPBACK = _refusal("address-loopback", "the card of a remote agent names this machine")
ADDRESS_PRIVATE = _refusal("address-private", "the card of a public host names a private address")
PLAIN_HTTP = _refusal("plain-http", "the URL is plain http on a host that is not this machine")
SCHEME_DOWNGRADE = _refusal(
    "scheme-downgrade",
    "a card served over https names a plain http endpoint",
    clause="A2A 1.0.1 §4.4.6 and §7.1 (MUST use HTTPS in production)",
)
CROSS_ORIGIN_CREDENTIALS = _refusal(
    "cross-origin-credentials",
    "the card names an endpoint on another origin than the one the credentials are for",
    other="A2A 1.0.1 §8.3 allows an interface at any URL",
)


class Reach(StrEnum):
    """What kind of place a host is, as far as its spelling says."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    WILDCARD = "wildcard"


# Names that never leave a machine or a site: RFC 6761, 6762, 8375 and ICANN's reservation of .internal.
_LOCAL_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
_PRIVATE_TREES = (".local", ".internal", ".localdomain", ".lan", ".home.arpa", ".intranet", ".corp")
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: the last four bytes are an IPv4 address
_OLD_MAPPING = ipaddress.ip_network("::/96")  # IPv4-compatible IPv6, retired but still parsed
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.ASCII)


def reach_of(host: str) -> Reach:
    """What kind of place a host is. `host` is a name or an address, without port; brackets are allowed.

    Counts as private what a public client cannot mean: RFC 1918 and unique local ranges, link-local, shared, multicast
    and reserved addresses, names of one label, names under `.local`, `.internal` and their like.
    """
    name = host.strip("[]").partition("%")[0].rstrip(".").lower()
    address = _address(name)
    if address is not None:
        return _reach_of_address(address)
    if name in _LOCAL_NAMES or name.endswith(".localhost"):
        return Reach.LOOPBACK
    if name in ("", "*"):
        return Reach.WILDCARD
    return Reach.PRIVATE if "." not in name or name.endswith(_PRIVATE_TREES) else Reach.PUBLIC


def is_loopback(host: str) -> bool:
    """Whether the host is this machine, in any spelling."""
    return reach_of(host) is Reach.LOOPBACK


def is_private(host: str) -> bool:
    """Whether the host can be reached inside a site only; loopback is told apart."""
    return reach_of(host) is Reach.PRIVATE


def is_wildcard(host: str) -> bool:
    """Whether the host stands for every interface of a machine: 0.0.0.0, :: and their spellings."""
    return reach_of(host) is Reach.WILDCARD


def dialled(url: str, *, plain: Set[str] = frozenset()) -> Url:
    """The place of a GRPC interface, with scheme http (plain text) or https (TLS); its port is always meant.

    The card's scheme decides. `host:port` alone is plain text on this machine and TLS elsewhere, unless the operator
    allows plain text there: `plain` are such hosts. Raises ValueError as `parse_url` does.
    """
    place = parse_url(url, binding="GRPC")
    said, separator, _ = url.partition("://")
    scheme = said.lower() if separator else ""
    if scheme in ("https", "grpcs"):
        return replace(place, scheme="https")
    is_allowed = bool({place.host, f"{place.host}:{place.port}"} & {_folded(name) for name in plain})
    is_plain = scheme == "http" or is_loopback(place.host) or is_allowed
    return replace(place, scheme="http" if is_plain else "https")


def authority(place: Url) -> str:
    """`host:port`, the port always written: gRPC has no default that every client agrees on."""
    return f"[{place.host}]:{place.port}" if ":" in place.host else f"{place.host}:{place.port}"


def judge_addresses(
    url: str, *, typed: str, policy: Policy, credentials_for: Set[str] = frozenset(), binding: str = "JSONRPC"
) -> list[Finding]:
    """Why a dispatch URL must not be called, at most one reason; empty where it may (D8, R11).

    `typed` is the URL that the operator gave: loopback and plain http are fine where that one is loopback.
    `credentials_for` holds the origins for which credentials are attached; empty where none are.
    """
    try:
        place = dialled(url, plain=policy.allow_http) if binding == "GRPC" else parse_url(url, binding=binding)
    except ValueError as fault:
        return [URL_MALFORMED(f"{fault}; the card has to name an absolute https URL", found=url)]
    start = place if typed == url else parse_url(typed)
    named = is_named(place, policy)
    found = (
        _unreadable(place, url)
        or (None if named else _wrong_place(place, start, url))
        or _unprotected(place, start, url, policy)
        or (None if named else _leaking(place, url, credentials_for))
    )
    return [found] if found else []


def judge_typed(typed: str, policy: Policy) -> list[Finding]:
    """Whether the operator's own URL may be asked: plain http only on loopback or where allowed by name (R11)."""
    place = parse_url(typed)
    found = _unprotected(place, place, typed, policy)
    return [found] if found else []


def _unreadable(place: Url, url: str) -> Finding | None:
    if place.userinfo:
        return URL_USERINFO(
            f"{quoted(url)} carries a user name before the host {quoted(place.host)}; nothing is sent there",
            found=url,
            host=place.host,
        )
    if place.has_dot_segments:
        return URL_DOT_SEGMENTS(f"{quoted(url)} holds dot segments; the card has to name the path itself", found=url)
    return None


def _wrong_place(place: Url, start: Url, url: str) -> Finding | None:
    here, there = reach_of(start.host), reach_of(place.host)
    allow = f"; to call it all the same, allow it by name: --allow-origin {place.origin}"
    if there is Reach.WILDCARD:
        return ADDRESS_WILDCARD(
            f"{quoted(url)} names every interface of a machine and no destination; the host that served the card is "
            f"not put in its place{allow}",
            found=url,
        )
    if there is Reach.LOOPBACK and here is not Reach.LOOPBACK:
        return ADDRESS_LOOPBACK(
            f"{quoted(url)} is this machine, but the agent was looked for at {quoted(start.host)}{allow}",
            found=url,
            typed=start.origin,
        )
    if there is Reach.PRIVATE and here is Reach.PUBLIC:
        return ADDRESS_PRIVATE(
            f"{quoted(url)} is a private address, but the card came from the public host {quoted(start.host)}{allow}",
            found=url,
            typed=start.origin,
        )
    return None


def _unprotected(place: Url, start: Url, url: str, policy: Policy) -> Finding | None:
    if place.scheme != "http" or is_loopback(start.host) or _allows_http(place, policy):
        return None
    hint = f"ask the vendor for https, or allow the host by name: --allow-http {place.host}"
    if start.scheme == "https":
        return SCHEME_DOWNGRADE(
            f"the card was asked over https but {quoted(url)} is plain http; {hint}", found=url, typed=start.origin
        )
    return PLAIN_HTTP(f"{quoted(url)} is plain http and {quoted(place.host)} is not this machine; {hint}", found=url)


def _leaking(place: Url, url: str, credentials_for: Set[str]) -> Finding | None:
    if not credentials_for or place.origin in {parse_url(held).origin for held in credentials_for}:
        return None
    held = ", ".join(sorted(credentials_for))
    return CROSS_ORIGIN_CREDENTIALS(
        f"{quoted(url)} is on another origin than the credentials are for ({held}); nothing is sent. If both belong "
        f"to one operator, allow it by name: --allow-origin {place.origin}",
        found=url,
        expected=sorted(credentials_for),
    )


def is_named(place: Url, policy: Policy) -> bool:
    """Whether the operator named this place, as an origin, a host, or a host allowed for plain http."""
    return bool({place.origin, place.host} & {_folded(name) for name in policy.allow_origins | policy.allow_http})


def _allows_http(place: Url, policy: Policy) -> bool:
    hosts = {_folded(name) for name in policy.allow_http}
    return bool({place.origin, place.host, f"{place.host}:{place.port}"} & hosts) or place.origin in {
        _folded(name) for name in policy.allow_origins
    }


def _folded(name: str) -> str:
    """An entry of an allow-list in the spelling of `Url`: an origin stays an origin, a host a host."""
    return parse_url(name).origin if "://" in name else name.strip("[]").lower()


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address a host means; also the short, octal and hexadecimal forms that the C library still reads."""
    if ":" in name:
        try:
            return ipaddress.IPv6Address(name)
        except ValueError:
            return None
    pieces = name.split(".")
    if not 1 <= len(pieces) <= 4 or not all(_NUMBER.fullmatch(piece) for piece in pieces):
        return None
    try:
        numbers = [int(piece[2:] or "0", 16) if piece[:2] == "0x" else _decimal(piece) for piece in pieces]
    except ValueError:  # 08 is no octal number, and then the name is no address
        return None
    *leading, last = numbers
    if any(number > 255 for number in leading) or last >= 256 ** (5 - len(numbers)):
        return None
    high = sum(number << (24 - 8 * place) for place, number in enumerate(leading))
    return ipaddress.IPv4Address(high + last)


def _decimal(piece: str) -> int:
    return int(piece, 8) if len(piece) > 1 and piece[0] == "0" else int(piece)


def _reach_of_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Reach:
    address = _inner(address)
    if address.is_unspecified:
        return Reach.WILDCARD
    if address.is_loopback:
        return Reach.LOOPBACK
    # Not the same as is_private, which is silent about the shared range of carrier grade NAT (RFC 6598).
    inside = not address.is_global or address.is_multicast or address.is_reserved
    return Reach.PRIVATE if inside else Reach.PUBLIC


def _inner(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The IPv4 address that an IPv6 spelling carries, or the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    carried = address.ipv4_mapped or address.sixtofour
    if carried is None and (address in _TRANSLATED or (address in _OLD_MAPPING and int(address) > 1)):
        carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return carried or address

"""Tells when two URLs name the same place, and in what two that nearly do differ.

Follows RFC 3986 6.2.2.1 and 6.2.3: case of scheme and host, default port, an empty path, one spelling of an IPv6
address and of a non-ASCII host. Never the rest of the path, since servers route `/rpc` and `/rpc/` differently (D4,
R8). Knows nothing of cards, and resolves no name: what an address is good for is the business of `addresses`.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from a2a_lab.core.quoting import quoted

DEFAULT_PORTS = {"http": 80, "https": 443, "grpc": 443}

# urlsplit drops tabs and line ends, and browsers read a backslash as a slash: two readers, two hosts. None is legal.
_ILLEGAL = re.compile(r"[\x00-\x20\x7f\\<>\"{}|^`]")
_DOTS = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?=/|$)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """An absolute URL in pieces. `host` is in lower case without brackets, `port` is always a number."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""
    userinfo: str = ""
    fragment: str = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port as RFC 6454 writes them; the default port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def has_dot_segments(self) -> bool:
        """Whether some clients would shorten the path before they send it, and others would not."""
        return bool(_DOTS.search(self.path))

    def __str__(self) -> str:
        scheme, _, place = self.origin.partition("://")
        userinfo = f"{self.userinfo}@" if self.userinfo else ""
        query = f"?{self.query}" if self.query else ""
        return f"{scheme}://{userinfo}{place}{self.path}{query}"


def parse_url(text: object, *, binding: str = "JSONRPC") -> Url:
    """The URL in pieces. Raises ValueError with a sentence for what is no absolute http(s) URL.

    A GRPC interface may be a bare `host:port` (A2A 1.0.1 5.3), so that is read as one; its scheme says nothing.
    """
    if not isinstance(text, str) or not text:
        raise ValueError(f"{quoted(text)} is no URL")
    if _ILLEGAL.search(text):
        raise ValueError(f"{quoted(text)} holds a character that no URL may hold")
    if binding == "GRPC":
        text = f"grpc://{_SCHEME.sub('', text, count=1).lstrip('/')}"
    try:
        parts = urlsplit(text)
        port = parts.port
        host = _host(parts.hostname or "")
    except ValueError as fault:
        raise ValueError(f"{quoted(text)} is no URL: {fault}") from fault
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise ValueError(f"{quoted(text)} is no absolute http or https URL")
    return Url(
        scheme=parts.scheme,
        host=host,
        port=DEFAULT_PORTS[parts.scheme] if port is None else port,
        path=parts.path or "/",
        query=parts.query,
        userinfo=parts.netloc.rpartition("@")[0],
        fragment=parts.fragment,
    )


def is_url(text: str) -> bool:
    """Whether the text is an absolute http or https URL."""
    try:
        parse_url(text)
    except ValueError:
        return False
    return True


def normalise(url: str, *, binding: str = "JSONRPC") -> str:
    """One spelling for one place: what the ledger, the caches and offline evidence are keyed by.

    A fragment is dropped, because it is never sent. Raises ValueError as `parse_url` does.
    """
    return str(parse_url(url, binding=binding))


def origin(url: str) -> str:
    """`scheme://host[:port]` of a URL. Raises ValueError as `parse_url` does."""
    return parse_url(url).origin


def same_target(one: str, other: str, *, binding: str = "JSONRPC") -> tuple[bool, str | None]:
    """Whether two URLs name one dispatch target, and what the difference is where they nearly do (D4).

    A near miss is a pair that a person would take for the same: it differs in one of scheme, port, final slash, letter
    case of the path, query, user name or a subdomain. GRPC compares host and port only (R8).
    """
    try:
        a, b = parse_url(one, binding=binding), parse_url(other, binding=binding)
    except ValueError:
        return one == other, None
    if binding == "GRPC":
        return (a.host, a.port) == (b.host, b.port), ("port" if a.host == b.host and a.port != b.port else None)
    if str(a) == str(b):
        return True, None
    return False, _near_miss(a, b)


def same_site(one: str, other: str) -> bool:
    """Whether one host is the other, or a sub- or superdomain of it (R10). An address has no subdomains."""
    a, b = sorted((parse_url(one).host, parse_url(other).host), key=len)
    return a == b or ("." in a and not is_address(a) and b.endswith(f".{a}"))


def is_address(host: str) -> bool:
    """Whether the host is an IP address rather than a name."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def joined(base: str, location: str) -> str:
    """Where a Location header leads from a URL (RFC 9110 10.2.2). Raises ValueError for what cannot be followed."""
    return normalise(urljoin(base, location))


def _host(name: str) -> str:
    """A host in one spelling: lower case, IDNA for letters beyond ASCII, the short form of an IPv6 address."""
    if ":" in name:
        address, _, zone = name.partition("%")
        short = str(ipaddress.IPv6Address(address))
        return f"{short}%{zone}" if zone else short
    if "%" in name:  # some clients decode it and some do not
        raise ValueError("its host is percent-encoded")
    if name.isascii():
        return name.lower()
    try:
        return name.encode("idna").decode().lower()
    except UnicodeError as fault:
        raise ValueError(f"{quoted(name)} is no host name") from fault


def _near_miss(a: Url, b: Url) -> str | None:
    """The one thing in which two URLs differ, by the name a person would give it; None where it is more than one."""
    differs = {
        name for name in ("scheme", "host", "port", "path", "query", "userinfo") if getattr(a, name) != getattr(b, name)
    }
    # http:80 and https:443 differ in two members but in one decision.
    if differs == {"scheme", "port"} and (a.port, b.port) == (DEFAULT_PORTS[a.scheme], DEFAULT_PORTS[b.scheme]):
        return "scheme"
    if len(differs) != 1:
        return None
    only = differs.pop()
    if only == "host":
        return "subdomain" if a.host.endswith(f".{b.host}") or b.host.endswith(f".{a.host}") else None
    if only != "path":
        return {"userinfo": "user name"}.get(only, only)
    if a.path.rstrip("/") == b.path.rstrip("/"):
        return "final slash"
    return "letter case of the path" if a.path.lower() == b.path.lower() else None

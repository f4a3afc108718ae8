"""The ways from a routing hint to a dispatch target that operators use, one small class each (D2).

A resolver may select by request headers or by a query on the card URL, and may rewrite the URL that a card names.
Pure and without state; raises `AgentCardResolutionError` where it knows no target, so that nothing is guessed (D5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote, urlencode

from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.resolution import is_under
from a2a_lab.core.urls import normalise, parse_url
from a2a_lab.errors import AgentCardResolutionError, Misuse
from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict

NOT_RESOLVED = FindingKind(
    slug="target-not-resolved",
    stage=Stage.RESOLVE,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="D1, D2",
    means="the configured resolver knows no dispatch target for what the routing hint names",
)


class Resolver(Protocol):
    """What every resolver offers.

    `headers` go with every card GET and every call, `query` with every card GET of the target. `start` says where the
    search begins for what the operator typed, `rewrite` turns a URL named by a card into the dispatch URL, `scope` is
    the path below which a card of the same origin counts as the target's own; None where headers or query select.
    `keeps_names` is true where the card goes on naming the URL that was rewritten, as behind a mesh sidecar.
    """

    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def query(self) -> str: ...
    @property
    def scope(self) -> str | None: ...
    @property
    def keeps_names(self) -> bool: ...
    def start(self, typed: str) -> str: ...
    def rewrite(self, url: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A resolver that changes nothing; the others say what they do differently."""

    @property
    def headers(self) -> Mapping[str, str]:
        return {}

    @property
    def query(self) -> str:
        return ""

    @property
    def scope(self) -> str | None:
        return None

    @property
    def keeps_names(self) -> bool:
        return False

    def start(self, typed: str) -> str:
        return typed

    def rewrite(self, url: str) -> str:
        return url


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantHeader(_Plain):
    """The gateway picks the tenant by a request header, such as X-Tenant."""

    tenant: str
    header: str = "X-Tenant"

    @property
    def headers(self) -> Mapping[str, str]:
        return {self.header: self.tenant}


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantQuery(_Plain):
    """The gateway serves one card per value of a query parameter, such as `?tenant=acme`."""

    tenant: str
    name: str = "tenant"

    @property
    def query(self) -> str:
        return urlencode({self.name: self.tenant})


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPrefix(_Plain):
    """Each tenant lives below its own path of the gateway; a URL that does not yet is moved there."""

    prefix: str

    @property
    def scope(self) -> str | None:
        return "/" + quote(self.prefix.strip("/"), safe="/%:@!$&'()*+,;=~-._")

    def rewrite(self, url: str) -> str:
        place, scope = parse_url(url), str(self.scope)
        if is_under(scope, place.path):
            return url
        query = f"?{place.query}" if place.query else ""
        return f"{place.origin}{scope}{place.path if place.path != '/' else ''}{query}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRewriting(_Plain):
    """The card names an inner URL, and a rule says under which outer one it is reached.

    `rules` maps URL prefixes to their replacement; the longest that fits wins, and a prefix ends at a path segment.
    """

    rules: Mapping[str, str]

    def rewrite(self, url: str) -> str:
        held = normalise(url)
        for inner in sorted(self.rules, key=len, reverse=True):
            prefix = normalise(inner).rstrip("/")
            rest = held.removeprefix(prefix)
            if held.startswith(prefix) and (not rest or rest[0] in "/?"):
                return normalise(self.rules[inner].rstrip("/") + ("" if rest == "/" else rest))
        detail = f"no rewriting rule fits {quoted(url)}; the rules begin with {listed(sorted(self.rules))}"
        raise AgentCardResolutionError(detail, finding=NOT_RESOLVED(detail, found=url), url=url)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshMap(_Plain):
    """A static map of a service mesh: what a card names, and the address where the sidecar takes it.

    Keys are whole URLs or origins. A URL that is not in the map is not in the mesh and is refused.
    """

    routes: Mapping[str, str]

    @property
    def keeps_names(self) -> bool:
        return True

    def rewrite(self, url: str) -> str:
        place = parse_url(url)
        for named, reached in self.routes.items():
            key = parse_url(named)
            if str(key) == str(place):
                return normalise(reached)
            if key.path == "/" and not key.query and key.origin == place.origin:
                query = f"?{place.query}" if place.query else ""
                return f"{parse_url(reached).origin}{place.path}{query}"
        detail = f"{quoted(url)} is not in the mesh map, which holds {listed(sorted(self.routes))}"
        raise AgentCardResolutionError(detail, finding=NOT_RESOLVED(detail, found=url), url=url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry(_Plain):
    """Names of agents and the URL where each is looked for; an entry is a routing hint and never a card (D1)."""

    entries: Mapping[str, str] = field(default_factory=dict)

    def start(self, typed: str) -> str:
        if typed in self.entries:
            return self.entries[typed]
        if "://" in typed:
            return typed
        raise Misuse(f"no agent {quoted(typed)} in the registry; it holds {listed(sorted(self.entries)) or 'nothing'}")


def selects(resolver: Resolver | None) -> bool:
    """Whether the operator configured something that tells tenants apart, which makes the place a gateway (R7).

    A registry only says where to look; the other resolvers all say that the hint is not the target.
    """
    return resolver is not None and not isinstance(resolver, Registry)

"""Finds out which place a card speaks for: where its card may lie, which interface is chosen, whether a card binds.

The rules are D2-D4 and R6-R9. A card is bound to a target only when one of its interfaces names it: URL, binding,
version and tenant. Knows nothing of HTTP; `discovery` asks, this module compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.model import Binding as KnownBinding
from a2a_lab.core.model import Card, Interface, Json
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.urls import Url, parse_url, same_target
from a2a_lab.core.version import fits, is_supported, spoken_over
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict

NO_INTERFACE = FindingKind(
    slug="no-usable-interface",
    stage=Stage.RESOLVE,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="R9",
    means="the card offers no interface with a binding that the client speaks",
)
TENANT_NOT_OFFERED = FindingKind(
    slug="tenant-not-offered",
    stage=Stage.RESOLVE,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="D2, R9",
    means="no interface of the card carries the tenant that was asked for",
)
INTERFACE_URL_MISSING = FindingKind(
    slug="interface-url-missing",
    stage=Stage.RESOLVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    kind=Kind.CONFORMANCE,
    judge=Judge.SPEC,
    rule="R14",
    clause="A2A 1.0.1 §4.4.6 AgentInterface.url (REQUIRED)",
    means="no interface of the card has a URL, so there is no place to call",
)
NOT_ONE_TO_ONE = FindingKind(
    slug="card-not-one-to-one",
    stage=Stage.FETCH,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.POLICY,
    rule="R7",
    means="the card names several endpoints for one binding and version, so it may speak for several agents",
    other="A2A 1.0.1 §8.3 allows any number of interfaces",
)

WELL_KNOWN = "/.well-known/agent-card.json"
LEGACY_WELL_KNOWN = "/.well-known/agent.json"  # the path before A2A 0.3.0, and that of the records

Topology = Literal["direct", "gateway"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTarget:
    """Where calls go: the dispatch URL and what selects the agent there.

    `version` is the interface's value as the card wrote it. `tenant_id` is copied into every request and left out of
    them where it is None. `headers` are those that select the target; credentials are never among them. `named_url` is
    what the card calls the target where a mesh reaches it at another address; None where that is the dispatch URL.
    """

    dispatch_url: str
    binding: str = "JSONRPC"
    version: Json = None
    tenant_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    named_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One place where a card may lie. `level` is the path it is for, "" for the origin as a whole."""

    url: str
    level: str
    legacy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Whether a card names a target: the interface that does, or the near misses that explain why none does (D4)."""

    interface: Interface | None
    near_misses: tuple[str, ...] = ()


def candidates(base_url: str, *, query: str = "", binding: str = "JSONRPC") -> tuple[Candidate, ...]:
    """Where the card of a URL may lie, most specific first (R6). A query of the URL is kept, the given one is added.

    Each path level is asked for the current path, then for the legacy one. A base URL that is itself a well-known URL
    stands for what it is the card of. GRPC has no paths: its host is asked over https.
    """
    base = parse_url(base_url, binding=binding)
    levels = [""] if binding == "GRPC" else list(_levels(base_of(base.path)))
    root = f"https://{base.host}" if binding == "GRPC" else base.origin
    tail = "?" + "&".join(dict.fromkeys(part for part in (base.query, query) if part))
    return tuple(
        Candidate(url=f"{root}{level}{path}{tail.rstrip('?')}", level=level, legacy=path == LEGACY_WELL_KNOWN)
        for level in levels
        for path in (WELL_KNOWN, LEGACY_WELL_KNOWN)
    )


def base_of(path: str) -> str:
    """The path that a well-known path is the card of; any other path as it is."""
    for well_known in (WELL_KNOWN, LEGACY_WELL_KNOWN):
        if path.endswith(well_known):
            return path.removesuffix(well_known)
    return path


def is_well_known(path: str) -> bool:
    """Whether the path is one of the two well-known ones, of the origin or below a path of it."""
    return path.endswith((WELL_KNOWN, LEGACY_WELL_KNOWN))


def is_under(level: str, path: str) -> bool:
    """Whether a path lies at a level or below it; every path lies under the origin ("")."""
    level, path = level.rstrip("/"), path.rstrip("/")
    return path == level or path.startswith(f"{level}/")


def choose_interface(
    card: Card, policy: Policy, *, tenant: str | None = None
) -> tuple[Interface | None, list[Finding]]:
    """The interface to call, in the order of the card (R9), or why there is none.

    First the entry with a supported binding and an exact version; then one whose version the version gate lets pass as
    a hint; then any with a supported binding, for that gate to refuse. `tenant` is the operator's, None for any.
    """
    if not any(entry.url for entry in card.interfaces):
        at = next((entry.pointer for entry in card.interfaces), "")
        return None, [INTERFACE_URL_MISSING(f"the card ({card.form}) names no URL to call", at=at)]
    offered = [entry for entry in card.interfaces if entry.binding in policy.bindings and entry.url]
    if not offered:
        return None, [_no_interface(card, policy)]
    if tenant:
        held = sorted({entry.tenant for entry in offered if entry.tenant})
        offered = [entry for entry in offered if entry.tenant == tenant]
        if not offered:
            detail = f"tenant {quoted(tenant)} was asked for, the card has {listed(held) or 'no tenant'}"
            return None, [TENANT_NOT_OFFERED(detail, found=held, expected=tenant)]
    exact = (entry for entry in offered if is_supported(entry.version, spoken_over(entry.binding, policy.supports)))
    near = (entry for entry in offered if fits(entry.version, spoken_over(entry.binding, policy.supports)))
    return next(exact, None) or next(near, None) or offered[0], []


def judge_binding(card: Card, target: ResolvedTarget) -> Binding:
    """Whether one of the card's interfaces names the target, or in what they miss it (D4, R8)."""
    here, misses = entries_at(card, target.named_url or target.dispatch_url)
    for entry in here:
        pairs = (
            ("binding", entry.binding, target.binding),
            ("version", entry.version, target.version),
            ("tenant", entry.tenant or None, target.tenant_id or None),
        )
        differs = [
            f"{name} {quoted(has)}, not {quoted(wants)}" for name, has, wants in pairs if not _is_same(has, wants)
        ]
        if not differs:
            return Binding(interface=entry, near_misses=misses)
        misses += (f"{quoted(entry.url)} is offered with {' and '.join(differs)}",)
    return Binding(interface=None, near_misses=tuple(dict.fromkeys(misses)))


def entries_at(card: Card, url: str) -> tuple[tuple[Interface, ...], tuple[str, ...]]:
    """The card's interfaces at a URL, and sentences about those that nearly are."""
    here, misses = [], []
    for entry in card.interfaces:
        is_same, near = same_target(entry.url, url, binding=entry.binding)
        if is_same:
            here.append(entry)
        elif near:
            misses.append(f"{quoted(entry.url)} differs from {quoted(url)} in the {near}")
    return tuple(here), tuple(misses)


def judge_one_to_one(card: Card, interface: Interface) -> list[Finding]:
    """Whether the card names more than one endpoint for the binding and version in use (R7)."""
    alike = [entry for entry in card.interfaces if entry.binding == interface.binding]
    alike = [entry for entry in alike if _is_same(entry.version, interface.version) and entry.url]
    others = [entry.url for entry in alike if not same_target(entry.url, interface.url, binding=interface.binding)[0]]
    if not others:
        return []
    named = [interface.url, *dict.fromkeys(others)]
    detail = (
        f"the card names {len(named)} endpoints for {interface.binding} {quoted(interface.version)}: {listed(named)}; "
        "its capabilities may be those of another one"
    )
    return [NOT_ONE_TO_ONE(detail, found=named)]


def topology(policy: Policy, *, hint_url: str, target: ResolvedTarget, has_selector: bool) -> Topology:
    """Whether the hint and the target are one place (R7). `has_selector`: the operator configured a resolver (D2)."""
    if policy.topology != "auto":
        return policy.topology
    hint, there = parse_url(hint_url), parse_url(target.dispatch_url, binding=target.binding)
    is_one_place = _is_one_host(hint, there) if target.binding == "GRPC" else _is_one_place(hint, there)
    return "direct" if is_one_place and not has_selector else "gateway"


def _is_one_host(hint: Url, there: Url) -> bool:
    """The same host on whatever port: gRPC has one of its own, and no place for a card."""
    return hint.host == there.host or (is_loopback(hint.host) and is_loopback(there.host))


def _is_one_place(hint: Url, there: Url) -> bool:
    """The same origin; two names of this machine with one port are one origin, as developers type either."""
    if is_loopback(hint.host) and is_loopback(there.host):
        return (hint.scheme, hint.port) == (there.scheme, there.port)
    return hint.origin == there.origin


def _levels(path: str) -> Iterator[str]:
    level = path.rstrip("/")
    while level:
        yield level
        level = level.rpartition("/")[0].rstrip("/")
    yield ""


def _is_same(one: Json, other: Json) -> bool:
    # 1.0 == True and 1 == 1.0 in Python, while two readers of the card would tell them apart (P5).
    return type(one) is type(other) and one == other


def _no_interface(card: Card, policy: Policy) -> Finding:
    named = [entry.binding for entry in card.interfaces]
    spoken = ", ".join(policy.bindings)
    slips = [name for name in named if name.upper() in {binding.upper() for binding in policy.bindings}]
    near = f"; {quoted(slips[0])} is not the name of a binding, case counts" if slips else ""
    shown = listed(list(dict.fromkeys(named)))
    other = next((name for name in named if name in get_args(KnownBinding)), None)
    hint = f"; --binding {other} calls it there" if other and not near else ""
    detail = f"the client speaks {spoken}, the card offers {shown}{near}{hint}"
    return NO_INTERFACE(detail, found=named, expected=spoken)

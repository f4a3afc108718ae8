"""From what the operator typed to a card that is bound to its target: the way in, for live and recorded traffic.

`discover` is a generator: it yields `CardRequest`, is sent `CardAnswer`, and returns a `Discovery`. This module reads
what the operator gave and says what a mistake in it is; the walk itself is `walk`, one GET of it is `cardfetch`.
"""

from __future__ import annotations

from collections.abc import Generator, Set

from a2a_lab.core.addresses import judge_addresses, judge_typed
from a2a_lab.core.cardfetch import CardAnswer, CardRequest
from a2a_lab.core.discovered import Discovery
from a2a_lab.core.model import Card
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import quoted
from a2a_lab.core.resolution import ResolvedTarget, choose_interface
from a2a_lab.core.resolvers import Resolver
from a2a_lab.core.urls import parse_url
from a2a_lab.core.version import supported
from a2a_lab.core.walk import Walk
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict

__all__ = ["CardAnswer", "CardRequest", "Discovering", "Discovery", "card_request_headers", "discover"]

CONFIGURED_CARD = FindingKind(
    slug="configured-card",
    stage=Stage.FETCH,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.SPEC,
    rule="R12",
    clause="A2A 1.0.1 §8.2 (Direct Configuration)",
    means="the card was given by the operator and cannot be fetched again, so it is not bound and its drift is unknown",
    other="the discovery record refuses where no card can be fetched from the target",
)

Discovering = Generator[CardRequest, CardAnswer, Discovery]


def discover(
    hint_url: str | None,
    policy: Policy,
    *,
    resolver: Resolver | None = None,
    configured_card: Card | None = None,
    credentials_for: Set[str] = frozenset(),
    card_url: str | None = None,
    dispatch_url: str | None = None,
    tenant: str | None = None,
) -> Discovering:
    """Walk to a bound card. A fault of the peer never raises: the findings say what was wrong, and nothing is bound.

    Give one of `hint_url` (a base URL, a dispatch URL or a well-known URL), `card_url` (where the target's own card
    lies, query included), `dispatch_url` (the target is known, only its card is looked for) or `configured_card`.
    `credentials_for` holds the origins for which the driver has credentials, `tenant` picks an interface by its tenant.
    Raises Misuse, at the first step, for an argument that cannot be right.
    """
    held = frozenset(_origin(origin) for origin in credentials_for)
    if configured_card is not None:
        return _configured(configured_card, policy, held, tenant)
    typed = dispatch_url or card_url or hint_url
    if not typed:
        raise Misuse("discovery needs a URL: a base URL, a card URL or a dispatch URL")
    typed = _typed(resolver.start(typed) if resolver else typed)
    headers = card_request_headers(policy, resolver)
    if refused := judge_typed(typed, policy):
        return Discovery(findings=tuple(refused), request_headers=headers)
    walk = Walk(typed, policy, headers, resolver=resolver, credentials_for=held, tenant=tenant)
    if dispatch_url:
        return (yield from walk.to_target())
    return (yield from (walk.from_card_url() if card_url else walk.from_hint()))


def card_request_headers(policy: Policy, resolver: Resolver | None = None) -> dict[str, str]:
    """The headers that every card GET of a cell sends (R21, R33): what is accepted, the version, and what selects.

    A client that prefers a version before 1.0 sends no `A2A-Version`, which such servers do not know.
    """
    preferred = supported(policy)[0]
    version = {} if preferred.startswith("0.") else {"A2A-Version": preferred}
    return {"Accept": "application/json", **version, **(resolver.headers if resolver else {})}


def _origin(text: str) -> str:
    try:
        return parse_url(text).origin
    except ValueError as fault:
        raise Misuse(f"{fault}; an origin looks like https://agent.example") from fault


def _typed(url: str) -> str:
    try:
        place = parse_url(url)
    except ValueError as fault:
        raise Misuse(f"{fault}; give a URL such as https://agent.example") from fault
    if place.userinfo:
        raise Misuse("the URL carries a user name; credentials come from environment variables, never in a URL")
    return str(place)


def _configured(card: Card, policy: Policy, held: Set[str], tenant: str | None) -> Discovery:
    """The operator's own card: nothing is fetched, and the address rules hold as for a typed URL (R12)."""
    interface, findings = choose_interface(card, policy, tenant=tenant)
    if interface is not None:
        findings = judge_addresses(
            interface.url, typed=interface.url, policy=policy, credentials_for=held, binding=interface.binding
        )
    if interface is None or findings:
        return Discovery(hint_card=card, findings=tuple(findings))
    target = ResolvedTarget(
        dispatch_url=interface.url,
        binding=interface.binding,
        version=interface.version,
        tenant_id=interface.tenant or None,
    )
    note = CONFIGURED_CARD(
        f"the operator's card names {quoted(interface.url)}; nothing was fetched", found=interface.url
    )
    return Discovery(target=target, card=card, interface=interface, findings=(note,))

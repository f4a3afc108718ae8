"""The discovery record's gate as one call, for code that brings its own resolver and fetching (D1, D4, D5, D7).

Resolve, then fetch, then match: the routing hint is only asked where to go. The lab itself walks with `discovery`,
which also tells where cards may lie; here the caller knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from a2a_lab.core.match import match_capabilities
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.resolution import ResolvedTarget, choose_interface, judge_binding
from a2a_lab.core.resolvers import NOT_RESOLVED
from a2a_lab.core.sightings import no_bound_card
from a2a_lab.errors import AgentCardResolutionError
from a2a_lab.verdicts import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiated:
    """What may be relied on: the target, its own card, the interface that names it, and that card's capabilities."""

    target: ResolvedTarget
    card: Card
    interface: Interface
    capabilities: Mapping[str, bool]


def negotiate_capabilities(
    routing_hint: Card,
    resolve_target: Callable[[str], ResolvedTarget | None],
    fetch_card: Callable[[ResolvedTarget], Card | None],
    required: Mapping[str, bool],
    *,
    policy: Policy | None = None,
) -> Negotiated:
    """Resolve the hint's target, fetch that target's own card, and match the requirements on it alone.

    `resolve_target` gets the URL that the hint names; what it leaves open of binding, version and tenant is the
    hint's. `required` maps capabilities to whether they are needed. Raises `AgentCardResolutionError` with the finding
    that says why nothing is dispatched; the hint is never matched and never used in the place of a card.
    """
    rules = policy or Policy()
    chosen, findings = choose_interface(routing_hint, rules)
    if chosen is None:
        raise _refusal(findings)
    target = resolve_target(chosen.url)
    if target is None or not target.dispatch_url:
        raise _refusal(
            [NOT_RESOLVED(f"resolution produced no dispatch URL for {quoted(chosen.url)}", found=chosen.url)]
        )
    if target.version is None:
        target = replace(
            target, binding=chosen.binding, version=chosen.version, tenant_id=target.tenant_id or chosen.tenant or None
        )
    card = fetch_card(target)
    if card is None:
        raise _refusal(no_bound_card(asked=[target.dispatch_url], target=target, hint_url=chosen.url))
    bound = judge_binding(card, target)
    if bound.interface is None:
        named = listed([entry.url for entry in card.interfaces]) or "no URL"
        misses = bound.near_misses or (f"the card at the target names {named}",)
        raise _refusal(no_bound_card(asked=[target.dispatch_url], target=target, misses=misses))
    missing = match_capabilities(card, [name for name, is_wanted in required.items() if is_wanted])
    if missing:
        raise _refusal(missing)
    return Negotiated(
        target=target,
        card=card,
        interface=bound.interface,
        capabilities=card.capabilities,
    )


def _refusal(findings: list[Finding]) -> AgentCardResolutionError:
    first = max(findings, key=lambda finding: finding.verdict.severity)
    return AgentCardResolutionError(first.detail, finding=first, findings=findings)

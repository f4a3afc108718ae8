"""The discovery record's function: resolve, then fetch, then match, and never the routing hint."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from a2a_lab.core.model import Card
from a2a_lab.core.negotiation import Negotiated, negotiate_capabilities
from a2a_lab.core.policy import Policy
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.errors import AgentCardResolutionError
from tests.core.cards import AGENT, interface, one_zero, zero_three

UNION = one_zero(interface(tenant="acme"))


def resolved(url: str) -> ResolvedTarget | None:
    return ResolvedTarget(dispatch_url=url)


def negotiate(
    own: Card | None,
    hint: Card = UNION,
    resolve: Callable[[str], ResolvedTarget | None] = resolved,
    required: dict[str, bool] | None = None,
) -> Negotiated:
    return negotiate_capabilities(hint, resolve, lambda target: own, required or {})


def test_what_is_relied_on_is_the_targets_own_card() -> None:
    own = one_zero(interface(tenant="acme"), capabilities={"streaming": True, "pushNotifications": False})
    found = negotiate(own, required={"streaming": True, "pushNotifications": False})
    assert found.card is own and found.interface is own.interfaces[0]
    assert found.target == ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version="1.0", tenant_id="acme")
    assert found.capabilities == {"streaming": True, "pushNotifications": False}


@pytest.mark.parametrize(
    ("own", "slug"),
    [
        (None, "no-card-at-target"),
        (one_zero(interface(f"{AGENT}/other")), "card-names-other-target"),
        (zero_three(""), "card-names-other-target"),
        (one_zero(), "card-names-other-target"),  # another tenant
        (one_zero(interface(tenant="acme"), capabilities={"streaming": False}), "capability-missing"),
        (one_zero(interface(tenant="acme"), capabilities={}), "capability-missing"),
    ],
)
def test_a_union_cards_claim_is_never_used(own: Card | None, slug: str) -> None:
    with pytest.raises(AgentCardResolutionError) as caught:
        negotiate(own, required={"streaming": True})
    assert caught.value.name == slug


@pytest.mark.parametrize("target", [None, ResolvedTarget(dispatch_url="")])
def test_without_a_target_nothing_is_fetched(target: ResolvedTarget | None) -> None:
    with pytest.raises(AgentCardResolutionError) as caught:
        negotiate_capabilities(UNION, lambda url: target, lambda found: pytest.fail("fetched"), {})
    assert caught.value.name == "target-not-resolved"


def test_a_hint_without_a_url_leads_nowhere() -> None:
    with pytest.raises(AgentCardResolutionError) as caught:
        negotiate(None, hint=zero_three(""))
    assert caught.value.name == "interface-url-missing"


def test_a_target_that_is_told_in_full_is_taken_as_it_is() -> None:
    told = ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version="1.0")
    own = one_zero()
    found = negotiate_capabilities(UNION, lambda url: told, lambda target: own, {}, policy=Policy(supports=("1.0",)))
    assert found.target is told

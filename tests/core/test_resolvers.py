"""D2: the ways from a hint to a target, each a small class."""

from __future__ import annotations

import pytest

from a2a_lab.core.resolvers import MeshMap, PathPrefix, Registry, TenantHeader, TenantQuery, UrlRewriting, selects
from a2a_lab.errors import AgentCardResolutionError, Misuse
from tests.core.cards import AGENT


def test_a_tenant_header_selects_and_rewrites_nothing() -> None:
    resolver = TenantHeader(tenant="acme")
    assert resolver.headers == {"X-Tenant": "acme"} and resolver.query == "" and resolver.scope is None
    assert resolver.rewrite(AGENT) == AGENT and resolver.start(AGENT) == AGENT and not resolver.keeps_names


def test_a_tenant_query_is_encoded() -> None:
    assert TenantQuery(tenant="a&b").query == "tenant=a%26b" and TenantQuery(tenant="x").headers == {}


@pytest.mark.parametrize(
    ("url", "rewritten"),
    [
        (f"{AGENT}/rpc", f"{AGENT}/acme/rpc"),
        (f"{AGENT}/acme/rpc", f"{AGENT}/acme/rpc"),
        (AGENT, f"{AGENT}/acme"),
        (f"{AGENT}/acmeic?x=1", f"{AGENT}/acme/acmeic?x=1"),
    ],
)
def test_a_path_prefix_is_put_before_what_does_not_have_it(url: str, rewritten: str) -> None:
    assert PathPrefix(prefix="acme/").rewrite(url) == rewritten


def test_a_path_prefix_is_the_scope_of_the_targets_own_cards() -> None:
    assert PathPrefix(prefix="/t/acme corp/").scope == "/t/acme%20corp"


def test_the_longest_rewriting_rule_that_fits_wins() -> None:
    resolver = UrlRewriting(rules={"http://inner": "https://gw.test/", "http://inner/a": "https://gw.test/one"})
    assert resolver.rewrite("http://INNER:80/a/rpc?x=1") == "https://gw.test/one/rpc?x=1"
    assert resolver.rewrite("http://inner/a?x=1") == "https://gw.test/one?x=1"
    assert resolver.rewrite("http://inner/ab") == "https://gw.test/ab"
    assert resolver.rewrite("http://inner") == "https://gw.test/"
    with pytest.raises(AgentCardResolutionError, match="no rewriting rule fits") as caught:
        resolver.rewrite("http://elsewhere/a")
    assert caught.value.name == "target-not-resolved"


def test_a_mesh_map_takes_urls_and_origins_and_the_names_stay() -> None:
    resolver = MeshMap(routes={"https://a.test/rpc": "http://127.0.0.1:1/x", "https://b.test": "http://127.0.0.1:2"})
    assert resolver.keeps_names
    assert resolver.rewrite("https://A.test:443/rpc") == "http://127.0.0.1:1/x"
    assert resolver.rewrite("https://b.test/rpc?q=1") == "http://127.0.0.1:2/rpc?q=1"
    assert resolver.rewrite("https://b.test/rpc") == "http://127.0.0.1:2/rpc"
    with pytest.raises(AgentCardResolutionError, match="not in the mesh map"):
        resolver.rewrite("https://a.test/other")


def test_a_registry_says_where_to_look_for_a_name() -> None:
    registry = Registry(entries={"summariser": AGENT})
    assert registry.start("summariser") == AGENT and registry.start("https://b.test") == "https://b.test"
    with pytest.raises(Misuse, match="no agent 'translator' in the registry; it holds summariser"):
        registry.start("translator")
    with pytest.raises(Misuse, match="it holds nothing"):
        Registry().start("x")


def test_only_a_selector_makes_the_place_a_gateway() -> None:
    assert selects(TenantHeader(tenant="a")) and not selects(None) and not selects(Registry())

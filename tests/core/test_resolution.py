"""D3, D4, R6-R9: where cards may lie, which interface is called, and whether a card names the target."""

from __future__ import annotations

import pytest

from a2a_lab.core.policy import Policy
from a2a_lab.core.resolution import (
    ResolvedTarget,
    base_of,
    candidates,
    choose_interface,
    entries_at,
    is_under,
    judge_binding,
    judge_one_to_one,
    topology,
)
from tests.core.cards import AGENT, interface, one_zero, slugs, zero_three

NEW, OLD = "/.well-known/agent-card.json", "/.well-known/agent.json"


def urls(base: str, **more: str) -> list[str]:
    return [place.url for place in candidates(base, **more)]


def test_candidates_go_from_the_most_specific_path_to_the_origin() -> None:
    assert urls("https://a.test/x/y") == [
        f"https://a.test{level}{path}" for level in ("/x/y", "/x", "") for path in (NEW, OLD)
    ]


@pytest.mark.parametrize("base", ["https://a.test", "https://a.test/", "https://A.test:443"])
def test_the_origin_has_two_candidates(base: str) -> None:
    assert urls(base) == [f"https://a.test{NEW}", f"https://a.test{OLD}"]


def test_a_final_slash_makes_no_level_of_its_own() -> None:
    assert urls("https://a.test/x/") == urls("https://a.test/x")
    assert urls("https://a.test//x//y//")[::2] == [f"https://a.test{level}{NEW}" for level in ("//x//y", "//x", "")]


def test_a_query_is_kept_at_every_level_and_a_selector_is_added() -> None:
    assert urls("https://a.test/x?id=42")[0] == f"https://a.test/x{NEW}?id=42"
    assert urls("https://a.test/x?id=42")[-1] == f"https://a.test{OLD}?id=42"
    assert urls("https://a.test?id=42", query="tenant=acme")[0] == f"https://a.test{NEW}?id=42&tenant=acme"
    assert urls("https://a.test?id=42", query="id=42")[0] == f"https://a.test{NEW}?id=42"


def test_a_well_known_url_stands_for_what_it_is_the_card_of() -> None:
    assert urls(f"https://a.test/x{NEW}") == urls("https://a.test/x") == urls(f"https://a.test/x{OLD}")
    assert base_of("/x/agent-card.json") == "/x/agent-card.json"


def test_a_grpc_host_is_asked_over_https() -> None:
    assert urls("a.test:50051", binding="GRPC") == [f"https://a.test{NEW}", f"https://a.test{OLD}"]


def test_levels_end_at_path_segments() -> None:
    assert is_under("", "/x") and is_under("/x", "/x/") and is_under("/x", "/x/y")
    assert not is_under("/x", "/xy") and not is_under("/x/y", "/x")


@pytest.mark.parametrize(
    ("offered", "supports", "chosen"),
    [
        (["1.0", "0.3"], ("1.0", "0.3"), 0),
        (["0.3", "1.0"], ("1.0", "0.3"), 0),  # the card's order, not the client's
        (["0.3", "1.0"], ("1.0",), 1),
        (["0.2.6", "1.0.0"], ("1.0",), 1),
        (["1.0.0", "1.0"], ("1.0",), 1),
        (["0.3", "2.0"], ("1.0",), 0),  # for the version gate to refuse
        ([None, "1.0"], ("1.0",), 1),
    ],
)
def test_the_first_exact_then_the_first_near_then_the_first(
    offered: list[str | None], supports: tuple[str, ...], chosen: int
) -> None:
    card = one_zero(*(interface(f"{AGENT}/{place}", version) for place, version in enumerate(offered)))
    found, findings = choose_interface(card, Policy(supports=supports))
    assert found is card.interfaces[chosen] and findings == []


def test_an_interface_with_another_binding_is_passed_over() -> None:
    card = one_zero(interface(binding="HTTP+JSON"), interface(f"{AGENT}/j"))
    assert choose_interface(card, Policy())[0] is card.interfaces[1]
    assert choose_interface(card, Policy(bindings=("JSONRPC", "HTTP+JSON")))[0] is card.interfaces[0]


def test_without_a_common_binding_resolve_refuses_and_names_a_slip() -> None:
    found, findings = choose_interface(one_zero(interface(binding="jsonrpc"), interface(binding="GRPC")), Policy())
    assert found is None and slugs(findings) == ["no-usable-interface"]
    assert "'jsonrpc' is not the name of a binding" in findings[0].detail
    assert "jsonrpc, GRPC" in findings[0].detail
    _, (other,) = choose_interface(one_zero(interface(binding="GRPC")), Policy())
    assert other.detail.endswith("the card offers GRPC; --binding GRPC calls it there")


def test_an_interface_without_a_url_is_no_place_to_call() -> None:
    card = one_zero(interface(""), interface(f"{AGENT}/j"))
    assert choose_interface(card, Policy())[0] is card.interfaces[1]
    for empty in (one_zero(interface("")), zero_three("")):
        found, findings = choose_interface(empty, Policy())
        assert found is None and slugs(findings) == ["interface-url-missing"]


def test_the_operators_tenant_picks_its_entry() -> None:
    card = one_zero(interface(tenant="acme"), interface(tenant="globex"))
    assert choose_interface(card, Policy())[0] is card.interfaces[0]
    assert choose_interface(card, Policy(), tenant="globex")[0] is card.interfaces[1]
    found, findings = choose_interface(card, Policy(), tenant="initech")
    assert found is None and slugs(findings) == ["tenant-not-offered"] and "acme, globex" in findings[0].detail
    assert "no tenant" in choose_interface(one_zero(), Policy(), tenant="acme")[1][0].detail


def test_a_card_is_bound_by_url_binding_version_and_tenant() -> None:
    target = ResolvedTarget(dispatch_url=f"{AGENT}:443/rpc", version="1.0", tenant_id="acme")
    card = one_zero(interface(), interface(tenant="acme"))
    assert judge_binding(card, target).interface is card.interfaces[1]


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        (interface(f"{AGENT}/rpc/"), "final slash"),
        (interface(binding="HTTP+JSON"), "binding 'HTTP+JSON', not 'JSONRPC'"),
        (interface(version="1.0.0"), "version '1.0.0', not '1.0'"),
        (interface(version=1.0), "version 1.0, not '1.0'"),
        (interface(tenant="acme"), "tenant 'acme', not null"),
        (interface(version="0.3", tenant="acme"), "version '0.3', not '1.0' and tenant"),
    ],
)
def test_a_near_miss_is_named(entry: dict[str, object], word: str) -> None:
    bound = judge_binding(one_zero(entry, entry), ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version="1.0"))
    assert bound.interface is None and len(bound.near_misses) == 1 and word in bound.near_misses[0]


def test_an_empty_tenant_equals_an_absent_one() -> None:
    target = ResolvedTarget(dispatch_url=f"{AGENT}/rpc", version="1.0")
    assert judge_binding(one_zero(interface(tenant="")), target).interface is not None


def test_another_place_is_no_near_miss() -> None:
    bound = judge_binding(one_zero(interface(f"{AGENT}/other")), ResolvedTarget(dispatch_url=f"{AGENT}/rpc"))
    assert bound.interface is None and bound.near_misses == ()


def test_behind_a_mesh_the_card_keeps_its_name() -> None:
    target = ResolvedTarget(dispatch_url="http://127.0.0.1:15001/rpc", version="1.0", named_url=f"{AGENT}/rpc")
    assert judge_binding(one_zero(), target).interface is not None


def test_a_0_3_card_names_its_url_and_its_additional_interfaces() -> None:
    card = zero_three(additionalInterfaces=[{"url": f"{AGENT}/rest", "transport": "HTTP+JSON"}])
    assert [len(entries_at(card, f"{AGENT}{path}")[0]) for path in ("/rpc", "/rest", "/none")] == [1, 1, 0]


def test_several_urls_for_one_binding_and_version_may_be_several_agents() -> None:
    card = one_zero(interface(), interface(f"{AGENT}/b"), interface(f"{AGENT}/c", "0.3"), interface("", "1.0"))
    found = judge_one_to_one(card, card.interfaces[0])
    assert slugs(found) == ["card-not-one-to-one"] and found[0].values["found"] == [f"{AGENT}/rpc", f"{AGENT}/b"]
    assert judge_one_to_one(card, card.interfaces[2]) == []


def test_one_url_with_two_tenants_or_versions_is_one_endpoint() -> None:
    card = one_zero(interface(tenant="a"), interface(tenant="b"), interface(version="0.3"))
    assert judge_one_to_one(card, card.interfaces[0]) == []


@pytest.mark.parametrize(
    ("hint", "target", "selector", "expected"),
    [
        (AGENT, f"{AGENT}:443/rpc", False, "direct"),
        (AGENT, f"{AGENT}/rpc", True, "gateway"),
        (AGENT, "https://other.example.test/rpc", False, "gateway"),
        (AGENT, f"{AGENT}:8443/rpc", False, "gateway"),
        ("http://127.0.0.1:8000", "http://localhost:8000/rpc", False, "direct"),
        ("http://127.0.0.1:8000", "http://localhost:8001/rpc", False, "gateway"),
    ],
)
def test_a_gateway_is_another_origin_or_a_configured_selector(
    hint: str, target: str, selector: bool, expected: str
) -> None:
    there = ResolvedTarget(dispatch_url=target)
    assert topology(Policy(), hint_url=hint, target=there, has_selector=selector) == expected


def test_the_operators_word_on_topology_decides() -> None:
    there = ResolvedTarget(dispatch_url="https://other.example.test/rpc")
    assert topology(Policy(topology="direct"), hint_url=AGENT, target=there, has_selector=True) == "direct"
    here = ResolvedTarget(dispatch_url=f"{AGENT}/rpc")
    assert topology(Policy(topology="gateway"), hint_url=AGENT, target=here, has_selector=False) == "gateway"


def test_a_grpc_endpoint_on_the_same_host_is_direct() -> None:
    there = ResolvedTarget(dispatch_url="agent.example.test:50051", binding="GRPC")
    assert topology(Policy(), hint_url=AGENT, target=there, has_selector=False) == "direct"

"""D1-D5, R6-R13: the walk from what was typed to a card that is bound to its target."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.addresses import Reach, reach_of
from a2a_lab.core.cardfetch import CardAnswer
from a2a_lab.core.discovery import Discovery, card_request_headers, discover
from a2a_lab.core.policy import Policy
from a2a_lab.core.resolvers import MeshMap, PathPrefix, Registry, TenantHeader, TenantQuery, UrlRewriting
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import AgentCardResolutionError, Misuse
from a2a_lab.verdicts import Kind, NotGradeable, Stage, Verdict
from tests.core.cards import AGENT, Served, interface, one_zero, slugs, zero_three

NEW, OLD = "/.well-known/agent-card.json", "/.well-known/agent.json"
GATEWAY = "https://gw.example.test"
PUBLIC = Policy()


def walk(
    answers: dict[str, Any], url: str | None = AGENT, policy: Policy = PUBLIC, **more: Any
) -> tuple[Discovery, Served]:
    served = Served(answers)
    return served.drive(discover(url, policy, **more)), served


def severe(found: Discovery) -> list[str]:
    return [one.slug for one in found.findings if one.verdict.severity >= Verdict.REFUSE.severity]


def test_a_card_at_the_origin_is_bound_where_it_names_the_endpoint_below() -> None:
    found, served = walk({f"{AGENT}{NEW}": one_zero(interface(f"{AGENT}/a2a/v1"))})
    assert found.is_bound and found.topology == "direct" and found.findings == ()
    assert found.card_url == f"{AGENT}{NEW}" and found.reached == (Stage.RESOLVE, Stage.FETCH)
    assert found.target is not None and found.target.dispatch_url == f"{AGENT}/a2a/v1"
    assert served.urls.count(f"{AGENT}{NEW}") == 1, "the hint's answer is used again"


def test_the_most_specific_card_is_the_targets_and_the_one_of_the_origin_is_named_a_union() -> None:
    own = one_zero(capabilities={"streaming": False}, skills=[])
    found, _ = walk({f"{AGENT}{NEW}": one_zero(), f"{AGENT}/rpc{NEW}": own})
    assert found.card is own and found.union_of is not None and found.hint_card is found.union_of
    assert slugs(found.findings) == ["union-card"] and found.findings[0].kind is Kind.NOTE
    assert found.findings[0].values["claims"] == ["streaming", "skill sum"]


def test_a_copy_of_the_card_at_the_origin_is_no_union() -> None:
    signed = one_zero(signatures=[{"protected": "x", "signature": "y"}])
    found, _ = walk({f"{AGENT}{NEW}": one_zero(), f"{AGENT}/rpc{NEW}": signed})
    assert found.card is signed and found.union_of is None and found.findings == ()


def test_the_origin_is_asked_once_for_a_union_even_where_it_was_no_hint() -> None:
    base = f"{AGENT}/one"
    answers = {f"{base}{NEW}": one_zero(interface(f"{base}/rpc")), f"{AGENT}{NEW}": one_zero(name="All")}
    found, served = walk(answers, base)
    assert found.is_bound and slugs(found.findings) == ["union-card"]
    assert [one.reason for one in served.asked if one.url == f"{AGENT}{NEW}"] == ["union"]


def test_a_server_that_fails_at_the_origin_does_not_stop_a_bound_card() -> None:
    base = f"{AGENT}/one"
    found, _ = walk({f"{base}{NEW}": one_zero(interface(f"{base}/rpc")), f"{AGENT}{NEW}": 500}, base)
    assert found.is_bound and found.findings == ()


def test_only_the_legacy_path_answers() -> None:
    found, _ = walk({f"{AGENT}{OLD}": zero_three(protocolVersion="0.2.6")})
    assert found.is_bound and slugs(found.findings) == ["legacy-path"]
    assert found.findings[0].verdict is Verdict.HINT


def test_two_paths_with_two_cards_are_named_and_the_current_one_counts() -> None:
    current = one_zero(capabilities={})
    found, served = walk({f"{AGENT}{NEW}": current, f"{AGENT}{OLD}": zero_three()})
    assert found.card is current and slugs(found.findings) == ["two-paths-two-cards"]
    assert "also claims streaming" in found.findings[0].detail
    assert [one.optional for one in served.asked if one.url == f"{AGENT}{OLD}"] == [True]


def test_two_paths_with_one_card_are_fine() -> None:
    found, _ = walk({f"{AGENT}{NEW}": one_zero(), f"{AGENT}{OLD}": one_zero()})
    assert found.findings == ()


def test_a_current_path_that_redirects_to_the_legacy_one_is_current() -> None:
    moved = CardAnswer(status=301, headers={"Location": OLD})
    found, _ = walk({f"{AGENT}{NEW}": moved, f"{AGENT}{OLD}": one_zero()})
    assert found.is_bound and slugs(found.findings) == ["card-redirected"]


def test_a_protected_origin_stops_the_search() -> None:
    found, served = walk({f"{AGENT}{NEW}": 401, f"{AGENT}{OLD}": one_zero()})
    assert not found.is_bound and found.not_gradeable is NotGradeable.AUTH_NEEDED
    assert served.urls == [f"{AGENT}{NEW}"] and found.reached == (Stage.FETCH,)


def test_a_protected_place_below_stops_it_too() -> None:
    found, _ = walk({f"{AGENT}{NEW}": one_zero(), f"{AGENT}/rpc{NEW}": 403})
    assert not found.is_bound and found.not_gradeable is NotGradeable.AUTH_NEEDED


def test_a_redirect_within_the_site_makes_the_final_url_the_origin() -> None:
    www = "https://www.agent.example.test"
    moved = CardAnswer(status=308, headers={"Location": f"{www}{NEW}"})
    found, _ = walk({f"{AGENT}{NEW}": moved, f"{www}{NEW}": one_zero(interface(f"{www}/rpc"))})
    assert found.is_bound and found.topology == "direct" and found.card_url == f"{www}{NEW}"


def test_the_address_rules_hold_for_what_the_card_names() -> None:
    found, served = walk({f"{AGENT}{NEW}": zero_three("http://0.0.0.0:8000/")})
    assert slugs(found.findings) == ["address-wildcard"] and found.target is None
    assert served.urls == [f"{AGENT}{NEW}"] and found.hint_card is not None


def test_plain_http_of_the_operator_is_refused_unasked() -> None:
    found, served = walk({}, "http://agent.example.test")
    assert slugs(found.findings) == ["plain-http"] and served.urls == [] and found.reached == (Stage.RESOLVE,)


def test_without_a_usable_interface_the_cards_own_findings_come_along() -> None:
    shape = walk({}, "http://agent.example.test")[0].findings
    answer = CardAnswer(status=200, card=one_zero(interface(binding="GRPC")), findings=shape)
    found, _ = walk({f"{AGENT}{NEW}": answer})
    assert slugs(found.findings) == ["plain-http", "no-usable-interface"]


def test_no_card_anywhere_says_what_was_asked() -> None:
    found, _ = walk({}, f"{AGENT}/acme")
    assert slugs(found.findings) == ["no-card"] and found.card is None
    assert len(found.candidates_asked) == 4 and f"{AGENT}/acme{OLD}" in found.findings[0].detail


def test_a_body_that_is_no_card_is_named_in_the_refusal_and_else_noted() -> None:
    why = walk({}, "http://agent.example.test")[0].findings
    html = CardAnswer(status=200, findings=why)
    assert slugs(walk({f"{AGENT}{NEW}": html})[0].findings) == ["plain-http", "no-card"]
    found, _ = walk({f"{AGENT}{NEW}": one_zero(), f"{AGENT}/rpc{NEW}": html})
    assert found.is_bound and slugs(found.findings) == ["body-is-no-card"]
    assert slugs(walk({f"{AGENT}{NEW}": CardAnswer(status=200)})[0].findings) == ["no-card"]


def test_the_gateways_card_is_never_used_for_a_target_without_one() -> None:
    answers = {f"{GATEWAY}{NEW}": one_zero(interface(f"{GATEWAY}/t/gone")), f"{GATEWAY}/t/gone{NEW}": 404}
    found, served = walk(answers, GATEWAY, Policy(topology="gateway"))
    assert slugs(found.findings) == ["no-card-at-target"] and found.card is None and found.target is not None
    assert "only a signpost" in found.findings[0].detail and f"{GATEWAY}/t{OLD}" in served.urls


def test_behind_a_gateway_the_targets_own_path_counts() -> None:
    own = one_zero(interface(f"{GATEWAY}/t/acme"), capabilities={})
    answers = {f"{GATEWAY}{NEW}": one_zero(interface(f"{GATEWAY}/t/acme")), f"{GATEWAY}/t/acme{NEW}": own}
    found, _ = walk(answers, GATEWAY, Policy(topology="gateway"))
    assert found.card is own and found.union_of is not None and "union-card" in slugs(found.findings)


def test_a_typed_tenant_path_is_the_selection() -> None:
    base = f"{GATEWAY}/t/acme"
    found, _ = walk({f"{base}{NEW}": one_zero(interface(f"{base}/rpc"))}, base, Policy(topology="gateway"))
    assert found.is_bound


def test_behind_a_gateway_a_place_that_leads_to_its_own_card_does_not_count() -> None:
    moved = CardAnswer(status=302, headers={"Location": NEW})
    answers = {f"{GATEWAY}{NEW}": one_zero(interface(f"{GATEWAY}/t")), f"{GATEWAY}/t{NEW}": moved}
    found, _ = walk(answers, GATEWAY, Policy(topology="gateway"))
    assert severe(found) == ["card-names-other-target"] and "not the target's own place" in found.findings[0].detail


def test_an_interface_on_another_origin_makes_the_place_a_gateway() -> None:
    other = "https://agents.example.org"
    hint = one_zero(interface(f"{other}/rpc"))
    assert severe(walk({f"{AGENT}{NEW}": hint})[0]) == ["no-card-at-target"]
    own = one_zero(interface(f"{other}/rpc"), skills=[])
    found, _ = walk({f"{AGENT}{NEW}": hint, f"{other}{NEW}": own})
    assert found.card is own and found.topology == "gateway" and found.union_of is hint


def test_the_operator_may_vouch_for_a_card_on_another_origin() -> None:
    hint = one_zero(interface("https://api.example.org/rpc"))
    found, _ = walk({f"{AGENT}{NEW}": hint}, policy=Policy(topology="direct"))
    assert found.card is hint and found.card_url == f"{AGENT}{NEW}"


def test_two_names_of_this_machine_are_one_place() -> None:
    hint = one_zero(interface("http://localhost:8000/rpc"))
    found, _ = walk({f"http://127.0.0.1:8000{NEW}": hint}, "http://127.0.0.1:8000")
    assert found.card is hint


def test_a_card_under_one_path_that_names_another_is_refused() -> None:
    found, _ = walk({f"{GATEWAY}/t1{NEW}": zero_three(f"{GATEWAY}/t2/agent")}, f"{GATEWAY}/t1")
    assert (
        slugs(found.findings) == ["card-names-other-target"] and "lies under another path" in found.findings[0].detail
    )


def test_a_more_specific_card_that_names_another_target_counts_as_none() -> None:
    hint = one_zero()
    found, _ = walk({f"{AGENT}{NEW}": hint, f"{AGENT}/rpc{NEW}": one_zero(interface(f"{AGENT}/else"))})
    assert found.card is hint


def test_near_misses_are_named_in_the_refusal() -> None:
    answers = {
        f"{GATEWAY}{NEW}": one_zero(interface(f"{GATEWAY}/t")),
        f"{GATEWAY}/t{NEW}": one_zero(interface(f"{GATEWAY}/t/")),
    }
    found, _ = walk(answers, GATEWAY, Policy(topology="gateway"))
    assert severe(found) == ["card-names-other-target"] and "differs" in found.findings[0].detail
    answers = {f"{GATEWAY}{NEW}": one_zero(interface(f"{GATEWAY}/t")), f"{GATEWAY}/t{NEW}": zero_three("")}
    assert "a card names " in walk(answers, GATEWAY, Policy(topology="gateway"))[0].findings[0].detail


def test_a_target_that_cannot_be_reached_is_unreachable() -> None:
    answers = {f"{AGENT}{NEW}": one_zero(), f"{AGENT}/rpc{NEW}": CardAnswer(fault="connect-timeout")}
    assert walk(answers)[0].not_gradeable is NotGradeable.UNREACHABLE


def test_several_endpoints_are_a_hint() -> None:
    found, _ = walk({f"{AGENT}{NEW}": one_zero(interface(), interface(f"{AGENT}/b"))})
    assert found.is_bound and slugs(found.findings) == ["card-not-one-to-one"]


def test_credentials_go_only_where_they_belong() -> None:
    held = frozenset({"HTTPS://agent.example.test:443"})
    found, served = walk({f"{AGENT}{NEW}": one_zero()}, credentials_for=held)
    assert found.is_bound and all(one.with_credentials for one in served.asked)
    elsewhere = {f"{AGENT}{NEW}": one_zero(interface("https://collector.example.org/rpc"))}
    found, served = walk(elsewhere, credentials_for=held)
    assert slugs(found.findings) == ["cross-origin-credentials"] and len(served.asked) == 1
    assert not any(one.with_credentials for one in walk(elsewhere)[1].asked)


def test_a_dispatch_url_that_is_known_is_only_looked_up() -> None:
    found, served = walk({f"{AGENT}{NEW}": one_zero()}, None, dispatch_url="https://Agent.Example.test:443/rpc")
    assert found.is_bound and found.hint_card is None and found.interface is not None
    assert found.target is not None and found.target.version == "1.0" and served.asked[0].reason == "target"


def test_a_dispatch_url_that_the_card_misses_is_refused_by_name() -> None:
    found, _ = walk({f"{AGENT}{NEW}": one_zero()}, None, dispatch_url=f"{AGENT}/rpc/")
    assert severe(found) == ["card-names-other-target"] and "final slash" in found.findings[0].detail
    found, _ = walk({f"{AGENT}{NEW}": one_zero(interface(binding="GRPC"))}, None, dispatch_url=f"{AGENT}/rpc")
    assert "the client speaks JSONRPC" in found.findings[0].detail
    assert severe(walk({}, None, dispatch_url=f"{AGENT}/rpc")[0]) == ["no-card-at-target"]


def test_a_dispatch_url_behind_a_gateway_does_not_take_the_origins_card() -> None:
    policy = Policy(topology="gateway")
    found, served = walk({f"{AGENT}{NEW}": one_zero()}, None, policy, dispatch_url=f"{AGENT}/rpc")
    assert not found.is_bound and f"{AGENT}{NEW}" not in served.urls


def test_a_card_url_is_taken_as_it_is_with_its_query() -> None:
    own = zero_three(f"{AGENT}/a2a/42")
    answers = {f"{AGENT}{NEW}?id=42": own, f"{AGENT}{NEW}": zero_three(f"{AGENT}/a2a/default")}
    found, served = walk(answers, None, card_url=f"{AGENT}{NEW}?id=42")
    assert found.card is own and found.card_url == f"{AGENT}{NEW}?id=42" and severe(found) == []
    assert served.urls[0] == f"{AGENT}{NEW}?id=42" and f"{AGENT}/a2a/42{NEW}" not in served.urls


def test_a_card_url_of_any_name_counts_on_its_own_origin() -> None:
    found, _ = walk({f"{AGENT}/cards/42.json": one_zero()}, None, card_url=f"{AGENT}/cards/42.json")
    assert found.is_bound


def test_a_card_url_on_another_origin_is_a_signpost() -> None:
    registry = "https://registry.example.org/cards/42.json"
    assert severe(walk({registry: one_zero()}, None, card_url=registry)[0]) == ["no-card-at-target"]
    found, _ = walk({registry: one_zero(), f"{AGENT}{NEW}": one_zero(skills=[])}, None, card_url=registry)
    assert found.is_bound and found.card_url == f"{AGENT}{NEW}"


def test_a_card_url_under_another_path_is_a_signpost() -> None:
    found, _ = walk({f"{AGENT}/t1{NEW}": one_zero(interface(f"{AGENT}/t2"))}, None, card_url=f"{AGENT}/t1{NEW}")
    assert severe(found) == ["card-names-other-target"]


def test_a_card_url_that_gives_nothing_ends_there() -> None:
    assert severe(walk({}, None, card_url=f"{AGENT}{NEW}")[0]) == ["no-card"]
    assert walk({f"{AGENT}{NEW}": 403}, None, card_url=f"{AGENT}{NEW}")[0].not_gradeable is NotGradeable.AUTH_NEEDED


def test_a_card_url_at_the_legacy_path_compares_with_the_current_one() -> None:
    old = zero_three()
    found, _ = walk({f"{AGENT}{OLD}": old, f"{AGENT}{NEW}": one_zero()}, None, card_url=f"{AGENT}{OLD}")
    assert found.card is old and slugs(found.findings) == ["two-paths-two-cards"]


def test_a_typed_query_goes_with_every_card_of_the_target() -> None:
    answers = {f"{AGENT}{NEW}?id=42": one_zero(interface(f"{AGENT}/a2a/42"))}
    found, served = walk(answers, f"{AGENT}?id=42")
    assert found.is_bound and f"{AGENT}/a2a/42{NEW}?id=42" in served.urls


def test_a_dispatch_url_with_a_query_keeps_its_own() -> None:
    answers = {f"{AGENT}{NEW}?id=1": one_zero(interface(f"{AGENT}/rpc?id=2"))}
    _, served = walk(answers, f"{AGENT}?id=1")
    assert f"{AGENT}/rpc{NEW}?id=2" in served.urls


def test_a_tenant_header_goes_with_every_get_and_call() -> None:
    found, served = walk(
        {f"{GATEWAY}{NEW}": one_zero(interface(f"{GATEWAY}/rpc"))}, GATEWAY, resolver=TenantHeader(tenant="acme")
    )
    assert found.is_bound and found.topology == "gateway"
    assert found.target is not None and found.target.headers == {"X-Tenant": "acme"}
    assert all(one.headers["X-Tenant"] == "acme" for one in served.asked)


def test_a_tenant_query_selects_the_card_and_the_bare_one_is_a_union() -> None:
    own = one_zero(interface(f"{GATEWAY}/rpc"), skills=[])
    answers = {f"{GATEWAY}{NEW}?tenant=acme": own, f"{GATEWAY}{NEW}": one_zero(interface(f"{GATEWAY}/rpc"))}
    found, _ = walk(answers, GATEWAY, resolver=TenantQuery(tenant="acme"))
    assert found.card is own and slugs(found.findings) == ["union-card"]


def test_a_path_prefix_moves_the_target_and_its_cards() -> None:
    hint = one_zero(interface(f"{GATEWAY}/rpc"))
    own = one_zero(interface(f"{GATEWAY}/acme/rpc"))
    found, _ = walk({f"{GATEWAY}{NEW}": hint, f"{GATEWAY}/acme{NEW}": own}, GATEWAY, resolver=PathPrefix(prefix="acme"))
    assert found.card is own and found.target is not None and found.target.dispatch_url == f"{GATEWAY}/acme/rpc"


def test_a_card_url_from_before_the_prefix_is_a_signpost() -> None:
    hint, own = one_zero(interface(f"{GATEWAY}/rpc")), one_zero(interface(f"{GATEWAY}/acme/rpc"))
    answers = {f"{GATEWAY}{NEW}": hint, f"{GATEWAY}/acme{NEW}": own}
    found, _ = walk(answers, None, card_url=f"{GATEWAY}{NEW}", resolver=PathPrefix(prefix="acme"))
    assert found.card is own


def test_a_rewritten_url_must_be_named_by_the_card_found_there() -> None:
    rules = UrlRewriting(rules={"https://inner.local": f"{GATEWAY}/one"})
    hint = one_zero(interface("https://inner.local/rpc"))
    stale = {f"{GATEWAY}{NEW}": hint, f"{GATEWAY}/one{NEW}": hint}
    assert severe(walk(stale, GATEWAY, resolver=rules)[0]) == ["card-names-other-target"]
    own = one_zero(interface(f"{GATEWAY}/one/rpc"))
    found, _ = walk({f"{GATEWAY}{NEW}": hint, f"{GATEWAY}/one{NEW}": own}, GATEWAY, resolver=rules)
    assert found.card is own


def test_a_mesh_reaches_the_named_target_at_another_address() -> None:
    mesh = MeshMap(routes={AGENT: "http://127.0.0.1:15001"})
    found, _ = walk({f"{AGENT}{NEW}": one_zero(), f"http://127.0.0.1:15001{NEW}": one_zero()}, resolver=mesh)
    assert found.is_bound and found.target is not None
    assert (found.target.dispatch_url, found.target.named_url) == ("http://127.0.0.1:15001/rpc", f"{AGENT}/rpc")
    found, _ = walk({f"{AGENT}{NEW}": one_zero()}, None, card_url=f"{AGENT}{NEW}", resolver=mesh)
    assert found.is_bound, "the operator gave the card's place"


def test_a_resolver_that_knows_no_target_refuses() -> None:
    found, _ = walk({f"{AGENT}{NEW}": one_zero()}, resolver=MeshMap(routes={}))
    assert slugs(found.findings) == ["target-not-resolved"] and found.target is None
    malformed = walk({f"{AGENT}{NEW}": one_zero(interface("/rpc"))}, resolver=MeshMap(routes={}))[0]
    assert slugs(malformed.findings) == ["url-malformed"]


class Wordless(TenantHeader):
    """Somebody else's resolver, which raises without a finding."""

    def rewrite(self, url: str) -> str:
        raise AgentCardResolutionError("no route")


def test_a_resolver_of_ones_own_needs_no_finding_to_refuse() -> None:
    found, _ = walk({f"{AGENT}{NEW}": one_zero()}, resolver=Wordless(tenant="x"))
    assert slugs(found.findings) == ["target-not-resolved"] and found.findings[0].detail == "no route"


def test_a_registry_only_says_where_to_look() -> None:
    found, _ = walk({f"{AGENT}{NEW}": one_zero()}, "summariser", resolver=Registry(entries={"summariser": AGENT}))
    assert found.is_bound and found.topology == "direct"


def test_the_operators_tenant_is_echoed() -> None:
    card = one_zero(interface(tenant="acme"), interface(tenant="globex"))
    found, _ = walk({f"{AGENT}{NEW}": card}, tenant="globex")
    assert found.target is not None and found.target.tenant_id == "globex" and found.topology == "direct"
    found, _ = walk({f"{AGENT}{NEW}": one_zero(interface(tenant=""))})
    assert found.target is not None and found.target.tenant_id is None


def test_a_grpc_target_is_looked_up_at_its_host() -> None:
    policy = Policy(bindings=("GRPC",))
    card = one_zero(interface("agent.example.test:50051", binding="GRPC"))
    found, _ = walk({f"{AGENT}{NEW}": card}, policy=policy)
    assert found.is_bound and found.topology == "direct"
    configured, _ = walk({}, None, policy, configured_card=card)
    assert configured.is_bound


def test_a_configured_card_is_used_without_asking_and_is_advisory() -> None:
    found, served = walk({}, None, configured_card=zero_three())
    assert found.is_bound and served.urls == [] and found.reached == (Stage.RESOLVE, Stage.FETCH)
    assert slugs(found.findings) == ["configured-card"] and found.findings[0].kind is Kind.AUTHORITY


def test_a_configured_card_obeys_the_address_rules() -> None:
    assert severe(walk({}, None, configured_card=zero_three("http://10.0.0.1/"))[0]) == ["plain-http"]
    assert walk({}, None, configured_card=zero_three("http://127.0.0.1:8000/"))[0].is_bound
    assert severe(walk({}, None, configured_card=zero_three("nowhere"))[0]) == ["url-malformed"]
    unusable = walk({}, None, configured_card=one_zero(interface(binding="GRPC")))[0]
    assert severe(unusable) == ["no-usable-interface"]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"url": None}, "needs a URL"),
        ({"url": "agent.example.test"}, "give a URL such as"),
        ({"url": "https://me:secret@agent.example.test"}, "never in a URL"),
        ({"url": AGENT, "credentials_for": {"agent.example.test"}}, "an origin looks like"),
        ({"url": AGENT, "policy": Policy(supports=(1.0,))}, "in quotes"),  # type: ignore[arg-type]
    ],
)
def test_what_the_operator_gives_must_make_sense(given: dict[str, Any], word: str) -> None:
    with pytest.raises(Misuse, match=word):
        walk({}, **given)


def test_every_card_get_says_its_version_from_1_0_on() -> None:
    assert card_request_headers(Policy()) == {"Accept": "application/json", "A2A-Version": "1.0"}
    assert card_request_headers(Policy(supports=("0.3",))) == {"Accept": "application/json"}
    assert card_request_headers(Policy(), TenantHeader(tenant="a"))["X-Tenant"] == "a"


@given(
    st.one_of(
        st.text(max_size=40),
        st.from_regex(r"https?://[\w.:@%\[\]-]{0,20}(/[\w.%-]{0,5}){0,4}(\?[\w=&]{0,8})?", fullmatch=True),
    )
)
def test_whatever_url_a_card_names_the_walk_ends_and_asks_no_place_inside(url: str) -> None:
    served = Served({f"{AGENT}{NEW}": one_zero(interface(url))})
    found = served.drive(discover(AGENT, PUBLIC))
    assert found.findings or found.is_bound
    for asked in served.urls:
        place = parse_url(asked)
        assert place.scheme == "https" and reach_of(place.host) is Reach.PUBLIC and not place.userinfo

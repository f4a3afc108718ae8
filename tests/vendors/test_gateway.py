"""The union-card gateway of the discovery record: one card for all tenants, and tenants that are not like it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.vendors.bench import CARD, Agent, Bench

TENANTS = {"acme": {"streaming": False}, "globex": {}, "initech": {"deprovisioned": True}}


@pytest.fixture(scope="module")
def gateway(bench: Bench) -> Agent:
    return bench.agent(streaming=True, tenants=TENANTS)


def url(card: dict[str, Any]) -> str:
    return str(card["supportedInterfaces"][0]["url"])


def test_the_card_at_the_origin_claims_what_a_tenant_lacks(gateway: Agent) -> None:
    union = gateway.card()
    assert union["capabilities"]["streaming"] is True and url(union) == f"{gateway.running.url}/rpc"
    assert gateway.card(f"/acme{CARD}")["capabilities"]["streaming"] is False


@pytest.mark.parametrize("path", [f"/acme{CARD}", f"{CARD}?tenant=acme"])
def test_a_tenants_own_card_is_path_scoped_or_chosen_by_query(gateway: Agent, path: str) -> None:
    card = gateway.card(path)
    assert card["name"] == "acme" and url(card) == f"{gateway.running.url}/acme/rpc"


def test_the_header_rewrites_the_url_of_the_union_card_and_nothing_else(gateway: Agent) -> None:
    card, union = gateway.card(**{"X-Tenant": "acme"}), gateway.card()
    assert url(card) == f"{gateway.running.url}/acme/rpc"
    assert {key for key in card if card[key] != union[key]} == {"supportedInterfaces"}


@pytest.mark.parametrize(
    ("path", "headers", "params"),
    [
        ("/rpc", {"X-Tenant": "acme"}, {}),
        ("/acme/rpc", {}, {}),
        ("/rpc?tenant=acme", {}, {}),
        ("/rpc", {}, {"tenant": "acme"}),
    ],
    ids=["header", "path", "query", "parameter"],
)
def test_a_call_goes_to_the_tenant_it_names(
    gateway: Agent, path: str, headers: dict[str, str], params: dict[str, str]
) -> None:
    answer = gateway.post(gateway.body("stream", **params), path=path, **headers)
    assert answer.json()["error"]["code"] == -32004


def test_a_tenant_that_streams_streams(gateway: Agent) -> None:
    answer = gateway.post(gateway.body("stream"), **{"X-Tenant": "globex"})
    assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("tenant", ["initech", "hooli"])
def test_a_tenant_that_is_gone_or_was_never_there_has_no_card_and_takes_no_call(gateway: Agent, tenant: str) -> None:
    places = [
        gateway.get(f"/{tenant}{CARD}"),
        gateway.get(**{"X-Tenant": tenant}),
        gateway.get(f"{CARD}?tenant={tenant}"),
    ]
    body = gateway.body("send")
    calls = [gateway.post(body, path=f"/{tenant}/rpc"), gateway.post(body, **{"X-Tenant": tenant})]
    assert {answer.status_code for answer in places + calls} == {404}


def test_a_call_without_a_tenant_is_refused(gateway: Agent) -> None:
    assert gateway.post(gateway.body("send")).status_code == 400
    assert gateway.post(b"no json").status_code == 400


def test_a_tenant_has_misbehaviours_of_its_own(bench: Bench) -> None:
    faults = [{"name": "undeclared-output"}]
    gateway = bench.agent(tenants={"acme": {"misbehaviours": faults}, "globex": {}})
    modes = {}
    for tenant in ("acme", "globex"):
        task = gateway.post(gateway.body("send"), path=f"/{tenant}/rpc").json()["result"]["task"]
        modes[tenant] = task["artifacts"][0]["parts"][0]["mediaType"]
    assert modes == {"acme": "application/xml", "globex": "text/plain"}


def test_the_store_of_a_gateway_is_that_of_all_its_tenants_in_order(bench: Bench) -> None:
    gateway = bench.agent(tenants=TENANTS)
    gateway.get()
    gateway.get(**{"X-Tenant": "acme"})
    gateway.post(gateway.body("send"), path="/globex/rpc")
    gateway.post(gateway.body("send"), path="/initech/rpc")
    store = gateway.store()
    assert [kept["path"] for kept in store["requests"]] == [CARD, CARD, "/globex/rpc", "/initech/rpc"]
    assert [task["state"] for task in store["tasks"]] == ["completed"]

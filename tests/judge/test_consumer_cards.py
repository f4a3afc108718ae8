"""How a consumer looked for the card: D1-D6 and R6, read from its traffic alone."""

from __future__ import annotations

import pytest

from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import BASE, RPC, call, card_0_3, card_1_0, judged, look, message, slugs, task

DONE = {"task": task()}


def test_a_consumer_that_asks_sends_and_waits_is_only_unprobed() -> None:
    """A card at the origin and RPC below it is how stock servers are mounted (D3)."""
    found = judged(look(card_1_0()), call(answer=DONE)).findings
    assert [one.slug for one in found] == ["committed-unprobed"]
    assert (found[0].kind.value, found[0].judge.value, found[0].values["whose"]) == ("note", "policy", "consumer")


def test_the_legacy_path_alone_is_named() -> None:
    assert slugs(
        look(card_0_3(), path="/.well-known/agent.json"), call("message/send", answer=task(dialect="0.3"))
    ) == {"legacy-path-only"}
    both = (look(), look(card_0_3(), path="/.well-known/agent.json"))
    assert not slugs(*both, call("message/send", answer=task(dialect="0.3")))


def test_a_call_without_any_look_may_be_a_configured_card() -> None:
    assert "card-unasked" in slugs(call(answer=DONE))


@pytest.mark.parametrize(
    "found", [look(), look(body=b"<html>"), look(card_1_0(), status=500)], ids=["404", "html", "500"]
)
def test_a_call_after_looks_that_found_nothing_is_on_an_invented_card(found: Exchange) -> None:
    """python-a2a makes up an agent called Unknown and sends anyway (D5)."""
    assert "card-invented" in slugs(found, look(path="/agent.json"), call(answer=DONE))


def test_a_card_that_came_after_the_call_does_not_count() -> None:
    assert "card-invented" in slugs(look(), call(answer=DONE, at_ms=100), look(card_1_0(), at_ms=500))


def test_the_url_that_is_called_must_be_named_by_a_card() -> None:
    """D4; a final slash counts."""
    assert "unbound-card-used" in slugs(look(card_1_0()), call(answer=DONE, url=f"{RPC}/"))
    assert "unbound-card-used" not in slugs(look(card_1_0()), call(answer=DONE))


def test_members_that_only_older_clients_read_name_a_url_as_well() -> None:
    dual = card_1_0(url=f"{BASE}/v1") | {"url": RPC, "protocolVersion": "0.3"}
    sent = call("message/send", answer=task(dialect="0.3"), version=None)
    assert not slugs(look(dual), sent)


def test_an_interface_on_another_origin_needs_that_origins_card() -> None:
    there = "http://tenant.example/rpc"
    asked = look(card_1_0(url=there))
    assert "target-card-unasked" in slugs(asked, call(answer=DONE, url=there))
    own = look(card_1_0(url=there), base="http://tenant.example", at_ms=10)
    assert "target-card-unasked" not in slugs(asked, own, call(answer=DONE, url=there))


def test_a_tenant_chosen_on_the_call_and_not_on_the_look_is_matched_before_resolved() -> None:
    """The discovery record: every tenant's card was matched, one tenant was called."""
    tenant = {"X-Tenant": "acme"}
    assert "matched-before-resolved" in slugs(look(card_1_0()), call(answer=DONE, sent=tenant))
    assert "matched-before-resolved" not in slugs(look(card_1_0(), sent=tenant), call(answer=DONE, sent=tenant))
    other = look(card_1_0(), sent={"X-Tenant": "globex"})
    assert "matched-before-resolved" in slugs(other, call(answer=DONE, sent=tenant))
    query = look(card_1_0(), path="/.well-known/agent-card.json?tenant=acme")
    assert "matched-before-resolved" not in slugs(query, call(answer=DONE, url=f"{RPC}?tenant=acme"))


def test_a_base_path_that_is_lost_in_joining_is_named() -> None:
    address = f"{BASE}/a2a/one"
    lost = look(path="/a2a/.well-known/agent-card.json")
    assert slugs(lost, address=address) >= {"base-path-dropped"}
    kept = look(card_1_0(), path="/a2a/one/.well-known/agent-card.json")
    assert "base-path-dropped" not in slugs(kept, call(answer=DONE), address=address)
    assert "base-path-dropped" not in slugs(lost, address=f"{BASE}/other")


def test_a_card_found_above_the_address_is_another_tenants() -> None:
    """On a gateway that serves one there nothing fails: the union-card case without an attacker."""
    found = look(card_1_0(), path="/a2a/.well-known/agent-card.json")
    assert slugs(found, call(answer=DONE), address=f"{BASE}/a2a/one/") >= {"base-path-dropped", "parent-card-used"}


def test_a_second_conversation_on_the_first_ones_card_is_reuse() -> None:
    first, second = call(answer=DONE), call(answer=DONE, params={"message": message("other")}, at_ms=900)
    assert "card-reused" in slugs(look(card_1_0()), first, second)
    assert "card-reused" not in slugs(look(card_1_0()), first, look(card_1_0(), at_ms=800), second)


def test_the_same_conversation_needs_no_other_card() -> None:
    more = call(answer=DONE, params={"message": message("other", contextId="c1")}, at_ms=900)
    assert "card-reused" not in slugs(look(card_1_0()), call(answer=DONE), more)


def test_a_card_kept_beyond_the_servers_word_is_stale() -> None:
    """CrewAI keeps cards for 300 s whatever Cache-Control says."""
    short = look(card_1_0(), headers={"Cache-Control": "max-age=1"})
    late = call(answer=DONE, params={"message": message("other", messageId="m2")}, at_ms=9000)
    assert slugs(short, call(answer=DONE), late) == {"card-reused", "card-stale"}
    hour = look(card_1_0(), headers={"Cache-Control": "public, max-age=3600"})
    assert slugs(hour, call(answer=DONE), late) == {"card-reused"}


def test_validators_that_were_given_and_not_used_are_a_note() -> None:
    tagged = look(card_1_0(), headers={"ETag": 'W/"1"'})
    assert slugs(tagged, look(card_1_0(), at_ms=50), call(answer=DONE)) == {"validators-unused"}
    again = look(status=304, sent={"If-None-Match": 'W/"1"'}, at_ms=50)
    assert not slugs(tagged, again, call(answer=DONE))

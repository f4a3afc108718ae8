"""What a consumer does between its first byte and its first message (D1, A3), for one table of all orchestrators."""

from __future__ import annotations

import pytest

from a2a_lab.judge.steps import approach
from a2a_lab.judge.visit import Account
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import RPC, call, card_1_0, look, message, task, visit

DONE = {"task": task()}


def test_looks_and_the_first_message_are_told_in_their_order() -> None:
    found = approach(visit(look(card_1_0(), at_ms=20), look(card_1_0(), at_ms=60), call(answer=DONE, at_ms=100)))
    assert [(step.at_ms, step.what) for step in found.steps] == [(0, "card"), (40, "card"), (80, "commit")]
    assert (found.looks, found.conditional, found.commit_ms, found.dialect) == (2, 0, 80, "1.0")


def test_what_comes_after_the_first_message_is_not_part_of_the_approach() -> None:
    found = approach(visit(look(card_1_0()), call(answer=DONE), look(card_1_0(), at_ms=500)))
    assert found.looks == 1 and found.steps[-1].what == "commit"


def test_how_it_asked_for_the_card_is_told() -> None:
    asked = look(card_1_0(), sent={"A2A-Version": "1.0", "If-None-Match": "x", "X-Tenant": "acme"})
    found = approach(visit(asked, call(answer=DONE)))
    assert (
        found.steps[0].told == "/.well-known/agent-card.json, 200, A2A-Version 1.0, revalidating, header x-tenant=acme"
    )
    assert found.conditional == 1


def test_one_that_sends_little_first_has_probed() -> None:
    small = call(answer=DONE, params={"message": message("?")})
    large = call(answer=DONE, params={"message": message("x" * 500)}, at_ms=300)
    assert approach(visit(look(card_1_0()), small, large)).is_probed
    assert not approach(visit(look(card_1_0()), large)).is_probed


def test_one_that_never_sent_anything_has_no_commit() -> None:
    found = approach(visit(look(card_1_0())))
    assert (found.commit_ms, found.dialect, len(found.steps)) == (None, None, 1)
    assert approach(visit()).steps == ()


def test_a_choice_leaves_no_traffic_and_is_there_where_the_consumer_told_it() -> None:
    """As CrewAI does it: cards into the prompt, the model chooses, the card is fetched once more, then the commit."""
    seen = visit(look(card_1_0(), at_ms=20), look(card_1_0(), at_ms=60), call(answer=DONE, at_ms=100))
    told = Account(ok=True, steps=((40.0, "match", "the model chose"), (300.0, "match", "of the next task")))
    assert approach(seen, told).order == "card, match, card, commit"
    assert approach(seen).order == "card, card, commit"


def test_each_message_that_opens_a_task_is_told_with_the_card_that_it_stands_on() -> None:
    newer = look(card_1_0(version="2"), at_ms=400, sent={"If-None-Match": "x"})
    turns = approach(
        visit(
            look(card_1_0(), at_ms=0),
            call(answer=DONE, at_ms=100),
            call(params={"message": message(taskId="t1")}, answer=DONE, at_ms=200),
            call(answer=DONE, at_ms=300),
            newer,
            call(answer=DONE, at_ms=500),
        )
    ).turns
    assert [(one.at_ms, one.looks, one.conditional, one.age_ms) for one in turns] == [
        (100, 1, 0, 95),
        (300, 0, 0, 295),
        (500, 1, 1, 95),
    ]
    assert turns[0].digest == turns[1].digest != turns[2].digest


@pytest.mark.parametrize(
    ("named", "sent", "told"),
    [
        ({"tenant": "acme"}, {"tenant": "acme"}, "acme sent"),
        ({"tenant": "acme"}, {}, "acme left out"),
        ({"tenant": "acme"}, {"tenant": "other"}, "other for acme"),
        ({}, {"tenant": "acme"}, "acme invented"),
        ({}, {}, "none named"),
    ],
)
def test_what_became_of_the_tenant_is_told(named: dict[str, str], sent: dict[str, str], told: str) -> None:
    card = card_1_0({"url": RPC, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", **named})
    (turn,) = approach(visit(look(card), call(params={"message": message(), **sent}, answer=DONE))).turns
    assert turn.tenant == told


def test_what_was_known_when_the_payload_left_is_told() -> None:
    def known(*exchanges: Exchange) -> tuple[str, ...]:
        return approach(visit(*exchanges)).turns[0].known

    signed = card_1_0(signatures=[{"protected": "e30", "signature": "x"}])
    elsewhere = card_1_0(url="http://agent.example/other")
    assert known(look(card_1_0()), call(answer=DONE)) == ("bound by its card", "unsigned", "not probed")
    assert known(look(signed), call(answer=DONE))[1] == "signed, verified or not"
    assert known(look(elsewhere), call(answer=DONE))[0] == "an address that no card names"
    assert known(call(answer=DONE)) == ("no card",)
    old = call("message/send", answer=task(dialect="0.3"), version=None)
    assert "a version that the card does not declare" in known(look(card_1_0()), old)

"""What a consumer does between its first byte and its first message (D1, A3), for one table of all orchestrators."""

from __future__ import annotations

from a2a_lab.judge.steps import approach
from tests.judge.visits import call, card_1_0, look, message, task, visit

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

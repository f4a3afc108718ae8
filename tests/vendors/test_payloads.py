"""A payload is told from everything else by its canary, whatever its mode (R23, R24)."""

from __future__ import annotations

import csv
import json

import pytest

from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.vendors.payloads import intent, payload

MODES = ["text/plain", "text/csv", "application/json", "application/octet-stream"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("least", [0, 1, 500, 20_000])
def test_a_payload_holds_the_canary_and_is_large_enough_but_not_twice(mode: str, least: int) -> None:
    made = payload(mode, "c4n4ry", least)
    assert b"c4n4ry" in made and least <= len(made) < 2 * least + 200


def test_a_payload_is_what_its_mode_says() -> None:
    records = json.loads(payload("application/json", "c", 300))["records"]
    rows = list(csv.DictReader(payload("text/csv", "c", 300).decode().splitlines()))
    assert [list(row) for row in rows[:1]] == [list(row) for row in records[:1]] == [["id", "text"]]
    assert len(rows) > 1 and len(records) > 1


def test_an_intent_has_a_payload_for_each_mode_in_order_of_preference() -> None:
    spec = ConsumerSpec(name="dash", mode="text/csv", stream=True, can_send=("text/csv", "text/plain"), skill="tables")
    wanted = intent(spec, "c4n4ry")
    assert list(wanted.payloads) == ["text/csv", "text/plain"] and all(b"c4n4ry" in x for x in wanted.payloads.values())
    assert (wanted.mode, wanted.skill, wanted.stream, wanted.accepts) == ("text/csv", "tables", True, spec.accepts)

"""Each misbehaviour of the card does what its sentence says, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from jwcrypto import jwk, jws
from jwcrypto.common import JWException

from tests.vendors.bench import Agent, Bench


def verifies(agent: Agent, card: dict[str, Any]) -> bool:
    bare = {key: value for key, value in card.items() if key != "signatures"}
    token = jws.JWS()
    token.allowed_algs = ["ES256"]
    try:
        token.deserialize(json.dumps(card["signatures"][0] | {"payload": jws.base64url_encode(rfc8785.dumps(bare))}))
        token.verify(jwk.JWK(**agent.running.public_keys["lab"]))
    except JWException:
        return False
    return True


# ---- no card -----------------------------------------------------------------------------------------------------


def test_html_instead_of_card(bench: Bench) -> None:
    answer = bench.agent("html-instead-of-card").get()
    assert answer.status_code == 200 and answer.text.startswith("<!doctype html>")


@pytest.mark.parametrize(("status", "challenge"), [(401, 'Bearer realm="lab"'), (403, None)])
def test_card_needs_login(bench: Bench, status: int, challenge: str | None) -> None:
    answer = bench.agent({"name": "card-needs-login", "status": status}).get()
    assert (answer.status_code, answer.headers.get("www-authenticate")) == (status, challenge)


def test_card_not_found(bench: Bench) -> None:
    agent = bench.agent("card-not-found")
    assert agent.get().status_code == 404 and "result" in agent.call("send")


def test_duplicate_key_card(bench: Bench) -> None:
    pairs = json.loads(bench.agent("duplicate-key-card").get().content, object_pairs_hook=list)
    assert [value for key, value in pairs if key == "name"] == ["somebody else", "oak"]


def test_huge_card(bench: Bench) -> None:
    answer = bench.agent({"name": "huge-card", "bytes": 1_000_000}).get()
    assert len(answer.content) > 1_000_000 and answer.json()["name"] == "oak"


def test_card_redirects_away(bench: Bench) -> None:
    answer = bench.agent("card-redirects-away").get()
    assert answer.status_code == 302 and answer.headers["location"].startswith("https://elsewhere.example.test/")


# ---- what it says ------------------------------------------------------------------------------------------------


def test_script_card_name(bench: Bench) -> None:
    card = bench.agent("script-card-name").card()
    assert card["name"] == "<script>alert(1)</script>"
    assert {"\u202e", "\x1b", "\x07"} <= set(card["description"])


@pytest.mark.parametrize("value", ["1.0.0", "1.0.0-rc", 1.0, "2.0", ""], ids=repr)
def test_wrong_version(bench: Bench, value: object) -> None:
    [interface] = bench.agent({"name": "wrong-version", "value": value}).card()["supportedInterfaces"]
    assert interface["protocolVersion"] == value and type(interface["protocolVersion"]) is type(value)


def test_wrong_version_left_out(bench: Bench) -> None:
    fault = {"name": "wrong-version", "value": "absent"}
    assert "protocolVersion" not in bench.agent(fault).card()["supportedInterfaces"][0]
    assert "protocolVersion" not in bench.agent(fault, dialect="0.3").card()


def test_requires_extension(bench: Bench) -> None:
    [extension] = bench.agent("requires-extension").card()["capabilities"]["extensions"]
    assert extension["required"] is True and extension["uri"].startswith("https://")


@pytest.mark.parametrize("dialect", ["1.0", "0.3"])
def test_names_other_target(bench: Bench, dialect: str) -> None:
    agent = bench.agent("names-other-target", dialect=dialect)
    card = agent.card()
    named = card["supportedInterfaces"][0]["url"] if dialect == "1.0" else card["url"]
    assert named == agent.running.url.replace("127.0.0.1", "0.0.0.0") + "/rpc"


def test_tampered_card(bench: Bench) -> None:
    agent = bench.agent("tampered-card", signed_by="lab")
    assert not verifies(agent, agent.card())
    honest = bench.agent(signed_by="lab")
    assert verifies(honest, honest.card())


def test_malformed_signature(bench: Bench) -> None:
    assert bench.agent("malformed-signature").card()["signatures"] == [{"jws": "..."}]


# ---- over time ---------------------------------------------------------------------------------------------------


def changed(agent: Agent) -> set[str]:
    """The members that differ between the card before and after one message."""
    before = agent.card()
    assert agent.card() == before
    agent.call("send")
    after = agent.card()
    return {key for key in before | after if before.get(key) != after.get(key)}


def test_card_rotates_benign(bench: Bench) -> None:
    agent = bench.agent("card-rotates-benign", signed_by="lab")
    assert changed(agent) == {"description", "signatures"} and verifies(agent, agent.card())


def test_card_rotates_plan(bench: Bench) -> None:
    agent = bench.agent("card-rotates-plan")
    assert changed(agent) == {"capabilities"} and agent.card()["capabilities"]["streaming"] is False


def test_card_rotates_plan_modes(bench: Bench) -> None:
    skills = [{"id": "extract", "inputs": ["application/json"]}]
    agent = bench.agent({"name": "card-rotates-plan", "member": "modes"}, skills=skills)
    assert changed(agent) == {"defaultInputModes", "skills"}


def test_card_rotates_signature(bench: Bench) -> None:
    agent = bench.agent("card-rotates-signature", signed_by="lab")
    assert changed(agent) == {"signatures"} and verifies(agent, agent.card())


def test_a_rotation_can_count_card_gets(bench: Bench) -> None:
    agent = bench.agent({"name": "card-rotates-benign", "after_gets": 2})
    seen = [agent.card()["description"].endswith("(second edition)") for _ in range(4)]
    assert seen == [False, False, True, True]


def test_card_flaps(bench: Bench) -> None:
    agent = bench.agent("card-flaps")
    first, second, third = (agent.card() for _ in range(3))
    assert first != second and first == third


def test_card_gone(bench: Bench) -> None:
    agent = bench.agent("card-gone")
    assert agent.get().status_code == 200
    agent.call("send")
    assert agent.get().status_code == 404

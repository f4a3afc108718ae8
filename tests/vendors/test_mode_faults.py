"""Each misbehaviour about media types does what its sentence says, and only where its filters let it."""

from __future__ import annotations

import pytest

from tests.vendors.bench import Agent, Bench

TEXT, JSON = "text/plain", "application/json"
DATA = {"data": {"rows": 1}}
TEXT_PART = {"text": "hi"}


def state(agent: Agent, *parts: dict[str, object], **params: object) -> str:
    return str(agent.task("send", *parts, **params)["status"]["state"]).removeprefix("TASK_STATE_")


@pytest.mark.parametrize("name", ["ignores-skill-modes", "ignores-default-modes"])
def test_a_runtime_takes_only_what_it_takes(bench: Bench, name: str) -> None:
    agent = bench.agent({"name": name, "accepts": [JSON]}, default_inputs=[TEXT, JSON])
    assert (state(agent, TEXT_PART), state(agent, DATA)) == ("INPUT_REQUIRED", "COMPLETED")
    assert agent.card()["defaultInputModes"] == [TEXT, JSON]


def test_ignores_skill_modes(bench: Bench) -> None:
    skills = [{"id": "extract", "inputs": [JSON]}]
    assert (
        state(bench.agent({"name": "ignores-skill-modes", "accepts": [TEXT]}, skills=skills), DATA) == "INPUT_REQUIRED"
    )


def test_ignores_default_modes(bench: Bench) -> None:
    seen = bench.agent({"name": "ignores-default-modes", "accepts": [JSON]}, asks_with="data").stream(TEXT_PART)
    asked = seen.results[-1]["statusUpdate"]["status"]["message"]["parts"][0]["data"]
    assert seen.kinds[-1] == "statusUpdate:INPUT_REQUIRED" and asked == {"acceptedInputModes": [JSON]}


def test_accepts_undeclared(bench: Bench) -> None:
    odd = {"raw": "AA==", "mediaType": "application/x-nobody-declared"}
    assert state(bench.agent(), odd) == "INPUT_REQUIRED"
    assert state(bench.agent("accepts-undeclared"), odd) == "COMPLETED"


def test_commits_then_rejects(bench: Bench) -> None:
    agent = bench.agent({"name": "commits-then-rejects", "accepts": [TEXT]}, default_inputs=[TEXT, JSON])
    asked = agent.task("send", DATA)
    assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED" and len(asked["artifacts"]) == 1
    again = agent.task("send", TEXT_PART, task=asked["id"])
    assert again["status"]["state"] == "TASK_STATE_REJECTED" and again["artifacts"] == asked["artifacts"]


def test_a_first_message_that_fits_is_not_rejected(bench: Bench) -> None:
    agent = bench.agent({"name": "commits-then-rejects", "accepts": [TEXT]}, default_inputs=[TEXT, JSON])
    assert state(agent, TEXT_PART) == "COMPLETED"


def test_undeclared_output(bench: Bench) -> None:
    task = bench.agent({"name": "undeclared-output", "mode": "application/xml"}).task("send")
    assert [part["mediaType"] for part in task["artifacts"][0]["parts"]] == ["application/xml"]


@pytest.mark.parametrize("dialect", ["1.0", "0.3"])
def test_an_undeclared_type_shows_in_either_dialect(bench: Bench, dialect: str) -> None:
    part = bench.agent("undeclared-output", dialect=dialect).task("send")["artifacts"][0]["parts"][0]
    assert part.get("mediaType", part.get("file", {}).get("mimeType")) == "application/xml"


# ---- filters -----------------------------------------------------------------------------------------------------


def test_a_misbehaviour_may_be_of_one_operation(bench: Bench) -> None:
    agent = bench.agent({"name": "undeclared-output", "on": "stream"})
    assert agent.task("send")["artifacts"][0]["parts"][0]["mediaType"] == TEXT
    assert agent.stream().results[1]["artifactUpdate"]["artifact"]["parts"][0]["mediaType"] == "application/xml"


def test_a_misbehaviour_may_wait_for_a_large_message(bench: Bench) -> None:
    agent = bench.agent({"name": "undeclared-output", "min_bytes": 200})
    small, large = (agent.task("send", {"text": "x" * size}) for size in (10, 300))
    assert [task["artifacts"][0]["parts"][0]["mediaType"] for task in (small, large)] == [TEXT, "application/xml"]

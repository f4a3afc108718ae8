"""The ledger after a kill -9 (DESIGN 6, A7, R35): everything that may exist is accounted for, and can be settled.

The agents live in a host process of the test's own, so that they survive the lab that is killed, and can say what
reached them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.run import LEDGER
from a2a_lab.ledger import Fact, Ledger
from tests.cli.console import lab, start
from tests.lab.meetings import CANARY, ENDED
from tests.vendors.bench import Agent, Bench

LONG = "A prompt that is long enough to be told from a probe by its size. " * 8
LARGE = 300  # bytes of parts: a payload with this prompt has more, a probe fewer
WAIT_S = 30.0

AGENTS: dict[str, dict[str, Any]] = {
    "takes its time": {"streaming": False, "work_s": 0.25},
    "streams for ever": {"misbehaviours": [{"name": "never-final", "min_bytes": LARGE}], "work_s": 0.05},
    "never starts": {"streaming": False, "misbehaviours": [{"name": "never-moves", "min_bytes": LARGE}]},
}


def agent_that(bench: Bench, how: str) -> Agent:
    return bench.agent(
        *AGENTS[how].get("misbehaviours", ()), **{k: v for k, v in AGENTS[how].items() if k != "misbehaviours"}
    )


def facts(ledger: Path) -> list[Fact]:
    with Ledger(ledger) as held:
        return list(held.facts())


def wait_for_facts(ledger: Path, count: int) -> None:
    """Return once the ledger holds so many facts; read beside the lab that writes them."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        with contextlib.suppress(sqlite3.Error):
            if ledger.exists():
                db = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)
                try:
                    if db.execute("SELECT count(*) FROM facts").fetchone()[0] >= count:
                        return
                finally:
                    db.close()
        time.sleep(0.003)
    raise AssertionError(f"the lab never wrote {count} facts")


def killed(agent: Agent, out: Path, *, after: int) -> None:
    """Start a check that sends, and kill it as hard as one can once so many facts are on the disk."""
    process = start("check", agent.running.url, "--send", "--text", LONG, "--out", str(out), cwd=out)
    with process:
        wait_for_facts(out / LEDGER, after)
        os.kill(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 4, 8])
@pytest.mark.parametrize("how", AGENTS)
def test_after_a_kill_the_ledger_knows_all_that_reached_the_agent(
    bench: Bench, tmp_path: Path, how: str, after: int
) -> None:
    agent = agent_that(bench, how)
    killed(agent, tmp_path, after=after)
    tasks = agent.store()["tasks"]
    written = facts(tmp_path / LEDGER)
    arrived = sum(bool(CANARY.search(parts)) for task in tasks for parts in task["received"])
    assert arrived <= sum(fact.what == "sent" and fact.detail["is_payload"] for fact in written)

    told = " ".join(str(fact.detail) for fact in written)
    unnamed = [task["id"] for task in tasks if task["id"] not in told]
    left = [row for _, row in list_orphans(tmp_path / LEDGER)]
    assert sum(row.what == "task" and row.task_id is None for row in left) >= len(unnamed)
    for task in tasks:
        if task["state"] not in ENDED and task["id"] not in unnamed:
            assert task["id"] in {row.task_id for row in left if row.what == "task"}


@pytest.mark.slow
def test_orphans_lists_it_and_cleanup_cancels_and_verifies(bench: Bench, tmp_path: Path) -> None:
    agent = agent_that(bench, "streams for ever")
    # Of the probe: sent, task, artifact, completed, booked. Of the payload: sent, task, artifact; then silence.
    killed(agent, tmp_path, after=8)
    (stuck,) = [task for task in agent.store()["tasks"] if task["state"] not in ENDED]
    assert CANARY.search(stuck["received"][0])

    listed = lab("ledger", "orphans", "--out", str(tmp_path), "--json", cwd=tmp_path).json["orphans"]
    assert {row["what"] for row in listed} >= {"task", "payload"}
    assert {row["task_id"] for row in listed} == {stuck["id"]}
    assert set(listed[0]) == {
        "run",
        "cell",
        "agent",
        "what",
        "task_id",
        "artifact_or_message_id",
        "media_type",
        "bytes",
        "state",
        "why",
        "cleanup",
    }

    cleaned = lab("ledger", "cleanup", "--out", str(tmp_path), "--json", cwd=tmp_path)
    assert cleaned.json["cancelled"] == 1 and cleaned.json["unreachable"] == []
    # The payload had arrived: what it may have done is not undone by a cancel, and stays on the list (A7).
    assert {(row["what"], row["why"]) for row in cleaned.json["left"]} >= {("payload", "in-canceled-task")}
    assert not [row for row in cleaned.json["left"] if row["what"] == "task"]
    assert cleaned.code == 1
    assert {task["id"]: task["state"] for task in agent.store()["tasks"]}[stuck["id"]] == "canceled"
    called = [request["rpc_method"] for request in agent.store()["requests"]]
    assert called[-2:] == ["CancelTask", "GetTask"], "the cancel was not verified"

    again = lab("ledger", "cleanup", "--out", str(tmp_path), "--json", cwd=tmp_path)
    assert again.json["cancelled"] == 0
    assert [request["rpc_method"] for request in agent.store()["requests"]] == called, "asked again for nothing"


@pytest.mark.slow
def test_cleanup_says_which_agent_is_gone(bench: Bench, tmp_path: Path) -> None:
    agent = agent_that(bench, "streams for ever")
    killed(agent, tmp_path, after=8)
    bench.run(agent.running.stop())
    cleaned = lab("ledger", "cleanup", "--out", str(tmp_path), cwd=tmp_path)
    assert cleaned.code == 1
    assert f"no answer from: {agent.running.url}/rpc" in cleaned.out and "left-open" in cleaned.out


@pytest.mark.slow
def test_a_settled_run_leaves_nothing_to_clean(bench: Bench, tmp_path: Path) -> None:
    agent = bench.agent(signed_by="lab")
    assert lab("check", agent.running.url, "--send", "--out", str(tmp_path), cwd=tmp_path).code == 0
    assert lab("ledger", "orphans", "--out", str(tmp_path), cwd=tmp_path).out == "nothing is left behind\n"
    assert lab("ledger", "cleanup", "--out", str(tmp_path), cwd=tmp_path).code == 0
    assert {task["state"] for task in agent.store()["tasks"]} == {"completed"}


@pytest.mark.slow
def test_simulated_agents_ended_with_their_run_and_their_ports_are_left_alone(tmp_path: Path) -> None:
    """DESIGN 9: whoever has the port by now is not taken for the agent that was there."""
    run = ("run", "seven-pairs", "--posture", "trusting", "--only", "cedar", "--transport-timeout", "1.2")
    assert lab(*run, "--out", str(tmp_path), cwd=tmp_path).code == 0
    assert len(lab("ledger", "orphans", "--out", str(tmp_path), "--json", cwd=tmp_path).json["orphans"]) == 7
    cleaned = lab("ledger", "cleanup", "--out", str(tmp_path), "--json", cwd=tmp_path)
    assert cleaned.json == {"cancelled": 0, "ended_with_run": 7, "unreachable": [], "left": []}
    assert cleaned.code == 0


def test_a_folder_without_a_ledger_is_named(tmp_path: Path) -> None:
    said = lab("ledger", "orphans", "--out", str(tmp_path), cwd=tmp_path)
    assert said.code == 2 and "there is no ledger" in said.err and "--out" in said.err

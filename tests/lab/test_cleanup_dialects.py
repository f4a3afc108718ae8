"""A clean-up cancels what was left at an agent of any dialect, by the binding that the ledger holds (A7, R35)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from a2a_lab.core.model import Part, State
from a2a_lab.core.policy import Bounds
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.lab.api import run_matrix
from a2a_lab.lab.cleanup import clean_up, list_orphans
from a2a_lab.lab.records import read_run
from a2a_lab.ledger import Ledger
from a2a_lab.net.caller import Caller
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.journal import Journal
from a2a_lab.wire.dialects import Dialect, OutMessage, dialect_for
from tests.vendors.bench import SIMULATED, Agent, Bench


async def leave(agent: Agent, dialect: Dialect, path: Path) -> str:
    """Start a task that works for long, as a cell would, and go away."""
    target = ResolvedTarget(
        dispatch_url=f"{agent.running.url}/rpc",
        binding=dialect.binding,
        tenant_id=agent.running.spec.tenant or None,
    )
    message = OutMessage(message_id="m1", parts=(Part(kind="text", text="hi"),))
    with Ledger(path) as ledger:
        async with new_client(Reach(trust_env=False), tls_context(Reach(trust_env=False))) as client:
            http = Http(client, Recorder(), bounds=Bounds())
            caller = Caller(http, dialect, target, credentials=None, bounds=Bounds())
            journal = Journal(ledger, "r", "c", agent="oak")
            await journal.target(target, dialect=dialect.id, nonce=None)
            await journal.sent("m1", purpose="commit", media_type="text/plain", size=2, is_payload=True)
            async with caller.open("stream", purpose="commit", message=message) as opened:
                data = await opened.live.next(5.0)
                assert data is not None
                line = next(line for line in data.decode().splitlines() if line.startswith("data:"))
                event, _ = dialect.read_event(line.removeprefix("data:"), rpc_id=opened.rpc_id)
                await journal.event(event, message_id="m1")
    assert event.task_id is not None and event.state is State.WORKING
    return event.task_id


@pytest.mark.parametrize("dialect", SIMULATED, ids=lambda one: f"{one.id} {one.binding}")
def test_a_task_that_was_left_is_cancelled_and_verified(bench: Bench, tmp_path: Path, dialect: Dialect) -> None:
    tenant = "acme" if dialect.id == "1.0" else ""
    agent = bench.agent(dialect=dialect.id, binding=dialect.binding, tenant=tenant, work_s=60.0)
    path = tmp_path / "lab.db"
    task_id = bench.run(leave(agent, dialect, path))
    assert task_id in {row.task_id for _, row in list_orphans(path)}
    done = asyncio.run(clean_up(path))
    assert (done.cancelled, done.unreachable) == (1, [])
    assert [task["state"] for task in agent.store()["tasks"]] == ["canceled"]


async def be_killed(agent: Agent, path: Path) -> None:
    """Send in the draft what works for long, and be gone before any answer was written down."""
    dialect = dialect_for("0.1")
    target = ResolvedTarget(dispatch_url=f"{agent.running.url}/rpc")
    message = OutMessage(message_id="m1", parts=(Part(kind="text", text="hi"),))
    with Ledger(path) as ledger:
        async with new_client(Reach(trust_env=False), tls_context(Reach(trust_env=False))) as client:
            caller = Caller(
                Http(client, Recorder(), bounds=Bounds()), dialect, target, credentials=None, bounds=Bounds()
            )
            journal = Journal(ledger, "r", "c", agent="oak")
            await journal.target(target, dialect=dialect.id, nonce=None)
            await journal.sent(
                "m1",
                purpose="commit",
                media_type="text/plain",
                size=2,
                is_payload=True,
                opens=dialect.task_id_of(message),
            )
            called = await caller.call("send", purpose="commit", message=message, total_s=0.5)
    assert called.answer is None


def test_a_task_of_the_draft_is_cancelled_though_its_answer_never_came(bench: Bench, tmp_path: Path) -> None:
    """The client made its id (the draft, §6.1), so the ledger knows it before the message leaves."""
    agent, path = bench.agent(dialect="0.1", work_s=60.0), tmp_path / "lab.db"
    bench.run(be_killed(agent, path))
    assert [(row.what, row.task_id, row.state) for _, row in list_orphans(path)] == [
        ("task", "m1", "unknown"),
        ("payload", "m1", "unknown"),
    ]
    done = asyncio.run(clean_up(path))
    assert done.cancelled == 1
    assert [(row.what, row.task_id, row.why) for _, row in done.left] == [("payload", "m1", "in-canceled-task")]
    assert [task["state"] for task in agent.store()["tasks"]] == ["canceled"]


SLOW = """
pairs = [["willow", "notes"]]

[clocks]
silence_s = 0.3
hang_s = 0.6
total_s = 2.0
transport_timeout_s = 1.0
cap_s = 3.0

[agents.willow]
version = "1.0"
dialect = "0.1"
work_s = 60.0

[consumers.notes]
supports = ["0.1"]
"""


def test_an_enforcing_cell_leaves_nothing_at_a_draft_agent_that_hangs(tmp_path: Path) -> None:
    """An agent of 1.0 that hangs so has a task that nobody can name."""
    matrix = tmp_path / "slow.toml"
    matrix.write_text(SLOW, encoding="utf-8")
    (cell,) = read_run(run_matrix(str(matrix), posture="enforcing", out=str(tmp_path))).cells
    assert "probe-hang" in {finding.slug for stage in cell.stages.values() for finding in stage.findings}
    assert (cell.measures.orphans, cell.verdict) == (0, "hang")

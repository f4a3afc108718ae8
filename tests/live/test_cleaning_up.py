"""`ledger cleanup` at agents that are not ours: with the credentials of their file, and to no other origin (A7, D8)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from a2a_lab.core.model import State, Task
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.run import LEDGER
from a2a_lab.ledger import Ledger
from a2a_lab.net.journal import Journal
from tests.cli.console import lab
from tests.lab.plain import Asked, Says, says_json, serving
from tests.live.servers import oauth, tokens, vendor_file


def left_open(out: Path, url: str, cell: str) -> None:
    """A task that a run left working at the agent."""

    async def write() -> None:
        with Ledger(out / LEDGER) as ledger:
            journal = Journal(ledger, "20260101T000000Z-0001", cell, agent="helpdesk")
            await journal.target(ResolvedTarget(dispatch_url=url), dialect="1.0", nonce=None)
            await journal.sent("m", purpose="commit", media_type="text/plain", size=5, is_payload=True)
            task = Task(id="t-1", context_id="c", state=State.WORKING, wire_state="TASK_STATE_WORKING")
            await journal.task(task, how="answer", message_id="m")

    asyncio.run(write())


def cancels(asked: Asked) -> Says:
    if not asked.headers.get("authorization"):
        return Says(status=401)
    request = json.loads(asked.body)
    task = {"id": "t-1", "contextId": "c", "status": {"state": "TASK_STATE_CANCELED"}}
    return says_json({"jsonrpc": "2.0", "id": request["id"], "result": task})


def test_what_is_open_is_cancelled_with_the_credentials_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_ID", "lab")
    monkeypatch.setenv("LAB_SECRET", "s3cret-value")
    runs = tmp_path / "runs"
    with serving(cancels) as one, serving(cancels) as other, serving(tokens()) as server:
        left_open(runs, f"{one.url}/rpc", "a")
        left_open(runs, f"{other.url}/rpc", "b")
        file = vendor_file(tmp_path, one.url, oauth(server.url))
        told = lab("ledger", "cleanup", "--vendor", str(file), cwd=tmp_path)
    assert "tasks settled: 1;" in told.out
    assert {asked.headers.get("authorization") for asked in one.asked} == {"Bearer token-1"}
    assert {asked.headers.get("authorization") for asked in other.asked} == {None}, "another origin gets nothing"
    assert {place[1] for place, row in list_orphans(runs / LEDGER) if row.what == "task"} == {"b"}


def test_a_header_is_for_one_origin(tmp_path: Path) -> None:
    """It went to every agent of the ledger before."""
    runs = tmp_path / "runs"
    with serving(cancels) as one, serving(cancels) as other:
        left_open(runs, f"{one.url}/rpc", "a")
        left_open(runs, f"{other.url}/rpc", "b")
        told = lab("ledger", "cleanup", "--header-env", "Authorization=TOKEN", cwd=tmp_path, TOKEN="Bearer x")
    assert told.code == 2 and one.asked == [] == other.asked
    assert "--header-env is for one origin, and tasks are open at http://127.0.0.1:" in told.err

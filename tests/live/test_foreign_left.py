"""What a client that the lab does not steer leaves at an agent is in the ledger, to be listed and cleaned up (A7, R35).

`plan` promises it, and the pages count it: the ledger must not say that nothing is left.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.run import LEDGER
from a2a_lab.ledger import Ledger
from tests.cli.console import lab
from tests.lab.plain import CARD, Asked, Says, card, says_json, serving
from tests.live.servers import vendor_file
from tests.live.test_matrix import ALL, message, watched


def working(states: dict[str, str], **offers: Any) -> Callable[[Asked], Says]:
    """An agent whose tasks work until they are cancelled; `states` are theirs."""

    def answer(asked: Asked) -> Says:
        if asked.method == "GET":
            document = card(f"http://{asked.headers['host']}/rpc", **offers)
            return says_json(document) if asked.path == CARD else Says(status=404)
        request = json.loads(asked.body)
        given = request["params"].get("message", {})
        name = request["params"].get("id") or f"t-{given.get('messageId')}"
        states.setdefault(name, "TASK_STATE_WORKING")
        if request["method"] == "CancelTask":
            states[name] = "TASK_STATE_CANCELED"
        task = {"id": name, "contextId": "c-1", "status": {"state": states[name]}}
        result = {"task": task} if request["method"] == "SendMessage" else task
        return says_json({"jsonrpc": "2.0", "id": request["id"], "result": result})

    return answer


def sends(count: int) -> Callable[[httpx.Client, str], None]:
    def talk(http: httpx.Client, url: str) -> None:
        there = http.get(f"{url}{CARD}").json()["supportedInterfaces"][0]["url"]
        for number in range(count):
            http.post(there, json=message(number))

    return talk


def left(folder: Path) -> list[tuple[str, str | None, str]]:
    return [(row.what, row.task_id, row.why) for _, row in list_orphans(folder / "runs" / LEDGER)]


def test_it_is_listed_and_cleaned_up_at_an_agent_that_is_still_there(tmp_path: Path) -> None:
    states: dict[str, str] = {}
    with serving(working(states)) as one:
        vendor_file(tmp_path, one.url, ALL)
        cell = watched(tmp_path, sends(1))
        assert cell.measures.orphans == 1 and left(tmp_path) == [("task", "t-m-0", "left-open")]
        (run,) = {place[0] for place, _ in list_orphans(tmp_path / "runs" / LEDGER)}
        listed = lab("ledger", "orphans", "--run", run, cwd=tmp_path)
        assert str(cell.key) in listed.out and "t-m-0" in listed.out
        cleaned = lab("ledger", "cleanup", "--run", run, cwd=tmp_path)
    assert "tasks settled: 1; left behind: 0" in cleaned.out and cleaned.code == 0
    assert states == {"t-m-0": "TASK_STATE_CANCELED"}
    assert lab("ledger", "orphans", "--run", run, cwd=tmp_path).out == "nothing is left behind\n"


def test_its_books_are_kept_also_where_it_was_stopped(tmp_path: Path) -> None:
    """Such a cell is not graded; what stands at the agent stands there all the same."""
    states: dict[str, str] = {}
    with serving(working(states)) as one:
        vendor_file(tmp_path, one.url, ALL)
        cell = watched(tmp_path, sends(4))
    assert not cell.is_graded and cell.errors == ("client-stopped",)
    assert [name for _, name, _ in left(tmp_path)] == ["t-m-0", "t-m-1", "t-m-2"] == list(states)


def test_a_client_that_cleans_up_leaves_nothing(tmp_path: Path) -> None:
    def talk(http: httpx.Client, url: str) -> None:
        sends(1)(http, url)
        cancel = {"jsonrpc": "2.0", "id": 9, "method": "CancelTask", "params": {"id": "t-m-0"}}
        http.post(f"{url}/rpc", json=cancel)

    with serving(working({})) as one:
        vendor_file(tmp_path, one.url, ALL)
        watched(tmp_path, talk)
    assert left(tmp_path) == []
    with Ledger(tmp_path / "runs" / LEDGER) as ledger:
        assert [fact.what for fact in ledger.facts()] == ["sent", "task", "cancel"]


@pytest.mark.parametrize("tenant", ["", "acme"])
def test_the_ledger_knows_where_the_tasks_are(tmp_path: Path, tenant: str) -> None:
    """D2: a clean-up carries the tenant that the client carried, and no other."""

    def talk(http: httpx.Client, url: str) -> None:
        there = http.get(f"{url}{CARD}").json()["supportedInterfaces"][0]["url"]
        sent = message(0)
        http.post(there, json=sent | {"params": sent["params"] | ({"tenant": tenant} if tenant else {})})

    with serving(working({})) as one:
        vendor_file(tmp_path, one.url, ALL)
        watched(tmp_path, talk)
    with Ledger(tmp_path / "runs" / LEDGER) as ledger:
        (target,) = ledger.targets().values()
    assert (target.url, target.binding, target.dialect) == (f"{one.url}/rpc", "JSONRPC", "1.0")
    assert (target.tenant, target.nonce, target.agent) == (tenant or None, None, "helpdesk")

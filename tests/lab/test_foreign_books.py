"""The ledger's books of a watched client are those by which it is judged, over every recording there is (R5, R35)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from a2a_lab.bundled import bundled_root
from a2a_lab.core.policy import Policy
from a2a_lab.judge.visit import Visit
from a2a_lab.lab.casereading import read_case
from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.foreign_books import book_foreign
from a2a_lab.lab.judging import booked
from a2a_lab.ledger import Ledger, TargetRow
from a2a_lab.net.journal import Journal
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import POLICY, RPC, call, card_1_0, look, message, task

CASES = {path.stem: path for path in sorted((bundled_root() / "data" / "cases").rglob("*.json"))}


def written(visit: Visit, path: Path) -> Ledger:
    ledger = Ledger(path)
    journal = Journal(ledger, "run", "cell", agent="agent")
    asyncio.run(book_foreign(journal, visit, nonce=None))
    return ledger


def target(exchanges: Sequence[Exchange], folder: Path) -> TargetRow:
    with written(Visit(exchanges, policy=POLICY), folder / "lab.db") as ledger:
        (row,) = ledger.targets().values()
    return row


def led_to(visit: Visit) -> set[str | None]:
    """The tasks that messages of the client led to; None stands for one without a name."""
    found: set[str | None] = {None}
    for each in visit.sends:
        assert each.asked.message is not None
        shown = {heard.event.task_id for heard in each.events} | {task.id for task in each.tasks}
        found |= shown | {each.asked.message.task_id, each.asked.task_id}
    return found | {task.id for each in visit.calls if each.op == "list" for task in each.tasks}


@pytest.mark.parametrize("name", CASES)
def test_the_ledger_lists_what_the_judge_finds(name: str, tmp_path: Path) -> None:
    case = read_case(json.loads(CASES[name].read_text(encoding="utf-8")), name=name)
    visit = Visit(case.exchanges, policy=Policy())
    written(visit, tmp_path / "lab.db").close()
    listed = [row for _, row in list_orphans(tmp_path / "lab.db")]
    assert listed == [row for row in booked(visit, "agent").orphans() if row.task_id in led_to(visit)]


def test_over_rest_the_place_is_the_interface_and_not_the_operation(tmp_path: Path) -> None:
    place = {"url": RPC, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0", "tenant": "acme"}
    body = json.dumps({"message": message()}).encode()
    answer = json.dumps({"task": task("working")}).encode()
    sent = call(url=f"{RPC}/acme/message:send", body=answer)
    sent.request_body = body
    for looks in ([look(card_1_0(place))], []):
        row = target([*looks, sent], tmp_path / str(len(looks)))
        assert (row.binding, row.dialect) == ("HTTP+JSON", "1.0")
        assert (row.url, row.tenant) in ((RPC, "acme"), (f"{RPC}/acme", None))


def test_a_task_that_was_only_asked_for_is_not_this_runs_to_cancel(tmp_path: Path) -> None:
    """R35: clean-up touches only ids of this run; a client may look at, and cancel, what is somebody else's."""
    theirs = task("working", id="theirs")
    cancel = call("CancelTask", {"id": "theirs"}, theirs, at_ms=400)
    seen = Visit([call(), call("GetTask", {"id": "theirs"}, theirs, at_ms=300), cancel], policy=POLICY)
    with written(seen, tmp_path / "lab.db") as ledger:
        assert [fact.what for fact in ledger.facts()] == ["sent", "unknown"]


def test_whoever_sends_nothing_leaves_nothing(tmp_path: Path) -> None:
    seen = Visit([look(card_1_0()), call("GetTask", {"id": "t1"}, task("working"))], policy=POLICY)
    with written(seen, tmp_path / "lab.db") as ledger:
        assert not ledger.targets() and not list(ledger.facts())

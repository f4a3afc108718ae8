"""The ledger (DESIGN 6): facts are on the disk before their side effect, never change, and rebuild the same books."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_lab.core.model import Artifact, Part, RpcError, State, StreamEvent, Task
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.errors import HarnessFault, RecordFault
from a2a_lab.ledger import SCHEMA_VERSION, Ledger
from a2a_lab.net.journal import Journal, book_of, unanswered

ROOT = Path(__file__).parents[1]


def rows(path: Path, query: str) -> list[Any]:
    """What another process would read."""
    db = sqlite3.connect(path)
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


# ---- on the disk -----------------------------------------------------------------------------------------------------


def test_a_fact_is_on_the_disk_when_the_intent_returns(tmp_path: Path) -> None:
    with Ledger(tmp_path / "lab.db") as ledger:
        asyncio.run(ledger.intend("r", "c", "sent", message_id="m1", is_payload=True))
        assert rows(tmp_path / "lab.db", "SELECT run, cell, what FROM facts") == [("r", "c", "sent")]


def test_it_survives_the_machine_and_not_only_the_process(tmp_path: Path) -> None:
    with Ledger(tmp_path / "lab.db") as ledger:
        assert ledger._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ledger._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_fact_is_never_changed_and_facts_keep_their_order(tmp_path: Path) -> None:
    with Ledger(tmp_path / "lab.db") as ledger:
        for count in range(3):
            ledger.note("r", "c", "sent", count=count)
        ledger.note("r", "other", "sent", count=9)
        ledger.note("another", "c", "sent", count=9)
        assert [fact.detail["count"] for fact in ledger.facts(run="r", cell="c")] == [0, 1, 2]
        assert len(list(ledger.facts(run="r"))) == 4 and len(list(ledger.facts())) == 5


def test_a_target_says_where_a_clean_up_has_to_go(tmp_path: Path) -> None:
    target = ResolvedTarget(dispatch_url="https://a.example/rpc", tenant_id="acme", headers={"X-Tenant": "acme"})
    with Ledger(tmp_path / "lab.db") as ledger:
        journal = Journal(ledger, "r", "c", agent="oak")
        for dialect in ("0.3", "1.0"):
            asyncio.run(journal.target(target, dialect=dialect, nonce=None))
        (found,) = ledger.targets(run="r").values()
        assert (found.url, found.dialect, found.tenant, found.headers, found.agent) == (
            "https://a.example/rpc",
            "1.0",
            "acme",
            {"X-Tenant": "acme"},
            "oak",
        )
        assert ledger.targets(run="another") == {}


def test_pins_keep_both_digests_and_both_versions(tmp_path: Path) -> None:
    """P1, P2: the protocol's version and the card's own are two surfaces, never one."""
    pinned = {
        "key": "k",
        "content_digest": "a" * 64,
        "full_digest": "b" * 64,
        "protocol_version": "1.0",
        "card_version": "2.3",
    }
    with Ledger(tmp_path / "lab.db") as ledger:
        ledger.pin("r", "c", **pinned)
        (found,) = ledger.pins(run="r")
        assert found | pinned == found and ledger.pins(run="another") == []


def test_two_labs_at_once_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from a2a_lab.ledger import Ledger\n"
        "with Ledger(sys.argv[1]) as ledger:\n"
        "    for count in range(100): ledger.note(sys.argv[2], 'c', 'sent', count=count)\n"
    )
    path = tmp_path / "lab.db"
    command = [sys.executable, "-c", code, str(path)]
    labs = [subprocess.Popen([*command, name], cwd=ROOT, stderr=subprocess.PIPE) for name in ("one", "two")]
    for lab in labs:
        _, said = lab.communicate(timeout=60)
        assert lab.returncode == 0, said
    with Ledger(path) as ledger:
        for name in ("one", "two"):
            assert [fact.detail["count"] for fact in ledger.facts(run=name)] == list(range(100))


# ---- what is no ledger -----------------------------------------------------------------------------------------------


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    (tmp_path / "lab.db").write_text("this is no database, and long enough to be looked at " * 20)
    with pytest.raises(RecordFault, match=r"lab.db: not usable as ledger \(file is not a database\)"):
        Ledger(tmp_path / "lab.db")


def test_a_ledger_of_another_lab_is_not_written_into(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "lab.db")
    db.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    db.close()
    with pytest.raises(RecordFault, match=rf"ledger schema {SCHEMA_VERSION + 1}, this a2a-lab reads {SCHEMA_VERSION}"):
        Ledger(tmp_path / "lab.db")
    assert rows(tmp_path / "lab.db", "SELECT name FROM sqlite_master") == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(RecordFault, match=r"taken/lab.db: not usable as ledger"):
        Ledger(tmp_path / "taken" / "lab.db")


def test_what_cannot_be_written_is_not_sent(tmp_path: Path) -> None:
    """An intent that is not on the disk must not be followed by its side effect."""
    ledger = Ledger(tmp_path / "lab.db")
    ledger.close()
    with pytest.raises(HarnessFault, match=r"lab.db: cannot be written \(.*closed.*\), so nothing more is sent"):
        asyncio.run(ledger.intend("r", "c", "sent", message_id="m1"))


# ---- the same books --------------------------------------------------------------------------------------------------

TASKS, MESSAGES = st.sampled_from(["t1", "t2", "t3"]), st.sampled_from(["m1", "m2", "m3"])
ERRORS = st.sampled_from(["TaskNotFound", "TaskNotCancelable", "UnsupportedOperation", "ContentTypeNotSupported"])
STATES = st.sampled_from([state for state in State if state is not State.UNKNOWN])


@st.composite
def artifacts(draw: st.DrawFn) -> Artifact:
    text = draw(st.text(alphabet="aé€😀", max_size=6))
    part = draw(
        st.sampled_from(
            [Part(kind="text", text=text), Part(kind="data", data={"x": text}, media_type="application/json")]
        )
    )
    return Artifact(id=draw(st.sampled_from(["a1", "a2"])), parts=(part,))


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    state = draw(STATES)
    made = {artifact.id: artifact for artifact in draw(st.lists(artifacts(), max_size=2))}
    return Task(id=draw(TASKS), context_id="c1", state=state, wire_state=state.value, artifacts=tuple(made.values()))


@st.composite
def events(draw: st.DrawFn) -> StreamEvent:
    match draw(st.sampled_from(["task", "status", "artifact", "message"])):
        case "task":
            return StreamEvent(kind="task", task=draw(tasks()))
        case "status":
            return StreamEvent(kind="status", task_id=draw(TASKS), context_id="c1", state=draw(STATES))
        case "artifact":
            return StreamEvent(
                kind="artifact", task_id=draw(TASKS), artifact=draw(artifacts()), append=draw(st.booleans())
            )
        case _:
            return StreamEvent(kind="message")


def error(name: str) -> RpcError:
    return RpcError(code=-32000, name=name, message="no")


HAPPENINGS = st.one_of(
    st.tuples(st.just("sent"), MESSAGES, st.booleans(), st.none() | TASKS),
    st.tuples(st.just("task"), tasks(), st.sampled_from(["answer", "get", "stream"]), st.none() | MESSAGES),
    st.tuples(st.just("event"), events(), MESSAGES),
    st.tuples(st.just("cancel"), TASKS, st.none() | tasks(), st.none() | ERRORS),
    st.tuples(st.just("refused"), MESSAGES, ERRORS),
    st.tuples(st.sampled_from(["message", "not_processed", "unknown"]), MESSAGES),
    st.tuples(st.sampled_from(["gone", "booked"]), TASKS),
)


async def happen(journal: Journal, sent: set[str], what: Any) -> None:
    """Tell the journal of it, where it can happen: only a message that was sent can be answered."""
    match what:
        case ("sent", message, is_payload, task):
            sent.add(message)
            await journal.sent(
                message, purpose="commit", media_type="text/plain", size=7, is_payload=is_payload, task_id=task
            )
        case ("task", task, how, message) if message is None or message in sent:
            await journal.task(task, how=how, message_id=message)
        case ("event", event, message) if message in sent:
            await journal.event(event, message_id=message)
        case ("cancel", task_id, task, name):
            told = task if task is not None and task.id == task_id else None
            await journal.cancel(task_id, task=told, error=error(name) if name and told is None else None)
        case ("refused", message, name) if message in sent:
            await journal.refused(message, error(name))
        case (("message" | "not_processed" | "unknown") as how, message) if message in sent:
            await getattr(journal, how)(message)
        case (("gone" | "booked") as how, task_id):
            await getattr(journal, how)(task_id)


@settings(max_examples=200, deadline=None)
@given(st.lists(HAPPENINGS, max_size=14))
def test_the_books_rebuilt_from_the_ledger_are_the_books_that_were_kept(happenings: list[Any]) -> None:
    """After a kill the ledger alone must say the same (A7, R35): orphans, what is open, what is unknown.

    Pieces of an artifact are not written one by one, so that its size is whole only once its stream has ended.
    """

    async def life() -> None:
        with Ledger(":memory:") as ledger:
            journal, sent = Journal(ledger, "r", "c", agent="oak"), set[str]()
            for what in happenings:
                await happen(journal, sent, what)
            cut = book_of(ledger.facts(run="r", cell="c"), agent="oak")
            assert [replace(row, bytes=0) for row in cut.orphans()] == [
                replace(row, bytes=0) for row in journal.book.orphans()
            ]
            await journal.sizes()
            again = book_of(ledger.facts(run="r", cell="c"), agent="oak")
            assert again.orphans() == journal.book.orphans()
            assert again.open_tasks() == journal.book.open_tasks()
            assert again.unknown_sends() == journal.book.unknown_sends()

    asyncio.run(life())


def test_a_message_without_a_later_fact_was_about_to_leave(tmp_path: Path) -> None:
    async def life() -> None:
        with Ledger(tmp_path / "lab.db") as ledger:
            journal = Journal(ledger, "r", "c", agent="oak")
            for message in ("m1", "m2"):
                await journal.sent(message, purpose="commit", media_type="text/plain", size=7, is_payload=True)
                assert unanswered(ledger.facts()) == {message}
                await journal.message(message)
            assert unanswered(ledger.facts()) == set()

    asyncio.run(life())

"""One table of what consumers do before they commit, and before they commit again (issue 4, item 5: orchestrators)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from a2a_lab.judge.visit import Account
from a2a_lab.lab.approaches import COLUMNS, ways_of
from a2a_lab.lab.pair_recall import CLOSING, Beside, own_looks, write_beside
from a2a_lab.lab.records import CellKey, CellRecord, Header, Run
from a2a_lab.net.evidence import write_har
from a2a_lab.net.redact import Redactor
from a2a_lab.verdicts import Verdict
from a2a_lab.wire.exchange import Exchange
from tests.cli.console import lab
from tests.judge.visits import call, card_1_0, look, task

NEW = card_1_0(version="2")
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def closing(card: dict[str, object]) -> Exchange:
    found = look(card, at_ms=900)
    found.purpose = CLOSING
    return found


def run_of(folder: Path, *visits: Sequence[Exchange], account: Account | None = None) -> Run:
    cells = []
    for place, exchanges in enumerate(visits, 1):
        key = CellKey.parse(f"oak@1/crew/JSONRPC/1.0/send/foreign/{place}")
        path = folder / f"{place}.har"
        write_har(path, exchanges, started=WHEN, tool="t 1", redactor=Redactor())
        if account is not None:
            write_beside(path, Beside(address="", own_card_url="", account=account), Redactor())
        cells.append(CellRecord(key=key, verdict=Verdict.ACCEPT, authority="advisory", evidence=path.name))
    header = Header(
        run="r1",
        tool="t",
        posture="mixed",
        matrix="m",
        plan=(),
        parameters={},
        vendors={},
        started=WHEN.isoformat(),
    )
    return Run(folder=folder, header=header, cells=tuple(cells), footer=None)


def twice(*between: Exchange) -> list[Exchange]:
    done = {"task": task()}
    own = look(card_1_0(), at_ms=0, purpose_of_lab=True)
    return [own, look(card_1_0(), at_ms=10), call(answer=done, at_ms=50), *between, call(answer=done, at_ms=300)]


@pytest.mark.parametrize(
    ("exchanges", "told"),
    [
        (twice(closing(NEW)), "kept, while the agent's changed"),
        (twice(closing(card_1_0())), "kept"),
        (twice(look(NEW, at_ms=200), closing(NEW)), "fetched again, the new card"),
        (twice(look(card_1_0(), at_ms=200, sent={"If-None-Match": "x"})), "fetched again, revalidating"),
        (twice()[:3], "sent one only"),
    ],
    ids=["stale", "kept", "anew", "revalidated", "once"],
)
def test_what_a_second_message_stands_on(exchanges: list[Exchange], told: str, tmp_path: Path) -> None:
    (way,) = ways_of(run_of(tmp_path, exchanges))
    assert way.row()[COLUMNS.index("second message")] == told


def test_cells_of_a_consumer_are_one_row_and_differences_are_counted(tmp_path: Path) -> None:
    chose = Account(ok=True, steps=((20.0, "match", "the model chose"),))
    run = run_of(tmp_path, twice(), twice(), [*twice()[:2], look(card_1_0(), at_ms=30), *twice()[2:]], account=chose)
    (way,) = ways_of(run)
    values = dict(zip(COLUMNS, way.row(), strict=True))
    assert values["order"] == "card, match, commit (in 2); card, match, card, commit (in 1)"
    assert values["card GETs"] == "1–2" and values["ms to the commit"] == 40
    assert [one["cell"].rpartition("/")[2] for one in way.as_json()["cells"]] == ["1", "2", "3"]


def test_the_closing_look_is_neither_the_consumers_nor_what_the_agent_is_judged_by() -> None:
    exchanges = twice(closing(NEW))
    assert [one.started_ms for one in own_looks(exchanges)] == [0]


def test_simulated_vendors_have_no_habits_to_tell(tmp_path: Path) -> None:
    said = lab("steps", "seven-pairs", cwd=tmp_path)
    assert said.code == 2 and "whose habits the lab wrote itself" in said.err

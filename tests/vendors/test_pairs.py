"""Cells of real vendors (issue 4, items 4 and 7): who meets whom behind the recorder, what is said of it, what is left.

Heavy environments are not needed here; the whole matrix is `a2a-lab run real-full`.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2a_lab.errors import HarnessFault
from a2a_lab.lab.cleanup import clean_up, list_orphans
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_run import run_pairs
from a2a_lab.lab.pairing_plan import PairCell, plan_pairs
from a2a_lab.lab.records import CellRecord, read_run
from a2a_lab.lab.rejudge import rejudge
from a2a_lab.lab.run import LEDGER
from a2a_lab.lab.stock import Stock
from a2a_lab.net.client import Reach
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.recording import RecordingProxy
from a2a_lab.vendors.environments import ensure_environment
from a2a_lab.vendors.registry import find_vendor
from a2a_lab.vendors.vendor import Program
from a2a_lab.verdicts import NotGradeable, Verdict
from tests.judge.visits import card_1_0, message
from tests.vendors.real import agent, built_or_skipped
from tests.vendors.test_real_consumers import talk

pytestmark = pytest.mark.vendors

DIES = """
import http.server, json, os, sys
class Agent(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = sys.argv[2].replace("PORT", sys.argv[1]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_POST(self):
        print("giving up", flush=True); os._exit(7)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Agent).serve_forever()
"""


def matrix(agents: str, consumers: str, **clocks: float) -> Matrix:
    """A matrix of vendors named as in TOML keys; environments are built, or the test is skipped."""
    for name in {*agents.split(), *consumers.split()} - {"trusting", "enforcing", "external"}:
        built_or_skipped(find_vendor(name))
    tables = [f'[vendors.agents."{name}"]' for name in agents.split()]
    tables += [f'[vendors.consumers."{name}"]' for name in consumers.split()]
    given = "\n".join(f"{name} = {value}" for name, value in clocks.items())
    return Matrix.parse("\n".join([*(["[clocks]", given] if given else []), *tables]), name="pairs", where="pairs.toml")


def ran(plan: Matrix, out: Path, *, change: Callable[[PairCell], PairCell] = lambda one: one, **how: Any) -> Path:
    cells = [change(cell) for cell in plan_pairs(plan)]
    said: list[str] = []
    return asyncio.run(run_pairs(plan, cells, out=out, parameters={"matrix": "pairs"}, say=said.append, **how))


def by_pair(folder: Path) -> dict[str, CellRecord]:
    return {"/".join((c.key.agent, c.key.consumer, c.key.scenario)): c for c in read_run(folder).cells}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The programs that this test started and that still run, told by the place for their scratch files."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))

    def running() -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if path.name != str(os.getpid()) and f"TMPDIR={scratch}".encode() in (path / "environ").read_bytes():
                    found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue
        return found

    return running


def test_cells_are_run_judged_and_recorded_and_nothing_is_left(tmp_path: Path, mine: Callable[[], list[str]]) -> None:
    plan = matrix("a2a-sdk-1.3 fasta2a-2.1", "a2a-sdk-1.3 fasta2a-2.1 enforcing")
    folder = ran(plan, tmp_path)
    cells = by_pair(folder)
    assert {name: (cell.verdict.value, *cell.errors[:1]) for name, cell in cells.items()} == {
        "a2a-sdk-1.3/a2a-sdk-1.3/send": ("accept",),
        "a2a-sdk-1.3/a2a-sdk-1.3/stream": ("accept",),
        "a2a-sdk-1.3/fasta2a-2.1/send": ("conformance-error", "undeclared-dialect"),
        "a2a-sdk-1.3/fasta2a-2.1/stream": ("conformance-error", "stream-error-ignored"),
        "a2a-sdk-1.3/enforcing/send": ("accept",),
        "a2a-sdk-1.3/enforcing/stream": ("accept",),
        "fasta2a-2.1/a2a-sdk-1.3/send": ("orphan", "wire-type-mismatch"),
        "fasta2a-2.1/a2a-sdk-1.3/stream": ("conformance-error", "wire-type-mismatch"),
        "fasta2a-2.1/fasta2a-2.1/send": ("conformance-error",),
        "fasta2a-2.1/fasta2a-2.1/stream": ("conformance-error",),
        "fasta2a-2.1/enforcing/send": ("conformance-error", "not-committed"),
        "fasta2a-2.1/enforcing/stream": ("conformance-error", "not-committed"),
    }
    works = cells["a2a-sdk-1.3/a2a-sdk-1.3/stream"]
    assert works.measures.held and works.measures.delivered and works.measures.requests == 2
    assert works.closure == "final-proved" and works.card_digest is not None
    assert works.said.startswith("completed, artifact") and (folder / str(works.evidence)).is_file()
    assert {one.slug for one in works.findings if one.values.get("whose") == "consumer"} == {"committed-unprobed"}
    told = json.loads((folder / "environments.json").read_text())
    assert {"a2a-sdk-1.3", "fasta2a-2.1"} == set(told) and told["a2a-sdk-1.3"]["packages"]
    again = rejudge_with(folder, plan, tmp_path)
    assert again == {"differing": 0, "problems": []}
    assert mine() == [] and list((tmp_path / "scratch").iterdir()) == []


def rejudge_with(folder: Path, plan: Matrix, tmp_path: Path) -> dict[str, Any]:
    """Judge the run again from its evidence; its matrix has to be a file for that."""
    names = [f'[vendors.agents."{name}"]' for name in plan.pairings.agents]  # type: ignore[union-attr]
    names += [f'[vendors.consumers."{name}"]' for name in plan.pairings.consumers]  # type: ignore[union-attr]
    file = tmp_path / "pairs.toml"
    file.write_text("\n".join(names))
    records = folder / "records.jsonl"
    records.write_text(records.read_text().replace('"matrix":"pairs"}', f'"matrix":"{file}"}}', 1))
    found = rejudge(folder)
    return {"differing": len(found.differing), "problems": [cell.problem for cell in found.cells if cell.problem]}


@pytest.mark.parametrize("op", ["send", "stream"])
@pytest.mark.parametrize("name", ["a2a-sdk-1.3", "a2a-sdk-0.3", "a2a-js-1.3+compat", "fasta2a-2.1"])
def test_the_recorder_changes_nothing_for_the_consumer(name: str, op: str) -> None:
    """Each fares behind the recorder as it does without: same state, same artifacts, same events, same error."""
    built_or_skipped(find_vendor(name))

    async def life() -> tuple[Any, Any]:
        async with agent("a2a-sdk-1.3+compat") as running:
            plain = await talk(name, running.address, op)
            recorder = Recorder()
            async with RecordingProxy(
                running.address, recorder, reach=Reach(trust_env=False), nonce=running.nonce
            ) as proxy:
                watched = await talk(name, proxy.url, op)
            assert all(one.url.startswith(running.url) for one in recorder.exchanges)
            return plain, watched

    plain, watched = asyncio.run(life())
    facts = [
        (one.ok, one.state, [each.text for each in one.artifacts], one.events, one.error) for one in (plain, watched)
    ]
    assert facts[0] == facts[1]


def test_a_hang_is_told_with_who_waited_and_how_long(tmp_path: Path) -> None:
    plan = matrix("a2a-sdk-1.3", "a2a-sdk-1.3", silence_s=1, hang_s=2, total_s=20, transport_timeout_s=3, cap_s=30)
    hangs = lambda cell: replace(cell, agent=replace(cell.agent, options=("--hang",)))  # noqa: E731
    cells = by_pair(ran(plan, tmp_path, change=hangs))
    listed = [place[1] for place, _ in list_orphans(tmp_path / LEDGER)]
    assert sorted(listed) == sorted(str(cell.key) for cell in cells.values() for _ in cell.orphans) and listed, (
        "the ledger lists what the page counts (R35)"
    )
    done = asyncio.run(clean_up(tmp_path / LEDGER))
    assert (done.ended_with_run, done.left) == (len(listed), []), "its agent ended with the run"
    for scenario in ("send", "stream"):
        cell = cells[f"a2a-sdk-1.3/a2a-sdk-1.3/{scenario}"]
        assert cell.errors == ("never-ended",), cell.said
        (waited,) = [one for one in cell.findings if one.slug == "waited-out-a-hang"]
        assert waited.values["ended_by"] == "transport-timeout" and waited.values["took_s"] >= 2.5
        assert cell.measures.hangs == 1
    assert cells["a2a-sdk-1.3/a2a-sdk-1.3/stream"].verdict in (Verdict.HANG, Verdict.ORPHAN)


def test_a_vendor_that_cannot_be_built_costs_its_own_cells_only(tmp_path: Path) -> None:
    plan = matrix("a2a-sdk-1.3 fasta2a-2.1", "a2a-sdk-1.3")

    def ensure(vendor: Any, **how: Any) -> Any:
        if vendor.environment_name == "fasta2a-2.1":
            raise HarnessFault(
                "the environment of fasta2a-2.1 was not built\nlog", step="install", cause="tool-missing"
            )
        return ensure_environment(vendor, **how)

    cells = by_pair(ran(plan, tmp_path, stock=Stock(ensure=ensure)))
    missing = [cell for name, cell in cells.items() if name.startswith("fasta2a")]
    assert {cell.verdict for cell in missing} == {NotGradeable.HARNESS_ERROR}
    assert missing[0].said == "the environment of fasta2a-2.1 was not built (step install)"
    assert missing[0].errors == ("harness-fault", "tool-missing")
    assert all(cell.works for name, cell in cells.items() if name.startswith("a2a-sdk"))


def test_an_agent_that_dies_in_the_middle_is_named(tmp_path: Path) -> None:
    plan = matrix("fasta2a-2.1", "a2a-sdk-1.3")
    card = json.dumps(card_1_0(url="http://127.0.0.1:PORT/rpc"))
    launch = ("{python}", "-c", DIES, "{port}", card.replace("{", "\u007b"))
    mortal = replace(find_vendor("fasta2a-2.1"), agent=Program(launch=launch))
    dies = lambda cell: replace(cell, agent=replace(cell.agent, vendor=mortal))  # noqa: E731
    cell = by_pair(ran(plan, tmp_path, change=dies))["fasta2a-2.1/a2a-sdk-1.3/send"]
    (died,) = [one for one in cell.findings if one.slug == "agent-died"]
    assert "exit status 7" in died.detail and "giving up" in died.detail
    assert cell.errors == ("connection-broken",) and cell.verdict in (Verdict.CONFORMANCE_ERROR, Verdict.ORPHAN)


def test_an_external_client_is_told_where_to_go_and_judged(tmp_path: Path) -> None:
    plan = matrix("a2a-sdk-1.3", "external", silence_s=1, hang_s=2, total_s=20)
    cells = [cell for cell in plan_pairs(plan) if cell.key.scenario == "send"]

    def say(told: str) -> None:
        if "point your client at" in told:
            address = told.partition("point your client at ")[2].partition(" ")[0]
            threading.Thread(target=client, args=(address,), daemon=True).start()

    def client(address: str) -> None:
        with httpx.Client(trust_env=False) as http:
            card = http.get(f"{address}/.well-known/agent-card.json").json()
            call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message()}}
            http.post(card["supportedInterfaces"][0]["url"], json=call)

    folder = asyncio.run(run_pairs(plan, cells, out=tmp_path, parameters={"matrix": "pairs"}, say=say))
    (cell,) = read_run(folder).cells
    assert "version-header-missing" in {one.slug for one in cell.findings}
    assert cell.key.posture == "foreign" and cell.measures.requests == 2


def test_an_interrupted_run_leaves_its_records_and_no_process(tmp_path: Path, mine: Callable[[], list[str]]) -> None:
    plan = matrix("a2a-sdk-1.3", "a2a-sdk-1.3")
    hangs = [replace(cell, agent=replace(cell.agent, options=("--hang",))) for cell in plan_pairs(plan)]
    out = tmp_path / "runs"

    async def life() -> None:
        running = asyncio.create_task(run_pairs(plan, hangs, out=out, parameters={}, say=lambda _: None))
        async with asyncio.timeout(60):
            while not any("--op" in line for line in mine()):
                await asyncio.sleep(0.1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(life())
    (folder,) = [path for path in out.iterdir() if path.is_dir()]
    run = read_run(folder)
    assert run.footer is not None and run.footer.interrupted and run.cells == ()
    assert mine() == []

"""A built agent that is served on this machine and named as one that is not ours; its own log says what reached it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_run import run_pairs
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.records import Run, read_run
from a2a_lab.lab.rejudge import rejudge
from tests.live.servers import vendor_file
from tests.vendors.real import agent

pytestmark = pytest.mark.vendors
TOKEN = "helpdesk-token-4711"
MATRIX = """
[vendors.agents.helpdesk]
agent = "helpdesk.toml"
[vendors.consumers.enforcing]
[vendors.consumers.trusting]
[vendors.consumers."a2a-sdk-1.3"]
"""


def met(folder: Path, *lines: str) -> tuple[Run, list[dict[str, object]]]:
    """Run the matrix against a2a-sdk 1.3; also what its own log says."""
    (folder / "m.toml").write_text(MATRIX)

    async def life() -> tuple[Path, list[dict[str, object]]]:
        async with agent("a2a-sdk-1.3", log=folder / "agent.jsonl") as running:
            vendor_file(folder, running.address, *lines, '[auth]\nkind = "static"\nbearer_env = "HELPDESK_TOKEN"')
            matrix = Matrix.load(folder / "m.toml")
            made = await run_pairs(matrix, plan_pairs(matrix), out=folder / "runs", parameters={"matrix": "m.toml"})
            return made, running.requests()

    made, asked = asyncio.run(life())
    return read_run(made), asked


def test_it_is_met_by_the_labs_consumers_and_by_another_vendors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELPDESK_TOKEN", TOKEN)
    run, asked = met(tmp_path, "allow_send = true", "allow_trusting = true")
    assert {(cell.key.consumer, cell.key.scenario): cell.verdict.value for cell in run.cells} == {
        (consumer, scenario): "accept"
        for consumer in ("enforcing", "trusting", "a2a-sdk-1.3")
        for scenario in ("send", "stream")
    }
    sends = [json.dumps(one) for one in asked if "Send" in str(one.get("rpc"))]
    assert len(sends) == 2 * 2 + 2 + 2, "probe and payload of the enforcing consumer, one message of the others"
    assert {"a2a-lab" in one for one in sends} == {True, False}
    kept = b"".join(path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept
    assert rejudge(run.folder).exit_code == 0


def test_without_a_yes_only_its_card_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELPDESK_TOKEN", TOKEN)
    run, asked = met(tmp_path)
    assert [one for one in asked if one["method"] == "POST"] == []
    assert {cell.key.scenario for cell in run.cells if cell.is_graded} == {"card"}
    assert {cell.errors for cell in run.cells if not cell.is_graded} == {("tier-refused",)}

"""gRPC on the official Python SDK: `check --send`, an agent that hangs, and cells of a matrix (R5, R30, A7)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2a_lab.lab.api import run_matrix
from a2a_lab.lab.cases import judge_file
from a2a_lab.lab.check import check
from a2a_lab.lab.checkoptions import CheckOptions
from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.expectations import compare_run
from a2a_lab.lab.records import read_run
from a2a_lab.lab.rejudge import rejudge
from a2a_lab.lab.run import LEDGER
from a2a_lab.net.evidence import read_har
from a2a_lab.vendors.registry import find_vendor
from tests.net.test_grpc_calls import caller_of
from tests.vendors.real import agent, built_or_skipped
from tests.vendors.test_check_real import above_notes, asked
from tests.wire.talk import slugs

pytestmark = pytest.mark.vendors


def checked(*options: str, out: Path, **how: Any) -> tuple[Any, list[dict[str, Any]]]:
    async def life() -> tuple[Any, list[dict[str, Any]]]:
        async with agent("a2a-sdk-1.3+grpc", *options, log=out / "agent.jsonl") as running:
            given = CheckOptions(out=str(out / "runs"), bindings=("GRPC",), send=True, **how)
            return await check(running.url, given), asked(running)

    return asyncio.run(life())


VERSIONS = pytest.mark.parametrize(("version", "options"), [("1.0", ()), ("0.3", ("--compat",))], ids=["1.0", "0.3"])


@VERSIONS
def test_an_official_agent_is_accepted_over_grpc(version: str, options: tuple[str, ...], tmp_path: Path) -> None:
    result, log = checked(*options, out=tmp_path, supports=(version,))
    assert (result.exit_code, result.verdict.value) == (0, "accept"), result.said
    assert above_notes(result) == ["unsigned"] and result.measures["delivered"] and result.measures["held"]
    called = [line for line in log if line["method"] == "GRPC"]
    service = "lf.a2a.v1.A2AService" if version == "1.0" else "a2a.v1.A2AService"
    assert {line["path"] for line in called} == {f"/{service}/SendStreamingMessage", f"/{service}/GetTask"}
    assert {line["headers"].get("a2a-version") for line in called} == {"1.0" if version == "1.0" else None}
    assert all("a2a-lab" in line["headers"]["user-agent"] for line in called)
    (again,) = judge_file(Path(result.evidence))
    assert again.judgement.findings.verdict is result.verdict


@VERSIONS
def test_an_official_agent_that_hangs_is_named_and_cancelled_in_time(
    version: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    clocks = {"silence": 0.5, "hang": 1.5, "total": 10.0}
    result, log = checked("--hang", *options, out=tmp_path, supports=(version,), **clocks)
    assert (result.exit_code, result.verdict.value) == (1, "hang") and "idle-hang" in above_notes(result)
    assert 1.4 <= result.measures["waited_s"] < 4.0 and result.measures["hangs"] == 0
    called = [line["path"].rpartition("/")[2] for line in log if line["method"] == "GRPC"]
    assert called == ["SendStreamingMessage", "GetTask", "GetTask", "CancelTask", "GetTask"]
    assert list_orphans(tmp_path / "runs" / LEDGER) == []
    stream = next(one for one in read_har(Path(result.evidence)) if "Streaming" in one.url)
    assert (stream.ending, stream.cut_by) == ("open", "hang-limit")


@VERSIONS
def test_an_error_of_the_official_agent_is_known_by_name(
    version: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """1.0 names it in details, which travel in the trailers as bytes; 0.3 in its text."""

    async def life() -> Any:
        async with agent("a2a-sdk-1.3+grpc", *options) as running, httpx.AsyncClient(trust_env=False) as client:
            card = (await client.get(running.card_url)).json()
            place = card["supportedInterfaces"][0]["url"]
            async with caller_of(place, version=version) as caller:
                return await caller.call("get", purpose="get", task_id="nobody", total_s=5.0)

    called = asyncio.run(life())
    assert called.answer.error.name == "TaskNotFound" and slugs(called.answer.findings) == ["rpc-error"]
    assert called.exchange.header("grpc-status") == "5"
    assert ("grpc-status-details-bin" in called.exchange.grpc.trailers) is (version == "1.0")


@pytest.mark.parametrize("consumer", ["a2a-sdk-1.3+grpc", "trusting", "enforcing"])
def test_a_pair_over_grpc_is_judged_from_its_traffic(consumer: str, tmp_path: Path) -> None:
    """The recorder sees a foreign consumer's calls; judged again from the files, every cell comes out the same (R5)."""
    built_or_skipped(find_vendor("a2a-sdk-1.3"))
    folder = run_matrix("real-full", only=f"a2a-sdk-1.3+grpc@*/{consumer}/*", posture="both", out=str(tmp_path))
    run = read_run(folder)
    assert {one.outcome.value for one in compare_run(run)} == {"works"}
    assert sorted(cell.key.scenario for cell in run.cells) == ["send", "stream"]
    for cell in run.cells:
        assert cell.measures is not None and cell.measures.delivered and cell.evidence is not None
        calls = [one for one in read_har(run.folder / cell.evidence) if one.grpc is not None]
        assert calls and all(one.grpc is not None and one.grpc.messages for one in calls)
    assert rejudge(folder).exit_code == 0

"""`check --send --binding GRPC`: the whole flow over gRPC, and the same verdicts from its evidence (R5, D8, R30)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.errors import Misuse
from a2a_lab.lab.cases import judge_file
from a2a_lab.lab.check import CheckOptions, CheckResult, check
from a2a_lab.lab.cleanup import clean_up, list_orphans
from a2a_lab.lab.run import LEDGER
from a2a_lab.ledger import Ledger
from a2a_lab.net.evidence import read_har
from a2a_lab.net.journal import Journal
from tests.lab.grpc_agent import GrpcAgent, serving
from tests.net.test_grpc_calls import MESSAGE, caller_of


def checked(agent: GrpcAgent, out: Path, **how: Any) -> CheckResult:
    async def life() -> CheckResult:
        async with serving(agent):
            return await check(agent.url, CheckOptions(bindings=("GRPC",), out=str(out), **{"send": True, **how}))

    return asyncio.run(life())


def stages(result: CheckResult) -> dict[str, str]:
    return {name: one["verdict"] for name, one in result.stages.items()}


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("streaming", [True, False], ids=["streams", "does not stream"])
def test_send_runs_the_whole_flow(version: str, streaming: bool, tmp_path: Path) -> None:
    agent = GrpcAgent(version=version, streaming=streaming)
    result = checked(agent, tmp_path)
    assert (result.verdict.value, result.authority["because"]) == ("accept", ["unsigned"]), result.said
    assert result.target["binding"] == "GRPC" and result.measures["delivered"] and result.measures["held"]
    assert sum("canary" in text for text in agent.received) == 1
    assert any("Stream" in name for name in agent.called) is streaming
    versions = {metadata.get("a2a-version") for _, metadata in agent.calls}
    assert versions == ({"1.0"} if version == "1.0" else {None})
    assert list_orphans(tmp_path / LEDGER) == []


@pytest.mark.parametrize(
    "agent", [GrpcAgent(), GrpcAgent(version="0.3"), GrpcAgent(hangs=True)], ids=["1.0", "0.3", "hangs"]
)
def test_evidence_is_judged_as_the_traffic_was(agent: GrpcAgent, tmp_path: Path) -> None:
    result = checked(agent, tmp_path, silence=0.2, hang=0.5, total=3.0)
    (again,) = judge_file(Path(result.evidence))
    offline = {name: one["verdict"] for name, one in again.judgement.findings.stages_json().items()}
    mild = {"accept", None}
    for name in {*offline, *stages(result)}:
        live, later = stages(result).get(name), offline.get(name)
        # What a hung probe decided is not in the traffic: nothing was sent after it.
        if not (name == "probe" and agent.hangs):
            assert live == later or {live, later} <= mild, name


def test_a_hang_is_named_and_cancelled_in_time(tmp_path: Path) -> None:
    agent = GrpcAgent(hangs=True)
    result = checked(agent, tmp_path, silence=0.2, hang=0.5, total=3.0)
    assert (result.exit_code, result.verdict.value) == (1, "hang")
    assert 0.4 <= result.measures["waited_s"] < 2.0 and result.measures["hangs"] == 0
    assert agent.called == ["SendStreamingMessage", "GetTask", "GetTask", "CancelTask", "GetTask"]
    assert set(agent.states.values()) == {"TASK_STATE_CANCELED"} and list_orphans(tmp_path / LEDGER) == []
    stream = next(one for one in read_har(Path(result.evidence)) if "Streaming" in one.url)
    assert (stream.ending, stream.cut_by, len(stream.chunks)) == ("open", "hang-limit", 1)


def test_without_send_nothing_is_called(tmp_path: Path) -> None:
    agent = GrpcAgent()
    assert checked(agent, tmp_path, send=False).verdict.value == "accept" and agent.calls == []


@pytest.mark.parametrize("shown", ["localhost", "http://localhost", "grpc://127.0.0.1"])
def test_a_card_may_name_its_place_in_other_words(shown: str, tmp_path: Path) -> None:
    agent = GrpcAgent()

    async def life() -> CheckResult:
        async with serving(agent):
            agent.shown = f"{shown}:{agent.place.rpartition(':')[2]}"
            return await check(agent.url, CheckOptions(bindings=("GRPC",), out=str(tmp_path), send=True))

    assert asyncio.run(life()).verdict.value == "accept"


def test_credentials_stay_at_the_origin_they_were_given_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D8: the gRPC port is another origin; the operator allows it by name, and then they go along as metadata."""
    monkeypatch.setenv("LAB_TOKEN", "t0ken-of-mine")
    kept = GrpcAgent()
    refused = checked(kept, tmp_path, bearer_env="LAB_TOKEN")
    assert refused.verdict.value == "refuse" and kept.calls == [] and "--allow-origin" in refused.said
    taken = GrpcAgent()
    allowed = checked(taken, tmp_path, bearer_env="LAB_TOKEN", allow_origin=("127.0.0.1",))
    assert allowed.verdict.value == "accept"
    assert {metadata["authorization"] for _, metadata in taken.calls} == {"Bearer t0ken-of-mine"}
    assert "t0ken-of-mine" not in Path(allowed.evidence).read_text()


def test_a_binding_is_named_as_cards_name_it() -> None:
    with pytest.raises(Misuse, match="JSONRPC or HTTP\\+JSON or GRPC; case counts"):
        asyncio.run(check("http://127.0.0.1:1", CheckOptions(bindings=("grpc",))))


def test_evidence_is_judged_where_protobuf_is_not_installed(tmp_path: Path) -> None:
    """R5: what was recorded can be judged anywhere; the bytes beside the JSON are for whoever wants them."""
    result = checked(GrpcAgent(), tmp_path)
    code = (
        "import sys; sys.modules['google.protobuf'] = sys.modules['grpc'] = None\n"
        "from a2a_lab.cli import main; sys.argv = ['a2a-lab', 'judge', '--json', sys.argv[1]]; main()"
    )
    printed = subprocess.run([sys.executable, "-c", code, result.evidence], capture_output=True, text=True, check=True)
    judged = json.loads(printed.stdout)["stages"]
    assert judged["stream"]["verdict"] == judged["probe"]["verdict"] == "accept"
    assert {name: one["verdict"] for name, one in judged.items() if name in result.stages}.items() <= {
        **stages(result),
        "rpc": "accept",
    }.items()


def test_a_task_that_was_left_over_grpc_is_cancelled_later(tmp_path: Path) -> None:
    """A7: the ledger holds the binding, so that a clean-up calls as the cell did."""
    agent, path = GrpcAgent(hangs=True), tmp_path / LEDGER

    async def life() -> Any:
        async with serving(agent):
            target = ResolvedTarget(dispatch_url=agent.place, binding="GRPC", version="1.0")
            with Ledger(path) as ledger:
                journal = Journal(ledger, "r", "c", agent="echo")
                await journal.target(target, dialect="1.0", nonce=None)
                await journal.sent("m1", purpose="commit", media_type="text/plain", size=2, is_payload=True)
                async with caller_of(agent.place) as caller:
                    sent = await caller.call("send", purpose="commit", message=MESSAGE)
                await journal.answer("m1", sent.answer, sent.exchange)
            return await clean_up(path)

    done = asyncio.run(life())
    assert (done.cancelled, done.unreachable) == (1, []) and set(agent.states.values()) == {"TASK_STATE_CANCELED"}


def test_the_command_says_what_to_install_and_only_where_grpc_is_chosen(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['google.protobuf'] = sys.modules['grpc'] = None\n"
        "from a2a_lab.cli import main; sys.argv = ['a2a-lab', 'check', 'http://127.0.0.1:1', *sys.argv[1:]]; main()"
    )

    def said(*arguments: str) -> tuple[int, str]:
        ended = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path)
        return ended.returncode, ended.stderr

    code_, told = said("--binding", "GRPC")
    assert code_ == 2 and "needs grpcio and protobuf" in told and "pip install 'a2a-lab[grpc]'" in told
    assert "Traceback" not in told
    assert "grpcio" not in said("--binding", "JSONRPC")[1]

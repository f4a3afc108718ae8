"""The host process: cheap agents, ports of their own, and an end that leaves nothing (R40)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.launch import RunningAgent, SimulatedHost
from a2a_lab.vendors.serving import NONCE_HEADER, Ports
from a2a_lab.vendors.spec import AgentSpec
from tests.vendors.bench import Bench

OAK = AgentSpec(name="oak", version="1.0")
COMMAND = [sys.executable, "-m", "a2a_lab.vendors.simulated"]


def is_gone(pid: int, within_s: float = 3.0) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            time.sleep(0.02)
            continue
        return True
    return False


@pytest.fixture
def process() -> subprocess.Popen[bytes]:
    return subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)


def test_the_end_of_its_input_ends_the_process_at_once(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    assert json.loads(process.stdout.readline())["host"] == "ready"
    process.stdin.close()
    began = time.monotonic()
    assert process.wait(5) == 0 and time.monotonic() - began < 1.0
    process.stdout.close()


def test_it_ends_in_the_middle_of_a_stream(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    process.stdout.readline()
    spec = {"version": "1", "misbehaviours": [{"name": "never-final", "pings": True}]}
    process.stdin.write(
        json.dumps({"do": "start", "id": "1", "name": "oak", "spec": spec, "nonce": "n"}).encode() + b"\n"
    )
    process.stdin.flush()
    url = json.loads(process.stdout.readline())["url"]
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}
    with httpx.stream("POST", f"{url}/rpc", json=body, headers={"A2A-Version": "1.0"}) as answer:
        next(answer.iter_raw())
        process.stdin.close()
        assert process.wait(5) == 0
    process.stdout.close()


def test_a_lab_that_is_killed_leaves_no_process() -> None:
    program = (
        "import asyncio\n"
        "from a2a_lab.vendors.launch import SimulatedHost\n"
        "async def main():\n"
        "    async with SimulatedHost() as host:\n"
        "        print(host.pid, flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as lab:
        assert lab.stdout
        pid = int(lab.stdout.readline())
        lab.send_signal(signal.SIGKILL)
    assert is_gone(pid)


def test_leaving_the_context_ends_the_process() -> None:
    async def enter_and_leave() -> int:
        async with SimulatedHost() as host:
            await host.start(OAK)
            return host.pid

    assert is_gone(asyncio.run(enter_and_leave()))


def test_two_hosts_at_once_have_keys_and_ports_of_their_own() -> None:
    async def both() -> list[RunningAgent]:
        async with SimulatedHost() as one, SimulatedHost() as two:
            return [await one.start(OAK), await two.start(OAK)]

    first, second = asyncio.run(both())
    assert first.url != second.url and first.nonce != second.nonce
    assert first.public_keys["lab"]["x"] != second.public_keys["lab"]["x"]


def test_no_private_key_leaves_the_process(bench: Bench) -> None:
    assert set(bench.host.public_keys) == {"lab", "stranger"}
    assert not any("d" in key for key in bench.host.public_keys.values())
    assert [key["kid"] for key in bench.host.trusted_jwks["keys"]] == ["lab"]


def test_no_port_is_given_twice() -> None:
    ports, seen = Ports(), []
    for _ in range(300):
        with ports.listener() as found:
            seen.append(found.getsockname()[1])
    assert len(set(seen)) == len(seen)


def test_every_answer_carries_the_nonce(bench: Bench) -> None:
    agent = bench.agent()
    answers = [
        agent.get(),
        agent.get("/nowhere"),
        agent.get("/rpc"),
        agent.post(b"no json"),
        agent.post(agent.body("send")),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 405, 200, 200]
    assert {answer.headers[NONCE_HEADER] for answer in answers} == {agent.running.nonce}


def test_agents_do_not_share_tasks(bench: Bench) -> None:
    one, other = bench.agent(), bench.agent()
    task = one.task("send")
    assert other.call("get", task=task["id"])["error"]["code"] == -32001 and other.store()["tasks"] == []


def test_a_stopped_agent_does_not_answer_and_others_do(bench: Bench) -> None:
    one, other = bench.agent(), bench.agent()
    bench.run(one.running.stop())
    with pytest.raises(httpx.ConnectError):
        one.get()
    assert other.get().status_code == 200


def test_stopping_cuts_what_is_open(bench: Bench) -> None:
    agent = bench.agent("blocks-forever")

    async def call_and_stop() -> None:
        call = asyncio.ensure_future(bench.http.post(f"{agent.running.url}/rpc", json=agent.body("send")))
        await asyncio.sleep(0.1)
        await agent.running.stop()
        await call

    with pytest.raises(httpx.HTTPError):
        bench.run(call_and_stop())


@pytest.mark.slow
def test_a_further_agent_costs_milliseconds(bench: Bench) -> None:
    bench.agent()
    began = time.perf_counter()
    for _ in range(20):
        bench.agent()
    assert (time.perf_counter() - began) / 20 < 0.02


# ---- what goes wrong is ours ---------------------------------------------------------------------------------------


def test_a_request_that_cannot_be_done_is_a_harness_fault_that_names_the_step(bench: Bench) -> None:
    with pytest.raises(HarnessFault, match="could not store") as caught:
        bench.run(bench.host.ask("store", agent="nobody"))
    assert caught.value.fields["step"] == "store"
    with pytest.raises(HarnessFault, match="nothing is called 'dance'"):
        bench.run(bench.host.ask("dance"))


def test_a_spec_that_cannot_be_read_is_told_by_the_process_itself(bench: Bench) -> None:
    with pytest.raises(HarnessFault, match="unknown key 'colour'"):
        bench.run(bench.host.ask("start", name="oak", spec={"version": "1", "colour": "green"}, nonce="n"))


def test_using_a_host_that_was_not_entered_is_a_harness_fault() -> None:
    with pytest.raises(HarnessFault, match="async with"):
        asyncio.run(SimulatedHost().start(OAK))


def test_a_host_that_dies_is_a_harness_fault() -> None:
    async def die() -> None:
        async with SimulatedHost() as host:
            os.kill(host.pid, signal.SIGKILL)
            await host.start(OAK)

    with pytest.raises(HarnessFault, match="did not answer 'start'"):
        asyncio.run(die())


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ([sys.executable, "-c", "raise SystemExit('no web server here')"], "ready.*\nno web server here"),
        ([sys.executable, "-c", "print('hello')"], "did not say that it is ready"),
        (["/nowhere/python"], "did not start: .*No such file"),
    ],
    ids=["dies", "says something else", "is not there"],
)
def test_a_host_that_does_not_come_up_says_why(command: list[str], sentence: str) -> None:
    async def enter() -> None:
        async with SimulatedHost(command):
            raise AssertionError("it came up")

    with pytest.raises(HarnessFault, match=sentence):
        asyncio.run(enter())


def test_the_host_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def enter() -> str:
        async with SimulatedHost() as host:
            return (await host.start(OAK)).url

    assert asyncio.run(enter()).startswith("http://127.0.0.1:")

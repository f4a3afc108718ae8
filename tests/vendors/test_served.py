"""Agents that are launched (issue 4, bad input): each way to go wrong is named, and nothing is left behind.

The vendor here is a few lines on Python's own http.server, launched exactly as a built vendor is.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import Environment
from a2a_lab.vendors.ports import Ports
from a2a_lab.vendors.running import Output
from a2a_lab.vendors.served import ServedAgent, served
from a2a_lab.vendors.vendor import Program, Runtime, Vendor

AGENT = """
import http.server, os, signal, subprocess, sys, time
port, nonce, how = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
print("starting", os.getcwd(), os.environ.get("LAB_SECRET"), flush=True)
if "dies" in how:
    sys.exit("no such model")
if "stubborn" in how:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "untidy" in how:
    import tempfile
    print("wrote", tempfile.mkstemp()[1], flush=True)
if "loud" in how:
    sys.stderr.write("x" * 3_000_000 + "\\nlast words\\n")
if "helped" in how:
    helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("helper", helper.pid, flush=True)

class Card(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404 if "missing" in how else 200)
        self.send_header("X-A2A-Lab-Nonce", "someone else" if "stranger" in how else nonce)
        self.end_headers()
        self.wfile.write(b"[]" if "listing" in how else b"{}")
    def log_message(self, *_):
        pass

if "astray" in how:
    port = 0
if "mute" in how:
    time.sleep(600)
http.server.HTTPServer(("127.0.0.1", port), Card).serve_forever()
"""


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    folder = tmp_path / "environment"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    facts = {"runtime": "", "installer": "", "seconds": 0.0, "bytes": 0, "built": "", "packages": ()}
    return Environment(name="acme", folder=folder, kind="python", **facts)


def vendor(home: Path, how: Sequence[str] = (), ready_timeout_s: float = 30.0) -> Vendor:
    (home / "agent.py").write_text(AGENT)
    return Vendor(
        name="acme",
        title="Acme",
        version="1",
        roles=("agent",),
        dialects=("1.0",),
        bindings=("JSONRPC",),
        folder=home,
        runtime=Runtime(kind="python", lock=home / "requirements.lock"),
        agent=Program(
            launch=("{python}", "{programs}/agent.py", "{port}"), nonce=("{nonce}",), ready_timeout_s=ready_timeout_s
        ),
        options=tuple(how),
    )


def serve(home: Path, environment: Environment, *how: str, ready_timeout_s: float = 30.0) -> ServedAgent:
    """Start, look, stop; the agent as it was left."""

    async def life() -> ServedAgent:
        with Ports() as ports:
            async with served(vendor(home, how, ready_timeout_s), environment, ports=ports) as agent:
                assert not agent.ended
            return agent

    return asyncio.run(life())


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone_soon(pid: int, within_s: float = 5.0) -> bool:
    until = time.monotonic() + within_s
    while lives(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not lives(pid)


def test_an_agent_is_ready_when_its_card_answers_and_ends_with_its_context(
    tmp_path: Path, environment: Environment
) -> None:
    agent = serve(tmp_path, environment)
    assert agent.url.startswith("http://127.0.0.1:") and agent.card_url == agent.url + "/.well-known/agent-card.json"
    assert agent.pid is not None and not lives(agent.pid)
    assert agent.exit_status == -signal.SIGTERM


def test_it_works_in_a_folder_of_its_own_that_goes_with_it(tmp_path: Path, environment: Environment) -> None:
    _, folder, _ = serve(tmp_path, environment).output.text().split()
    assert "a2a-lab-" in folder and not Path(folder).exists()


def test_its_temporary_files_go_with_it(
    tmp_path: Path, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is ended leaves what it wrote."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    printed = serve(tmp_path, environment, "untidy").output.text()
    assert f"wrote {tmp_path}/scratch/a2a-lab-" in printed
    assert list((tmp_path / "scratch").iterdir()) == []


def test_it_is_told_no_secret_of_the_lab(tmp_path: Path, environment: Environment) -> None:
    os.environ["LAB_SECRET"] = "s3cret"
    try:
        assert serve(tmp_path, environment).output.text().split()[2] == "None"
    finally:
        del os.environ["LAB_SECRET"]


def test_an_agent_that_ignores_sigterm_is_ended_all_the_same(tmp_path: Path, environment: Environment) -> None:
    agent = serve(tmp_path, environment, "stubborn")
    assert agent.exit_status == -signal.SIGKILL and agent.pid is not None and not lives(agent.pid)


def test_helpers_that_an_agent_started_end_with_it(tmp_path: Path, environment: Environment) -> None:
    words = serve(tmp_path, environment, "helped").output.text().split()
    assert gone_soon(int(words[words.index("helper") + 1]))


def test_megabytes_of_output_are_kept_bounded_and_say_how_much_is_missing(
    tmp_path: Path, environment: Environment
) -> None:
    output = serve(tmp_path, environment, "loud").output
    assert output.total > 3_000_000
    assert len(output.text()) < 70_000 and "bytes left out]" in output.text()
    assert output.text().startswith("starting") and output.last_lines(1).strip() == "last words"


@pytest.mark.parametrize(
    ("how", "step", "said"),
    [
        ("dies", "launch", r"ended with exit status 1; the end of what it printed:\n(.|\n)*no such model"),
        ("mute", "ready", r"was not ready after 1 s: ConnectError at http"),
        ("astray", "ready", r"was not ready after 1 s: ConnectError at http"),
        ("missing", "ready", r"was not ready after 1 s: HTTP 404 at http.*/.well-known/agent-card.json"),
        ("listing", "ready", r"was not ready after 1 s: no JSON object at"),
        ("stranger", "identity", r"is not what answers at .*: the nonce is not the one it was given"),
    ],
)
def test_an_agent_that_does_not_come_up_is_named_with_step_reason_and_last_words(
    tmp_path: Path, environment: Environment, how: str, step: str, said: str
) -> None:
    with pytest.raises(HarnessFault, match=said) as fault:
        serve(tmp_path, environment, how, ready_timeout_s=30.0 if how == "dies" else 1.0)
    assert (fault.value.fields["vendor"], fault.value.fields["step"]) == ("acme", step)


def test_a_program_that_is_not_there_is_named(tmp_path: Path, environment: Environment) -> None:
    (environment.folder / "bin" / "python").unlink()
    with pytest.raises(HarnessFault, match=r"did not come up: .*/bin/python: No such file or directory"):
        serve(tmp_path, environment)


def test_an_agent_that_dies_while_it_serves_is_noticed(tmp_path: Path, environment: Environment) -> None:
    async def life() -> ServedAgent:
        with Ports() as ports:
            async with served(vendor(tmp_path), environment, ports=ports) as agent:
                assert agent.pid is not None
                os.kill(agent.pid, signal.SIGKILL)
                async with asyncio.timeout(5):
                    while not agent.ended:
                        await asyncio.sleep(0.01)
            return agent

    assert asyncio.run(life()).exit_status == -signal.SIGKILL


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_a_lab_that_is_killed(tmp_path: Path, environment: Environment, end: signal.Signals) -> None:
    vendor(tmp_path)
    lab = textwrap.dedent(f"""
        import asyncio, sys
        sys.path[:0] = {[str(Path(__file__).parent.parent.parent)]!r}
        from pathlib import Path
        from tests.vendors.test_served import vendor
        from a2a_lab.vendors.environments import Environment
        from a2a_lab.vendors.ports import Ports
        from a2a_lab.vendors.served import served

        async def main():
            environment = Environment(
                name="acme", folder=Path({str(environment.folder)!r}), kind="python", runtime="", installer="",
                seconds=0.0, bytes=0, built="", packages=(),
            )
            with Ports() as ports:
                async with served(vendor(Path({str(tmp_path)!r}), ("helped",)), environment, ports=ports) as agent:
                    print(agent.pid, agent.output.text().split()[-1], agent.output.text().split()[1], flush=True)
                    await asyncio.sleep(600)

        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", lab], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        agent, helper, scratch = process.stdout.readline().decode().split()
        assert lives(int(agent)) and lives(int(helper)) and Path(scratch).exists()
        process.send_signal(end)
        process.wait(10)
    assert gone_soon(int(agent)) and gone_soon(int(helper))
    until = time.monotonic() + 5.0
    while Path(scratch).exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(scratch).exists()


def test_ports_are_never_given_twice_in_a_run() -> None:
    with Ports() as ports:
        given = [ports.next() for _ in range(200)]
    assert len(set(given)) == len(given)


def test_output_keeps_all_of_what_is_short() -> None:
    output = Output(head=4, tail=4)
    for data in (b"ab", b"cd", b"ef"):
        output.add(data)
    assert output.text() == "abcdef" and output.last_lines() == "    abcdef"
    assert Output().last_lines() == "    (nothing)"

"""`a2a-lab replay`: says how to connect, a line a request, ends with Ctrl-C; what it cannot serve is one sentence."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.cli.console import lab
from tests.lab.plain import agent, serving

BOOK = Path(__file__).parents[2] / "data" / "cases"
COMMAND = (sys.executable, "-m", "a2a_lab.cli", "replay")


def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=30, check=False)


def test_it_serves_until_interrupted() -> None:
    file = str(BOOK / "life-02-keepalive-only.json")
    with subprocess.Popen([*COMMAND, file, "--json"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["connect_to"] == {"agent.example.test:443": ready["url"]}
        card = json.load(urllib.request.urlopen(f"{ready['url']}/.well-known/agent-card.json", timeout=5))
        assert card["supportedInterfaces"][0]["url"] == "https://agent.example.test/rpc"
        assert json.loads(process.stdout.readline())["matched"]
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            urllib.request.urlopen(f"{ready['url']}/nowhere", timeout=5)
        refused.value.close()
        assert "nothing was recorded at /nowhere" in json.loads(process.stdout.readline())["told"]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_what_a_person_sees_names_the_options() -> None:
    file = str(BOOK / "disc-07-card-302-other-origin.json")
    with subprocess.Popen([*COMMAND, file], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        process.wait(10)
    assert "Ctrl-C" in lines[1]
    assert lines[2].rstrip() == (
        "to check it, in another terminal and at the recorded address, which --connect-to leads to this replay:"
    )
    there = r"http://127\.0\.0\.1:\d+"
    assert re.fullmatch(
        r"  a2a-lab check https://agent\.example\.test"
        rf" --connect-to agent\.example\.test:443={there} --connect-to other\.example\.org:443={there}",
        lines[3].rstrip(),
    )


def test_the_command_that_it_prints_checks_the_replay_and_nobody_else(tmp_path: Path) -> None:
    """Measured: `check` of the replay's own port sent its payload to the recorded agent, which was still alive."""
    runs = ("--out", str(tmp_path / "runs"))
    with serving(agent()) as alive:
        assert lab("check", alive.url, "--send", *runs, cwd=tmp_path).code == 0
        before = len(alive.asked)
        (evidence,) = (tmp_path / "runs" / "checks").glob("*.har")
        command = (*COMMAND, str(evidence), "--match", "operation", "--json")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            words = shlex.split(json.loads(process.stdout.readline())["check"])
            assert words[:3] == ["a2a-lab", "check", alive.url] and words[-1] == "--send"
            said = lab(*words[1:], *runs, cwd=tmp_path)
            process.send_signal(signal.SIGINT)
            told = [json.loads(line) for line in process.stdout]
        assert len(alive.asked) == before, "the recorded agent was asked"
    assert said.code == 0 and "note" not in said.out
    assert any("/params/message/parts" in place for one in told for place in one["differs"])
    with subprocess.Popen([*COMMAND, str(evidence)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(5)]
        process.send_signal(signal.SIGINT)
    assert "--send needs a replay that is started with --match operation" in lines[4] and "--send" not in lines[3]


HAR = {
    "log": {"entries": [{"request": {"method": "GET", "url": "https://a.test/logo.png"}, "response": {"status": 200}}]}
}


@pytest.mark.parametrize(
    ("content", "arguments", "says"),
    [
        (None, (), "No such file"),
        (b"{", (), "is the file cut?"),
        (b"\xff\xfe", (), "not UTF-8"),
        (b"[]", (), "neither a case"),
        (b"[" * 100_000, (), "nested deeper"),
        (b'{"log":{"entries":[{"request":3}]}}', (), "HAR entry 0 cannot be read"),
        (json.dumps(HAR).encode(), (), "none of its 1 entries is a card or a call of A2A"),
        (
            b'{"given":{"exchanges":[{"request":{"method":"GET","url":"no url"},"response":{"status":200}}]}}',
            (),
            "no URL",
        ),
        (b'{"given":{"strem":1}}', (), "strem"),
        (b'{"given":{}}', (), "no request to answer"),
        (b'{"given":{}}', ("--match", "all"), "expected ids or operation"),
        (
            json.dumps(json.loads((BOOK / "disc-01-legacy-path-only.json").read_text())).encode(),
            ("--pace", "-1"),
            "pace -1",
        ),
    ],
)
def test_what_cannot_be_served_is_one_sentence(
    tmp_path: Path, content: bytes | None, arguments: tuple[str, ...], says: str
) -> None:
    file = tmp_path / "file.json"
    if content is not None:
        file.write_bytes(content)
    done = ended(str(file), *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("a2a-lab: ") and says in done.stderr and len(done.stderr.splitlines()) == 1

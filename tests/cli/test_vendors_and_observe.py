"""The commands for real vendors and for watching a client: what they print, and what they end with (R39)."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from a2a_lab.errors import HarnessFault
from tests.cli.console import lab, start


def test_the_plan_of_real_vendors_lists_cells_and_environments(tmp_path: Path) -> None:
    told = lab("plan", "real", "--only", "fasta2a-2.1@*", "--json", cwd=tmp_path).json
    assert told["matrix"] == "real" and len(told["cells"]) == 10
    assert told["cells"][0] == "fasta2a-2.1@2.1.1/a2a-sdk-1.3/JSONRPC/1.0/send/foreign/1"
    assert "in 4 environments" in lab("plan", "real", cwd=tmp_path).out
    assert list(tmp_path.iterdir()) == []


def test_every_vendor_is_listed_with_what_it_took(tmp_path: Path) -> None:
    told = lab("vendors", "list", "--json", cwd=tmp_path).json
    rows = {row["name"]: row for row in told["vendors"]}
    assert rows["a2a-sdk-1.3+compat"]["dialects"] == ["1.0", "0.3"]
    assert all((row["bytes"] is None) == (row["environment"] != "built") for row in rows.values())
    assert "a2a-sdk-1.3+compat" in lab("vendors", "list", cwd=tmp_path).out


def test_a_vendor_that_there_is_none_of_is_named(tmp_path: Path) -> None:
    for command in (("build", "a2a-sdk-1.4"), ("serve", "a2a-sdk-1.4"), ("check", "a2a-sdk-1.4")):
        said = lab("vendors", *command, cwd=tmp_path)
        assert said.code == 2 and "did you mean 'a2a-sdk-1.3'" in said.err, command
    assert lab("vendors", "build", cwd=tmp_path).code == 2


def test_a_vendor_that_serves_nothing_is_the_operators_mistake(tmp_path: Path) -> None:
    said = lab("vendors", "serve", "grpc-router-1.3", cwd=tmp_path)
    assert said.code == 2 and "grpc-router-1.3 serves no agent; its roles are consumer" in said.err


def test_a_word_that_an_agent_does_not_know_is_the_operators_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """R39, measured: it ended with 3, and the usage of the agent stood there with literal line ends."""

    def breaks(status: int) -> Callable[..., None]:
        def ensure(*_: object, **__: object) -> None:
            printed = "usage: agent.py [-h]\n  agent.py: error: unrecognized arguments: --odd\n"
            raise HarnessFault("it did not come up:\n    one\n    two", exit_status=status, output=printed)

        return ensure

    monkeypatch.setattr("a2a_lab.vendors.environments.ensure_environment", breaks(2))
    said = lab("vendors", "serve", "a2a-sdk-1.3", "--option", "--odd", cwd=Path.cwd())
    assert said.code == 2 and said.err.count("\n") == 1
    assert "--option --odd: the agent of a2a-sdk-1.3 was not started with it: agent.py: error: unrecognized" in said.err
    assert lab("vendors", "serve", "a2a-sdk-1.3", cwd=Path.cwd()).code == 3
    monkeypatch.setattr("a2a_lab.vendors.environments.ensure_environment", breaks(1))
    said = lab("vendors", "serve", "a2a-sdk-1.3", "--option", "--odd", cwd=Path.cwd())
    assert said.code == 3 and said.err == "a2a-lab: it did not come up:\n    one\n    two\n"


def test_observe_without_a_client_says_so(tmp_path: Path) -> None:
    said = lab("observe", "--to", "http://127.0.0.1:9", "--for", "0.3", "--out", "seen", "--json", cwd=tmp_path)
    assert said.code == 2 and said.json["said"].startswith("no client came")
    assert "point your client at http://127.0.0.1:" in said.err
    assert Path(tmp_path, said.json["evidence"]).is_file() and Path(tmp_path, said.json["page"]).is_file()


def test_observe_refuses_what_cannot_be(tmp_path: Path) -> None:
    assert lab("observe", "--to", "nowhere", cwd=tmp_path).code == 2
    assert "positive number" in lab("observe", "--to", "http://127.0.0.1:9", "--for", "0", cwd=tmp_path).err


def test_ctrl_c_ends_an_observation_with_everything_written(tmp_path: Path) -> None:
    """Told line by line while it runs, judged and stored at the end."""
    with start("observe", "--to", "http://127.0.0.1:9", "--out", "seen", cwd=tmp_path) as running:
        assert running.stderr is not None and running.stdout is not None
        address = running.stderr.readline().partition("point your client at ")[2].strip()
        with httpx.Client(trust_env=False) as client:
            assert client.get(f"{address}/.well-known/agent-card.json").status_code == 502
        running.send_signal(signal.SIGINT)
        out, told = running.communicate(timeout=60)
    assert running.returncode == 0
    lines = told.splitlines()
    assert any("consumer" in line and "GET /.well-known/agent-card.json" in line for line in lines)
    assert any("fault: connect-refused" in line for line in lines)
    assert "verdict" in out and "page: seen/observed/" in out
    (evidence,) = (tmp_path / "seen" / "observed").glob("*.har")
    assert "connect-refused" in evidence.read_text()

"""Whatever ends the lab, nothing of it stays (issue 4, Shows 5): processes, ports, temporary files; with real vendors.

Each lab is a process of its own with a folder for temporary files of its own, by which everything that it started is
known.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from a2a_lab.lab.records import read_run
from a2a_lab.vendors.registry import find_vendor
from tests.cli.console import start
from tests.vendors.real import built_or_skipped

pytestmark = [pytest.mark.vendors, pytest.mark.slow]

ENDS = pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda end: end.name)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
SMALL = "a2a-sdk-0.2"
HANGING = """
[vendors]
scenarios = ["send"]
[vendors.agents.hanging]
agent = "a2a-sdk-1.3"
options = ["--hang"]
[vendors.consumers."a2a-sdk-1.3"]
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def alive(scratch: Path) -> list[str]:
    """Command lines of everything that was started with this folder for temporary files."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={scratch}".encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found


def until(is_so: Callable[[], bool], limit_s: float = 60.0) -> bool:
    end = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def ended(lab: subprocess.Popen[str], end: signal.Signals, scratch: Path) -> None:
    """End the lab, and see that all that it started goes with it, and what they wrote."""
    lab.send_signal(end)
    lab.communicate(timeout=30)
    assert lab.returncode == CODES[end]
    assert until(lambda: alive(scratch) == [], 6.0), alive(scratch)
    assert until(lambda: list(scratch.iterdir()) == [], 3.0), list(scratch.rglob("*"))


@ENDS
def test_a_lab_that_is_ended_in_the_middle_of_a_cell(end: signal.Signals, tmp_path: Path, scratch: Path) -> None:
    built_or_skipped(find_vendor("a2a-sdk-1.3"))
    (tmp_path / "hanging.toml").write_text(HANGING)
    lab = start("run", "hanging.toml", cwd=tmp_path, TMPDIR=str(scratch))
    assert until(lambda: any("--op send" in line for line in alive(scratch)))
    (agent,) = {line for line in alive(scratch) if "agent.py --port" in line and "keeper" not in line}
    port = int(agent.partition("--port ")[2].split()[0])
    ended(lab, end, scratch)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    (folder,) = [path for path in (tmp_path / "runs").iterdir() if (path / "records.jsonl").is_file()]
    run = read_run(folder, allow_cut=True)
    if end is signal.SIGKILL:
        assert run.cut and run.footer is None
    else:
        assert run.footer is not None and run.footer.interrupted


@ENDS
def test_a_lab_that_is_ended_in_the_middle_of_a_build(end: signal.Signals, tmp_path: Path, scratch: Path) -> None:
    """What a killed one left half-built is no environment, and the next build or `vendors prune` removes it."""
    built_or_skipped(find_vendor(SMALL))
    cache = tmp_path / "cache" / "a2a-lab" / "vendors"
    given = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(scratch)}
    lab = start("vendors", "build", SMALL, cwd=tmp_path, **given)
    assert until(lambda: any("keeper.py" in line for line in alive(scratch)))
    time.sleep(1.0)  # into the step that creates, or the one that installs
    ended(lab, end, scratch)
    left = {path.name for path in cache.iterdir() if path.is_dir()}
    assert left == (set() if end is not signal.SIGKILL else {name for name in left if name.endswith(".building")})


def test_two_labs_at_once_build_once_and_both_go_on(tmp_path: Path, scratch: Path) -> None:
    built_or_skipped(find_vendor(SMALL))
    given = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(scratch)}
    labs = [start("vendors", "build", SMALL, "--json", cwd=tmp_path, **given) for _ in range(2)]
    said = [lab.communicate(timeout=240)[0] for lab in labs]
    assert [lab.returncode for lab in labs] == [0, 0]
    assert said[0] == said[1] and '"folder"' in said[0]  # the same seconds: one built, the other found
    assert list(scratch.iterdir()) == []

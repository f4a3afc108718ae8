"""Environments (issue 4, item 1): built once, whole or not at all, and every failure named.

The recipes here are a line of Python each, so that nothing is fetched; `test_real_vendors` builds the real ones.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.vendors.environments import (
    MARKER,
    cache_folder,
    ensure_environment,
    environment_folder,
    find_environment,
    new_recipe,
)
from a2a_lab.vendors.python_recipe import PythonRecipe
from a2a_lab.vendors.recipe import Step
from a2a_lab.vendors.vendor import Runtime, Vendor


def vendor(home: Path, lock: str = "", **bounds: tuple[int, ...]) -> Vendor:
    (home / "requirements.lock").write_text(lock)
    return Vendor(
        name="acme",
        title="Acme",
        version="1",
        roles=("agent",),
        dialects=("1.0",),
        bindings=("JSONRPC",),
        folder=home,
        runtime=Runtime(kind="python", lock=home / "requirements.lock", **bounds),
    )


class Scripted(PythonRecipe):
    """A recipe whose steps are snippets of Python; the last one makes what `is_whole` looks for."""

    installer = "scripted"

    def __init__(self, acme: Vendor, *snippets: str) -> None:
        super().__init__(acme, sys.executable, "pip")
        self._snippets = snippets

    def steps(self, folder: Path) -> Iterable[Step]:
        make = "import os, sys; os.makedirs('bin', exist_ok=True); os.symlink(sys.executable, 'bin/python')"
        for number, snippet in enumerate([*self._snippets, make]):
            yield Step(name=f"step {number}", command=(sys.executable, "-c", snippet), remedy="mend it")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "acme"
    folder.mkdir()
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_environments_live_in_the_users_cache_folder() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/a2a-lab/vendors")
    assert cache_folder({}) == Path.home() / ".cache" / "a2a-lab" / "vendors"
    assert cache_folder({"XDG_CACHE_HOME": "not/absolute"}) == cache_folder({})


def test_a_changed_lock_is_another_environment(home: Path, cache: Path) -> None:
    def folder(lock: str) -> Path:
        acme = vendor(home, lock)
        return environment_folder(acme, new_recipe(acme), cache)

    assert folder("a==1") == folder("a==1") != folder("a==2")
    assert folder("a==1").name.startswith("acme-")


def test_it_is_built_once_and_then_found(home: Path, cache: Path) -> None:
    acme, said = vendor(home), []
    assert find_environment(acme, cache=cache) is None
    built = ensure_environment(acme, cache=cache, recipe=Scripted(acme), say=said.append)
    assert said == ["acme: step 0"]
    assert ensure_environment(acme, cache=cache, recipe=Scripted(acme, "boom"), say=said.append) == built
    assert find_environment(acme, cache=cache) == built
    assert (built.folder / "build.log").read_text().startswith("## step 0")


def test_a_failed_step_is_named_and_keeps_its_log_and_nothing_else(home: Path, cache: Path) -> None:
    acme = vendor(home)
    with pytest.raises(
        HarnessFault, match=r"acme was not built: step 'step 1' ended with exit status 3; mend"
    ) as fault:
        ensure_environment(acme, cache=cache, recipe=Scripted(acme, "print('fine')", "print('oh no'); exit(3)"))
    assert (fault.value.fields["step"], fault.value.fields["cause"]) == ("step 1", "failed")
    log = Path(fault.value.fields["log"]).read_text()
    assert "fine" in log and "oh no" in log and "oh no" in fault.value.message
    assert sorted(path.suffix for path in cache.iterdir()) == [".lock", ".log"]


def test_a_machine_without_a_way_to_a_registry_is_told_from_a_broken_lock(home: Path, cache: Path) -> None:
    acme = vendor(home)
    no_way = "exit('error: Failed to establish a new connection: [Errno 111] Connection refused')"
    with pytest.raises(HarnessFault, match="no package registry could be reached") as fault:
        ensure_environment(acme, cache=cache, recipe=Scripted(acme, no_way))
    assert fault.value.fields["cause"] == "no-registry"


def test_a_step_that_does_not_end_is_ended(home: Path, cache: Path) -> None:
    acme = vendor(home)
    with pytest.raises(HarnessFault, match=r"not ended after 0\.5 s"):
        ensure_environment(
            acme, cache=cache, recipe=Scripted(acme, "input_ = __import__('time').sleep(600)"), step_limit_s=0.5
        )
    assert not [path for path in cache.iterdir() if path.is_dir()]


def test_what_a_killed_build_left_is_not_taken_for_an_environment(home: Path, cache: Path) -> None:
    acme = vendor(home)
    folder = environment_folder(acme, new_recipe(acme), cache)
    for leftover in (folder, folder.with_name(f".{folder.name}.building")):
        leftover.mkdir(parents=True)
        (leftover / "half").touch()
    assert find_environment(acme, cache=cache) is None
    built = ensure_environment(acme, cache=cache, recipe=Scripted(acme))
    assert built.folder == folder and not (folder / "half").exists()


def test_an_interpreter_that_was_upgraded_away_means_building_anew(home: Path, cache: Path) -> None:
    acme = vendor(home)
    built = ensure_environment(acme, cache=cache, recipe=Scripted(acme))
    (built.folder / "bin" / "python").unlink()
    (built.folder / "bin" / "python").symlink_to("/nowhere/python")
    assert find_environment(acme, cache=cache) is None
    assert ensure_environment(acme, cache=cache, recipe=Scripted(acme)).folder == built.folder


def test_two_labs_at_once_build_once(home: Path, cache: Path) -> None:
    acme, counted, said, got = vendor(home), home / "counted", [], []
    slow = f"open({str(counted)!r}, 'a').write('x'); __import__('time').sleep(0.5)"

    def lab() -> None:
        got.append(ensure_environment(acme, cache=cache, recipe=Scripted(acme, slow), say=said.append))

    labs = [threading.Thread(target=lab) for _ in range(3)]
    for each in labs:
        each.start()
    for each in labs:
        each.join()
    assert counted.read_text() == "x"
    assert len(got) == 3 and len({each.folder for each in got}) == 1
    assert sum("waiting for another lab" in words for words in said) == 2


def test_nothing_of_a_build_outlives_its_end(home: Path, cache: Path) -> None:
    acme, pid = vendor(home), home / "pid"
    leaves_one = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        f"open({str(pid)!r}, 'w').write(str(p.pid))"
    )
    ensure_environment(acme, cache=cache, recipe=Scripted(acme, leaves_one))
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        try:
            os.kill(int(pid.read_text()), 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("a process that a build step started is still there")


def test_a_marker_that_says_something_else_is_no_environment(home: Path, cache: Path) -> None:
    acme = vendor(home)
    built = ensure_environment(acme, cache=cache, recipe=Scripted(acme))
    (built.folder / MARKER).write_text('{"schema": 1, "packages": []}')
    assert find_environment(acme, cache=cache) is None


@pytest.mark.parametrize("bounds", [{"python_min": (9, 0)}, {"python_below": (3, 0)}])
def test_an_interpreter_that_the_vendor_cannot_use_is_named(
    home: Path, cache: Path, bounds: dict[str, tuple[int, ...]]
) -> None:
    with pytest.raises(HarnessFault, match=r"acme needs Python [><]=?\d\.0; .* name another interpreter") as fault:
        ensure_environment(vendor(home, **bounds), cache=cache)
    assert fault.value.fields["cause"] == "tool-missing"


def test_a_program_that_is_no_python_is_named(home: Path, cache: Path) -> None:
    with pytest.raises(HarnessFault, match="/bin/false does not run as a Python"):
        ensure_environment(vendor(home), cache=cache, interpreter="/bin/false")


def test_an_unknown_installer_is_refused(home: Path, cache: Path) -> None:
    with pytest.raises(Misuse, match="is 'uv', 'pip' or 'auto', not 'conda'"):
        ensure_environment(vendor(home), cache=cache, installer="conda")


def test_a_cache_that_cannot_be_written_is_named(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HarnessFault, match="let XDG_CACHE_HOME name a folder that can be written"):
        ensure_environment(vendor(home), cache=tmp_path / "file" / "cache")


def test_scripts_name_the_interpreter_of_their_final_place(home: Path, cache: Path) -> None:
    acme = vendor(home)
    script = "import os; os.makedirs('bin'); open('bin/tool', 'w').write('#!' + os.getcwd() + '/bin/python')"
    built = ensure_environment(acme, cache=cache, recipe=Scripted(acme, script))
    assert (built.folder / "bin" / "tool").read_text() == f"#!{built.folder}/bin/python"

"""What old locks and killed builds leave in the cache is shown, then removed, and never from under a living lab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from a2a_lab.vendors.environments import ensure_environment, environment_folder, new_recipe, try_lock
from a2a_lab.vendors.pruning import prune, stale
from a2a_lab.vendors.registry import find_vendor
from a2a_lab.vendors.vendor import Vendor
from tests.cli.console import ROOT, lab
from tests.vendors.test_environments import Scripted, vendor


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "acme"
    folder.mkdir()
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache" / "a2a-lab" / "vendors"
    folder.mkdir(parents=True)
    return folder


def built(acme: Vendor, cache: Path) -> Path:
    """As another lab built it that is gone by now: nobody holds it."""
    folder = environment_folder(acme, new_recipe(acme), cache)
    folder.mkdir()
    (folder / "environment.json").write_text(json.dumps({"runtime": new_recipe(acme).runtime()}))
    (folder / "payload").write_bytes(b"x" * 5000)
    (cache / f"{folder.name}.lock").touch()
    return folder


def reasons(acme: Vendor, cache: Path) -> dict[str, str]:
    return {one.folder.name: one.why for one in stale({acme.name: acme}, cache)}


def test_the_environment_of_an_older_lock_is_shown_with_its_size_and_goes_with_its_files(
    home: Path, cache: Path
) -> None:
    old = built(vendor(home, "a==1"), cache)
    acme = vendor(home, "a==2")
    new = built(acme, cache)
    (found,) = stale({acme.name: acme}, cache)
    assert (found.folder, found.in_use) == (old, False) and found.bytes > 5000 and "has changed since" in found.why
    assert old.exists()  # until it is asked for
    assert [one.folder for one in prune([found])] == [old]
    assert {path.name for path in cache.iterdir()} == {new.name, f"{new.name}.lock"}


def test_one_of_another_interpreter_is_kept_while_the_lock_is_the_same(home: Path, cache: Path) -> None:
    acme = vendor(home, "a==1")
    other = environment_folder(acme, new_recipe(acme), cache, "cpython-399 linux")
    other.mkdir()
    (other / "environment.json").write_text('{"runtime": "cpython-399 linux"}')
    assert reasons(acme, cache) == {}


def test_halves_strangers_and_markers_that_say_nothing(home: Path, cache: Path) -> None:
    acme = vendor(home)
    for name in (".acme-0123456789abcdef.building", "gone-0123456789abcdef", "acme-0123456789abcdef", "my-notes"):
        (cache / name).mkdir()
    assert reasons(acme, cache) == {
        ".acme-0123456789abcdef.building": "a build that was killed",
        "gone-0123456789abcdef": "no vendor has that name any more",
        "acme-0123456789abcdef": "it says nothing of how it was built",
    }


def test_what_a_living_lab_uses_or_builds_stays(home: Path, cache: Path) -> None:
    """Held by another process, as a lab that runs cells in it; free again once that is gone, however it went."""
    acme = vendor(home, "a==1")
    code = (
        f"import sys, pathlib; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.vendors.test_environments import Scripted, vendor\n"
        "from a2a_lab.vendors.environments import ensure_environment\n"
        f"acme = vendor(pathlib.Path({str(home)!r}), 'a==1')\n"
        f"made = ensure_environment(acme, cache=pathlib.Path({str(cache)!r}), recipe=Scripted(acme))\n"
        "print(made.folder, flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        folder = Path(user.stdout.readline().decode().strip())
        acme = vendor(home, "a==2")
        (found,) = stale({acme.name: acme}, cache)
        assert (found.folder, found.in_use) == (folder, True)
        assert list(prune([found])) == [] and folder.exists()
        user.kill()
    (found,) = stale({acme.name: acme}, cache)
    assert not found.in_use and [one.folder for one in prune([found])] == [folder] and not folder.exists()


def test_an_environment_that_was_pruned_is_built_anew(home: Path, cache: Path) -> None:
    acme = vendor(home)
    first = ensure_environment(acme, cache=cache, recipe=Scripted(acme))
    (first.folder / "environment.json").unlink()
    again = ensure_environment(acme, cache=cache, recipe=Scripted(acme))
    assert again.folder == first.folder and (again.folder / "environment.json").is_file()


def test_a_lock_file_that_was_removed_is_not_what_is_held(tmp_path: Path) -> None:
    """Else two could hold one lock: the one on a file that nobody finds any more."""
    path = tmp_path / "a.lock"
    first = try_lock(path)
    assert first is not None and try_lock(path) is None and try_lock(path, shared=True) is None
    path.unlink()
    second = try_lock(path)
    assert second is not None and os.fstat(second).st_ino == path.stat().st_ino
    shared = tmp_path / "b.used"
    several = [try_lock(shared, shared=True) for _ in range(2)]
    assert None not in several and try_lock(shared) is None
    for handle in (first, second, *several):
        os.close(handle)  # type: ignore[arg-type]


def test_the_command_shows_first_and_removes_when_told(tmp_path: Path, cache: Path) -> None:
    given = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    sdk = find_vendor("a2a-sdk-1.3")
    half = cache / f".{environment_folder(sdk, new_recipe(sdk), cache).name}.building"
    half.mkdir()
    (half / "much").write_bytes(b"x" * 2_000_000)
    shown = lab("vendors", "prune", cwd=tmp_path, **given)
    assert "a build that was killed" in shown.out and "1 could be removed, 2 MB; --yes removes them" in shown.out
    assert half.exists()
    assert "removed 1 of 1, 2 MB" in lab("vendors", "prune", "--yes", cwd=tmp_path, **given).out
    assert not half.exists()
    assert lab("vendors", "prune", "--json", cwd=tmp_path, **given).json == {"stale": [], "removed": []}


def test_the_list_of_vendors_fits_a_narrow_terminal(tmp_path: Path) -> None:
    lines = lab("vendors", "list", cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path)).out.splitlines()
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    assert any(line.split() == ["a2a-sdk-1.3+full", "1.3.0", "agent"] for line in lines)

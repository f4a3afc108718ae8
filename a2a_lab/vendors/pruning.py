"""Finds in the cache what no lock of this lab leads to any more: environments of older locks, halves of killed builds.

Nothing is removed that a living lab uses or builds: each holds a lock file that the kernel drops with it. An
environment of another interpreter is kept as long as the lock is the same. Another checkout of the lab with other locks
is not known here, which is why everything is shown before it is removed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import MARKER, cache_folder, environment_folder, new_recipe, try_lock
from a2a_lab.vendors.recipe import size_of
from a2a_lab.vendors.vendor import Vendor

FOLDER = re.compile(r"(?P<name>.+)-[0-9a-f]{16}")
HALF = re.compile(r"\.(?P<stem>.+)\.building")
BESIDE = (".lock", ".used", ".log")  # files that go with a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A folder of the cache that nothing leads to. `bytes` is its size, `in_use` whether a living lab holds it."""

    folder: Path
    why: str
    bytes: int
    in_use: bool

    @property
    def stem(self) -> str:
        """The name of the environment, also where this is only half of one."""
        half = HALF.fullmatch(self.folder.name)
        return half["stem"] if half else self.folder.name

    def as_json(self) -> dict[str, object]:
        return {"folder": str(self.folder), "why": self.why, "bytes": self.bytes, "in_use": self.in_use}


def stale(vendors: Mapping[str, Vendor], cache: Path | None = None) -> list[Stale]:
    """What could be removed, and what would be if nobody used it; the largest first. Removes nothing."""
    cache = cache or cache_folder()
    by_name = {vendor.environment_name: vendor for vendor in vendors.values()}
    found = []
    for folder in sorted(path for path in cache.glob("*") if path.is_dir()) if cache.is_dir() else ():
        why = _why(folder, by_name)
        if why:
            stem = half["stem"] if (half := HALF.fullmatch(folder.name)) else folder.name
            found.append(Stale(folder=folder, why=why, bytes=size_of(folder), in_use=_is_in_use(cache, stem)))
    return sorted(found, key=lambda one: -one.bytes)


def prune(found: Iterable[Stale]) -> Iterator[Stale]:
    """Remove those that nobody uses, and give each that is gone. Raises HarnessFault where one cannot be removed."""
    for one in found:
        cache = one.folder.parent
        held = [try_lock(cache / f"{one.stem}{suffix}") for suffix in (".used", ".lock")]
        try:
            if None in held:
                continue
            try:
                shutil.rmtree(one.folder)
            except OSError as fault:
                why = f"{one.folder} cannot be removed: {fault.strerror}"
                raise HarnessFault(why, step="prune", cause="failed") from fault
            if not (cache / one.stem).exists():
                for suffix in BESIDE:
                    (cache / f"{one.stem}{suffix}").unlink(missing_ok=True)
            yield one
        finally:
            for handle in held:
                if handle is not None:
                    os.close(handle)


def _why(folder: Path, vendors: Mapping[str, Vendor]) -> str:
    """Why nothing leads to a folder, in a clause; empty where something does, or where it is none of the lab's."""
    if HALF.fullmatch(folder.name):
        return "a build that was killed"
    named = FOLDER.fullmatch(folder.name)
    if named is None:
        return ""
    vendor = vendors.get(named["name"])
    if vendor is None:
        return "no vendor has that name any more"
    try:
        runtime = json.loads((folder / MARKER).read_text(encoding="utf-8"))["runtime"]
    except (OSError, ValueError, KeyError, TypeError):
        return "it says nothing of how it was built"
    same = environment_folder(vendor, new_recipe(vendor), folder.parent, str(runtime))
    return "" if same.name == folder.name else "the lock, or a program in it, has changed since"


def _is_in_use(cache: Path, stem: str) -> bool:
    for suffix in (".used", ".lock"):
        path = cache / f"{stem}{suffix}"
        if path.exists():
            handle = try_lock(path)
            if handle is None:
                return True
            os.close(handle)
    return False

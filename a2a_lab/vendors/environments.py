"""One environment a vendor, in the user's cache folder, built from the vendor's committed lock.

The folder's name holds a hash of everything it was built from, so a changed lock is another folder. It is built under
another name and renamed when whole, under a file lock that the kernel drops with its holder: two labs at once build
once, and a half-built environment is never taken for a whole one. What is run, step by step, the recipes say.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.compiled_recipe import TOOLS, CompiledRecipe
from a2a_lab.vendors.kept import run_kept
from a2a_lab.vendors.node_recipe import NodeRecipe
from a2a_lab.vendors.python_recipe import PythonRecipe
from a2a_lab.vendors.recipe import Recipe, Step, size_of
from a2a_lab.vendors.vendor import Vendor

MARKER = "environment.json"
SCHEMA = 1  # part of the hash: raise it when environments are built differently
STEP_LIMIT_S = 900.0  # the heaviest vendor (0.8 GB) installs in 10 s from a warm network
LOCK_POLL_S = 0.2
TAIL_LINES = 12

# What package tools print when there is no way out to a registry; such a machine cannot build, which is no defect.
NO_WAY_OUT = (
    "could not connect", "connection refused", "network is unreachable", "dns error", "name resolution", "timed out",
    "error sending request", "failed to establish a new connection", "client error (connect)", "no route to host",
    "enotfound", "econnrefused", "etimedout", "eai_again", "econnreset",
)  # fmt: skip

Say = Callable[[str], None]
_IN_USE: dict[Path, int] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A built environment. `seconds` and `bytes` are what it took; `packages` are name==version, as installed."""

    name: str
    folder: Path
    kind: str
    runtime: str
    installer: str
    seconds: float
    bytes: int
    built: str
    packages: tuple[str, ...] = field(repr=False)

    def places(self, vendor: Vendor) -> dict[str, str]:
        """Values of the placeholders that the environment decides."""
        recipe = new_recipe(vendor)
        return {**recipe.places(self.folder), "environment": str(self.folder)}


def new_recipe(vendor: Vendor, interpreter: str | None = None, installer: str | None = None) -> Recipe:
    """The recipe of the vendor's kind; see `ensure_environment` for the two choices."""
    if vendor.runtime.kind == "node":
        return NodeRecipe(vendor)
    if vendor.runtime.kind in TOOLS:
        return CompiledRecipe(vendor)
    return PythonRecipe(vendor, interpreter or sys.executable, installer)


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where environments live: `a2a-lab/vendors` in the user's cache folder."""
    environ = os.environ if environ is None else environ
    base = environ.get("XDG_CACHE_HOME", "")
    # A relative XDG_CACHE_HOME is to be ignored, says the XDG base directory specification.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "a2a-lab" / "vendors"


def environment_folder(vendor: Vendor, recipe: Recipe, cache: Path, runtime: str | None = None) -> Path:
    """`<name>-<hash>`; the hash is over the lock, everything else copied in, and the interpreter's kind.

    `runtime` is the interpreter's kind, that of the recipe when None.
    """
    parts = hashlib.sha256(f"{SCHEMA}\0{recipe.runtime() if runtime is None else runtime}".encode())
    for file in recipe.inputs():
        parts.update(f"\0{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return cache / f"{vendor.environment_name}-{parts.hexdigest()[:16]}"


def find_environment(
    vendor: Vendor, *, cache: Path | None = None, interpreter: str | None = None
) -> Environment | None:
    """The vendor's environment if it is built from the lock as it stands now, else None."""
    recipe = new_recipe(vendor, interpreter)
    return _read(environment_folder(vendor, recipe, cache or cache_folder()), recipe)


def ensure_environment(
    vendor: Vendor,
    *,
    cache: Path | None = None,
    interpreter: str | None = None,
    installer: str | None = None,
    say: Say = lambda _: None,
    step_limit_s: float = STEP_LIMIT_S,
    recipe: Recipe | None = None,
) -> Environment:
    """The vendor's environment, built now if need be; blocks for seconds to minutes.

    `interpreter` is the Python to build with (default: the lab's own), `installer` is "uv" or "pip" (default: uv
    where there is one; A2A_LAB_INSTALLER says otherwise), `say` is told each step, `recipe` replaces that of the
    vendor's kind. Raises HarnessFault with fields `step`, `cause` ("tool-missing", "no-registry" or "failed"), `log`.
    """
    cache = cache or cache_folder()
    recipe = recipe or new_recipe(vendor, interpreter, installer)
    recipe.require()
    folder = environment_folder(vendor, recipe, cache)
    if found := _used(folder, recipe):
        return found
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HarnessFault(
            f"{cache} cannot hold environments: {error.strerror}; let XDG_CACHE_HOME name a folder that can be written",
            step="cache",
            cause="failed",
        ) from error
    with _only_builder(cache / f"{folder.name}.lock", say):
        if found := _used(folder, recipe):  # the other lab built it
            return found
        built = _build(vendor, recipe, folder, say, step_limit_s)
        return _used(folder, recipe) or built


def _used(folder: Path, recipe: Recipe) -> Environment | None:
    """The environment, from now on kept from being pruned while this process lives; None where it is not there."""
    if _read(folder, recipe) is None:
        return None
    if folder not in _IN_USE and (lock := try_lock(folder.with_name(f"{folder.name}.used"), shared=True)) is not None:
        _IN_USE[folder] = lock  # never closed: the kernel drops it with the process
    return _read(folder, recipe)  # once more: it may have been pruned before it was held


def _build(vendor: Vendor, recipe: Recipe, folder: Path, say: Say, limit_s: float) -> Environment:
    started = time.monotonic()
    parts = folder.with_name(f".{folder.name}.building")
    for leftover in (parts, folder):  # of a build that was killed; nobody else builds while we hold the lock
        shutil.rmtree(leftover, ignore_errors=True)
    log = folder.with_name(f"{folder.name}.log")
    parts.mkdir(parents=True)
    try:
        with log.open("wb") as written:
            for step in recipe.steps(parts):
                say(f"{vendor.environment_name}: {step.name}")
                written.write(f"## {step.name}: {' '.join(step.command)}\n".encode())
                written.flush()
                ended = run_kept(step.command, folder=parts, env=recipe.environ(), log=written, limit_s=limit_s)
                if not ended.well:
                    raise _failure(vendor, step, str(ended), log)
        recipe.settle(parts, folder)
        environment = Environment(
            name=vendor.environment_name,
            folder=folder,
            kind=recipe.kind,
            runtime=recipe.runtime(),
            installer=recipe.installer,
            seconds=round(time.monotonic() - started, 2),
            bytes=size_of(parts),
            built=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            packages=recipe.packages(parts),
        )
        facts = {**asdict(environment), "folder": folder.name, "schema": SCHEMA}
        (parts / MARKER).write_text(json.dumps(facts, indent=1), encoding="utf-8")
        parts.rename(folder)
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    log.replace(folder / "build.log")
    return environment


def _failure(vendor: Vendor, step: Step, ended: str, log: Path) -> HarnessFault:
    text = log.read_text(encoding="utf-8", errors="replace")
    tail = "\n".join(f"    {line}" for line in text.splitlines()[-TAIL_LINES:])
    lost = any(words in text.lower() for words in NO_WAY_OUT)
    remedy = "no package registry could be reached" if lost else step.remedy
    return HarnessFault(
        f"the environment of {vendor.environment_name} was not built: step {step.name!r} ended with {ended}; {remedy}; "
        f"the whole log is {log}; its end:\n{tail}",
        vendor=vendor.environment_name,
        step=step.name,
        cause="no-registry" if lost else "failed",
        log=str(log),
    )


def _read(folder: Path, recipe: Recipe) -> Environment | None:
    try:
        facts = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        facts.pop("schema")
        facts |= {"folder": folder, "packages": tuple(facts["packages"])}
        environment = Environment(**facts)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # An interpreter that was upgraded away leaves a link to nothing.
    return environment if recipe.is_whole(folder) else None


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """The handle of a lock file that is held now, None where somebody else holds it. Its end, or a close, lets go.

    A file that was removed in between is another file than the one whose lock was taken, and is tried again.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(handle)
            return None
        os.close(handle)


@contextmanager
def _only_builder(lock: Path, say: Say) -> Iterator[None]:
    """Hold the lock file. The kernel lets go of it when its holder ends, however that ends."""
    waiting = False
    while (handle := try_lock(lock)) is None:
        if not waiting:
            say(f"{lock.stem}: waiting for another lab that is building it")
        waiting = True
        time.sleep(LOCK_POLL_S)
    try:
        yield
    finally:
        os.close(handle)

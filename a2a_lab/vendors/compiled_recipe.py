"""How a vendor of a compiled language is built: its sources are copied, its own tool builds them from the lock.

One table says what differs between the languages. What is kept is what runs; the tool's own cache, in the user's
folder, makes the second build fast, as it does for Python and Node.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.recipe import MEDDLING, Step, check_step, dotted, without
from a2a_lab.vendors.vendor import Vendor, filled

RELEASE = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What builds one language. `command` is the build, run where the sources are; `kept` are what it leaves to keep.

    `out` is where it builds; `kept` paths lie in there, may hold shell patterns, and end up in the folder's `bin`.
    `linked` reads name==version from the built folder. `version` is an argv that prints the tool's release.
    `checked` says that the tool knows no hashes: then the lock holds those of what was kept, and they are compared.
    """

    programs: tuple[str, ...]
    manifest: str
    out: str
    version: tuple[str, ...]
    command: tuple[str, ...]
    kept: tuple[str, ...]
    linked: Callable[[Path], Iterable[str]]
    env: Mapping[str, str] = field(default_factory=dict)
    checked: bool = False


def linked_in_go(folder: Path) -> Iterable[str]:
    """The modules of go.mod, which lists all of them with their versions."""
    text = (folder / "source" / "go.mod").read_text(encoding="utf-8")
    return (f"{name}=={version}" for name, version in re.findall(r"^(?:require )?\s*(\S+) (v\S+)", text, re.MULTILINE))


def linked_in_rust(folder: Path) -> Iterable[str]:
    """The crates of Cargo.lock."""
    text = (folder / "source" / "Cargo.lock").read_text(encoding="utf-8")
    return (f"{name}=={version}" for name, version in re.findall(r'name = "(\S+)"\nversion = "(\S+)"', text))


def linked_in_java(folder: Path) -> Iterable[str]:
    """The jars, whose names end with their versions."""
    names = (re.fullmatch(r"(.+?)-(\d.*)", jar.stem) for jar in folder.glob("bin/*/lib/**/*.jar"))
    return (f"{name[1]}=={name[2]}" for name in names if name)


def strange_files(folder: Path, lock: Path) -> list[str]:
    """Libraries in the built folder that are not in the lock with their hash, and those that are only in the lock."""
    pairs = (line.split(maxsplit=1) for line in lock.read_text(encoding="utf-8").splitlines() if line.strip())
    locked = {name.strip(): digest for digest, name in pairs}
    found = {
        str(file.relative_to(folder / "bin")): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.glob("bin/*/lib/**/*.jar")
    }
    return sorted(name for name in locked.keys() | found.keys() if locked.get(name) != found.get(name))


# Cargo writes where its registry lies into every entry of a lock, and takes no lock without it. Ours says @registry@,
# and gets the place from a lock that Cargo writes itself: a lock names packages and hashes, not somebody's mirror.
CARGO_BUILD = (
    "mv Cargo.lock pinned && cargo generate-lockfile --quiet"
    ' && place=$(sed -n \'s/^source = "\\(registry[^"]*\\)"$/\\1/p\' Cargo.lock | head -n 1)'
    ' && sed "s|@registry@|$place|" pinned > Cargo.lock'
    " && exec cargo build --release --locked --target-dir out"
)

TOOLS = {
    "go": Tool(
        programs=("go",),
        manifest="go.mod",
        version=("go", "env", "GOVERSION"),
        out="out",
        command=("go", "build", "-trimpath", "-o", "out/", "./..."),
        kept=("*",),
        linked=linked_in_go,
        # The lock decides, and no other toolchain is fetched.
        env={"GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local", "GOWORK": "off", "CGO_ENABLED": "0"},
    ),
    "rust": Tool(
        programs=("cargo",),
        manifest="Cargo.toml",
        version=("cargo", "--version"),
        out="out",
        command=("/bin/sh", "-c", CARGO_BUILD),
        kept=("release/agent", "release/consumer"),
        linked=linked_in_rust,
        env={"RUSTUP_AUTO_INSTALL": "0"},
    ),
    "java": Tool(
        programs=("mvn", "java"),
        manifest="pom.xml",
        out="target",
        version=("java", "-version"),
        command=("mvn", "--batch-mode", "--no-transfer-progress", "package"),
        kept=("quarkus-app",),
        linked=linked_in_java,
        checked=True,
    ),
}


class CompiledRecipe:
    """The programs of a vendor, built by the tool of its language, or by `tool`."""

    def __init__(self, vendor: Vendor, tool: Tool | None = None) -> None:
        self._vendor = vendor
        self._tool = tool or TOOLS[vendor.runtime.kind]
        self.kind = vendor.runtime.kind
        self.installer = self._tool.programs[0]

    def require(self) -> None:
        name = self._vendor.environment_name
        for program in self._tool.programs:
            if not shutil.which(program):
                raise HarnessFault(
                    f"{name} is built by {program}; there is no {program} on the PATH",
                    step="interpreter",
                    cause="tool-missing",
                )
        least = self._vendor.runtime.tool_min
        found = release(self._tool.version)
        if least and found < least:
            raise HarnessFault(
                f"{name} needs {self.installer} {dotted(least)} or later; here it is {dotted(found) or 'unknown'}",
                step="interpreter",
                cause="tool-missing",
            )

    def runtime(self) -> str:
        return f"{self.kind} {dotted(release(self._tool.version))} {sys.platform} {os.uname().machine}"

    def inputs(self) -> tuple[Path, ...]:
        runtime = self._vendor.runtime
        return (runtime.lock, self._vendor.folder / self._tool.manifest, *runtime.programs)

    def environ(self) -> dict[str, str]:
        return {**without(os.environ, MEDDLING), **self._tool.env}

    def steps(self, folder: Path) -> Iterable[Step]:
        source = folder / "source"
        for file in self.inputs():
            place = source / file.relative_to(self._vendor.folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
        program, *rest = self._tool.command
        yield Step(
            name="build",
            # The tools look for their manifest where they are started, and steps are started in the folder above.
            command=("/bin/sh", "-c", 'cd "$0" && exec "$@"', str(source), shutil.which(program) or program, *rest),
            remedy=f"if {self._vendor.runtime.lock.name} no longer resolves, write it anew from {self._tool.manifest}",
        )
        (folder / "bin").mkdir(exist_ok=True)
        for pattern in self._tool.kept:
            for found in (source / self._tool.out).glob(pattern):
                found.rename(folder / "bin" / found.name)
        shutil.rmtree(source / self._tool.out, ignore_errors=True)
        if self._tool.checked and (strange := strange_files(folder, self._vendor.runtime.lock)):
            raise HarnessFault(
                f"{self._vendor.environment_name} was not built: these are not what {self._vendor.runtime.lock.name} "
                f"says: {', '.join(strange)}",
                step="verify",
                cause="failed",
            )
        if self._vendor.runtime.check:
            yield check_step(filled(self._vendor.runtime.check, {**self.places(folder), "environment": str(folder)}))

    def settle(self, folder: Path, final: Path) -> None:
        """Nothing that was built knows where it lies."""

    def packages(self, folder: Path) -> tuple[str, ...]:
        return tuple(sorted(self._tool.linked(folder)))

    def is_whole(self, folder: Path) -> bool:
        return any((folder / "bin").glob("*"))

    def places(self, folder: Path) -> dict[str, str]:
        return {"programs": str(folder / "bin")}


@cache
def release(command: tuple[str, ...]) -> tuple[int, ...]:
    """Major and minor of the tool; nothing for one that does not say."""
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ()
    found = RELEASE.search(told.stdout + told.stderr)
    return (int(found[1]), int(found[2])) if found else ()

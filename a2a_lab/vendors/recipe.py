"""What building an environment takes, whatever its kind: the steps, what they read, and what the result must look like.

A recipe says what to run; `environments` runs it. Every recipe pins exactly what the lock pins, with hashes, and lets
the tool neither fetch an interpreter, nor choose a pre-release, nor run a package's own install script.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

# Variables by which a surrounding environment, or a user's habit, would change what is installed or where.
MEDDLING = (
    "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_PRE",
    "PIP_REQUIREMENT", "PIP_CONSTRAINT", "PIP_REQUIRE_VIRTUALENV", "UV_PRERELEASE", "UV_PROJECT_ENVIRONMENT",
    "UV_CONSTRAINT", "UV_OVERRIDE", "NODE_OPTIONS", "NODE_PATH",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a build, and what to do when it fails."""

    name: str
    command: tuple[str, ...]
    remedy: str


class Recipe(Protocol):
    """What `environments` needs to know of a kind of environment."""

    kind: str
    installer: str

    def require(self) -> None:
        """Raise HarnessFault, cause "tool-missing", where the machine lacks what the recipe needs."""

    def runtime(self) -> str:
        """What the result depends on beside its inputs: interpreter and platform."""

    def inputs(self) -> tuple[Path, ...]:
        """The files that the result is made from."""

    def environ(self) -> dict[str, str]: ...

    def steps(self, folder: Path) -> Iterable[Step]: ...

    def settle(self, folder: Path, final: Path) -> None:
        """Make what was built in `folder` right for its final place."""

    def packages(self, folder: Path) -> tuple[str, ...]: ...

    def is_whole(self, folder: Path) -> bool: ...

    def places(self, folder: Path) -> dict[str, str]: ...


def check_step(command: Iterable[str]) -> Step:
    """The last step of a vendor that names a check: its own program must run in what was built."""
    return Step(name="check", command=tuple(command), remedy="the lock installs, but the vendor's program does not run")


def dotted(release: Iterable[int]) -> str:
    return ".".join(str(number) for number in release)


def without(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in names}


def size_of(folder: Path) -> int:
    """Bytes of all files in the folder; links count nothing."""
    total = 0
    for path, _, files in os.walk(folder):
        for name in files:
            about = os.lstat(os.path.join(path, name))
            total += about.st_size if not os.path.islink(os.path.join(path, name)) else 0
    return total

"""How a Python environment is built: uv where there is one, else venv and pip; from a lock with hashes, wheels only.

A package that is published without a wheel stands in a lock of its own, and is built last, by the tools of the first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.vendors.recipe import MEDDLING, Step, check_step, dotted, without
from a2a_lab.vendors.vendor import Vendor, filled

ASK = "import sys, sysconfig;print(sys.implementation.cache_tag, sysconfig.get_platform(), *sys.version_info[:2])"
# No interpreter is fetched, no question asked, and nothing written beside the vendor's programs.
QUIET = {"UV_PYTHON_DOWNLOADS": "never", "PIP_NO_INPUT": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class PythonRecipe:
    """A virtual environment with exactly the wheels of the lock."""

    kind = "python"

    def __init__(self, vendor: Vendor, interpreter: str, installer: str | None) -> None:
        self._vendor = vendor
        self._interpreter = interpreter
        wanted = installer or os.environ.get("A2A_LAB_INSTALLER") or "auto"
        if wanted not in ("auto", "uv", "pip"):
            raise Misuse(f"installer (or A2A_LAB_INSTALLER) is 'uv', 'pip' or 'auto', not {wanted!r}", installer=wanted)
        self._uv = find_uv() if wanted != "pip" else None
        self._wants_uv = wanted == "uv"
        self.installer = "uv" if self._uv or self._wants_uv else "pip"

    def require(self) -> None:
        least, below = self._vendor.runtime.python_min, self._vendor.runtime.python_below
        release = tuple(int(number) for number in about(self._interpreter)[2:4])
        if (least and release < least) or (below and release >= below):
            bounds = (f">={dotted(least)}" if least else "") + (f" <{dotted(below)}" if below else "")
            raise HarnessFault(
                f"{self._vendor.environment_name} needs Python {bounds.strip()}; {self._interpreter} is "
                f"{dotted(release)}; name another interpreter",
                step="interpreter",
                cause="tool-missing",
            )
        if self._wants_uv and not self._uv:
            raise HarnessFault("installer uv was asked for, but there is no uv", step="installer", cause="tool-missing")

    def runtime(self) -> str:
        tag, platform, *_ = about(self._interpreter)
        return f"{tag} {platform}"

    def inputs(self) -> tuple[Path, ...]:
        runtime = self._vendor.runtime
        return (runtime.lock, runtime.sources) if runtime.sources else (runtime.lock,)

    def environ(self) -> dict[str, str]:
        return {**without(os.environ, MEDDLING), **QUIET}

    def steps(self, folder: Path) -> Iterable[Step]:
        name, chosen = self._vendor.environment_name, ("--python", self._interpreter)
        python, lock, sources = str(python_in(folder)), str(self._vendor.runtime.lock), self._vendor.runtime.sources
        pinned = ("--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", lock)
        built = ("--require-hashes", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "-r", str(sources))
        stale = f"if the lock no longer resolves, write it anew from {name}/requirements.in"
        if self._uv:
            yield Step(
                name="create",
                command=(self._uv, "venv", "--quiet", "--allow-existing", "--prompt", name, *chosen, str(folder)),
                remedy="check that the interpreter can make virtual environments, or set A2A_LAB_INSTALLER=pip",
            )
            yield Step(
                name="install",
                command=(self._uv, "pip", "install", "--python", python, "--compile-bytecode", *pinned),
                remedy=f"{stale}; uv reads no pip.conf: set uv's own index variables, or A2A_LAB_INSTALLER=pip",
            )
        else:
            yield Step(
                name="create",
                command=(self._interpreter, "-m", "venv", "--prompt", name, str(folder)),
                remedy="check that the interpreter has the modules venv and ensurepip",
            )
            yield Step(
                name="install",
                command=(python, "-m", "pip", "install", "--disable-pip-version-check", *pinned),
                remedy=stale,
            )
        if sources:
            by = (self._uv, "pip", "install", "--python", python) if self._uv else (python, "-m", "pip", "install")
            yield Step(
                name="build",
                command=(*by, *built),
                remedy=f"what {name}/sources.in names is built by the packages of requirements.lock; write both anew",
            )
        if self._vendor.runtime.check:
            values = {**self.places(folder), "environment": str(folder)}
            yield check_step(filled(self._vendor.runtime.check, values))

    def settle(self, folder: Path, final: Path) -> None:
        """Scripts name the interpreter by its full path: let them name the one in the final place."""
        old, new = os.fsencode(folder), os.fsencode(final)
        for script in (folder / "bin").iterdir():
            if script.is_symlink() or not script.is_file():
                continue
            content = script.read_bytes()
            if old in content and b"\0" not in content:
                script.write_bytes(content.replace(old, new))

    def packages(self, folder: Path) -> tuple[str, ...]:
        names = (path.name.removesuffix(".dist-info") for path in folder.glob("lib/python*/site-packages/*.dist-info"))
        return tuple(sorted("==".join(name.rsplit("-", 1)) for name in names))

    def is_whole(self, folder: Path) -> bool:
        return python_in(folder).exists()

    def places(self, folder: Path) -> dict[str, str]:
        return {"python": str(python_in(folder)), "programs": str(self._vendor.folder)}


@cache
def about(interpreter: str) -> tuple[str, ...]:
    """The interpreter's cache tag, platform, major and minor. Raises HarnessFault where it does not run."""
    try:
        told = subprocess.run([interpreter, "-I", "-c", ASK], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise HarnessFault(
            f"{interpreter} does not run as a Python: {error}; name another interpreter",
            step="interpreter",
            cause="tool-missing",
            interpreter=interpreter,
        ) from error
    return tuple(told.stdout.split())


def find_uv() -> str | None:
    """uv on the PATH, or beside the interpreter that runs the lab."""
    beside = Path(sys.executable).with_name("uv")
    return shutil.which("uv") or (str(beside) if os.access(beside, os.X_OK) else None)


def python_in(folder: Path) -> Path:
    return folder / "bin" / "python"

"""How a Node environment is built: npm ci from a package-lock.json, with the vendor's programs beside node_modules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.recipe import MEDDLING, Step, check_step, without
from a2a_lab.vendors.vendor import Vendor, filled


class NodeRecipe:
    """The packages of the lock. The programs are copied in: Node looks for packages from a program's own folder."""

    kind = "node"
    installer = "npm"

    def __init__(self, vendor: Vendor) -> None:
        self._vendor = vendor
        self._node, self._npm = shutil.which("node"), shutil.which("npm")

    def require(self) -> None:
        if not (self._node and self._npm):
            missing = " and ".join(name for name, path in (("node", self._node), ("npm", self._npm)) if not path)
            raise HarnessFault(
                f"{self._vendor.environment_name} needs Node; there is no {missing} on the PATH",
                step="interpreter",
                cause="tool-missing",
            )
        least = self._vendor.runtime.node_min
        if least and major(self._node) < least:
            raise HarnessFault(
                f"{self._vendor.environment_name} needs Node {least} or later; {self._node} is {major(self._node)}",
                step="interpreter",
                cause="tool-missing",
            )

    def runtime(self) -> str:
        if not self._node:
            return "node missing"
        return f"v{major(self._node)} {sys.platform} {os.uname().machine}"

    def inputs(self) -> tuple[Path, ...]:
        return (self._vendor.runtime.lock, self._vendor.folder / "package.json", *self._vendor.runtime.programs)

    def environ(self) -> dict[str, str]:
        return without(os.environ, MEDDLING)

    def steps(self, folder: Path) -> Iterable[Step]:
        for file in self.inputs():
            shutil.copyfile(file, folder / file.name)
        yield Step(
            name="install",
            command=(self._npm or "npm", "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"),
            remedy="if the lock no longer resolves, write it anew from package.json",
        )
        if self._vendor.runtime.check:
            values = {**self.places(folder), "environment": str(folder)}
            yield check_step(filled(self._vendor.runtime.check, values))

    def settle(self, folder: Path, final: Path) -> None:
        """Nothing in node_modules knows where it lies."""

    def packages(self, folder: Path) -> tuple[str, ...]:
        held = json.loads((folder / "node_modules" / ".package-lock.json").read_text(encoding="utf-8"))["packages"]
        return tuple(sorted(f"{path.split('node_modules/')[-1]}=={about['version']}" for path, about in held.items()))

    def is_whole(self, folder: Path) -> bool:
        return (folder / "node_modules").is_dir() and self._node is not None

    def places(self, folder: Path) -> dict[str, str]:
        return {"node": self._node or "node", "programs": str(folder)}


@cache
def major(node: str) -> int:
    """The major version of a Node; 0 for a program that does not say."""
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60)
        return int(told.stdout.strip().lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0

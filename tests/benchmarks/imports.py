"""Cold start: importing the core and the client side, beside importing httpx (R42, goal 1.3 times)."""

from __future__ import annotations

import subprocess
import sys
import time

from tests.benchmarks.measuring import beside, told


def _fresh(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def main() -> None:
    core = "import a2a_lab.core.discovery, a2a_lab.core.stream, a2a_lab.core.rehearsal, a2a_lab.core.pinning"
    told("import the core", *beside(lambda: _fresh(core), lambda: _fresh("import httpx")), "s", "import httpx")
    net = "import a2a_lab.net.enforcing"
    told(
        "import the enforcing initiator",
        *beside(lambda: _fresh(net), lambda: _fresh("import httpx")),
        "s",
        "import httpx",
    )

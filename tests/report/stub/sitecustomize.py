"""Gives the kernels of a test an `a2a_lab.lab.api` that writes hand-made runs: pages are tested without agents.

Python imports a module of this name at start; the test puts this folder first on the path of the kernels only.
"""

import sys
import types
from pathlib import Path
from typing import Any

if "ipykernel_launcher" in sys.argv or any("ipykernel" in word for word in sys.orig_argv):
    sys.path.insert(0, str(Path(__file__).parents[2]))
    stub: Any = types.ModuleType("a2a_lab.lab.api")

    def run_matrix(matrix: str, *, posture: str, out: str, **options: Any) -> Path:
        """The seven pairs by hand; a matrix file `broken` fails as a real one would, and `slow` takes its time."""
        import synthetic_runs

        from a2a_lab.errors import Misuse

        if matrix == "broken":
            raise Misuse("no bundled data/matrices is called 'broken'")
        if Path(matrix).stem == "slow":
            import time

            time.sleep(60)
        return synthetic_runs.write_seven(Path(out), posture)

    stub.run_matrix = run_matrix
    sys.modules["a2a_lab.lab.api"] = stub

"""Time to verdict: how late a hang is called, beside the limit itself, and beside what a trusting client waits."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.plan import make_plan
from a2a_lab.lab.records import read_run
from a2a_lab.lab.run import run_plan
from tests.benchmarks.measuring import beside, told

MATRIX = """
pairs = [["silent", "watch"]]
[clocks]
silence_s = 0.5
hang_s = 1.0
total_s = 2.0
transport_timeout_s = 3.0
[agents.silent]
version = "1"
work_s = 0.0
misbehaviours = [{ name = "never-final" }]
[consumers.watch]
mode = "text/plain"
stream = true
"""


def _waited(posture: str) -> float:
    matrix = Matrix.parse(MATRIX, name="bench", where="bench.toml")
    with tempfile.TemporaryDirectory() as folder:
        where = asyncio.run(run_plan(matrix, make_plan(matrix, postures=[posture]), out=Path(folder), parameters={}))
        return read_run(where).cells[0].measures.waited_s


def main() -> None:
    told("waited for a hang, enforcing", *beside(lambda: _waited("enforcing"), lambda: 1.0, repeats=3), "s", "hang_s")
    told(
        "waited for a hang, enforcing",
        *beside(lambda: _waited("enforcing"), lambda: _waited("trusting"), repeats=3),
        "s",
        "trusting",
    )

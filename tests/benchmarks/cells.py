"""Cells per second: whole enforcing cells, beside the bare HTTP requests that such a cell makes of such an agent."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.plan import make_plan
from a2a_lab.lab.run import WORKERS, run_plan
from a2a_lab.net.client import Reach, new_client, tls_context
from a2a_lab.vendors.launch import SimulatedHost
from tests.benchmarks.measuring import beside, told

CELLS = 40
MATRIX = """
pairs = [["honest", "text"]]
[agents.honest]
version = "1"
signed_by = "lab"
work_s = 0.0
[consumers.text]
mode = "text/plain"
"""


def main() -> None:
    matrix = Matrix.parse(MATRIX, name="bench", where="bench.toml")
    requests = [0]

    def lab() -> float:
        cells = make_plan(matrix, postures=["enforcing"], attempts=CELLS)
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            where = asyncio.run(run_plan(matrix, cells, out=Path(folder), parameters={}))
            took = time.perf_counter() - began
            from a2a_lab.lab.records import read_run

            run = read_run(where)
            assert all(cell.measures.delivered for cell in run.cells)
            requests[0] = max(cell.measures.requests for cell in run.cells)
        return took / CELLS * 1000

    def bare() -> float:
        return asyncio.run(_bare(matrix, requests[0] or 9))

    lab()  # the first run tells how many requests a cell makes
    told("an enforcing cell", *beside(lab, bare, repeats=3), "ms/cell", f"{requests[0]} bare requests a cell")


async def _bare(matrix: Matrix, requests: int) -> float:
    """The same number of agents and requests, by a plain httpx client per worker."""
    context = tls_context(Reach(trust_env=False))
    began = time.perf_counter()
    async with SimulatedHost() as host:
        left = list(range(CELLS))

        async def work() -> None:
            async with new_client(Reach(trust_env=False), context) as client:
                while left:
                    left.pop()
                    agent = await host.start(matrix.agents["honest"])
                    for _ in range(requests):
                        (await client.get(agent.card_url)).raise_for_status()
                    await agent.stop()

        await asyncio.gather(*(work() for _ in range(WORKERS)))
    return (time.perf_counter() - began) / CELLS * 1000

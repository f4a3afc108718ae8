"""Runs a plan of real vendors: two cells at a time, environments as they are needed, each cell recorded as it ends."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.errors import Misuse
from a2a_lab.lab.cell import TOOL
from a2a_lab.lab.desk import LiveDesk, opened
from a2a_lab.lab.live import warnings_of
from a2a_lab.lab.live_cell import refused, run_live
from a2a_lab.lab.live_plan import require_credentials
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_cell import PairBench, run_pair
from a2a_lab.lab.pairing_plan import PairCell
from a2a_lab.lab.records import Header, RunWriter, VendorRecord, run_id
from a2a_lab.lab.run import LEDGER, Board, Watcher, first_of, one_or_mixed
from a2a_lab.lab.runkeys import note_keys
from a2a_lab.lab.runmatrix import keep_matrix
from a2a_lab.lab.stock import Stock
from a2a_lab.lab.writing import iso
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Reach, new_client, tls_context
from a2a_lab.vendors.live import LiveVendor
from a2a_lab.vendors.ports import Ports

WORKERS = 2  # each cell is two programs of somebody else's, and clocks are read in both
Run = Callable[[PairCell, PairBench], Any]


def say_aloud(told: str) -> None:
    """What must reach a person, such as the address for an external client."""
    print(told, file=sys.stderr, flush=True)


async def run_pairs(
    matrix: Matrix,
    cells: Sequence[PairCell],
    *,
    out: Path,
    parameters: Mapping[str, Any],
    transport_timeout_s: float | None = None,
    workers: int = WORKERS,
    watcher: Watcher | None = None,
    say: Callable[[str], None] = say_aloud,
    stock: Stock | None = None,
) -> Path:
    """Run the cells; gives the folder of the run. Raises Misuse where `out` cannot be written.

    Cancelling it ends the cells, and leaves records that read as interrupted.
    """
    require_credentials(cells)
    for warning in (warning for live in _lives(cells).values() for warning in warnings_of(live)):
        say(f"warning: {warning}")
    started = datetime.now(UTC)
    run = run_id(started, secrets.token_hex(2))
    header = Header(
        run=run,
        tool=TOOL,
        posture=one_or_mixed([cell.key.posture for cell in cells]),
        matrix=matrix.name,
        plan=tuple(str(cell.key) for cell in cells),
        parameters=dict(parameters),
        vendors=_vendors(cells),
        started=iso(started),
    )
    with RunWriter(out / run, header) as writer:
        await _run(matrix, cells, writer, out, transport_timeout_s, workers, watcher, say, stock or Stock(say=say))
    return writer.folder


async def resume_pairs(
    matrix: Matrix,
    cells: Sequence[PairCell],
    folder: Path,
    *,
    transport_timeout_s: float | None = None,
    workers: int = WORKERS,
    watcher: Watcher | None = None,
    say: Callable[[str], None] = say_aloud,
) -> Path:
    """Run what a cut or interrupted run still lacks; its other cells stay as they are."""
    require_credentials(cells)
    with RunWriter.resume(folder) as writer:
        wanted = {str(cell.key): cell for cell in cells}
        unknown = [key for key in writer.left if key not in wanted]
        if unknown:
            raise Misuse(
                f"{folder} plans cell {unknown[0]}, which matrix {matrix.name} does not have any more; "
                "resume with the matrix file it was started with"
            )
        left = [wanted[key] for key in writer.left]
        await _run(matrix, left, writer, folder.parent, transport_timeout_s, workers, watcher, say, Stock(say=say))
    return writer.folder


async def _run(
    matrix: Matrix,
    cells: Sequence[PairCell],
    writer: RunWriter,
    out: Path,
    transport_timeout_s: float | None,
    workers: int,
    watcher: Watcher | None,
    say: Callable[[str], None],
    stock: Stock,
) -> None:
    board = Board(planned=len(cells), watcher=watcher)
    queue: asyncio.Queue[PairCell] = asyncio.Queue()
    for cell in cells:
        queue.put_nowait(cell)
    reach = Reach(trust_env=False)
    context = tls_context(reach)
    interrupted = True
    note_keys(writer.folder, {"keys": []}, since=iso(datetime.now(UTC)))  # nobody's keys are trusted beforehand
    keep_matrix(writer.folder, matrix)
    try:
        with Ledger(out / LEDGER) as ledger, Ports() as ports:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(new_client(reach, context))
                desks = {
                    name: await stack.enter_async_context(opened(live, ledger, writer.header.run))
                    for name, live in _lives(cells).items()
                }
                group = await stack.enter_async_context(asyncio.TaskGroup())
                bench = PairBench(
                    run=writer.header.run,
                    folder=writer.folder,
                    matrix=matrix,
                    stock=stock,
                    ports=ports,
                    ledger=ledger,
                    client=client,
                    transport_timeout_s=transport_timeout_s or matrix.transport_timeout_s,
                    say=say,
                )
                for _ in range(min(workers, len(cells)) or 1):
                    group.create_task(_work(queue, bench, desks, writer, board))
        interrupted = False
    except BaseExceptionGroup as several:
        raise first_of(several) from several
    finally:
        stock.write(writer.folder)
        writer.close(ended=iso(datetime.now(UTC)), interrupted=interrupted)


async def _work(
    queue: asyncio.Queue[PairCell],
    bench: PairBench,
    desks: Mapping[str, LiveDesk],
    writer: RunWriter,
    board: Board,
) -> None:
    while not queue.empty():
        cell = queue.get_nowait()
        board.started(str(cell.key))
        live = cell.agent.live
        if live is None:
            record = await run_pair(cell, bench)
        else:
            record = refused(cell) if cell.refused else await run_live(cell, bench, desks[live.file])
        writer.append(record)
        board.ended(record)


def _vendors(cells: Sequence[PairCell]) -> dict[str, VendorRecord]:
    """What the names stand for; the lab's own consumers are the tool, whose version the header has."""
    found = {
        cell.consumer.name: VendorRecord(version=cell.consumer.vendor.version, reach="environment")
        for cell in cells
        if cell.consumer.vendor is not None
    }
    agents = {
        cell.agent.name: VendorRecord(
            version=cell.agent.vendor.version, reach="environment" if cell.agent.live is None else "live"
        )
        for cell in cells
    }
    return found | agents


def _lives(cells: Sequence[PairCell]) -> dict[str, LiveVendor]:
    """The agents that are not ours and are met, by file: two names for one of them have one budget and one gate."""
    return {cell.agent.live.file: cell.agent.live for cell in cells if cell.agent.live is not None and not cell.refused}

"""Runs a plan: a few cells at a time, each recorded as it ends, so that memory follows what is in flight."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.lab.cell import TOOL, Bench, Witness, run_cell
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.plan import Cell
from a2a_lab.lab.records import CellRecord, Header, RunWriter, VendorRecord, run_id
from a2a_lab.lab.runkeys import note_keys
from a2a_lab.lab.runmatrix import keep_matrix
from a2a_lab.lab.writing import iso
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Reach, new_client, tls_context
from a2a_lab.vendors.launch import SimulatedHost

WORKERS = 4  # cells wait far more than they compute; two cores carry four without one delaying another's clock
LEDGER = "lab.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a run tells whoever watches it: cells done of those planned, those under way, and what just ended."""

    done: int
    planned: int
    running: tuple[str, ...]
    ended: CellRecord | None = None


Watcher = Callable[[Progress], None]


@dataclass(slots=True, kw_only=True)
class Board:
    """What is under way and what has ended, told to the watcher."""

    planned: int
    watcher: Watcher | None
    done: int = 0
    running: dict[str, None] = field(default_factory=dict)

    def started(self, key: str) -> None:
        self.running[key] = None
        self._tell(None)

    def ended(self, record: CellRecord) -> None:
        self.running.pop(str(record.key), None)
        self.done += 1
        self._tell(record)

    def _tell(self, record: CellRecord | None) -> None:
        if self.watcher is not None:
            self.watcher(Progress(done=self.done, planned=self.planned, running=tuple(self.running), ended=record))


async def run_plan(
    matrix: Matrix,
    cells: Sequence[Cell],
    *,
    out: Path,
    parameters: Mapping[str, Any],
    transport_timeout_s: float | None = None,
    workers: int = WORKERS,
    watcher: Watcher | None = None,
    witness: Witness | None = None,
) -> Path:
    """Run the cells; gives the folder of the run. Raises Misuse where `out` cannot be written.

    Raises HarnessFault where the simulated vendors do not start. Cancelling it ends the cells, and leaves records that
    read as interrupted.
    """
    started = datetime.now(UTC)
    run = run_id(started, secrets.token_hex(2))
    header = Header(
        run=run,
        tool=TOOL,
        posture=one_or_mixed([cell.key.posture for cell in cells]),
        matrix=matrix.name,
        plan=tuple(str(cell.key) for cell in cells),
        parameters=dict(parameters),
        vendors={cell.key.agent: VendorRecord(version=cell.key.agent_version, reach="simulated") for cell in cells},
        started=iso(started),
    )
    with RunWriter(out / run, header) as writer:
        await _run(matrix, cells, writer, out, transport_timeout_s, workers, watcher, witness)
    return writer.folder


async def resume_plan(
    matrix: Matrix,
    cells: Sequence[Cell],
    folder: Path,
    *,
    transport_timeout_s: float | None = None,
    workers: int = WORKERS,
    watcher: Watcher | None = None,
) -> Path:
    """Run what a cut or interrupted run still lacks; its other cells stay as they are."""
    with RunWriter.resume(folder) as writer:
        wanted = {str(cell.key): cell for cell in cells}
        unknown = [key for key in writer.left if key not in wanted]
        if unknown:
            raise Misuse(
                f"{folder} plans cell {unknown[0]}, which matrix {matrix.name} does not have any more; "
                "resume with the matrix file it was started with"
            )
        left = [wanted[key] for key in writer.left]
        await _run(matrix, left, writer, folder.parent, transport_timeout_s, workers, watcher)
    return writer.folder


async def _run(
    matrix: Matrix,
    cells: Sequence[Cell],
    writer: RunWriter,
    out: Path,
    transport_timeout_s: float | None,
    workers: int,
    watcher: Watcher | None,
    witness: Witness | None = None,
) -> None:
    board = Board(planned=len(cells), watcher=watcher)
    queue: asyncio.Queue[Cell] = asyncio.Queue()
    for cell in cells:
        queue.put_nowait(cell)
    context = tls_context(Reach(trust_env=False))
    interrupted = True
    try:
        with Ledger(out / LEDGER) as ledger:
            async with SimulatedHost() as host, asyncio.TaskGroup() as group:
                note_keys(writer.folder, host.trusted_jwks, since=iso(datetime.now(UTC)))
                keep_matrix(writer.folder, matrix)
                for _ in range(min(workers, len(cells)) or 1):
                    work = _work(matrix, queue, writer, ledger, host, context, transport_timeout_s, board, witness)
                    group.create_task(work)
        interrupted = False
    except BaseExceptionGroup as several:
        raise first_of(several) from several
    finally:
        writer.close(ended=iso(datetime.now(UTC)), interrupted=interrupted)


async def _work(
    matrix: Matrix,
    queue: asyncio.Queue[Cell],
    writer: RunWriter,
    ledger: Ledger,
    host: SimulatedHost,
    context: Any,
    transport_timeout_s: float | None,
    board: Board,
    witness: Witness | None,
) -> None:
    """One worker with one HTTP client of its own: a shared pool would rescan every connection on each request."""
    async with new_client(Reach(trust_env=False), context) as client:
        bench = Bench(
            run=writer.header.run,
            folder=writer.folder,
            matrix=matrix,
            host=host,
            ledger=ledger,
            client=client,
            transport_timeout_s=transport_timeout_s or matrix.transport_timeout_s,
            witness=witness,
        )
        while not queue.empty():
            cell = queue.get_nowait()
            board.started(str(cell.key))
            record = await run_cell(cell, bench)
            writer.append(record)
            board.ended(record)


def first_of(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """The fault that ended the run; the others are those of workers that it took along."""
    for fault in several.exceptions:
        if isinstance(fault, BaseExceptionGroup):
            return first_of(fault)
        return fault
    return HarnessFault("the run ended without a reason")


def one_or_mixed(postures: Sequence[str]) -> str:
    """The posture of a run as a whole."""
    return postures[0] if len(set(postures)) == 1 else "mixed"

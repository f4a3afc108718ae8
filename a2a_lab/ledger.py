"""The task ledger: what was intended, sent, learned and left behind, on disk before the side effect leaves.

A journal of facts in SQLite (WAL, synchronous=FULL): a row is never changed. What is open, settled or an orphan is
computed from the facts by the core's `TaskBook`, the same that judges a capture, so that there is one rule only.
After a kill -9 at any point the intent rows account for every artifact and task that may exist.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a_lab.errors import HarnessFault, RecordFault

WAIT_S = 30.0  # for another process that holds the file
SCHEMA_VERSION = 2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS targets (
    run TEXT NOT NULL, cell TEXT NOT NULL, agent TEXT NOT NULL, url TEXT NOT NULL, binding TEXT NOT NULL,
    dialect TEXT NOT NULL, tenant TEXT, headers TEXT NOT NULL, nonce TEXT, at REAL NOT NULL, PRIMARY KEY (run, cell)
);
CREATE TABLE IF NOT EXISTS pins (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, cell TEXT NOT NULL, key TEXT NOT NULL, content_digest TEXT NOT NULL,
    full_digest TEXT NOT NULL, protocol_version TEXT NOT NULL, card_version TEXT NOT NULL, at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS facts (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, cell TEXT NOT NULL, what TEXT NOT NULL, detail TEXT NOT NULL,
    at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS facts_by_cell ON facts (run, cell);
CREATE TABLE IF NOT EXISTS budgets (
    run TEXT NOT NULL, vendor TEXT NOT NULL, spent INTEGER NOT NULL, PRIMARY KEY (run, vendor)
);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One row of the journal. `what` is a method of `TaskBook` without its `note_` prefix, `detail` its arguments."""

    run: str
    cell: str
    what: str
    detail: dict[str, Any]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRow:
    """Where a cell's tasks live: enough to ask for them and cancel them later.

    `headers` are those that select the target; credentials are never among them. `nonce` is what the lab's own agents
    answer with, so that whoever has their port later is not taken for them.
    """

    run: str
    cell: str
    agent: str
    url: str
    binding: str
    dialect: str
    tenant: str | None
    headers: dict[str, str]
    nonce: str | None = None


def _keep_a_log(db: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite waits for no lock here, so of two labs that make one file one would be refused."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
            time.sleep(0.01)


class Ledger:
    """One SQLite file. Safe for several cells of one process at a time, and for several processes."""

    def __init__(self, path: Path | str) -> None:
        """Open or make the file. Raises RecordFault where it is no ledger of ours or cannot be written."""
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, check_same_thread=False, timeout=WAIT_S)
            with contextlib.suppress(OSError):
                self.path.chmod(0o600)  # what agents answered is other people's data (R38)
            _keep_a_log(self._db)
            self._db.execute("PRAGMA synchronous=FULL")
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, SCHEMA_VERSION):
                raise RecordFault(
                    f"{self.path}: ledger schema {found}, this a2a-lab reads {SCHEMA_VERSION}: another version "
                    "wrote it. Move it away, or name another folder with --out"
                )
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            self._db.commit()
        except (sqlite3.Error, OSError) as problem:
            raise RecordFault(
                f"{self.path}: not usable as ledger ({problem}); is it another file, or not writable?"
            ) from problem

    async def intend(self, run: str, cell: str, what: str, /, **detail: Any) -> None:
        """Write a fact and wait until it is on the disk. Call before the side effect leaves."""
        await asyncio.to_thread(self.note, run, cell, what, **detail)

    def note(self, run: str, cell: str, what: str, /, **detail: Any) -> None:
        """Write a fact, on the disk when this returns. Raises HarnessFault where it cannot be written."""
        self._write(
            "INSERT INTO facts (run, cell, what, detail, at) VALUES (?, ?, ?, ?, ?)",
            (run, cell, what, json.dumps(detail, ensure_ascii=False), time.time()),
        )

    async def target(self, row: TargetRow) -> None:
        """Write where a cell's tasks will be, and wait until it is on the disk. Call before the first side effect."""
        await asyncio.to_thread(
            self._write,
            "INSERT OR REPLACE INTO targets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                row.run,
                row.cell,
                row.agent,
                row.url,
                row.binding,
                row.dialect,
                row.tenant,
                json.dumps(row.headers),
                row.nonce,
                time.time(),
            ),
        )

    def pin(
        self,
        run: str,
        cell: str,
        *,
        key: str,
        content_digest: str,
        full_digest: str,
        protocol_version: str,
        card_version: str,
    ) -> None:
        """Pin both digests and both version surfaces of a card (P1, P2), per resolved target (R33)."""
        self._write(
            "INSERT INTO pins (run, cell, key, content_digest, full_digest, protocol_version, card_version, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (run, cell, key, content_digest, full_digest, protocol_version, card_version, time.time()),
        )

    def spend(self, run: str, vendor: str, most: int) -> bool:
        """Count one agent run of a budget, on the disk when this returns; False where `most` are counted already.

        One statement, so that two processes never both take the last one.
        """
        try:
            with self._lock, self._db:
                self._db.execute("INSERT OR IGNORE INTO budgets VALUES (?, ?, 0)", (run, vendor))
                took = self._db.execute(
                    "UPDATE budgets SET spent = spent + 1 WHERE run = ? AND vendor = ? AND spent < ?",
                    (run, vendor, most),
                )
                return took.rowcount == 1
        except sqlite3.Error as problem:
            raise HarnessFault(f"{self.path}: cannot be written ({problem}), so nothing more is sent") from problem

    def spent(self, run: str, vendor: str) -> int:
        """How many agent runs of a budget are counted."""
        with self._lock:
            found = self._db.execute("SELECT spent FROM budgets WHERE run = ? AND vendor = ?", (run, vendor)).fetchone()
        return int(found[0]) if found else 0

    def facts(self, *, run: str | None = None, cell: str | None = None) -> Iterator[Fact]:
        """The journal in order, of one run or cell where named."""
        query, wanted = "SELECT run, cell, what, detail, at FROM facts", {"run": run, "cell": cell}
        given = {name: value for name, value in wanted.items() if value is not None}
        if given:
            query += " WHERE " + " AND ".join(f"{name} = :{name}" for name in given)
        with self._lock:
            rows = self._db.execute(query + " ORDER BY id", given).fetchall()
        for row in rows:
            yield Fact(run=row[0], cell=row[1], what=row[2], detail=json.loads(row[3]), at=row[4])

    def targets(self, *, run: str | None = None) -> dict[tuple[str, str], TargetRow]:
        """The target of each cell, by run and cell."""
        query = "SELECT run, cell, agent, url, binding, dialect, tenant, headers, nonce FROM targets"
        with self._lock:
            rows = self._db.execute(query + (" WHERE run = ?" if run else ""), (run,) if run else ()).fetchall()
        return {
            (row[0], row[1]): TargetRow(
                run=row[0],
                cell=row[1],
                agent=row[2],
                url=row[3],
                binding=row[4],
                dialect=row[5],
                tenant=row[6],
                headers=json.loads(row[7]),
                nonce=row[8],
            )
            for row in rows
        }

    def pins(self, *, run: str | None = None) -> list[dict[str, Any]]:
        names = ("run", "cell", "key", "content_digest", "full_digest", "protocol_version", "card_version", "at")
        query = f"SELECT {', '.join(names)} FROM pins" + (" WHERE run = ?" if run else "") + " ORDER BY id"
        with self._lock:
            rows = self._db.execute(query, (run,) if run else ()).fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        try:
            with self._lock, self._db:
                self._db.execute(statement, values)
        except sqlite3.Error as problem:
            raise HarnessFault(f"{self.path}: cannot be written ({problem}), so nothing more is sent") from problem

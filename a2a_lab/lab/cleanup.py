"""What runs left behind, from the ledger alone, and the attempt to settle it (A7, R35).

Only tasks of this ledger are touched. A message that was about to leave when the lab was killed counts as one of
unknown outcome: a task may be running that nobody can name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from a2a_lab.core.orphans import OrphanRow
from a2a_lab.core.policy import Bounds
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.core.tasks import TaskBook
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import Misuse
from a2a_lab.lab.desk import LiveDesk, opened
from a2a_lab.lab.live import require_variables
from a2a_lab.ledger import Fact, Ledger, TargetRow
from a2a_lab.net.caller import Caller
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.credentials import Credentials, from_environment, header_variables
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.journal import Journal, book_of, unanswered
from a2a_lab.net.settling import cancel
from a2a_lab.vendors.live import read_live
from a2a_lab.wire.dialects import dialect_for

TOTAL_S = 30.0  # for one call of a clean-up

Place = tuple[str, str]
"""Run and cell."""


@dataclass(slots=True)
class CleanedUp:
    """What a clean-up came to. `unreachable` are URLs of agents that gave no answer at all.

    `ended_with_run` counts what was at agents that the lab launched: those are gone with all they held, and their port
    may be somebody else's by now, who must not be asked.
    """

    cancelled: int = 0
    ended_with_run: int = 0
    unreachable: list[str] = field(default_factory=list)
    left: list[tuple[Place, OrphanRow]] = field(default_factory=list)


def runs_of(path: Path) -> list[str]:
    """The runs that the ledger knows, oldest first."""
    with Ledger(path) as ledger:
        return sorted({fact.run for fact in ledger.facts()} | {run for run, _ in ledger.targets()})


def list_orphans(path: Path, *, run: str | None = None) -> list[tuple[Place, OrphanRow]]:
    """Every orphan of the ledger, by run and cell; those at agents that may still be there come last, to be seen."""
    with Ledger(path) as ledger:
        targets = ledger.targets(run=run)
        found = [
            (place, row)
            for place, facts in _by_cell(ledger, run).items()
            for row in _book(facts, targets.get(place)).orphans()
        ]
    return sorted(found, key=lambda entry: (target := targets.get(entry[0])) is None or target.nonce is None)


async def clean_up(
    path: Path, *, run: str | None = None, header_env: Sequence[str] = (), vendor: str = ""
) -> CleanedUp:
    """Cancel every open task that the ledger can reach, verify, and say what is left.

    `vendor` is the file of an agent that is not ours: its tasks are reached as it says. Raises Misuse where headers are
    given and open tasks are at several origins, since a credential is for one (D8).
    """
    with Ledger(path) as ledger:
        async with AsyncExitStack() as stack:
            desk = await _desk(stack, ledger, vendor, run)
            client = await stack.enter_async_context(new_client(Reach(), tls_context(Reach())))
            credentials = from_environment(headers=header_variables([*header_env]))
            return await _clean(ledger, run, client, credentials, desk)


async def _desk(stack: AsyncExitStack, ledger: Ledger, vendor: str, run: str | None) -> LiveDesk | None:
    if not vendor:
        return None
    live = read_live(Path(vendor))
    require_variables([live])
    return await stack.enter_async_context(opened(live, ledger, run or "clean-up"))


async def _clean(
    ledger: Ledger, run: str | None, client: httpx.AsyncClient, credentials: Credentials, desk: LiveDesk | None
) -> CleanedUp:
    done, targets = CleanedUp(), ledger.targets(run=run)
    books = {place: _book(facts, targets.get(place)) for place, facts in _by_cell(ledger, run).items()}
    if credentials:
        _refuse_several(target for place, target in targets.items() if place in books and books[place].open_tasks())
    for place, book in books.items():
        target = targets.get(place)
        if target is not None and target.nonce is not None:
            done.ended_with_run += len(book.orphans())
            continue
        if target is None or not book.open_tasks():
            done.left += [(place, row) for row in book.orphans()]
            continue
        journal = Journal(ledger, *place, agent=target.agent, redactor=desk.redactor if desk else None)
        journal.book = book
        caller = _caller(target, client, credentials, desk)
        before = set(book.open_tasks())
        for task_id in sorted(before):
            await cancel(caller, journal, task_id, total_s=TOTAL_S)
        if not caller.was_answered and target.url not in done.unreachable:
            done.unreachable.append(target.url)
        done.cancelled += len(before - set(book.open_tasks()))
        done.left += [(place, row) for row in book.orphans()]
    return done


def _refuse_several(targets: Iterable[TargetRow]) -> None:
    """Raise Misuse where credentials would go to more than one origin; agents of the lab are asked for nothing."""
    origins = sorted({parse_url(one.url, binding=one.binding).origin for one in targets if one.nonce is None})
    if len(origins) > 1:
        raise Misuse(
            f"--header-env is for one origin, and tasks are open at {', '.join(origins)}; name a run with --run, or "
            "the vendor's file with --vendor"
        )


def _caller(target: TargetRow, client: httpx.AsyncClient, credentials: Credentials, desk: LiveDesk | None) -> Caller:
    """As the vendor's file has it where one is given: its credentials go to its own origin, and to no other."""
    return Caller(
        desk.http(Recorder(), Bounds()) if desk is not None else Http(client, Recorder(), bounds=Bounds()),
        dialect_for(target.dialect, target.binding),
        ResolvedTarget(dispatch_url=target.url, tenant_id=target.tenant, headers=target.headers),
        credentials=desk.credentials.calls if desk is not None else credentials.calls,
        bounds=Bounds(),
    )


def _by_cell(ledger: Ledger, run: str | None) -> dict[Place, list[Fact]]:
    cells: dict[Place, list[Fact]] = {}
    for fact in ledger.facts(run=run):
        cells.setdefault((fact.run, fact.cell), []).append(fact)
    return cells


def _book(facts: Sequence[Fact], target: TargetRow | None) -> TaskBook:
    agent = target.agent if target else (facts[0].cell.split("/")[0] if facts else "")
    book = book_of(facts, agent=agent)
    for message_id in unanswered(facts):
        book.note_unknown(message_id)
    return book

"""The seven pairs (issue 2, item 7): the figures of the records come out of the exchanges, and cannot be faked.

Each agent's own store is the second witness. One misbehaviour is taken away at a time, and exactly its own cells
move; initiators that try to look better than they are, are seen through.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.bundled import bundled
from a2a_lab.core.model import State
from a2a_lab.core.probe import ProbeReading
from a2a_lab.lab import cell as of_cells
from a2a_lab.lab.api import run_matrix
from a2a_lab.lab.matrix import KIND, Matrix
from a2a_lab.lab.records import CellRecord
from a2a_lab.net.client import Http
from a2a_lab.net.enforcing import EnforcingInitiator, _Flow
from a2a_lab.net.job import Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.net.trusting import TrustingInitiator
from a2a_lab.tabulate import summary
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.parts import payload_part
from tests.lab.meetings import (
    Kept,
    Met,
    Place,
    changed,
    left_of,
    meet,
    met,
    orphans_in_ledger,
    payloads_in_ledger,
    witnessing,
)

pytestmark = pytest.mark.slow

TEXT = bundled(KIND, "seven-pairs").read_text(encoding="utf-8")
SEVEN = Matrix.load("seven-pairs")
POSTURES = ("trusting", "enforcing")
PAIRS = pytest.mark.parametrize("pair", SEVEN.pairs, ids=" x ".join)
EACH_POSTURE = pytest.mark.parametrize("posture", POSTURES)
TIMEOUT_S = 1.5  # of a trusting client, where a test is not about how long it waits


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Met:
    """The bundled matrix as it is, in both postures, as `report` and the notebooks run it."""
    kept: dict[Place, Kept] = {}
    folder = run_matrix(
        "seven-pairs", posture="both", out=str(tmp_path_factory.mktemp("runs")), witness=witnessing(kept)
    )
    return met(folder, kept)


def figures(cells: dict[tuple[str, str], CellRecord]) -> dict[str, int]:
    counted = [cell.measures for cell in cells.values()]
    return {
        "held": sum(one.held is True for one in counted),
        "cycles": sum(one.renegotiation_cycles for one in counted),
        "orphan pairs": sum(one.orphans > 0 for one in counted),
        "hangs": sum(one.hangs for one in counted),
        "refused": sum(one.refused_sends for one in counted),
        "delivered": sum(one.delivered for one in counted),
    }


def told(held: int, cycles: int, orphan_pairs: int, hangs: int, refused: int, delivered: int) -> dict[str, int]:
    return {
        "held": held,
        "cycles": cycles,
        "orphan pairs": orphan_pairs,
        "hangs": hangs,
        "refused": refused,
        "delivered": delivered,
    }


def shown(cell: CellRecord) -> tuple[Any, ...]:
    """What a reader of the page sees of a cell: its outcome and its counts, no times and no bytes."""
    one = cell.measures
    return (
        cell.verdict,
        cell.authority,
        cell.mode,
        one.held,
        one.diverged,
        one.renegotiation_cycles,
        one.refused_sends,
        one.payload_sends,
        one.orphaned_artifacts,
        one.orphaned_tasks,
        one.hangs,
        one.delivered,
    )


def moved(seven: Met, other: Met, posture: str) -> set[tuple[str, str]]:
    before, after = seven.of(posture), other.of(posture)
    return {pair for pair in before if shown(before[pair]) != shown(after[pair])}


# ---- the figures -----------------------------------------------------------------------------------------------------


def test_trusting_shows_what_the_authority_record_observed(seven: Met) -> None:
    """The invariant in 2 of 7 pairs, a renegotiation cycle in 5, orphans in 2, one hang until the transport timeout."""
    assert figures(seven.of("trusting")) == told(2, 5, 2, 1, refused=5, delivered=4)
    cells = seven.of("trusting").values()
    assert sum(cell.measures.renegotiation_cycles > 0 for cell in cells) == 5
    assert sum(cell.measures.hangs > 0 for cell in cells) == 1


def test_enforcing_has_no_cycle_no_orphan_no_hang_and_delivers_no_less(seven: Met) -> None:
    """Zero by refusing everything would show: no payload was refused, and one more is delivered than in trusting."""
    assert figures(seven.of("enforcing")) == told(2, 0, 0, 0, refused=0, delivered=5)


def test_the_summary_of_a_report_has_these_keys_and_figures(seven: Met) -> None:
    trusting = replace(seven.run, cells=tuple(seven.of("trusting").values()))
    counted = summary(trusting)
    assert list(counted) == [
        "pairs",
        "held",
        "pairs_with_renegotiation",
        "pairs_with_orphans",
        "pairs_with_hangs",
        "renegotiation_cycles",
        "refused_sends",
        "orphaned_artifacts",
        "orphaned_tasks",
        "hangs",
        "delivered",
        "errors",
    ]
    del counted["errors"]
    assert list(counted.values()) == [7, 2, 5, 2, 1, 5, 5, 6, 1, 1, 4]


def test_the_same_pairs_hold_in_both_postures(seven: Met) -> None:
    """R36: what the agents keep does not depend on who looks."""
    held = {posture: {pair for pair, cell in seven.of(posture).items() if cell.measures.held} for posture in POSTURES}
    assert held["trusting"] == held["enforcing"] == {("alder", "notes"), ("birch", "records")}


def test_every_divergence_is_a_typed_error_or_a_named_hint_in_enforcing(seven: Met) -> None:
    named = {pair: {one.slug for one in cell.findings} for pair, cell in seven.of("enforcing").items()}
    for pair, cell in seven.of("enforcing").items():
        for what, slugs in {
            "mode": {"mode-narrowed"},
            "no-artifact": {"stream-without-artifact"},
            "never-final": {"idle-hang"},
        }.items():
            assert what not in cell.measures.diverged or slugs <= named[pair], pair
    ends = {pair: (cell.verdict.value, cell.authority) for pair, cell in seven.of("enforcing").items()}
    assert ends == {
        ("alder", "notes"): ("accept", "authoritative"),
        ("alder", "records"): ("hint", "advisory"),
        ("birch", "notes"): ("hint", "advisory"),
        ("birch", "records"): ("accept", "advisory"),
        ("birch", "dash"): ("conformance-error", "advisory"),
        ("cedar", "batch"): ("hint", "advisory"),
        ("cedar", "dash"): ("hang", "advisory"),
    }
    errors = {pair: cell.errors for pair, cell in seven.of("enforcing").items() if cell.errors}
    assert set(errors) == {("birch", "dash"), ("cedar", "dash")}
    assert "stream-without-artifact" in errors["birch", "dash"] and "idle-hang" in errors["cedar", "dash"]


def test_a_trusting_cell_is_judged_by_its_evidence_whatever_its_client_believed(seven: Met) -> None:
    """R5: the client knew of its timeout alone, and took an empty stream as done; the gates it skipped see more."""
    cells = seven.of("trusting")
    assert {pair: cell.verdict.value for pair, cell in cells.items()} == {
        ("alder", "notes"): "accept",
        ("alder", "records"): "hint",
        ("birch", "notes"): "hint",
        ("birch", "records"): "accept",
        ("birch", "dash"): "conformance-error",
        ("cedar", "batch"): "orphan",
        ("cedar", "dash"): "orphan",
    }
    assert {cell.authority for cell in cells.values()} == {"advisory"}, "nothing was probed, so no card binds"
    raised = {pair: cell.errors for pair, cell in cells.items() if cell.errors}
    assert raised == {("cedar", "dash"): ("client-transport-timeout",)}
    assert cells["birch", "dash"].said == "takes it as done, with no artifact"


def test_the_hang_is_waited_out_in_trusting_and_known_early_in_enforcing(seven: Met) -> None:
    """A short timeout passed off as the hang would show: the wait is that of the transport, counted from the news."""
    trusting, enforcing = (seven.of(posture)["cedar", "dash"].measures for posture in POSTURES)
    assert trusting.waited_s >= SEVEN.transport_timeout_s and trusting.hangs == 1
    assert enforcing.waited_s >= 0.9 * SEVEN.clocks.hang_s and enforcing.hangs == 0
    assert enforcing.time_to_verdict_s < 0.8 * SEVEN.transport_timeout_s
    others = [
        cell.measures.waited_s
        for posture in POSTURES
        for pair, cell in seven.of(posture).items()
        if pair != ("cedar", "dash")
    ]
    assert set(others) == {0.0}


# ---- the witnesses ---------------------------------------------------------------------------------------------------


def assert_witnessed(run: Met) -> None:
    """Ledger, measures and the agents' own stores say the same, cell by cell."""
    assert set(run.cells) == set(run.kept)
    for where, cell in run.cells.items():
        kept, counted = run.kept[where], cell.measures
        assert cell.verdict is not NotGradeable.HARNESS_ERROR, cell.said
        assert kept.payloads == counted.payload_sends, f"{where}: the agent received another number of payloads"
        assert left_of(cell, kept) == kept.left, f"{where}: the agent holds {kept.left}, the record {cell.orphans}"
        assert counted.orphans == len(cell.orphans) == sum(kept.left.values())
        recorded = {(one.task_id, one.artifact_or_message_id, one.bytes) for one in cell.orphans}
        assert set(orphans_in_ledger(run, cell)) == recorded, f"{where}: the ledger lists other orphans"


@EACH_POSTURE
@PAIRS
def test_ledger_measures_and_the_agents_own_store_agree(seven: Met, posture: str, pair: tuple[str, str]) -> None:
    where = (posture, *pair)
    one = replace(seven, cells={where: seven.cells[where]}, kept={where: seven.kept[where]})
    assert_witnessed(one)
    assert payloads_in_ledger(seven, seven.cells[where]) == seven.cells[where].measures.payload_sends


@EACH_POSTURE
@PAIRS
def test_every_request_is_one_that_the_agent_saw(seven: Met, posture: str, pair: tuple[str, str]) -> None:
    where = (posture, *pair)
    assert seven.cells[where].measures.requests == len(seven.kept[where].requests)


# ---- one misbehaviour healed at a time -------------------------------------------------------------------------------

HEALED = {
    "alder modes": (
        'misbehaviours = [{ name = "ignores-skill-modes", accepts = ["text/plain"] }]\n',
        {("alder", "records")},
        told(3, 4, 2, 1, refused=4, delivered=4),
        told(3, 0, 0, 0, refused=0, delivered=5),
    ),
    "birch modes": (
        '  { name = "ignores-default-modes", accepts = ["application/json"] },\n',
        {("birch", "notes"), ("birch", "dash")},
        told(3, 3, 2, 1, refused=3, delivered=4),
        told(3, 0, 0, 0, refused=0, delivered=5),
    ),
    "birch streams": (
        '  { name = "single-terminal-event", on = "stream" },\n',
        {("birch", "dash")},
        told(2, 5, 2, 1, refused=5, delivered=5),
        told(2, 0, 0, 0, refused=0, delivered=6),
    ),
    "cedar streams": (
        '  { name = "never-final", on = "stream" },\n',
        {("cedar", "dash")},
        told(2, 5, 1, 0, refused=5, delivered=5),
        told(2, 0, 0, 0, refused=0, delivered=6),
    ),
    "cedar send": (
        '  { name = "commits-then-rejects", on = "send", accepts = ["text/plain"] },\n',
        {("cedar", "batch")},
        told(3, 4, 1, 1, refused=4, delivered=5),
        told(3, 0, 0, 0, refused=0, delivered=5),
    ),
}


@pytest.mark.parametrize("name", HEALED)
def test_a_healed_misbehaviour_moves_exactly_its_own_cells(seven: Met, tmp_path: Path, name: str) -> None:
    misbehaviour, its_own, trusting, enforcing = HEALED[name]
    healed = meet(changed(TEXT, misbehaviour), tmp_path, transport_timeout_s=TIMEOUT_S)
    assert {posture: moved(seven, healed, posture) for posture in POSTURES} == dict.fromkeys(POSTURES, its_own)
    assert figures(healed.of("trusting")) == trusting
    assert figures(healed.of("enforcing")) == enforcing
    assert_witnessed(healed)


def test_with_every_agent_honest_every_pair_holds_and_delivers(tmp_path: Path) -> None:
    text = TEXT
    for misbehaviour, *_ in HEALED.values():
        text = changed(text, misbehaviour)
    text = changed(text, '  { name = "ignores-default-modes", on = "stream", accepts = ["text/plain"] },\n')
    honest = meet(text, tmp_path, transport_timeout_s=TIMEOUT_S)
    for posture in POSTURES:
        assert figures(honest.of(posture)) == told(7, 0, 0, 0, refused=0, delivered=7)
    assert {cell.verdict.value for cell in honest.of("enforcing").values()} == {"accept"}
    assert_witnessed(honest)


# ---- the fakes -------------------------------------------------------------------------------------------------------


class PayloadInProbe(EnforcingInitiator):
    """An enforcing consumer whose probes carry the payload, and are booked as probes."""

    class Flow(_Flow):
        async def _probe(self, found: Any, plan: Any) -> ProbeReading:
            part = payload_part(plan.mode, self.job.intent.payloads[plan.mode], dialect="1.0")
            return await super()._probe(found, replace(plan, part=part))

    async def run(self, job: Job, http: Http, journal: Journal) -> Outcome:
        flow = self.Flow(job, http, journal)
        try:
            await flow.run()
        finally:
            await flow.settle()
        flow.conclude()
        return flow.outcome


class AlwaysANewTask(TrustingInitiator):
    """A trusting consumer that never continues a task, so that no task is seen to be renegotiated."""

    async def _commit(self, caller: Any, job: Job, journal: Journal, mode: str, task_id: str | None) -> Any:
        return await super()._commit(caller, job, journal, mode, None)


class BooksEverything(TrustingInitiator):
    """A trusting consumer that takes every task as complete."""

    async def run(self, job: Job, http: Http, journal: Journal) -> Outcome:
        outcome = await super().run(job, http, journal)
        for task_id in [row.task_id for row in journal.book.orphans() if row.task_id]:
            await journal.booked(task_id)
            outcome.booked.add(task_id)
        return outcome


FAKES = {
    "the probe carries the payload": ("enforcing", PayloadInProbe(), {"held": 2, "cycles": 4, "refused": 4}),
    "every attempt on a new task": ("trusting", AlwaysANewTask(), {"held": 2, "cycles": 5, "orphan pairs": 5}),
    "everything is booked as complete": ("trusting", BooksEverything(), told(2, 5, 2, 1, refused=5, delivered=4)),
}


@pytest.mark.parametrize("name", FAKES)
def test_who_tries_to_look_better_is_seen_through(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posture, fake, expected = FAKES[name]
    monkeypatch.setattr(of_cells, "INITIATORS", {**of_cells.INITIATORS, posture: fake})
    faked = meet(TEXT, tmp_path, postures=(posture,), transport_timeout_s=TIMEOUT_S)
    counted = figures(faked.of(posture))
    assert counted | expected == counted
    for where, cell in faked.cells.items():
        assert faked.kept[where].payloads == cell.measures.payload_sends


# ---- other faults in the same place ----------------------------------------------------------------------------------


def test_a_cancel_that_is_ignored_lifts_the_cell_to_orphan(seven: Met, tmp_path: Path) -> None:
    """R35: only an answer whose state is canceled counts. Zero orphans is a property of the matrix, no promise."""
    old = '  { name = "never-final", on = "stream" },\n'
    ignoring = meet(
        changed(TEXT, old, old + '  { name = "ignores-cancel" },\n'), tmp_path, transport_timeout_s=TIMEOUT_S
    )
    its_own = {("cedar", "batch"), ("cedar", "dash")}
    assert moved(seven, ignoring, "enforcing") == its_own and moved(seven, ignoring, "trusting") == set()
    for pair in its_own:
        cell = ignoring.of("enforcing")[pair]
        assert cell.verdict.value == "orphan" and "orphaned-task" in cell.errors
        assert "cancel-not-effective" in {one.slug for one in cell.findings}
    assert ignoring.of("enforcing")["cedar", "batch"].measures.delivered
    assert_witnessed(ignoring)


def test_pings_are_no_progress_and_only_the_labs_own_cap_ends_a_trusting_wait(seven: Met, tmp_path: Path) -> None:
    """R30: comments keep a read timeout from firing for ever; the verdict of enforcing comes no later for them."""
    text = changed(
        TEXT, '{ name = "never-final", on = "stream" }', '{ name = "never-final", on = "stream", pings = true }'
    )
    text = changed(text, "cap_s = 10.0", "cap_s = 4.0")
    pinging = meet(text, tmp_path, transport_timeout_s=TIMEOUT_S)
    assert {posture: moved(seven, pinging, posture) for posture in POSTURES} == {key: set() for key in POSTURES}
    trusting, enforcing = (pinging.of(posture)["cedar", "dash"] for posture in POSTURES)
    assert trusting.measures.waited_s > TIMEOUT_S and "the lab's own limit" in trusting.said
    assert enforcing.closure == "live-hang" and enforcing.measures.time_to_verdict_s < 4.0


@pytest.mark.parametrize("min_bytes", [0, 300], ids=["to everybody", "to large messages only"])
def test_undeclared_output_is_a_typed_error_and_nobodys_result(tmp_path: Path, min_bytes: int) -> None:
    """A5. Where no probe brings it out the payload is spent, and the cell ends in an error all the same."""
    text = changed(
        TEXT,
        'misbehaviours = [{ name = "ignores-skill-modes", accepts = ["text/plain"] }]',
        'misbehaviours = [{ name = "ignores-skill-modes", accepts = ["text/plain"] }, '
        f'{{ name = "undeclared-output", min_bytes = {min_bytes} }}]',
    )
    xml = meet(text, tmp_path, only="alder", transport_timeout_s=TIMEOUT_S)
    is_seen_early = min_bytes == 0  # by a probe that the runtime carries out; that of records only names another mode
    spent = {"notes": 0 if is_seen_early else 1, "records": 1}
    for (posture, _, consumer), cell in xml.cells.items():
        assert "output" in cell.measures.diverged and cell.measures.held is False
        if posture == "enforcing":
            assert cell.verdict.value == "conformance-error" and "media-not-declared" in cell.errors
            assert not cell.measures.delivered and cell.measures.payload_sends == spent[consumer]


def test_an_inexact_version_leaves_the_card_advisory(seven: Met, tmp_path: Path) -> None:
    """A2: 1.0.0 is not 1.0. The agent works as before, and the card does not bind."""
    old = 'misbehaviours = [{ name = "ignores-skill-modes", accepts = ["text/plain"] }]'
    new = old.replace("}]", '}, { name = "wrong-version", value = "1.0.0" }]')
    inexact = meet(changed(TEXT, old, new), tmp_path, transport_timeout_s=TIMEOUT_S)
    assert moved(seven, inexact, "enforcing") == {("alder", "notes")}
    cell = inexact.of("enforcing")["alder", "notes"]
    assert (cell.verdict.value, cell.authority, cell.because) == ("accept", "advisory", ("version-inexact",))
    assert figures(inexact.of("enforcing")) == figures(seven.of("enforcing"))


def test_a_strangers_signature_leaves_the_card_advisory(seven: Met, tmp_path: Path) -> None:
    """A1: the presence of a signature proves nothing."""
    stranger = meet(
        changed(TEXT, 'signed_by = "lab"', 'signed_by = "stranger"'), tmp_path, transport_timeout_s=TIMEOUT_S
    )
    assert moved(seven, stranger, "enforcing") == {("alder", "notes")}
    cell = stranger.of("enforcing")["alder", "notes"]
    assert (cell.verdict.value, cell.authority, cell.because) == ("accept", "advisory", ("untrusted-key",))
    assert figures(stranger.of("enforcing")) == figures(seven.of("enforcing"))


def test_a_consumer_that_cannot_send_what_is_asked_for_refuses(tmp_path: Path) -> None:
    """A4: nothing is forced on a runtime; the refusal is an error with a name, and nothing was sent."""
    head, batch = TEXT.split("[consumers.batch]")
    batch = batch.replace('can_send = ["application/json", "text/plain"]', 'can_send = ["application/json"]', 1)
    only_json = meet(f"{head}[consumers.batch]{batch}", tmp_path, postures=("enforcing",), only="cedar@0.9/batch")
    cell = only_json.of("enforcing")["cedar", "batch"]
    assert cell.verdict.value == "refuse" and cell.errors
    assert cell.measures.payload_sends == 0 and not cell.orphans
    assert_witnessed(only_json)


# ---- nothing is written down where it is meant to come out -----------------------------------------------------------

RENAMED = {
    "alder": "one",
    "birch": "two",
    "cedar": "three",
    "notes": "four",
    "records": "five",
    "batch": "six",
    "dash": "seven",
}


def test_the_figures_depend_on_no_name_and_on_no_order(tmp_path: Path) -> None:
    """A switch for a pair would have to know it by its name or by its place in the run."""
    text = TEXT
    for old, new in RENAMED.items():
        text = re.sub(rf'(?<=[".]){old}(?=["\]])', new, text)
    head, _, rest = text.partition("pairs = [")
    listed, _, rest = rest.partition("\n]")
    pairs = re.findall(r'\["\w+", "\w+"\]', listed)
    assert len(pairs) == 7
    text = f"{head}pairs = [{', '.join(reversed(pairs))}]{rest}"
    other = meet(text, tmp_path, transport_timeout_s=TIMEOUT_S)
    assert figures(other.of("trusting")) == told(2, 5, 2, 1, refused=5, delivered=4)
    assert figures(other.of("enforcing")) == told(2, 0, 0, 0, refused=0, delivered=5)


def values(data: object) -> list[Any]:
    if isinstance(data, dict):
        return [item for key, value in data.items() for item in (key, *values(value))]
    if isinstance(data, list):
        return [item for value in data for item in values(value)]
    return [data]


def test_an_agents_table_names_no_consumer_no_posture_and_no_other_agent() -> None:
    names = {*SEVEN.consumers, *POSTURES, *(state.value for state in State)}
    for name, agent in SEVEN.agents.items():
        texts = {value for value in values(agent.table()) if isinstance(value, str)}
        assert not texts & (names | set(SEVEN.agents)), name
        assert not agent.expects


def test_the_only_numbers_of_the_matrix_are_its_clocks() -> None:
    data = tomllib.loads(TEXT)
    del data["clocks"]
    assert not [value for value in values(data) if isinstance(value, int | float) and not isinstance(value, bool)]


def test_no_code_of_the_agents_knows_a_name_of_the_matrix_or_a_posture() -> None:
    """Words of the code, not of its comments: what an agent does may depend on the request alone."""
    import io
    import tokenize

    import a2a_lab.vendors as vendors

    folder = Path(vendors.__path__[0])
    of_agents = ["agent", "card_desk", "cards", "executor", "gateways", "moves", "serving", "simulated", "speech"]
    paths = [*(folder / "behaviours").glob("*.py"), *(folder / f"{name}.py" for name in [*of_agents, "task_store"])]
    known = {*SEVEN.agents, *SEVEN.consumers, *POSTURES, "posture", "consumer", "pair", "canary"}
    for path in paths:
        words: set[str] = set()
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            is_prose = token.type == tokenize.STRING and token.string.lstrip("rbf").startswith('"""')
            if token.type in (tokenize.NAME, tokenize.STRING) and not is_prose:
                words |= set(re.findall(r"[a-z]+", token.string.lower()))
        assert not words & known, path.name

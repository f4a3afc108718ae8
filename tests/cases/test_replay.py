"""R43: every case that has requests, replayed as a vendor: what is concluded live equals what is concluded offline.

The consumer is scripted: it sends the case's own requests, under ids of its own. `check`, which sends what it likes, is
compared where it reaches the stage that a case is about.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from a2a_lab.core.resolution import base_of
from a2a_lab.judge.grounds import first_card_url
from a2a_lab.lab.casereading import Case, read_case
from a2a_lab.lab.cases import judge_case
from a2a_lab.lab.check import CheckOptions, check
from a2a_lab.lab.recordings import of_case, with_made_card
from a2a_lab.lab.replay import Replay, Served
from a2a_lab.lab.scripted import Played, play
from a2a_lab.verdicts import Stage

pytestmark = pytest.mark.slow

BOOK = Path(__file__).parents[2] / "data" / "cases"
CASES = {path.stem: read_case(json.loads(path.read_text()), name=path.name) for path in sorted(BOOK.glob("*.json"))}
WITH_REQUESTS = [name for name, case in CASES.items() if case.exchanges]
AT_ONCE, LONGEST_S = 6, 30.0

T = TypeVar("T")
Stages = dict[Stage, tuple[str, list[str]]]


def for_all(names: list[str], work: Callable[[str], Awaitable[T]]) -> dict[str, T]:
    """The work for every case, some at a time, each within its limit: waiting is most of it."""

    async def run() -> dict[str, T]:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(name: str) -> T:
            async with room, asyncio.timeout(LONGEST_S):
                return await work(name)

        return dict(zip(names, await asyncio.gather(*(one(name) for name in names)), strict=True))

    return asyncio.run(run())


def stages(case: Case) -> Stages:
    found = judge_case(case, BOOK / f"{case.id}.json").judgement.findings
    return {
        stage: (verdict.value, sorted(one.slug for one in all_of)) for stage, (verdict, all_of) in found.stages.items()
    }


def concluded(case: Case, live: Played) -> Stages:
    return stages(replace(case, exchanges=tuple(live.exchanges)))


async def play_case(name: str) -> Played:
    case = CASES[name]
    return await play(case.exchanges, clocks=case.policy.clocks, bounds=case.policy.bounds)


@pytest.fixture(scope="module")
def played() -> dict[str, Played]:
    return for_all(WITH_REQUESTS, play_case)


@pytest.mark.parametrize("name", WITH_REQUESTS)
def test_verdicts_live_equal_those_offline(name: str, played: dict[str, Played]) -> None:
    case, live = CASES[name], played[name]
    assert [one.told for one in live.unmatched] == []
    if concluded(case, live) != stages(case):
        # A busy machine may stretch a pause of 0.9 s past a limit of 1 s; alone it has no excuse.
        live = for_all([name], play_case)[name]
    assert concluded(case, live) == stages(case)


@pytest.mark.parametrize("name", WITH_REQUESTS)
def test_the_consumer_used_ids_of_its_own(name: str, played: dict[str, Played]) -> None:
    """So that equal verdicts show that the replay puts ids in, and does not rest on equal ids."""
    for recorded, live in zip(CASES[name].exchanges, played[name].exchanges, strict=True):
        if b'"jsonrpc"' in recorded.request_body and json.loads(recorded.request_body).get("id") is not None:
            assert json.loads(live.request_body)["id"] != json.loads(recorded.request_body)["id"]


# -- `check`, by itself

STATIC = (Stage.RESOLVE, Stage.FETCH, Stage.MATCH, Stage.SIGNATURE, Stage.VERSION)
NOT_COMPARABLE = {
    "disc-23-interface-on-other-origin-with-token": "the case holds credentials, and check was given none",
    "disc-24-registered-card-no-well-known": "the operator configured a card, which check takes as a URL only",
    "sig-30-valid-card-served-elsewhere": "the card names another origin, of which the case holds nothing",
    "ver-07-first-usable-interface-is-second": "the case speaks HTTP+JSON as well, and check takes no bindings",
}


@dataclass(frozen=True)
class Checked:
    """What one check found, and what the replay served to it."""

    stages: dict[str, str]
    served: list[Served]


def options(case: Case, running: Replay, out: Path) -> dict[str, Any]:
    """What an operator who knows the case would say on the command line."""
    policy, intent = case.policy, case.intent
    keys = case.document["given"].get("client", {}).get("trusted_keys")
    trust = out / f"{case.id}.jwks"
    if keys is not None:
        trust.write_text(json.dumps(keys))
    return {
        "trust": str(trust) if keys is not None else "",
        "signature_policy": policy.signature_policy,
        "require": intent.requires,
        "supports": policy.supports,
        "mode": intent.mode,
        "skill": intent.skill or "",
        "accepts": intent.accepts,
        "extensions": intent.extensions,
        "topology": policy.topology,
        "connect_to": [f"{origin}={there}" for origin, there in running.connect_to.items()],
        "allow_http": sorted(policy.allow_http),
        "allow_origin": sorted(policy.allow_origins),
        "jku_allow": sorted(policy.jku_allow),
        "silence": 0.3,
        "hang": 0.6,
        "total": 2.0,
        "out": str(out),
    }


async def checked(case: Case, out: Path, *, send: bool) -> Checked:
    recording = with_made_card(of_case(case)) if send else of_case(case)
    known, other = first_card_url(recording.exchanges, case.policy.bounds)
    url = case.base_url or (base_of(known) if known else case.given.card_url or other)
    assert url is not None
    stated = known if case.given.card is not None else None  # a card that a case states counts as the target's own
    async with Replay(recording.exchanges, match="operation" if send else "ids") as running:
        asked = options(case, running, out) | {"card_url": stated or case.given.card_url or other or "", "send": send}
        found = await check(url, CheckOptions(**asked))
    return Checked({name: record["verdict"] for name, record in found.stages.items()}, running.served)


WITH_CARD = [
    name
    for name, case in CASES.items()
    if case.given.card_url or first_card_url(of_case(case).exchanges, case.policy.bounds) != (None, None)
]


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checked]:
    """`check` as it is by default, on every case that has a card: it reads, and sends nothing."""
    out = tmp_path_factory.mktemp("reads")
    return for_all(WITH_CARD, lambda name: checked(CASES[name], out, send=False))


def static(name: str, reads: dict[str, Checked]) -> tuple[dict[str, str], dict[str, str]]:
    """The verdicts of the static stages offline, and those of the same stages as check found them."""
    offline = {stage.value: verdict for stage, (verdict, _) in stages(CASES[name]).items() if stage in STATIC}
    return offline, {stage: verdict for stage, verdict in reads[name].stages.items() if stage in offline}


@pytest.mark.parametrize("name", [name for name in WITH_CARD if name not in NOT_COMPARABLE])
def test_check_reads_a_card_as_the_judge_does(name: str, reads: dict[str, Checked]) -> None:
    """What a case has no answer for is 404 for both, so that each of its GETs matches (R6)."""
    offline, live = static(name, reads)
    assert live == offline


@pytest.mark.parametrize("name", NOT_COMPARABLE)
def test_what_check_cannot_be_told_it_cannot_find(name: str, reads: dict[str, Checked]) -> None:
    """Once one of these comes out alike, it belongs to the others."""
    offline, live = static(name, reads)
    assert live != offline, NOT_COMPARABLE[name]


def test_how_far_check_comes_by_itself(tmp_path: Path) -> None:
    """`check --send` asks in its own words; answered by operation alone, it still comes to most stages and verdicts.

    Where it differs it asked for something else: it sends no artifact before a probe, looks no second time at a card
    whose probe was refused, and leaves what it did not ask for. The floor says that this did not get worse.
    """

    async def one(name: str) -> Checked:
        return await checked(CASES[name], tmp_path, send=True)

    found = for_all([name for name, case in CASES.items() if case.exchanges or case.given.card is not None], one)
    expected = {name: CASES[name].expected for name in found}
    reached = [name for name, one in expected.items() if one is not None and one.stage in found[name].stages]
    alike = [name for name in reached if found[name].stages[expected[name].stage] == expected[name].verdict]  # type: ignore[union-attr]
    print(f"check --send: {len(found)} cases, {len(reached)} stages reached, {len(alike)} with the expected verdict")
    assert len(found) == len(CASES) and len(reached) >= 140 and len(alike) >= 105

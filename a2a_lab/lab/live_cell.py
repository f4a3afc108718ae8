"""Runs one cell of an agent that is not ours: as far as its file goes, in its turn, within its budget (R37).

What the lab does not send, for want of a yes, of credentials, of budget or of the agent's patience, is recorded as not
gradeable in a sentence, and counts against nobody.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

from a2a_lab.core.discovery import Discovery
from a2a_lab.core.model import Interface
from a2a_lab.core.tiers import Tier
from a2a_lab.core.urls import origin, parse_url
from a2a_lab.errors import HarnessFault, LabError, Withheld
from a2a_lab.lab.cell import Meeting, meet
from a2a_lab.lab.costs import Cost, worst_case
from a2a_lab.lab.desk import LiveDesk
from a2a_lab.lab.live import policy_of, reach_of, resolver_of
from a2a_lab.lab.live_guard import REFUSED, LiveGuard, past_the_recorder
from a2a_lab.lab.pair_cell import PairBench, Stand, failed, intent_of, watched
from a2a_lab.lab.pair_recall import pair_policy
from a2a_lab.lab.pairing_plan import CARD, PairCell
from a2a_lab.lab.records import CellRecord
from a2a_lab.lab.writing import harness_error, now
from a2a_lab.net import grpc_channel
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.recording import RecordingProxy
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.dialects import BINDINGS


def cost_of(cell: PairCell) -> Cost:
    """What the cell costs its agent at worst; nothing where it is refused."""
    live = cell.agent.live
    assert live is not None
    if cell.refused:
        return Cost(requests=0)
    posture = cell.key.posture
    return worst_case(posture, live.granted.tier, address=live.address, clocks=live.patience, rps=live.rps)


def refused(cell: PairCell) -> CellRecord:
    """The record of a cell that is not run."""
    return _withheld(cell, Withheld(cell.refused, word=NotGradeable.HARNESS_ERROR, slug=REFUSED), now())


async def run_live(cell: PairCell, bench: PairBench, desk: LiveDesk) -> CellRecord:
    """Run one cell to its record. Never raises for what the agent did, nor for a fault of the harness."""
    started = now()
    try:
        async with desk.turn:
            with desk.allowance.promised(cost_of(cell).runs):
                if cell.consumer.how in ("trusting", "enforcing"):
                    return await _own(cell, bench, desk, started)
                return await _foreign(cell, bench, desk, started)
    except Withheld as fault:
        return _withheld(cell, fault, started)
    except LabError as fault:
        return failed(cell, fault, started)
    except Exception as defect:  # one cell must not end the others, whatever an agent made of us
        told = f"a defect of the lab ended the cell: {type(defect).__name__}: {defect}"
        return failed(cell, HarnessFault(told, step="lab"), started)


async def _own(cell: PairCell, bench: PairBench, desk: LiveDesk, started: str) -> CellRecord:
    live, canary = desk.live, f"canary-{secrets.token_hex(8)}"
    is_stream, is_trusting = cell.key.scenario == "stream", cell.key.posture == "trusting"
    clocks = live.patience
    if is_trusting:
        clocks = replace(clocks, total_s=bench.matrix.cap_s)
    meeting = Meeting(
        key=cell.key,
        url=live.address,
        nonce=None,
        intent=intent_of(canary, is_stream=is_stream),
        canary=canary,
        policy=policy_of(live, clocks=clocks, control=live.granted.tier is Tier.FULL),
        clocks=live.patience,
        transport_timeout_s=bench.transport_timeout_s,
        cap_s=bench.matrix.cap_s,
        wait="stream" if is_stream else "block",
        resolver=resolver_of(live),
        desk=desk,
        depth="card" if cell.key.scenario == CARD else "send",
    )
    return await meet(meeting, client=desk.client, ledger=bench.ledger, run=bench.run, folder=bench.folder, at=started)


async def _foreign(cell: PairCell, bench: PairBench, desk: LiveDesk, started: str) -> CellRecord:
    """Somebody else's client, before an agent that is not ours: every request of it passes the guard."""
    live, recorder, guard = desk.live, Recorder(), LiveGuard(desk)
    address = live.url or live.card_url.partition("/.well-known/")[0]
    own, vendor = policy_of(live), cell.consumer.vendor
    spoken = vendor.bindings if vendor is not None else BINDINGS
    policy = replace(pair_policy(bench.matrix), allow_http=own.allow_http, allow_origins=own.allow_origins)
    stand = Stand(
        address=address,
        card_url=live.card_url or f"{address.rstrip('/')}/.well-known/agent-card.json",
        policy=policy,
        recorder=recorder,
        http=desk.http(recorder, policy.bounds),
        proxy=RecordingProxy(address, recorder, reach=reach_of(live), guard=guard),
        credentials=desk.credentials.card,
        redactor=desk.redactor,
        judge_look=lambda found: _stays_with_the_recorder(found, address, spoken, guard),
    )
    return await watched(cell, bench, stand, started)


def _stays_with_the_recorder(found: Discovery, address: str, bindings: Sequence[str], guard: LiveGuard) -> None:
    """Refuse where the card leads a client past the recorder: there nothing would hold it to a budget.

    `bindings` are those that the client speaks, as far as is known.
    """
    card = found.card or found.hint_card
    guard.known = frozenset(one.url for one in card.interfaces) if card is not None else frozenset()
    for one in card.interfaces if card is not None else ():
        if one.binding in bindings and not _is_behind(one, address):
            raise past_the_recorder("the card", one.url)


def _is_behind(one: Interface, address: str) -> bool:
    """Whether calls to the interface pass the recorder, or go nowhere at all."""
    try:
        place = parse_url(one.url, binding=one.binding)
    except ValueError:
        return True
    if one.binding == "GRPC":
        return place.host == parse_url(address).host and grpc_channel.is_available()
    return place.origin == origin(address)


def _withheld(cell: PairCell, fault: Withheld, started: str) -> CellRecord:
    record = harness_error(cell.key, fault, started)
    return replace(record, verdict=fault.word, because=(fault.reason,), errors=(fault.reason,), said=fault.message)

"""Runs one cell of real vendors: an agent of its own, the recorder in front of it, one consumer, and both judges.

The consumer does its own discovery. Before it comes the lab looks for the card itself, so that the agent is judged by
its card whatever the consumer makes of it; these looks stand in the evidence under their own purpose. What is missing
on the machine, or does not start, is a fault of the lab and costs this cell only.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx

from a2a_lab.core.causes import AGENT_DIED
from a2a_lab.core.discovery import Discovery, discover
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.quoting import counted, without_content
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import HarnessFault, LabError
from a2a_lab.judge.consumer import attribute_ends
from a2a_lab.judge.transcript import Call
from a2a_lab.judge.visit import Account, Visit
from a2a_lab.lab.cell import TOOL, Meeting, meet
from a2a_lab.lab.contents import contents_of, finding_without, without_contents
from a2a_lab.lab.external import wait_for_client
from a2a_lab.lab.foreign_books import book_foreign
from a2a_lab.lab.judging import PairJudgement
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.measures import measure
from a2a_lab.lab.pair_recall import CLOSING, TEXT, Beside, judge_cell, pair_policy, write_beside
from a2a_lab.lab.pairing_plan import OF_THE_LAB, PairCell
from a2a_lab.lab.records import CellRecord, Measures, evidence_path
from a2a_lab.lab.stock import Stock
from a2a_lab.lab.writing import digests_of, harness_error, now, orphans_of, stages_of
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Http, Reach
from a2a_lab.net.credentials import Source
from a2a_lab.net.discovering import drive
from a2a_lab.net.evidence import Recorder, write_har
from a2a_lab.net.journal import Journal
from a2a_lab.net.recording import WITHHELD, RecordingProxy
from a2a_lab.net.redact import Redactor
from a2a_lab.vendors.consumers import ConsumerResult, run_consumer
from a2a_lab.vendors.ports import Ports
from a2a_lab.vendors.served import ServedAgent, served
from a2a_lab.verdicts import Finding
from a2a_lab.wire.dialects import BINDINGS
from a2a_lab.wire.exchange import Exchange

LOOK_S = 10.0  # for the lab's own look at a card


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBench:
    """What the cells of one run share. `say` reaches whoever watches: an external client is told its address by it."""

    run: str
    folder: Path
    matrix: Matrix
    stock: Stock
    ports: Ports
    ledger: Ledger
    client: httpx.AsyncClient
    transport_timeout_s: float
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """Where a watched client's agent stands: its address, the recorder before it, and how the lab itself looks at it.

    `nonce` is what an agent answers with that the lab launched. `judge_look` may end the cell by what the lab's own
    look found, before the client comes; `died` says at the end whether the agent is gone.
    """

    address: str
    card_url: str
    policy: Policy
    recorder: Recorder
    http: Http
    proxy: RecordingProxy
    credentials: Source | None = None
    redactor: Redactor = field(default_factory=Redactor)
    nonce: str | None = None
    judge_look: Callable[[Discovery], None] = lambda _: None
    died: Callable[[], tuple[Finding, ...]] = lambda: ()


async def run_pair(cell: PairCell, bench: PairBench) -> CellRecord:
    """Run one cell to its record. Never raises for what a vendor did, nor for a fault of the harness."""
    started = now()
    try:
        environment = await bench.stock.get(cell.agent.built)
        if cell.consumer.vendor is not None:
            await bench.stock.get(cell.consumer.vendor)
        async with served(cell.agent.built, environment, ports=bench.ports, options=cell.agent.options) as agent:
            if cell.consumer.how in ("trusting", "enforcing"):
                return await _own(cell, bench, agent, started)
            return await _foreign(cell, bench, agent, started)
    except LabError as fault:
        return failed(cell, fault, started)
    except Exception as defect:  # one cell of hundreds must not end the others, whatever a vendor made of us
        told = f"a defect of the lab ended the cell: {type(defect).__name__}: {defect}"
        return failed(cell, HarnessFault(told, step="lab"), started)


async def _own(cell: PairCell, bench: PairBench, agent: ServedAgent, started: str) -> CellRecord:
    """The lab's own consumer: it records by itself, and needs nobody in between."""
    canary, clocks = f"canary-{secrets.token_hex(8)}", bench.matrix.clocks
    is_stream, is_trusting = cell.key.scenario == "stream", cell.key.posture == "trusting"
    policy = Policy(
        supports=OF_THE_LAB,
        bindings=BINDINGS,
        clocks=replace(clocks, total_s=bench.matrix.cap_s) if is_trusting else clocks,
    )
    meeting = Meeting(
        key=cell.key,
        url=agent.address,
        nonce=agent.nonce,
        intent=intent_of(canary, is_stream=is_stream),
        canary=canary,
        policy=policy,
        clocks=clocks,
        transport_timeout_s=bench.transport_timeout_s,
        cap_s=bench.matrix.cap_s,
        wait="stream" if is_stream else "block",
    )
    return await meet(meeting, client=bench.client, ledger=bench.ledger, run=bench.run, folder=bench.folder, at=started)


async def _foreign(cell: PairCell, bench: PairBench, agent: ServedAgent, started: str) -> CellRecord:
    """Somebody else's client before an agent that the lab launched."""
    policy = pair_policy(bench.matrix)
    recorder = Recorder()
    stand = Stand(
        address=agent.address,
        card_url=agent.card_url,
        policy=policy,
        recorder=recorder,
        http=Http(bench.client, recorder, bounds=policy.bounds, expect_nonce=agent.nonce),
        proxy=RecordingProxy(
            agent.address, recorder, reach=Reach(trust_env=False), nonce=agent.nonce, aliases=_aliases(cell, agent)
        ),
        nonce=agent.nonce,
        died=lambda: _death(agent),
    )
    return await watched(cell, bench, stand, started)


async def watched(cell: PairCell, bench: PairBench, stand: Stand, started: str) -> CellRecord:
    """Let the consumer meet the agent through the recorder, and judge both from what passed."""
    recorder, proxy, canary = stand.recorder, stand.proxy, f"canary-{secrets.token_hex(8)}"
    found = await _look(stand)
    looks = len(recorder.exchanges)
    try:
        async with proxy:
            account = await _consume(cell, bench, proxy, canary)
            died = stand.died()
    finally:  # whatever ended the client, what it left at the agent stays to be listed and cleaned up (A7)
        exchanges = recorder.exchanges[looks:]
        _label(exchanges, canary)
        stand.redactor.learn(exchanges)
        await _book(cell, bench, stand, exchanges)
    if (fault := proxy.harness_fault or proxy.withheld) is not None:
        raise fault
    if sum(canary.encode() in one.request_body for one in exchanges) > 1:
        await stand.http.send("GET", stand.card_url, {}, purpose=CLOSING, total_s=LOOK_S, credentials=stand.credentials)
    attribute_ends(exchanges, account)
    vendor = cell.consumer.vendor
    beside = Beside(
        address=stand.address,
        own_card_url=stand.card_url,
        dialects=vendor.dialects if vendor is not None else (),
        bindings=vendor.bindings if vendor is not None else (),
        account=account,
        noted=(*proxy.findings, *died),
        allow=tuple(sorted(stand.policy.allow_http | stand.policy.allow_origins)),
    )
    judged = judge_cell(recorder.exchanges, beside, matrix=bench.matrix, scenario=cell.key.scenario, now=time.time())
    evidence = evidence_path(cell.key)
    redactor = stand.redactor
    write_har(
        bench.folder / evidence,
        recorder.exchanges,
        started=recorder.started,
        tool=TOOL,
        redactor=redactor,
        comment=str(cell.key),
    )
    write_beside(bench.folder / evidence, beside, redactor)
    contents = contents_of(judged.visit.calls, own=canary)
    judged.findings.revise(lambda one: finding_without(redactor.finding(one), contents))
    authority = judged.findings.authority()
    return CellRecord(
        key=cell.key,
        verdict=judged.verdict,
        authority=authority.status,
        because=authority.because,
        stages=stages_of(judged.findings),
        said=without_contents(redactor.text(_said(account, judged)), contents),
        mode=TEXT if judged.visit.posted else None,
        errors=(judged.cause,) if judged.cause else (),
        measures=_measures(judged, exchanges, found, canary, bench),
        closure=judged.agent.closure,
        orphans=orphans_of(judged.book, redactor),
        evidence=evidence,
        **digests_of(found.card, found.card_url),
        started=started,
        ended=now(),
    )


def _aliases(cell: PairCell, agent: ServedAgent) -> dict[str, str]:
    """Where else the recorder offers the agent's card, as the matrix has it: path asked for, path served."""
    also_at = cell.agent.card_also_at
    base = parse_url(agent.address).path.rstrip("/")
    return {f"{base}{also_at}": parse_url(agent.card_url).path} if also_at is not None else {}


async def _look(stand: Stand) -> Discovery:
    """The lab's own look for the card, straight at the agent."""
    policy, held = stand.policy, stand.credentials
    origins = frozenset({parse_url(stand.address).origin}) if held is not None else frozenset[str]()
    walk = discover(stand.address, policy, credentials_for=origins)
    found = await drive(walk, stand.http, bounds=policy.bounds, credentials=held, card_s=LOOK_S)
    stand.judge_look(found)
    return found


async def _consume(cell: PairCell, bench: PairBench, proxy: RecordingProxy, canary: str) -> Account | None:
    """Let the consumer talk to the recorder; what it told its caller, None where the lab did not launch it."""
    consumer, op = cell.consumer, cell.key.scenario
    if consumer.vendor is None:
        before = len(proxy.recorder.exchanges)
        bench.say(f"{cell.key}: point your client at {proxy.url} and let it {op} one message")
        quiet_s = bench.matrix.clocks.silence_s
        await wait_for_client(proxy, before=before, wait_s=consumer.wait_s, quiet_s=quiet_s)
        return None
    result = await run_consumer(
        consumer.vendor,
        await bench.stock.get(consumer.vendor),
        url=proxy.url,
        op=op,
        text=f"hello {canary}",
        timeout_s=bench.transport_timeout_s,
        cap_s=bench.matrix.cap_s,
        options=consumer.options,
    )
    return account_of(result, began=proxy.recorder.started.timestamp())


def account_of(result: ConsumerResult, *, began: float = 0.0) -> Account:
    """What a launched consumer told its caller, as the judges read it; `began` is when its exchanges count from."""
    return Account(
        ok=result.ok,
        state=result.state,
        artifacts={each.id: each.text for each in result.artifacts},
        events=result.events,
        error=result.error,
        said=result.said,
        hung=result.hung,
        steps=tuple(((at - began) * 1000, what, told) for at, what, told in result.steps),
    )


async def _book(cell: PairCell, bench: PairBench, stand: Stand, exchanges: Sequence[Exchange]) -> None:
    """Write into the ledger what the client's traffic leaves at the agent; what never came to it leaves nothing."""
    journal = Journal(bench.ledger, bench.run, str(cell.key), agent=cell.key.agent, redactor=stand.redactor)
    arrived = [one for one in exchanges if not (one.fault or "").startswith(WITHHELD)]
    visit = Visit(arrived, policy=stand.policy, address=stand.address)
    await book_foreign(journal, visit, nonce=stand.nonce)


def _label(exchanges: Sequence[Exchange], canary: str) -> None:
    """Say of each message whether it carried the payload, which only the lab can know."""
    for exchange in exchanges:
        if not exchange.purpose and canary.encode() in exchange.request_body:
            exchange.purpose = "commit"


def _measures(
    judged: PairJudgement, exchanges: Sequence[Exchange], found: Discovery, canary: str, bench: PairBench
) -> Measures:
    """As of any cell; a task counts as taken where nothing of it was lost, and time from the first byte to the last.

    Whether the agent held to its card shows only in calls that its card declares.
    """
    visit = judged.visit
    taken = {task.id for call in visit.calls for task in call.tasks} if judged.cause is None else set()

    def counted(calls: Sequence[Call]) -> Measures:
        return measure(
            exchanges,
            calls,
            card=found.card,
            intent=intent_of(canary, is_stream=False),
            canary=canary,
            book=judged.book,
            booked=taken,
            silence_s=bench.matrix.clocks.silence_s,
        )

    fair = counted([call for call in visit.calls if visit.is_declared(call)])
    first = min((exchange.started_ms for exchange in exchanges), default=0.0)
    last = max((exchange.ended_ms for exchange in exchanges), default=0.0)
    time_s = round((last - first) / 1000, 3)
    return replace(counted(visit.calls), held=fair.held, diverged=fair.diverged, time_to_verdict_s=time_s)


def _death(agent: ServedAgent) -> tuple[Finding, ...]:
    """A finding where the agent's program is gone while it should serve."""
    if not agent.ended:
        return ()
    how = agent.problem or f"exit status {agent.exit_status}"
    return (AGENT_DIED(f"the program of {agent.name} ended ({how}); it printed last:\n{agent.output.last_lines(4)}"),)


def intent_of(canary: str, *, is_stream: bool) -> Intent:
    return Intent(mode=TEXT, payloads={TEXT: f"hello {canary}".encode()}, stream=is_stream)


def _said(account: Account | None, judged: PairJudgement) -> str:
    if account is not None:
        return without_content(account.said)
    cause = judged.consumer.cause
    return cause.detail if cause is not None else f"{counted(len(judged.visit.sends), 'message')}, all answered"


def failed(cell: PairCell, fault: LabError, started: str) -> CellRecord:
    """A cell that could not be run: what was missing, at which step, and where the log is."""
    record = harness_error(cell.key, fault, started)
    first = fault.message.splitlines()[0]
    step = fault.fields.get("step") if isinstance(fault, HarnessFault) else None
    reasons = [fault.slug, *(str(fault.fields[name]) for name in ("cause",) if name in fault.fields)]
    return replace(record, said=f"{first} (step {step})" if step else first, errors=tuple(reasons))

"""Runs one cell: starts its agent, lets the consumer meet it in one posture, counts, judges, and stores the evidence.

The agent of a cell is that cell's own, on a port of its own; what answers is checked to be what was started. A fault
of the peer ends this cell only; a fault of ours is recorded as such and never counted against a vendor.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import httpx

from a2a_lab import __version__
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Clocks, Intent, Policy
from a2a_lab.core.resolvers import PathPrefix, Resolver, TenantHeader, TenantQuery
from a2a_lab.errors import HarnessFault, LabError, Withheld
from a2a_lab.judge.offline import Given, judge_evidence
from a2a_lab.judge.transcript import read_calls
from a2a_lab.lab.desk import LiveDesk
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.measures import measure
from a2a_lab.lab.plan import Cell
from a2a_lab.lab.records import CellKey, CellRecord, evidence_path
from a2a_lab.lab.turned_away import add_advice
from a2a_lab.lab.writing import digests_of, harness_error, now, orphans_of, stages_of
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Http
from a2a_lab.net.enforcing import EnforcingInitiator
from a2a_lab.net.evidence import Recorder, write_har
from a2a_lab.net.job import CARD_S, Depth, Initiator, Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.net.redact import Redactor
from a2a_lab.net.trusting import TrustingInitiator
from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.vendors.launch import RunningAgent, SimulatedHost
from a2a_lab.vendors.payloads import intent

TOOL = f"a2a-lab {__version__}"
INITIATORS: Mapping[str, Initiator] = {"trusting": TrustingInitiator(), "enforcing": EnforcingInitiator()}
CAP_S = 120.0  # of an enforcing cell: its own clocks end it long before

Witness = Callable[[CellRecord, RunningAgent], Awaitable[None]]
"""Called with the record of a cell and its agent before that is stopped, to ask the agent what it kept itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the cells of one run share."""

    run: str
    folder: Path
    matrix: Matrix
    host: SimulatedHost
    ledger: Ledger
    client: httpx.AsyncClient
    transport_timeout_s: float
    witness: Witness | None = None

    @property
    def cap_s(self) -> float:
        """The lab's own limit for a trusting cell. It never cuts short a transport timeout that was asked for."""
        return max(self.matrix.cap_s, 2 * self.transport_timeout_s)


async def run_cell(cell: Cell, bench: Bench) -> CellRecord:
    """Run one cell to its record. Never raises for what a peer did, nor for a fault of the harness."""
    started = now()
    try:
        agent = await bench.host.start(cell.agent)
    except HarnessFault as fault:
        return harness_error(cell.key, fault, started)
    try:
        record = await _meet(cell, bench, agent, started)
        if bench.witness is not None:
            await bench.witness(record, agent)
        return record
    except LabError as fault:
        return harness_error(cell.key, fault, started)
    finally:
        with contextlib.suppress(HarnessFault):  # a host that is gone has stopped all its agents
            await agent.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """One consumer of the lab's own about to meet one agent, however that one is reached.

    `clocks` are those it is judged by, `transport_timeout_s` is the trusting posture's. What answers must carry
    `nonce`, where the agent was told one. An agent that is not ours is talked to through its `desk`, and `depth` "card"
    sends nothing to it.
    """

    key: CellKey
    url: str
    nonce: str | None
    intent: Intent
    canary: str
    policy: Policy
    clocks: Clocks
    transport_timeout_s: float
    cap_s: float
    wait: Literal["block", "poll", "stream"]
    resolver: Resolver | None = None
    desk: LiveDesk | None = None
    depth: Depth = "send"


async def _meet(cell: Cell, bench: Bench, agent: RunningAgent, started: str) -> CellRecord:
    canary, consumer = f"canary-{secrets.token_hex(8)}", cell.consumer
    meeting = Meeting(
        key=cell.key,
        url=agent.url,
        nonce=agent.nonce,
        intent=intent(consumer, canary),
        canary=canary,
        policy=_policy(cell, bench),
        clocks=bench.matrix.clocks,
        transport_timeout_s=bench.transport_timeout_s,
        cap_s=bench.cap_s,
        wait=consumer.wait,
        resolver=resolver_of(consumer),
    )
    return await meet(meeting, client=bench.client, ledger=bench.ledger, run=bench.run, folder=bench.folder, at=started)


async def meet(
    meeting: Meeting, *, client: httpx.AsyncClient, ledger: Ledger, run: str, folder: Path, at: str
) -> CellRecord:
    """Let the consumer meet the agent in its posture, count, judge, and store the evidence. `at` is when it began."""
    recorder, key, policy = Recorder(), meeting.key, meeting.policy
    is_trusting = key.posture == "trusting"
    desk = meeting.desk
    bounded: dict[str, Any] = {
        "bounds": policy.bounds,
        "transport_timeout_s": meeting.transport_timeout_s if is_trusting else None,
        "cap_s": meeting.cap_s if is_trusting else max(CAP_S, policy.clocks.total_s),
    }
    if desk is None:
        http = Http(client, recorder, **bounded, expect_nonce=meeting.nonce)
    else:
        http = desk.http(recorder, **bounded)
    redactor = desk.redactor if desk is not None else Redactor()
    spend = desk.allowance.spend if desk is not None else None
    journal = Journal(ledger, run, str(key), agent=key.agent, redactor=redactor, spend=spend)
    job = Job(
        run=run,
        cell=str(key),
        agent=key.agent,
        hint_url=meeting.url,
        intent=meeting.intent,
        policy=policy,
        now=time.time(),
        wait=meeting.wait,
        resolver=meeting.resolver,
        depth=meeting.depth,
        card_s=min(CARD_S, meeting.transport_timeout_s),
        **(desk.job_parts() if desk is not None else {}),
    )
    withheld: Withheld | None = None
    try:
        outcome = await INITIATORS[key.posture].run(job, http, journal)
    except Withheld as fault:
        withheld, outcome = fault, Outcome(said=fault.message, errors=[fault.reason])
    declared = [outcome.interface] if outcome.interface is not None else []
    calls = read_calls(recorder.exchanges, bounds=policy.bounds, interfaces=declared)
    if is_trusting:
        # A trusting client notices little; what its evidence shows is judged after, by the gates that it skipped (R5).
        judged = judge_evidence(
            recorder.exchanges,
            policy=replace(policy, clocks=meeting.clocks),
            intent=meeting.intent,
            now=job.now,
            base_url=None if job.card_url else meeting.url,
            resolver=job.resolver,
            given=Given(card_url=job.card_url, tenant=job.tenant),
            book=journal.book,
        )
        outcome.findings, outcome.closure = judged.findings, judged.closure
        outcome.not_gradeable = judged.not_gradeable
    if desk is not None and withheld is None:
        add_advice(outcome, recorder.exchanges, desk)
    if withheld is not None:
        outcome.not_gradeable = withheld.word
    findings = outcome.findings
    measures = measure(
        recorder.exchanges,
        calls,
        card=outcome.card,
        intent=meeting.intent,
        canary=meeting.canary,
        book=journal.book,
        booked=outcome.booked,
        silence_s=meeting.clocks.silence_s,
    )
    evidence = evidence_path(key)
    write_har(
        folder / evidence,
        recorder.exchanges,
        started=recorder.started,
        tool=TOOL,
        redactor=redactor,
        comment=str(key),
    )
    findings.revise(redactor.finding)
    return CellRecord(
        key=key,
        verdict=outcome.not_gradeable or findings.verdict,
        authority=findings.authority().status,
        because=findings.authority().because,
        stages=stages_of(findings),
        said=redactor.text(outcome.said),
        mode=outcome.mode,
        errors=tuple(dict.fromkeys(outcome.errors)),
        measures=measures,
        closure=outcome.closure,
        orphans=orphans_of(journal.book, redactor),
        evidence=evidence,
        **digests_of(outcome.card, outcome.card_url),
        started=at,
        ended=now(),
    )


def _policy(cell: Cell, bench: Bench) -> Policy:
    clocks = bench.matrix.clocks
    if cell.key.posture == "trusting":
        clocks = replace(clocks, total_s=bench.cap_s)
    return policy_of(cell.consumer, clocks=clocks, keys=KeySet.from_jwks(bench.host.trusted_jwks))


def policy_of(consumer: ConsumerSpec, *, clocks: Clocks, keys: KeySet | None) -> Policy:
    """What the operator of a consumer decides, as its file says; the same whether a cell runs or is judged again."""
    return Policy(
        supports=consumer.supports,
        bindings=consumer.bindings,
        topology=consumer.topology,
        signature_policy=consumer.signature_policy,
        trusted_keys=keys,
        probe=consumer.probe,
        probe_control=consumer.control_probe,
        drift=consumer.drift,
        max_renegotiations=consumer.max_renegotiations,
        clocks=clocks,
    )


def resolver_of(consumer: ConsumerSpec) -> Resolver | None:
    """How a consumer selects its tenant, if it has one."""
    if consumer.tenant is None:
        return None
    if consumer.tenant_by == "header":
        return TenantHeader(tenant=consumer.tenant)
    if consumer.tenant_by == "query":
        return TenantQuery(tenant=consumer.tenant)
    return PathPrefix(prefix=consumer.tenant)

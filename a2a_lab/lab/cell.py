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
from datetime import UTC, datetime
from pathlib import Path

import httpx

from a2a_lab import __version__
from a2a_lab.core.canonical import content_digest, portable_digest
from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Clocks, Policy
from a2a_lab.core.resolvers import PathPrefix, Resolver, TenantHeader, TenantQuery
from a2a_lab.core.urls import origin
from a2a_lab.errors import HarnessFault, LabError, MalformedJson
from a2a_lab.judge.offline import judge_evidence
from a2a_lab.judge.transcript import read_calls
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.measures import measure
from a2a_lab.lab.plan import Cell
from a2a_lab.lab.records import CellRecord, Orphan, StageRecord, evidence_path
from a2a_lab.lab.records import Outcome as Ended
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Http
from a2a_lab.net.enforcing import EnforcingInitiator
from a2a_lab.net.evidence import Recorder, write_har
from a2a_lab.net.job import Initiator, Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.net.redact import Redactor
from a2a_lab.net.trusting import TrustingInitiator
from a2a_lab.vendors.launch import RunningAgent, SimulatedHost
from a2a_lab.vendors.payloads import intent
from a2a_lab.vendors.spec import ConsumerSpec
from a2a_lab.verdicts import Findings, NotGradeable, Stage

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


async def run_cell(cell: Cell, bench: Bench) -> CellRecord:
    """Run one cell to its record. Never raises for what a peer did, nor for a fault of the harness."""
    started = _now()
    try:
        agent = await bench.host.start(cell.agent)
    except HarnessFault as fault:
        return _harness_error(cell, fault, started)
    try:
        record = await _meet(cell, bench, agent, started)
        if bench.witness is not None:
            await bench.witness(record, agent)
        return record
    except LabError as fault:
        return _harness_error(cell, fault, started)
    finally:
        with contextlib.suppress(HarnessFault):  # a host that is gone has stopped all its agents
            await agent.stop()


async def _meet(cell: Cell, bench: Bench, agent: RunningAgent, started: str) -> CellRecord:
    canary, consumer = f"canary-{secrets.token_hex(8)}", cell.consumer
    wanted, policy = intent(consumer, canary), _policy(cell, bench)
    recorder = Recorder()
    is_trusting = cell.key.posture == "trusting"
    http = Http(
        bench.client,
        recorder,
        bounds=policy.bounds,
        transport_timeout_s=bench.transport_timeout_s if is_trusting else None,
        cap_s=bench.matrix.cap_s if is_trusting else CAP_S,
        expect_nonce=agent.nonce,
    )
    journal = Journal(bench.ledger, bench.run, str(cell.key), agent=cell.key.agent)
    job = Job(
        run=bench.run,
        cell=str(cell.key),
        agent=cell.key.agent,
        hint_url=agent.url,
        intent=wanted,
        policy=policy,
        now=time.time(),
        wait=consumer.wait,
        resolver=resolver_of(consumer),
    )
    outcome = await INITIATORS[cell.key.posture].run(job, http, journal)
    declared = [outcome.interface] if outcome.interface is not None else []
    calls = read_calls(recorder.exchanges, bounds=policy.bounds, interfaces=declared)
    findings = outcome.findings
    if is_trusting:
        # A trusting client notices little; what its evidence shows is judged after, by the gates that it skipped (R5).
        judged = judge_evidence(
            recorder.exchanges,
            policy=replace(policy, clocks=bench.matrix.clocks),
            intent=wanted,
            now=job.now,
            base_url=agent.url,
            resolver=job.resolver,
            book=journal.book,
        )
        findings, outcome.closure = judged.findings, judged.closure
        outcome.not_gradeable = judged.not_gradeable
    measures = measure(
        recorder.exchanges,
        calls,
        card=outcome.card,
        intent=wanted,
        canary=canary,
        book=journal.book,
        booked=outcome.booked,
        silence_s=bench.matrix.clocks.silence_s,
    )
    evidence = evidence_path(cell.key)
    write_har(
        bench.folder / evidence,
        recorder.exchanges,
        started=recorder.started,
        tool=TOOL,
        redactor=Redactor(),
        comment=str(cell.key),
    )
    return CellRecord(
        key=cell.key,
        verdict=outcome.not_gradeable or findings.verdict,
        authority=findings.authority().status,
        because=findings.authority().because,
        stages=_stages(findings),
        said=outcome.said,
        mode=outcome.mode,
        errors=tuple(dict.fromkeys(outcome.errors)),
        measures=measures,
        closure=outcome.closure,
        orphans=_orphans(journal),
        evidence=evidence,
        **_digests(outcome),
        started=started,
        ended=_now(),
    )


def _policy(cell: Cell, bench: Bench) -> Policy:
    clocks = bench.matrix.clocks
    if cell.key.posture == "trusting":
        clocks = replace(clocks, total_s=bench.matrix.cap_s)
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


def _stages(findings: Findings) -> dict[Stage, StageRecord]:
    return {
        stage: StageRecord(verdict=verdict, findings=tuple(found))
        for stage, (verdict, found) in findings.stages.items()
    }


def _orphans(journal: Journal) -> tuple[Orphan, ...]:
    return tuple(
        Orphan(
            agent=row.agent,
            task_id=row.task_id,
            artifact_or_message_id=row.artifact_or_message_id,
            media_type=row.media_type,
            bytes=row.bytes,
            state=f"{row.state}, clean-up {row.cleanup}",
        )
        for row in journal.book.orphans()
    )


def _digests(outcome: Outcome) -> dict[str, str]:
    if outcome.card is None or outcome.card_url is None:
        return {}
    try:
        document = outcome.card.document
        return {
            "card_digest": content_digest(document),
            "portable_digest": portable_digest(document, origin(outcome.card_url)),
        }
    except MalformedJson:
        return {}


def _harness_error(cell: Cell, fault: LabError, started: str) -> CellRecord:
    verdict: Ended = NotGradeable.HARNESS_ERROR
    return CellRecord(
        key=cell.key,
        verdict=verdict,
        authority="advisory",
        because=(fault.slug,),
        said=fault.message,
        errors=(fault.slug,),
        started=started,
        ended=_now(),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""Checks one live agent: what a client may rely on, stage by stage. Reads only, unless told to send (R37)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.core.tiers import PROD
from a2a_lab.errors import Withheld
from a2a_lab.judge.transcript import read_calls
from a2a_lab.lab.cell import TOOL
from a2a_lab.lab.checknotes import notes_of
from a2a_lab.lab.checkoptions import PROMPT, CheckOptions, intent_of, live_of, policy_for
from a2a_lab.lab.clients import readings
from a2a_lab.lab.costs import runs_of
from a2a_lab.lab.desk import LiveDesk, opened
from a2a_lab.lab.live import require_variables, resolver_of, tenant_of, warnings_of
from a2a_lab.lab.measures import measure
from a2a_lab.lab.records import Measures, run_id
from a2a_lab.lab.run import LEDGER
from a2a_lab.lab.turned_away import add_advice
from a2a_lab.ledger import Ledger
from a2a_lab.net.enforcing import EnforcingInitiator
from a2a_lab.net.evidence import Recorder, write_har
from a2a_lab.net.job import Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.vendors.live import LiveVendor
from a2a_lab.verdicts import NotGradeable, Verdict

__all__ = ["PROMPT", "CheckOptions", "CheckResult", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found. `clients` are readings of the card by generation, `would_send` what sending costs.

    `notes` say where the target or the card lies, if not where the address led to believe.
    """

    target: Mapping[str, Any]
    verdict: Verdict | NotGradeable
    authority: Mapping[str, Any]
    stages: Mapping[str, Any]
    measures: Mapping[str, Any]
    evidence: str
    said: str = ""
    card: Mapping[str, Any] = field(default_factory=dict)
    clients: Mapping[str, str] = field(default_factory=dict)
    would_send: str = ""
    sent: bool = False
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What `check --json` prints."""
        return {
            "target": dict(self.target),
            "verdict": self.verdict.value,
            "authority": dict(self.authority),
            "stages": dict(self.stages),
            "measures": dict(self.measures),
            "evidence": self.evidence,
        }

    @property
    def exit_code(self) -> int:
        """R39: 0 accept or hint, 1 worse, 2 not gradeable, 3 a fault of the harness."""
        if isinstance(self.verdict, NotGradeable):
            return 3 if self.verdict is NotGradeable.HARNESS_ERROR else 2
        return 0 if self.verdict.severity <= Verdict.HINT.severity else 1


async def check(url: str, options: CheckOptions) -> CheckResult:
    """Check one agent, of a URL or of a vendor file. Raises Misuse for what the operator got wrong.

    A fault of the peer is in the result, and so is what the lab did not send for want of credentials or budget.
    """
    live = live_of(url, options)
    if live.where:
        require_variables([live])
    run, out = run_id(datetime.now(UTC), secrets.token_hex(2)), Path(options.out)
    canary = f"canary-{secrets.token_hex(8)}"
    with Ledger(out / LEDGER) as ledger:
        async with opened(live, ledger, run) as desk:
            job = Job(
                run=run,
                cell=f"check/{run}",
                agent=live.address,
                hint_url=live.address,
                intent=intent_of(options, canary),
                policy=policy_for(live, options),
                now=time.time(),
                resolver=resolver_of(live),
                tenant=tenant_of(live),
                card_url=live.card_url or None,
                credentials=desk.credentials,
                depth="send" if options.send else "card",
                stream_if_declared=True,
            )
            return await _checked(job, desk, ledger, out, canary, sends=options.send)


async def _checked(job: Job, desk: LiveDesk, ledger: Ledger, out: Path, canary: str, *, sends: bool) -> CheckResult:
    recorder, redactor = Recorder(), desk.redactor
    evidence = out / "checks" / f"{job.run}.har"
    shown = redactor.url(job.hint_url)

    def keep() -> None:
        write_har(
            evidence,
            recorder.exchanges,
            started=recorder.started,
            tool=TOOL,
            redactor=redactor,
            comment=f"check of {shown}",
        )

    journal = Journal(ledger, job.run, job.cell, agent=shown, redactor=redactor, spend=desk.allowance.spend)
    try:
        with desk.allowance.promised(runs_of(job.intent.mode, control=job.policy.probe_control) if sends else 0):
            outcome = await EnforcingInitiator().run(job, desk.http(recorder, job.policy.bounds), journal)
            add_advice(outcome, recorder.exchanges, desk)
    except Withheld as fault:
        outcome = Outcome(not_gradeable=fault.word, said=fault.message)
    except BaseException:
        if recorder.exchanges:  # what was seen is kept, also where the check was interrupted
            keep()
        raise
    keep()
    outcome.findings.revise(redactor.finding)
    return _result(job, outcome, recorder, journal, canary, evidence, desk)


def _result(
    job: Job,
    outcome: Outcome,
    recorder: Recorder,
    journal: Journal,
    canary: str,
    evidence: Path,
    desk: LiveDesk,
) -> CheckResult:
    redactor = desk.redactor
    target, interface, authority = outcome.target, outcome.interface, outcome.findings.authority()
    counted = measure(
        recorder.exchanges,
        read_calls(recorder.exchanges, bounds=job.policy.bounds, interfaces=[interface] if interface else []),
        card=outcome.card if target else None,
        intent=job.intent,
        canary=canary,
        book=journal.book,
        booked=outcome.booked,
        silence_s=job.policy.clocks.silence_s,
    )
    card = outcome.card
    return CheckResult(
        target=redactor.value(
            {
                "url": redactor.url(target.dispatch_url if target else job.hint_url),
                "tenant": target.tenant_id if target else (desk.live.tenant or None),
                "binding": interface.binding if interface else None,
                "version": interface.version if interface else None,
            }
        ),
        verdict=outcome.not_gradeable or outcome.findings.verdict,
        authority={"status": authority.status, "because": list(authority.because)},
        stages=outcome.findings.stages_json(),
        measures=measures_json(counted),
        evidence=str(evidence),
        said=redactor.text(outcome.said),
        card=redactor.value(
            {"name": card.name, "version": card.version, "form": card.form, "url": outcome.card_url} if card else {}
        ),
        clients=redactor.value(readings(card)) if card else {},
        would_send=would_send(job, desk.live) if outcome.would_send else "",
        sent=job.depth == "send",
        warnings=tuple(warnings_of(desk.live)),
        notes=tuple(redactor.text(note) for note in notes_of(job, outcome)),
    )


def measures_json(measures: Measures) -> dict[str, Any]:
    return asdict(measures) | {"diverged": list(measures.diverged)}


def would_send(job: Job, live: LiveVendor) -> str:
    """What `--send` would ask of the agent, and what it may leave behind (R37)."""
    if live.environment == PROD:
        return f'--send would be refused: environment = "prod" in {live.where} caps the tier at card'
    runs = runs_of(job.intent.mode, control=job.policy.probe_control)
    size = len(job.intent.payloads[job.intent.mode])
    return (
        f"--send would start up to {runs} agent runs: {runs - 1} without a payload, each cancelled or completed, "
        f"and one with {size} bytes in {job.intent.mode}. A task that cannot be cancelled stays; "
        "a2a-lab ledger orphans lists it"
    )

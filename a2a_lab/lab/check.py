"""Checks one live agent: what a client may rely on, stage by stage. Reads only, unless told to send (R37)."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.keys import KeySet
from a2a_lab.core.media import parse_media_type
from a2a_lab.core.policy import Clocks, Intent, Policy
from a2a_lab.core.resolvers import PathPrefix, Resolver, TenantHeader, TenantQuery
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import Misuse
from a2a_lab.judge.transcript import read_calls
from a2a_lab.lab.cell import TOOL
from a2a_lab.lab.clients import readings
from a2a_lab.lab.measures import measure
from a2a_lab.lab.records import Measures, run_id
from a2a_lab.lab.run import LEDGER
from a2a_lab.ledger import Ledger
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.credentials import from_environment, header_variables
from a2a_lab.net.enforcing import EnforcingInitiator
from a2a_lab.net.evidence import Recorder, write_har
from a2a_lab.net.job import Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.net.redact import Redactor
from a2a_lab.verdicts import NotGradeable, Verdict
from a2a_lab.wire.dialects import BINDINGS

LOOPBACK_CLOCKS = Clocks(silence_s=5.0, hang_s=10.0, total_s=60.0)  # R30: an agent on this machine
LIVE_CLOCKS = Clocks(silence_s=30.0, hang_s=120.0, total_s=600.0)
PROMPT = "Hello from a2a-lab. Please answer in one line."
_PLACE = re.compile(r"(https?://)?[^\s/@]+:\d{1,5}")
TENANT_BY = ("interface", "header", "path", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What an operator can say about one agent. Everything that names a secret names an environment variable."""

    send: bool = False
    trust: str = ""
    signature_policy: str = "prefer"
    require: Sequence[str] = ()
    supports: Sequence[str] = ("1.0", "0.3")
    bindings: Sequence[str] = ("JSONRPC",)
    mode: str = "text/plain"
    text: str = PROMPT
    skill: str = ""
    accepts: Sequence[str] = ()
    extensions: Sequence[str] = ()
    tenant: str = ""
    tenant_by: str = "interface"
    topology: str = "auto"
    card_url: str = ""
    connect_to: Sequence[str] = ()
    header_env: Sequence[str] | str = ()
    bearer_env: str = ""
    api_key_env: str = ""
    basic_env: str = ""
    send_credentials_with: str = "both"
    allow_http: Sequence[str] = ()
    allow_origin: Sequence[str] = ()
    jku_allow: Sequence[str] = ()
    probe: str = "strict"
    control_probe: bool = False
    silence: float | None = None
    hang: float | None = None
    total: float | None = None
    ca_bundle: str = ""
    client_cert: str = ""
    client_key: str = ""
    proxy: str = ""
    out: str = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found. `clients` are readings of the card by generation, `would_send` what sending costs."""

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
    """Check one agent. Raises Misuse for what the operator got wrong; a fault of the peer is in the result."""
    policy, canary = _policy(url, options), f"canary-{secrets.token_hex(8)}"
    credentials = from_environment(
        bearer=options.bearer_env,
        api_key=options.api_key_env,
        basic=options.basic_env,
        headers=header_variables(
            [options.header_env]
            if isinstance(options.header_env, str) and options.header_env
            else [*options.header_env]
        ),
        send_with=options.send_credentials_with,
    )
    reach = _reach(options)
    run, out = run_id(datetime.now(UTC), secrets.token_hex(2)), Path(options.out)
    job = Job(
        run=run,
        cell=f"check/{run}",
        agent=url,
        hint_url=url,
        intent=_intent(options, canary),
        policy=policy,
        now=time.time(),
        resolver=_resolver(options),
        tenant=options.tenant if options.tenant and options.tenant_by == "interface" else None,
        card_url=options.card_url or None,
        credentials=credentials,
        depth="send" if options.send else "card",
        stream_if_declared=True,
    )
    recorder = Recorder()
    for name, path in (
        ("ca-bundle", reach.ca_bundle),
        ("client-cert", reach.client_cert),
        ("client-key", reach.client_key),
    ):
        if path and not Path(path).exists():
            raise Misuse(f"--{name} {path}: there is no such file; expected a PEM file")
    try:
        context = tls_context(reach)
    except OSError as fault:
        raise Misuse(
            f"the TLS files cannot be used: {fault}; check --ca-bundle, --client-cert and --client-key"
        ) from fault
    redactor = Redactor(headers=credentials.header_names, values=credentials.secrets, urls=[url, options.card_url])
    evidence = out / "checks" / f"{run}.har"

    def keep() -> None:
        write_har(
            evidence,
            recorder.exchanges,
            started=recorder.started,
            tool=TOOL,
            redactor=redactor,
            comment=f"check of {redactor.url(url)}",
        )

    with Ledger(out / LEDGER) as ledger:
        journal = Journal(ledger, run, job.cell, agent=redactor.url(url), redactor=redactor)
        try:
            async with new_client(reach, context) as client:
                http = Http(client, recorder, bounds=policy.bounds, connect_to=reach.connect_to)
                outcome = await EnforcingInitiator().run(job, http, journal)
        except BaseException:
            if recorder.exchanges:  # what was seen is kept, also where the check was interrupted
                keep()
            raise
    keep()
    outcome.findings.revise(redactor.finding)
    return _result(url, options, job, outcome, recorder, journal, canary, evidence, redactor)


def _result(
    url: str,
    options: CheckOptions,
    job: Job,
    outcome: Outcome,
    recorder: Recorder,
    journal: Journal,
    canary: str,
    evidence: Path,
    redactor: Redactor,
) -> CheckResult:
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
                "url": redactor.url(target.dispatch_url if target else url),
                "tenant": target.tenant_id if target else (options.tenant or None),
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
        would_send="" if options.send else would_send(job),
        sent=options.send,
    )


def measures_json(measures: Measures) -> dict[str, Any]:
    return asdict(measures) | {"diverged": list(measures.diverged)}


def would_send(job: Job) -> str:
    """What `--send` would ask of the agent, and what it may leave behind (R37)."""
    runs = 2 if job.intent.mode == "text/plain" else 3
    size = len(job.intent.payloads[job.intent.mode])
    return (
        f"--send would start up to {runs} agent runs: {runs - 1} without a payload, each cancelled or completed, "
        f"and one with {size} bytes in {job.intent.mode}. A task that cannot be cancelled stays; "
        "a2a-lab ledger orphans lists it"
    )


def _intent(options: CheckOptions, canary: str) -> Intent:
    mode = options.mode
    if parse_media_type(mode) is None:
        raise Misuse(f"--mode {mode!r}: expected a media type, such as text/plain or application/json")
    if mode == "application/json":
        body = json.dumps({"text": options.text, "id": canary}).encode()
    else:
        body = f"{options.text}\n[{canary}]".encode()
    return Intent(
        mode=mode,
        payloads={mode: body},
        skill=options.skill or None,
        requires=tuple(options.require),
        extensions=tuple(options.extensions),
        accepts=tuple(options.accepts),
    )


def _policy(url: str, options: CheckOptions) -> Policy:
    try:
        host = parse_url(options.card_url or url).host
    except ValueError as fault:
        raise Misuse(f"{fault}; expected a URL such as https://agent.example or http://127.0.0.1:9999") from fault
    usual = LOOPBACK_CLOCKS if is_loopback(host) else LIVE_CLOCKS
    clocks = Clocks(
        silence_s=usual.silence_s if options.silence is None else options.silence,
        hang_s=usual.hang_s if options.hang is None else options.hang,
        total_s=usual.total_s if options.total is None else options.total,
    )
    if not 0 < clocks.silence_s <= clocks.hang_s <= clocks.total_s:
        raise Misuse(
            f"--silence {clocks.silence_s:g}, --hang {clocks.hang_s:g}, --total {clocks.total_s:g}: "
            "each must be positive, and at most the next one"
        )
    for name, value, known in (
        ("--signature-policy", options.signature_policy, ("prefer", "require")),
        ("--topology", options.topology, ("auto", "direct", "gateway")),
        ("--tenant-by", options.tenant_by.partition(":")[0], TENANT_BY),
        ("--probe", options.probe, ("strict", "lenient")),
    ):
        if value not in known:
            raise Misuse(f"{name} {value!r}: expected {', '.join(known[:-1])} or {known[-1]}")
    return Policy(
        supports=tuple(options.supports),
        bindings=_bindings(options.bindings),
        topology=options.topology,  # type: ignore[arg-type]  # checked above, here and below
        signature_policy=options.signature_policy,  # type: ignore[arg-type]
        trusted_keys=_trusted(options.trust),
        jku_allow=frozenset(options.jku_allow),
        allow_http=frozenset(options.allow_http),
        allow_origins=frozenset(options.allow_origin),
        probe=options.probe,  # type: ignore[arg-type]
        probe_control=options.control_probe,
        clocks=clocks,
    )


def _bindings(named: Sequence[str]) -> tuple[str, ...]:
    for name in named:
        if name not in BINDINGS:
            raise Misuse(f"--binding {name!r}: expected {' or '.join(BINDINGS)}; case counts")
    return tuple(dict.fromkeys(named))


def _trusted(path: str) -> KeySet | None:
    if not path:
        return None
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as fault:
        raise Misuse(f"--trust {path}: {fault.strerror}; expected a JWK set file") from fault
    except ValueError as fault:
        raise Misuse(f'--trust {path}: not JSON ({fault}); expected a JWK set: {{"keys": [...]}}') from fault
    try:
        return KeySet.from_jwks(document)
    except Misuse as fault:
        raise Misuse(f"--trust {path}: {fault.message}") from fault


def _resolver(options: CheckOptions) -> Resolver | None:
    how, _, name = options.tenant_by.partition(":")
    if name and how not in ("header", "query"):
        raise Misuse(f"--tenant-by {options.tenant_by!r}: only header and query take a name, as in header:X-Tenant")
    if how != "interface" and not options.tenant:
        raise Misuse(f"--tenant-by {options.tenant_by} selects a tenant, and none is given; add --tenant NAME")
    if how == "interface":
        return None
    if how == "header":
        return TenantHeader(tenant=options.tenant, header=name or "X-Tenant")
    if how == "query":
        return TenantQuery(tenant=options.tenant, name=name or "tenant")
    return PathPrefix(prefix=options.tenant)


def _reach(options: CheckOptions) -> Reach:
    connect: dict[str, str] = {}
    for entry in options.connect_to:
        there = entry.split("=") if "=" in entry else entry.rsplit(":", 2)
        if len(there) == 3 and there[0].count(":") == 1:
            there = [there[0], f"{there[1]}:{there[2]}"]
        if len(there) != 2 or not _PLACE.fullmatch(there[1]):
            raise Misuse(
                f"--connect-to {entry!r}: expected HOST:PORT=HOST:PORT, as in agent.example:443=127.0.0.1:8443; "
                "write =http://HOST:PORT where plain http is spoken there"
            )
        connect[there[0].lower()] = there[1]
    return Reach(
        ca_bundle=options.ca_bundle or None,
        client_cert=options.client_cert or None,
        client_key=options.client_key or None,
        proxy=options.proxy or None,
        connect_to=connect,
    )

"""Stands in front of an agent until told to stop, and judges whatever client was pointed at it, and the agent.

Passive: no request of the lab's own is sent. What passed is in a HAR file before anything is judged, so that an
interruption at any point leaves the evidence.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.consumer_findings import SEVERAL_CLIENTS
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.quoting import counted, listed
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import Misuse
from a2a_lab.lab.cell import TOOL
from a2a_lab.lab.judging import PairJudgement, judge_pair
from a2a_lab.lab.loop import run_sync
from a2a_lab.lab.records import run_id
from a2a_lab.net.client import Reach
from a2a_lab.net.evidence import Recorder, write_har
from a2a_lab.net.keeping import Listener
from a2a_lab.net.recording import RecordingProxy
from a2a_lab.net.redact import Redactor
from a2a_lab.vendors.live import LIVE_CLOCKS, LOOPBACK_CLOCKS
from a2a_lab.verdicts import Finding, NotGradeable, Verdict
from a2a_lab.wire.exchange import Exchange, first_header
from a2a_lab.wire.frames import is_over_grpc

NOTHING_CAME = "no client came: nothing was asked of the recorder"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveOptions:
    """What an operator can say. `for_s` ends the observation by itself; None waits for Ctrl-C."""

    out: str = "runs"
    for_s: float | None = None
    ca_bundle: str = ""
    trust_env: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was seen between one agent and whoever came. `judged` is None where nobody came."""

    to: str
    address: str
    evidence: Path
    exchanges: tuple[Exchange, ...]
    seconds: float
    judged: PairJudgement | None = None
    noted: tuple[Finding, ...] = field(default=())

    @property
    def verdict(self) -> Verdict | NotGradeable:
        return self.judged.verdict if self.judged is not None else NotGradeable.HARNESS_ERROR

    @property
    def consumer_findings(self) -> tuple[Finding, ...]:
        return self.judged.consumer.findings if self.judged is not None else ()

    @property
    def agent_findings(self) -> tuple[Finding, ...]:
        """Those about the agent; what only the consumer did is not among them."""
        if self.judged is None:
            return ()
        other = {id(one) for one in (*self.judged.consumer.findings, *self.noted)}
        return tuple(one for one in self.judged.findings.all if id(one) not in other)

    @property
    def said(self) -> str:
        """How it went, in a sentence."""
        if self.judged is None:
            return NOTHING_CAME
        visit, cause = self.judged.visit, self.judged.consumer.cause
        told = (
            f"{counted(len(visit.looks), 'look')} for a card, {counted(len(visit.sends), 'message')}, "
            f"{counted(len(self.exchanges), 'request')} in all"
        )
        return f"{told}; {cause.slug}: {cause.detail}" if cause is not None else told

    def as_json(self) -> dict[str, Any]:
        """What `observe --json` prints."""
        cause = self.judged.consumer.cause if self.judged is not None else None
        return {
            "to": self.to,
            "address": self.address,
            "verdict": self.verdict.value,
            "said": self.said,
            "cause": cause.as_json() if cause is not None else None,
            "requests": len(self.exchanges),
            "seconds": round(self.seconds, 3),
            "consumer": [one.as_json() | {"stage": one.stage.value} for one in self.consumer_findings],
            "agent": [one.as_json() | {"stage": one.stage.value} for one in self.agent_findings],
            "noted": [one.as_json() | {"stage": one.stage.value} for one in self.noted],
            "evidence": str(self.evidence),
        }


class Observing:
    """One observation. `opened` is told the address once it can be used, `listener` of everything that passes."""

    def __init__(
        self,
        to: str,
        options: ObserveOptions | None = None,
        *,
        opened: Callable[[str], None] = lambda _: None,
        listener: Listener | None = None,
    ) -> None:
        self._options = options or ObserveOptions()
        self._redactor = Redactor(urls=[to])
        self._recorder = Recorder()
        reach = Reach(ca_bundle=self._options.ca_bundle or None, trust_env=self._options.trust_env)
        self._proxy = RecordingProxy(to, self._recorder, reach=reach, listener=listener)
        self._opened = opened
        self._began = time.time()

    def run(self) -> Observation:
        """Observe until Ctrl-C or the end of `for_s`, then store and judge. Raises Misuse for what cannot be right."""
        try:
            run_sync(self.watch())
        except KeyboardInterrupt:
            pass
        except OSError as fault:
            raise Misuse(f"the TLS files cannot be used: {fault}; check --ca-bundle") from fault
        return self.conclude()

    async def watch(self) -> None:
        """Stand in front of the agent until cancelled, or for as long as the options say."""
        async with self._proxy as proxy:
            self._opened(proxy.url)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._options.for_s):
                    await asyncio.Event().wait()

    def conclude(self) -> Observation:
        """Write the evidence, then judge it."""
        exchanges, to = tuple(self._recorder.exchanges), self._proxy.to
        self._redactor.learn(exchanges)
        evidence = write_har(
            Path(self._options.out) / "observed" / f"{run_id(datetime.now(UTC), secrets.token_hex(2))}.har",
            exchanges,
            started=self._recorder.started,
            tool=TOOL,
            redactor=self._redactor,
            comment=f"observed in front of {self._redactor.url(to)}",
        )
        # What is shown is what is stored: a page is handed out, and a URL that was typed may hold a key (R38).
        shown = [self._redactor.exchange(exchange) for exchange in exchanges]
        noted = tuple(map(self._redactor.finding, [*self._proxy.findings, *_several(shown)]))
        return Observation(
            to=self._redactor.url(to),
            address=self._redactor.url(self._proxy.url),
            evidence=evidence,
            exchanges=tuple(shown),
            seconds=self._recorder.now_ms() / 1000,
            noted=noted,
            judged=self._judged(shown, noted) if shown else None,
        )

    def _judged(self, exchanges: Sequence[Exchange], noted: Sequence[Finding]) -> PairJudgement:
        """Judge what is stored, as `judge` does with the file: no sentence can quote what is hidden."""
        to = self._redactor.url(self._proxy.to)
        clocks = LOOPBACK_CLOCKS if is_loopback(parse_url(to).host) else LIVE_CLOCKS
        return judge_pair(
            exchanges,
            policy=Policy(clocks=clocks),
            intent=Intent(),
            now=self._began,
            address=to,
            noted=noted,
        )


def _several(exchanges: Sequence[Exchange]) -> list[Finding]:
    """A note where more than one client may have come. One that speaks gRPC has another name there than over HTTP."""
    by_kind: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for one in exchanges:
        named = first_header(one.request_headers, "User-Agent") or "(none)"
        by_kind[is_over_grpc(one.request_headers)][named] = None
    if max(map(len, by_kind.values())) < 2:
        return []
    names = [*by_kind[False], *by_kind[True]]
    detail = f"{len(names)} names of clients: {listed(names)}; what follows judges them as one consumer"
    return [SEVERAL_CLIENTS(detail, found=names)]

"""Reads a case file (data/cases/FORMAT.md): the evidence, what the consumer intends and allows, and what is expected.

Every member is read by name; one that is not known is refused with the nearest that is, since a misspelt input would
silently change what the case says. Reads values only: judging is the business of `cases`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card
from a2a_lab.core.policy import Bounds, Clocks, Intent, Policy
from a2a_lab.core.resolvers import PathPrefix, Resolver, TenantHeader, TenantQuery
from a2a_lab.judge.offline import Given
from a2a_lab.lab.caseevidence import STREAM_URL, beyond, read_exchange, read_stream
from a2a_lab.lab.casegiven import before_cut, given_artifact, ledger
from a2a_lab.vendors.tables import Table
from a2a_lab.verdicts import Stage, Verdict
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.exchange import Exchange

_TOPOLOGIES: Final = {"auto": "auto", "direct": "direct", "single": "direct", "gateway": "gateway"}
_EXPECTED: Final = ("reason", "decided_by", "clause", "suggested_error", "also", "opinions_differ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must be concluded, and what each side says of it where reasonable engineers differ."""

    stage: Stage
    verdict: Verdict
    document: Mapping[str, Any]

    @property
    def opinions_differ(self) -> str | None:
        return self.document.get("opinions_differ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case, ready to be judged. `now` is Unix seconds, None where the case does not say; `document` is the file."""

    id: str
    exchanges: tuple[Exchange, ...]
    policy: Policy
    intent: Intent
    given: Given = field(default_factory=Given)
    base_url: str | None = None
    resolver: Resolver | None = None
    now: float | None = None
    expected: Expected | None = None
    summary: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)


def is_case(document: object) -> bool:
    """Whether a JSON document is meant as a case, right or wrong."""
    return isinstance(document, Mapping) and "given" in document


def read_case(document: Mapping[str, Any], *, name: str, bounds: Bounds | None = None) -> Case:
    """The case in a JSON document; `name` is what messages call the file. Raises Misuse that names the member."""
    table = Table(document, name)
    for known in ("source", "kind", "dialect", "confidence", "basis", "measured"):
        table.take(known)
    given = Table(table.take("given"), f"{name}: given")
    client = Table(given.take("client", {}), f"{name}: given.client")
    found = _Reading(given, client, bounds or Bounds()).case()
    expected = _expected(Table(table.take("expect"), f"{name}: expect")) if "expect" in table else None
    case = replace(
        found, id=table.text("id", name), summary=table.text("summary", ""), expected=expected, document=document
    )
    table.done()
    return case


def _expected(table: Table) -> Expected:
    stage = table.text("stage", one_of=[stage.value for stage in Stage])
    verdict = table.text("verdict", one_of=[verdict.value for verdict in Verdict])
    for known in _EXPECTED:
        table.take(known)
    document = table.rest()
    return Expected(stage=Stage(stage), verdict=Verdict(verdict), document=document)


class _Reading:
    """One case being read."""

    def __init__(self, given: Table, client: Table, bounds: Bounds) -> None:
        self.given, self.client, self.bounds = given, client, bounds
        self.clocks = Clocks()

    def case(self) -> Case:
        given, client = self.given, self.client
        stream = Table(given.take("stream"), f"{given.where}.stream") if "stream" in given else None
        limited = stream if stream is not None else given
        self._limits(Table(limited.take("limits") or {}, f"{limited.where}.limits"))
        policy, intent, resolver = self._policy(), self._intent(), self._resolver()
        card_url = client.text("card_url") if "card_url" in client else None
        configured = self._card(client, "configured_card")[0] if "configured_card" in client else None
        card, card_findings = self._card(given, "card") if "card" in given else (None, ())
        base_url = given.text("discovery_url") if "discovery_url" in given else None
        given.flag("pin", False)  # a second GET of the pinned card is a look at it, whether or not the case says so
        case = Case(
            id="",
            exchanges=self._exchanges(stream, card),
            policy=policy,
            intent=intent,
            given=Given(
                card=card,
                card_findings=card_findings,
                served_from=base_url if card is not None else None,
                configured_card=configured,
                card_url=card_url,
                dispatch_url=given.text("resolved_url") if "resolved_url" in given else None,
                tenant=client.text("tenant") if "tenant" in client and resolver is None else None,
                credentials_for=frozenset(client.texts("credentials_for", ())),
                artifacts=given_artifact(given, card),
                known=before_cut(given, stream),
                tasks=ledger(given),
            ),
            base_url=base_url if card is None and configured is None else None,
            resolver=resolver,
            now=self._now(),
        )
        given.done()
        client.done()
        return case

    # -- what the consumer intends and allows

    def _limits(self, table: Table) -> None:
        seconds = {"idle_ms": "hang_s", "total_ms": "total_s", "silence_ms": "silence_s", "close_ms": "close_s"}
        self.clocks = replace(
            self.clocks, **{name: table.number(key) / 1000 for key, name in seconds.items() if key in table}
        )
        counts = {"max_event_bytes": "event_bytes", "max_events": "events", "max_bytes": "stream_bytes"}
        self.bounds = replace(
            self.bounds, **{name: table.integer(key, least=1) for key, name in counts.items() if key in table}
        )
        table.done()

    def _policy(self) -> Policy:
        client, usual = self.client, Policy()
        topology = client.text("topology", "auto", one_of=_TOPOLOGIES)
        keys = client.take("trusted_keys")
        allowed = set(client.texts("jku_allow", ())) | set(self.given.texts("jku_allow", ()))
        http = set(client.texts("allow_plain_http_hosts", ())) | set(client.texts("allow_http", ()))
        return Policy(
            supports=client.texts("supports", usual.supports),
            bindings=client.texts("bindings", usual.bindings),
            topology=_TOPOLOGIES[topology],  # type: ignore[arg-type]  # one of the words above; below as well
            signature_policy=client.text(  # type: ignore[arg-type]
                "signature_policy", usual.signature_policy, one_of=("prefer", "require")
            ),
            trusted_keys=KeySet.from_jwks(keys) if keys is not None else None,
            jku_allow=frozenset(allowed),
            allow_http=frozenset(http),
            allow_origins=frozenset(client.texts("allow_origins", ())),
            probe=client.text("probe", usual.probe, one_of=("strict", "lenient")),  # type: ignore[arg-type]
            probe_control=client.flag("probe_control", usual.probe_control),
            drift=client.text(  # type: ignore[arg-type]
                "drift", usual.drift, one_of=("fail-closed", "renegotiate", "once")
            ),
            max_renegotiations=client.integer("max_renegotiations", usual.max_renegotiations),
            clocks=self.clocks,
            bounds=self.bounds,
        )

    def _intent(self) -> Intent:
        client = self.client
        wanted = client.take("require", {})
        if isinstance(wanted, Mapping) and all(isinstance(value, bool) for value in wanted.values()):
            requires = tuple(name for name, is_wanted in wanted.items() if is_wanted)
        elif isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
            requires = tuple(wanted)
        else:
            client.refuse("require", "an object of capabilities, each true or false")
        return Intent(
            mode=client.text("input_mode", "text/plain"),
            payloads=dict.fromkeys(client.texts("can_send", ()), b""),
            skill=client.text("skill") if "skill" in client else None,
            requires=requires,
            extensions=client.texts("extensions", ()),
            accepts=client.texts("output_modes", ()),
            stream=client.flag("stream", False),
        )

    def _resolver(self) -> Resolver | None:
        client = self.client
        how = client.text("tenant_by", "interface", one_of=("interface", "header", "query", "path"))
        if how == "interface":
            return None
        tenant = client.text("tenant")
        if how == "path":
            return PathPrefix(prefix=tenant)
        return TenantHeader(tenant=tenant) if how == "header" else TenantQuery(tenant=tenant)

    # -- the evidence

    def _exchanges(self, stream: Table | None, card: Card | None) -> tuple[Exchange, ...]:
        """In the order of events: looks at the card, then calls and the stream in the order of the file."""
        rows, now = self.given.tables("exchanges"), 0.0
        keys = self.given.keys()
        is_stream_first = stream is not None and rows and keys.index("stream") < keys.index("exchanges")
        read: list[Exchange] = []
        calls: list[Table] = []
        for row in rows:
            request = row.take("request", {})
            is_get = isinstance(request, Mapping) and str(request.get("method", "")).upper() in ("GET", "HEAD")
            if is_stream_first and not is_get:
                calls.append(row)
            else:
                read.append(read_exchange(row, at_ms=now, bounds=self.bounds))
                now = beyond(read[-1], self.clocks) if read[-1].chunks else read[-1].ended_ms + 1
        if stream is not None:
            url = next((entry.url for entry in card.interfaces if entry.url), STREAM_URL) if card else STREAM_URL
            read.append(read_stream(stream, at_ms=now, url=url, bounds=self.bounds))
            stream.done()
            now = beyond(read[-1], self.clocks)
        for row in calls:
            read.append(read_exchange(row, at_ms=now, bounds=self.bounds))
            now += 2
        if "elapsed_s" in self.given and read:
            last = read[-1]
            last.ended_ms = max(last.ended_ms, self.given.number("elapsed_s") * 1000)
        return tuple(read)

    def _card(self, table: Table, key: str) -> tuple[Card | None, tuple[Any, ...]]:
        reading = read_card(json.dumps(table.take(key)).encode(), bounds=self.bounds)
        if reading.card is None and key != "card":
            table.refuse(key, "a card")
        return reading.card, reading.findings

    def _now(self) -> float | None:
        if "now" not in self.given:
            return None
        value = self.given.take("now")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            moment = None
        if moment is None or moment.tzinfo is None:
            self.given.refuse("now", "a time with a zone, such as 2026-11-30T00:00:00Z, or Unix seconds")
        return moment.timestamp()

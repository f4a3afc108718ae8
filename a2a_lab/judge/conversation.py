"""Judges the calls of a recording one after another: the wire, the streams, what was received, the books (A3-A7, R35).

Three passes, since an answer is judged by what came before and after it: read every request and whole body, watch every
stream, then judge in order. Looks at the card between the calls are judged where they stand (P3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from a2a_lab.core.asked import STREAMS
from a2a_lab.core.model import Artifact, Interface, Task
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.probe import ProbeReading
from a2a_lab.core.redirects import REDIRECTS, judge_post_redirect
from a2a_lab.core.tasks import TaskBook
from a2a_lab.core.urls import is_url, normalise, same_target
from a2a_lab.judge.answers import was_sent
from a2a_lab.judge.booking import note_answer, note_request
from a2a_lab.judge.cardlooks import CardLooks
from a2a_lab.judge.grounds import Grounds, Shelf
from a2a_lab.judge.histories import History
from a2a_lab.judge.lastword import received
from a2a_lab.judge.parts import Parts
from a2a_lab.judge.reading import PROBES, Around, read_outcome
from a2a_lab.judge.repeats import made_again
from a2a_lab.judge.transcript import Call, read_body, read_request
from a2a_lab.judge.watching import asking, watch
from a2a_lab.verdicts import Finding, FindingKind, Findings, Judge, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire.dialects import spoken
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.har import NOT_RECORDED
from a2a_lab.wire.http_faults import judge_fault
from a2a_lab.wire.http_shape import AUTH_NEEDED, THROTTLED

CALL_UNREACHABLE = FindingKind(
    slug="call-unreachable",
    stage=Stage.RPC,
    verdict=Verdict.REFUSE,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="R2",
    means="the endpoint could not be reached, so the call was never taken",
)
BODY_NOT_RECORDED = FindingKind(
    slug="body-not-recorded",
    stage=Stage.RPC,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="R5",
    means="the recording lacks the body of an answer, which is not judged; record with a proxy or with the lab",
)
_AT_THE_DOOR: Final = frozenset({AUTH_NEEDED.slug, THROTTLED.slug})


class Conversation:
    """The calls of one recording. `findings`, `reached`, `readings` and `not_gradeable` are filled by `judge`."""

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        grounds: Grounds,
        shelf: Shelf,
        *,
        intent: Intent,
        policy: Policy,
        now: float,
        book: TaskBook | None,
    ) -> None:
        self._exchanges, self._grounds = exchanges, grounds
        self._intent, self._policy = intent, policy
        self._parts = Parts(grounds.card, intent)
        self._looks = CardLooks(grounds, shelf, intent=intent, policy=policy, now=now)
        self._writes = book is None
        self.book = book if book is not None else TaskBook(_agent(grounds, exchanges))
        self.calls: list[Call] = []
        self.findings = Findings()
        self.reached: set[Stage] = set()
        self.readings: list[ProbeReading] = []  # of the probes that the lab labelled, in order
        self.not_gradeable: NotGradeable | None = None
        self._is_ours = any(exchange.purpose in PROBES for exchange in exchanges)
        self._by_exchange: dict[int, Call] = {}
        self._hops: dict[str, int] = {}  # how often a call was redirected before it came to this URL
        self._made_again: Mapping[int, Finding] = {}
        self._said: set[tuple[object, ...]] = set()

    def judge(
        self, *, known: Iterable[Artifact] = (), artifacts: Iterable[Artifact] = (), tasks: Sequence[Task] = ()
    ) -> None:
        """Judge it all; `known` and `tasks` are from before the recording begins, `artifacts` came beside it."""
        for task in tasks:
            self.reached.add(Stage.LEDGER)
            self.book.note_task(task, how="get")
        self._read()
        self._watch(tuple(known))
        self._add(*self._parts.take(None, artifacts, self._intent.accepts))
        history, place = History(self.calls, before=tasks), 0
        for exchange in self._exchanges:
            if self._looks.is_look(exchange):
                self._add(*self._looks.look(exchange, self._exchanges, self._by_exchange))
            elif id(exchange) in self._by_exchange:
                self._judge_call(place, history)
                place += 1
        self._add(*self._looks.conclude())
        self._add(*self.book.findings())
        self.reached |= self._looks.reached | self._parts.reached
        self.not_gradeable = history.not_gradeable

    # -- three passes

    def _read(self) -> None:
        heard = spoken(*self._declared())
        for exchange in self._exchanges:
            call = read_request(exchange, heard=heard)
            if call is None:
                continue
            self._by_exchange[id(exchange)] = call
            self.calls.append(call)
            is_whole = exchange.status is not None and exchange.fault is None
            if call.op not in STREAMS and is_whole and exchange.cut_by != NOT_RECORDED:
                read_body(call, self._policy.bounds)
        self._made_again = made_again(self.calls)

    def _watch(self, known: tuple[Artifact, ...]) -> None:
        before: dict[str | None, tuple[Artifact, ...]] = {}
        for call in self.calls:
            exchange = call.exchange
            if call.op not in STREAMS or exchange.cut_by == NOT_RECORDED or not was_sent(exchange):
                continue
            if exchange.status in REDIRECTS or id(call) in self._made_again:
                continue
            watch(
                call,
                self._policy,
                declared_streaming=self._declares_streaming(call),
                known=before.get(call.asked.task_id, known) if call.op == "subscribe" else (),
                ask=asking(self.calls, call),
            )
            if call.watched is not None and call.watched.task_id is not None:
                before[call.watched.task_id] = received(call.watched)

    def _judge_call(self, place: int, history: History) -> None:
        call, around = self.calls[place], self._around(self.calls[place])
        exchange = call.exchange
        if exchange.cut_by == NOT_RECORDED:
            self._add(BODY_NOT_RECORDED(at=exchange.url))
            return
        if id(call) in self._made_again:
            self._add(self._made_again[id(call)])
            return
        name = note_request(self.book, call, place) if self._writes else None
        self.reached.add(Stage.LEDGER)
        if not was_sent(exchange):
            self._add(CALL_UNREACHABLE(f"{exchange.url}: {exchange.fault}", found=exchange.fault))
        elif exchange.status not in REDIRECTS or not self._redirected(call):
            self._judge_answer(place, history, around)
        if self._writes and not self._is_overtaken(call):
            note_answer(self.book, call, name)

    def _is_overtaken(self, call: Call) -> bool:
        """Whether a look fell into a stream of its task that said more afterwards: a stream is booked where it began.

        What such a look showed is older than what the books hold, and would read as a step back.
        """
        task_id = call.answer.task.id if call.op == "get" and call.answer and call.answer.task else None
        return task_id is not None and any(
            other.watched is not None
            and other.watched.task_id == task_id
            and other.exchange.started_ms < call.exchange.started_ms
            and any(heard.at_ms > call.exchange.ended_ms for heard in other.events[-1:])
            for other in self.calls
        )

    def _judge_answer(self, place: int, history: History, around: Around) -> None:
        call = self.calls[place]
        seen = list(call.findings)
        if call.watched is None:
            fault = judge_fault(call.exchange.fault, status=call.exchange.status, url=call.exchange.url)
            seen += [fault] if fault is not None else []
        if history.is_superseded(place):
            seen = [_noted(one) if call.op == "get" or one.slug in _AT_THE_DOOR else one for one in seen]
        if call.watched is not None:
            self.reached.add(Stage.STREAM)
        elif call.answer is not None or seen:
            self.reached.add(Stage.RPC)
        self._add(*seen)
        if around.card is not None:
            found = self._parts.of_call(place, call, history)
            seen += found
            self._add(*found)
        if call.op == "extended-card":
            card, found = self._looks.extended(call)
            self._parts.card = card or self._parts.card
            self._add(*found)
        shown = read_outcome(place, call, history, around, seen)
        if call.answer is not None or call.watched is not None or shown.findings:
            self.reached.add(Stage.PROBE)
        self._add(*shown.findings)
        is_answered = not history.is_superseded(place)
        if shown.reading is not None and call.exchange.purpose in PROBES and is_answered:
            self.readings.append(shown.reading)

    def _redirected(self, call: Call) -> bool:
        """Whether the call was moved to where it may be sent again (R10)."""
        exchange = call.exchange
        if not is_url(exchange.url):
            return False
        hops = self._hops.get(normalise(exchange.url), 0)
        hop = judge_post_redirect(
            url=exchange.url, status=exchange.status or 0, location=exchange.header("location"), hops=hops
        )
        self._add(*hop.findings)
        if hop.url is None:
            return False
        self._hops[normalise(hop.url)] = hops + 1
        return True

    # -- small questions

    def _around(self, call: Call) -> Around:
        is_at_target = self._is_at_target(call)
        return Around(
            intent=self._intent,
            policy=self._policy,
            card=self._grounds.card if is_at_target else None,
            interface=self._grounds.interface if is_at_target else None,
            is_ours=self._is_ours,
        )

    def _declares_streaming(self, call: Call) -> bool:
        """Whether the evidence holds the declaration: the bound card, or else that the consumer relies on it (R28)."""
        card = self._grounds.card
        if card is not None and self._is_at_target(call):
            return card.capabilities.get("streaming", False)
        return card is None and "streaming" in self._intent.requires

    def _is_at_target(self, call: Call) -> bool:
        """Whether the call went to the bound target; a card that was given beside the calls is theirs."""
        grounds = self._grounds
        if grounds.discovery is None or grounds.interface is None:
            return True
        target = grounds.discovery.target
        places = [grounds.interface.url, target.dispatch_url if target else "", *self._hops]
        binding = call.dialect.binding
        return any(_is_there(endpoint, place, binding) for place in places if place for endpoint in call.endpoints)

    def _declared(self) -> list[Interface]:
        """The interfaces that the card declares, the bound one first."""
        card, bound = self._grounds.card, self._grounds.interface
        return [*([bound] if bound is not None else []), *(card.interfaces if card is not None else ())]

    def _add(self, *findings: Finding) -> None:
        """Take findings up, each once: two snapshots of one artifact have the same flaw."""
        for one in findings:
            key = (one.slug, one.stage, one.verdict, one.detail, one.at)
            if key not in self._said and self.findings.add(one):
                self._said.add(key)


def _agent(grounds: Grounds, exchanges: Sequence[Exchange]) -> str:
    """What the books call the agent: where it is called, or where the first exchange went."""
    if grounds.interface is not None and grounds.interface.url:
        return grounds.interface.url
    return exchanges[0].url if exchanges else "agent"


def _is_there(url: str, place: str, binding: str) -> bool:
    try:
        return same_target(url, place, binding=binding)[0]
    except ValueError:
        return url == place


def _noted(finding: Finding) -> Finding:
    return replace(finding, verdict=Verdict.ACCEPT, kind=Kind.NOTE)

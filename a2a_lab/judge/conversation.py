"""Judges the calls of a recording one after another: the wire, the streams, what was received, the books (A3-A7, R35).

Three passes, since an answer is judged by what came before and after it: read every request and whole body, watch every
stream, then judge in order. Looks at the card between the calls are judged where they stand (P3).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from a2a_lab.core.asked import STREAMS
from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Artifact, Task
from a2a_lab.core.pinning import Transition, choose_card
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.probe import ProbeReading
from a2a_lab.core.receive import judge_artifact
from a2a_lab.core.redirects import REDIRECTS, judge_post_redirect
from a2a_lab.core.signatures import verify_card
from a2a_lab.core.tasks import TaskBook
from a2a_lab.core.urls import normalise, same_target
from a2a_lab.judge.answers import was_sent
from a2a_lab.judge.booking import note_answer, note_request
from a2a_lab.judge.grounds import Grounds, Shelf
from a2a_lab.judge.histories import History
from a2a_lab.judge.lastword import received
from a2a_lab.judge.pins import PinWatch
from a2a_lab.judge.reading import PROBES, Around, read_outcome
from a2a_lab.judge.requests import judge_request
from a2a_lab.judge.transcript import Call, read_body, read_request
from a2a_lab.judge.watching import asking, watch
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.har import NOT_RECORDED
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

_AT_THE_DOOR = frozenset({AUTH_NEEDED.slug, THROTTLED.slug})
_TRANSITIONS = {"stream": Transition.STREAM, "subscribe": Transition.RESUBSCRIBE}


class Conversation:
    """The calls of one recording. `findings`, `reached` and `not_gradeable` are filled by `judge`."""

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
        self._exchanges, self._grounds, self._shelf = exchanges, grounds, shelf
        self._intent, self._policy, self._now = intent, policy, now
        self._writes = book is None
        self.book = book if book is not None else TaskBook(_agent(grounds, exchanges))
        self.calls: list[Call] = []
        self.findings: list[Finding] = []
        self.reached: set[Stage] = set()
        self.readings: list[ProbeReading] = []  # of the probes that the lab labelled, in order
        self.not_gradeable: NotGradeable | None = None
        self._places: dict[int, int] = {}  # which call an exchange is, by its identity
        self._hops: dict[str, int] = {}  # how often a call was redirected before it came to this URL
        self._answered: dict[object, int] = {}  # where a call was answered at last, by what was asked
        self._received: dict[tuple[str | None, str], Artifact] = {}
        self._said: set[tuple[object, ...]] = set()
        self._pins: PinWatch | None = None

    def judge(
        self, *, known: Iterable[Artifact] = (), artifacts: Iterable[Artifact] = (), tasks: Sequence[Task] = ()
    ) -> None:
        """Judge it all; `known` and `tasks` are from before the recording begins, `artifacts` came beside it."""
        if self._writes and tasks:
            self.reached.add(Stage.LEDGER)
            for task in tasks:
                self.book.note_task(task, how="get")
        self._read()
        self._watch(tuple(known))
        self._pin()
        answered = (at for at, call in enumerate(self.calls) if call.answer and call.answer.not_gradeable is None)
        self._answered = {_key(self.calls[at]): at for at in answered}
        history = History(self.calls, before=tasks)
        around = self._around()
        self._take(None, tuple(artifacts), ())
        looks = {id(one) for one in self._looks()}
        for exchange in self._exchanges:
            if id(exchange) in looks and self._pins is not None:
                self._add(*self._pins.look(exchange, self._transition_after(exchange)))
            elif id(exchange) in self._places:
                self._judge_call(self._places[id(exchange)], history, around)
        if self._pins is not None:
            self._add(*self._pins.conclude())
        if self.calls:
            self._grade()
        self._add(*self.book.findings())

    # -- three passes

    def _read(self) -> None:
        for exchange in self._exchanges:
            call = read_request(exchange)
            if call is None:
                continue
            self._places[id(exchange)] = len(self.calls)
            self.calls.append(call)
            is_whole = exchange.status is not None and exchange.fault is None
            if call.op not in STREAMS and is_whole and exchange.cut_by != NOT_RECORDED:
                read_body(call, self._policy.bounds)

    def _watch(self, known: tuple[Artifact, ...]) -> None:
        before: dict[str | None, tuple[Artifact, ...]] = {}
        for call in self.calls:
            exchange = call.exchange
            if call.op not in STREAMS or exchange.cut_by == NOT_RECORDED or not was_sent(exchange):
                continue
            if exchange.status in REDIRECTS:
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

    def _judge_call(self, place: int, history: History, around: Around) -> None:
        call = self.calls[place]
        exchange = call.exchange
        is_ours = self._is_at_target(call)
        if not is_ours:
            around = replace(around, card=None, interface=None)
        self._add(*judge_request(call, around.card, around.interface))
        if exchange.cut_by == NOT_RECORDED:
            self._add(BODY_NOT_RECORDED(at=exchange.url))
            return
        name = note_request(self.book, call, place) if self._writes else None
        self.reached.add(Stage.LEDGER)
        if exchange.status in REDIRECTS and self._redirected(call):
            pass
        elif not was_sent(exchange):
            self._add(CALL_UNREACHABLE(f"{exchange.url}: {exchange.fault}", found=exchange.fault))
        else:
            self._judge_answer(place, history, around)
        if self._writes:
            note_answer(self.book, call, name)

    def _judge_answer(self, place: int, history: History, around: Around) -> None:
        call = self.calls[place]
        seen = list(call.findings)
        if self._is_superseded(place):
            seen = [_noted(one) if one.slug in _AT_THE_DOOR else one for one in seen]
        if call.watched is not None:
            self.reached.add(Stage.STREAM)
        elif call.answer is not None:
            self.reached.add(Stage.RPC)
        self._add(*seen)
        if around.card is not None:
            seen += self._take_all(call)
            # What a task showed when it was looked at later is what the send has led to.
            answered = call.answer.task if call.is_send and call.answer is not None else None
            if answered is not None:
                seen += self._take(answered.id, history.followed(answered, place).artifacts, self._accepted(call))
        if call.op == "extended-card":
            self._extended(call)
        shown = read_outcome(place, call, history, around, seen)
        if call.answer is not None or call.watched is not None or shown.findings:
            self.reached.add(Stage.PROBE)
        self._add(*shown.findings)
        if shown.reading is not None and call.exchange.purpose in PROBES:
            self.readings.append(shown.reading)

    # -- what comes with the calls

    def _take_all(self, call: Call) -> list[Finding]:
        """Every part of every artifact that a call brought (A5)."""
        if call.watched is not None:
            return self._take(call.watched.task_id, received(call.watched), self._accepted(call))
        found: list[Finding] = []
        for task in call.tasks:
            found += self._take(task.id, task.artifacts, self._accepted(call))
        return found

    def _accepted(self, call: Call) -> Sequence[str]:
        """The output modes that were asked for: by the call, or else by the consumer's intent."""
        return call.asked.accepts or self._intent.accepts

    def _take(self, task_id: str | None, artifacts: Iterable[Artifact], accepts: Sequence[str]) -> list[Finding]:
        card = self._grounds.card
        found: list[Finding] = []
        for artifact in artifacts:
            if card is None or self._received.get((task_id, artifact.id)) == artifact:
                continue
            self._received[task_id, artifact.id] = artifact
            self.reached.add(Stage.RECEIVE)
            found += judge_artifact(card, card.skill(self._intent.skill), artifact, accepts=accepts)
        self._add(*found)
        return found

    def _extended(self, call: Call) -> None:
        """The extended card is judged like the public one; it governs only if its signatures are not refused (R12)."""
        grounds, answer = self._grounds, call.answer
        if answer is None or not isinstance(answer.result, dict):
            return
        reading = read_card(json.dumps(answer.result).encode(), bounds=self._policy.bounds)
        self._add(*reading.findings)
        if reading.card is None or grounds.card is None:
            return
        report = verify_card(
            reading.card,
            self._policy.trusted_keys or KeySet(),
            policy=self._policy,
            now=self._now,
            served_from=call.exchange.url,
            interface=grounds.interface,
            jku_keys=grounds.jku_keys,
            intent=self._intent,
        )
        self.reached.add(Stage.SIGNATURE)
        chosen, found = choose_card(grounds.card, reading.card, report)
        self._add(*found)
        if self._pins is not None:
            self.reached.add(Stage.LEDGER)
            self._add(*self._pins.look_at_extended(reading.card))
        if chosen is reading.card:
            self._grounds = replace(grounds, card=chosen)

    def _redirected(self, call: Call) -> bool:
        """Whether the call was moved to where it may be sent again (R10)."""
        exchange = call.exchange
        hops = self._hops.get(normalise(exchange.url), 0)
        hop = judge_post_redirect(
            url=exchange.url, status=exchange.status or 0, location=exchange.header("location"), hops=hops
        )
        self._add(*hop.findings)
        if hop.url is None:
            return False
        self._hops[normalise(hop.url)] = hops + 1
        return True

    # -- the card, again

    def _pin(self) -> None:
        grounds = self._grounds
        if grounds.discovery is None or grounds.card is None or grounds.interface is None or grounds.statics is None:
            return
        if grounds.discovery.card_url is None:  # the operator's own card cannot be fetched again (R12)
            return
        etags = (value for name, value in grounds.discovery.card_headers.items() if name.lower() == "etag")
        self._pins = PinWatch(
            grounds.card,
            grounds.interface,
            intent=self._intent,
            policy=self._policy,
            now=self._now,
            served_from=grounds.served_from,
            authoritative=grounds.statics.signature.authoritative,
            etag=next(etags, None),
            jku_keys=grounds.jku_keys,
        )

    def _looks(self) -> list[Exchange]:
        """The GETs of the pinned card that came after the one it was found by."""
        found = self._grounds.discovery
        looks = self._shelf.left([found.card_url]) if self._pins is not None and found and found.card_url else []
        if looks:
            self.reached.add(Stage.LEDGER)
        return looks

    def _transition_after(self, look: Exchange) -> Transition:
        """What the consumer did next that depends on the card; a commit where the recording does not show it."""
        at = next(place for place, exchange in enumerate(self._exchanges) if exchange is look)
        for exchange in self._exchanges[at + 1 :]:
            place = self._places.get(id(exchange))
            if place is None or self.calls[place].op not in ("send", "stream", "subscribe"):
                continue
            message = self.calls[place].asked.message
            plain = Transition.RENEGOTIATED_SEND if message is not None and message.task_id else Transition.COMMIT
            return _TRANSITIONS.get(self.calls[place].op, plain)
        return Transition.COMMIT

    # -- small questions

    def _around(self) -> Around:
        ours = any(call.exchange.purpose in PROBES for call in self.calls)
        return Around(
            intent=self._intent,
            policy=self._policy,
            card=self._grounds.card,
            interface=self._grounds.interface,
            is_ours=ours,
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
        return any(_is_there(call.exchange.url, place) for place in places if place)

    def _is_superseded(self, place: int) -> bool:
        """Whether the same call was made again later, and answered: credentials were added, or patience was kept."""
        call = self.calls[place]
        if call.answer is None or call.answer.not_gradeable is None:
            return False
        return self._answered.get(_key(call), -1) > place

    def _grade(self) -> None:
        """Whether the calls can be judged at all (R2): none reached the agent, or none got past its door."""
        if not any(was_sent(call.exchange) for call in self.calls):
            self.not_gradeable = NotGradeable.UNREACHABLE
            return
        answers = [call.answer for call in self.calls if call.answer is not None]
        if answers and all(answer.not_gradeable is not None for answer in answers):
            self.not_gradeable = answers[0].not_gradeable

    def _add(self, *findings: Finding) -> None:
        """Take findings up, each once: two snapshots of one artifact have the same flaw."""
        for one in findings:
            key = (one.slug, one.stage, one.verdict, one.detail, one.at)
            if key not in self._said:
                self._said.add(key)
                self.findings.append(one)


def _agent(grounds: Grounds, exchanges: Sequence[Exchange]) -> str:
    """What the books call the agent: where it is called, or where the first exchange went."""
    if grounds.interface is not None and grounds.interface.url:
        return grounds.interface.url
    return exchanges[0].url if exchanges else "agent"


def _key(call: Call) -> object:
    """What makes two calls one call, made again: the message, or everything that was asked."""
    message = call.asked.message
    return message.id if message is not None and message.id else call.exchange.request_body


def _is_there(url: str, place: str) -> bool:
    try:
        return same_target(url, place)[0]
    except ValueError:
        return url == place


def _noted(finding: Finding) -> Finding:
    return replace(finding, verdict=Verdict.ACCEPT, kind=Kind.NOTE)

"""Judges recorded traffic from both ends: the agent by the gates of the lab, the consumer by its own habits.

Used wherever somebody else's client was watched, alone or in a matrix. What the consumer did not ask is not held
against the agent: its card is taken from the lab's own look at it where there is one, else from what the consumer got.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.resolution import NO_INTERFACE
from a2a_lab.core.tasks import TaskBook
from a2a_lab.core.version import VERSION_INCOMPATIBLE
from a2a_lab.judge.booking import note_answer, note_request
from a2a_lab.judge.consumer import ConsumerJudgement, judge_consumer
from a2a_lab.judge.offline import Given, Judgement, judge_evidence
from a2a_lab.judge.visit import Account, Visit
from a2a_lab.verdicts import Finding, Findings, NotGradeable, Verdict
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.dialects import BINDINGS
from a2a_lab.wire.exchange import Exchange

SUPPORTS = ("1.0", "0.3", "0.2", "0.1")
# What the lab itself could not call: nobody asked it to, and what this consumer could call is told on its side.
_OF_THE_LAB = frozenset({NO_INTERFACE.slug, VERSION_INCOMPATIBLE.slug})


@dataclass(frozen=True, slots=True, kw_only=True)
class PairJudgement:
    """What the traffic shows of both. `findings` hold everything; those about the consumer say so in their values."""

    findings: Findings
    agent: Judgement
    consumer: ConsumerJudgement
    book: TaskBook

    @property
    def verdict(self) -> Verdict | NotGradeable:
        return self.agent.not_gradeable or self.findings.verdict

    @property
    def visit(self) -> Visit:
        return self.consumer.visit

    @property
    def cause(self) -> str | None:
        return self.consumer.cause.slug if self.consumer.cause is not None else None


def judge_pair(
    exchanges: Sequence[Exchange],
    *,
    policy: Policy,
    intent: Intent,
    now: float,
    address: str,
    account: Account | None = None,
    looks: Sequence[Exchange] = (),
    own_card_url: str | None = None,
    dialects: Sequence[str] = (),
    bindings: Sequence[str] = (),
    noted: Iterable[Finding] = (),
) -> PairJudgement:
    """Judge what one consumer and one agent said. `exchanges` are the consumer's, `looks` the lab's own for the card.

    `noted` are findings of whoever recorded it. See `judge_consumer` for the rest; `now` is Unix seconds.
    """
    consumer = judge_consumer(
        exchanges,
        policy=policy,
        address=address,
        account=account,
        own_card_url=own_card_url,
        dialects=dialects,
        bindings=bindings,
    )
    visit = consumer.visit
    agent = _judge_agent(visit, looks, intent=intent, policy=spoken_first(visit, policy), now=now, address=address)
    findings = Findings()
    for stage in agent.findings.stages:
        findings.reach(stage)
    findings.add(*(one for one in agent.findings.all if one.slug not in _OF_THE_LAB), *consumer.findings, *noted)
    return PairJudgement(findings=findings, agent=agent, consumer=consumer, book=booked(visit, address))


def booked(visit: Visit, agent: str) -> TaskBook:
    """The books of what was watched: which tasks there are, and what is left of them (R35)."""
    book = TaskBook(agent)
    for place, call in enumerate(visit.calls):
        note_answer(book, call, note_request(book, call, place))
    return book


def _judge_agent(
    visit: Visit, looks: Sequence[Exchange], *, intent: Intent, policy: Policy, now: float, address: str
) -> Judgement:
    """The agent by its calls, on the card that the lab found, or else on the last one that the consumer was given.

    The consumer's own looks are left out: it may ask with other headers, and be given another card (R33).
    """
    asked = {id(look.exchange) for look in visit.looks}
    calls = [one for one in visit.exchanges if id(one) not in asked]
    if looks:
        return judge_evidence([*looks, *calls], policy=policy, intent=intent, now=now, base_url=address)
    if not visit.cards:
        return judge_evidence(calls, policy=policy, intent=intent, now=now)
    last = visit.cards[-1]
    reading = read_card(last.exchange.body, bounds=policy.bounds)
    given = Given(card=reading.card, card_findings=tuple(reading.findings), served_from=last.url)
    return judge_evidence(calls, policy=policy, intent=intent, now=now, given=given)


def spoken_first(visit: Visit, policy: Policy) -> Policy:
    """The policy of a client that prefers what this one spoke, so that the card is read as it was used.

    Its order is the card's own (R9): where the card offers a binding that was spoken, no other one counts.
    """
    spoken = [call.dialect for call in visit.sends]
    versions = dict.fromkeys([*(dialect.id for dialect in spoken), *policy.supports, *SUPPORTS])
    offered = {place.binding for look in visit.cards if look.card is not None for place in look.card.interfaces}
    bindings: dict[str, None] = dict.fromkeys(dialect.binding for dialect in spoken)
    if not offered & set(bindings):
        bindings = dict.fromkeys([*bindings, *policy.bindings, *BINDINGS])
    return replace(policy, supports=tuple(versions), bindings=tuple(bindings))

"""Judges recorded exchanges as a whole: one verdict a stage, for each stage that the evidence reaches (R5).

The gates are those that live traffic passes, in the same order; here the answers are taken from a recording. It does
not matter who made the calls: no label and no posture is needed, and what a capture does not show is never held against
anybody. Pure: no I/O, and time comes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

from a2a_lab.core.asked import STREAMS
from a2a_lab.core.discovery import Discovery, discover
from a2a_lab.core.model import Artifact, Card, Interface, Task
from a2a_lab.core.orphans import OrphanRow
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.resolution import choose_interface
from a2a_lab.core.resolvers import Resolver
from a2a_lab.core.stream_result import StreamResult
from a2a_lab.core.tasks import TaskBook
from a2a_lab.judge.conversation import Conversation
from a2a_lab.judge.decisions import decided
from a2a_lab.judge.grounds import Grounds, Shelf, drive, first_card_url, gated
from a2a_lab.judge.statics import STAGES
from a2a_lab.verdicts import Finding, Findings, NotGradeable, Stage, Verdict
from a2a_lab.wire.exchange import RENEWED, Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a case states beside its exchanges, for evidence that is only a part of the flow.

    `card` counts as bound without having been fetched, `served_from` is where it came from. `configured_card`,
    `card_url`, `dispatch_url`, `tenant` and `credentials_for` are what an operator would have given to `discover`.
    `artifacts` were received, `known` before the recording begins; `tasks` are those of the books by then.
    """

    card: Card | None = None
    card_findings: tuple[Finding, ...] = ()
    served_from: str | None = None
    configured_card: Card | None = None
    card_url: str | None = None
    dispatch_url: str | None = None
    tenant: str | None = None
    credentials_for: Set[str] = frozenset()
    artifacts: tuple[Artifact, ...] = ()
    known: tuple[Artifact, ...] = ()
    tasks: tuple[Task, ...] = ()


@dataclass(slots=True, kw_only=True)
class Judgement:
    """What the evidence shows. `not_gradeable` replaces the verdict where the agent could not be judged (R2).

    `streams` are the results of the streaming calls in order; `orphans` the rows of what was left behind.
    """

    findings: Findings = field(default_factory=Findings)
    grounds: Grounds = field(default_factory=Grounds)
    not_gradeable: NotGradeable | None = None
    streams: tuple[StreamResult, ...] = ()
    orphans: tuple[OrphanRow, ...] = ()

    @property
    def closure(self) -> str | None:
        """How the last stream ended."""
        return self.streams[-1].closure if self.streams else None


def judge_exchanges(
    exchanges: Sequence[Exchange],
    *,
    policy: Policy,
    intent: Intent,
    now: float,
    base_url: str | None = None,
    resolver: Resolver | None = None,
    book: TaskBook | None = None,
    given: Given | None = None,
) -> Findings:
    """The findings of `judge_evidence`, for whoever needs nothing else of it."""
    return judge_evidence(
        exchanges,
        policy=policy,
        intent=intent,
        now=now,
        base_url=base_url,
        resolver=resolver,
        book=book,
        given=given,
    ).findings


def judge_evidence(
    exchanges: Sequence[Exchange],
    *,
    policy: Policy,
    intent: Intent,
    now: float,
    base_url: str | None = None,
    resolver: Resolver | None = None,
    book: TaskBook | None = None,
    given: Given | None = None,
) -> Judgement:
    """Judge a recording. `now` is Unix seconds; offsets within the exchanges are its clock.

    `base_url` is where the agent was looked for; without it that of the first well-known GET, or the URL of the first
    body that is a card. A `book` that was kept while the traffic was live is read, not written. Raises Misuse for
    arguments that cannot be right, nothing on account of a peer.
    """
    judged = Judgement()
    held = given or Given()
    # A credential that had ended says nothing about the agent: the same request followed with a new one.
    exchanges = [one for one in exchanges if one.purpose != RENEWED]
    shelf = Shelf(exchanges, policy.bounds)
    discovery = _discovered(exchanges, judged, shelf, held, policy, base_url=base_url, resolver=resolver)
    _gate(judged, discovery, held, shelf, intent=intent, policy=policy, now=now)
    talk = Conversation(exchanges, judged.grounds, shelf, intent=intent, policy=policy, now=now, book=book)
    talk.judge(known=held.known, artifacts=held.artifacts, tasks=held.tasks)
    if talk.readings and talk.not_gradeable is None and judged.grounds.card is not None:
        static = judged.findings.all
        talk.findings.add(*decided(judged.grounds.card, intent, policy, found=static, readings=talk.readings))
    judged.findings.join(talk.findings)
    for stage in talk.reached:
        judged.findings.reach(stage)
    judged.not_gradeable = judged.not_gradeable or talk.not_gradeable
    judged.streams = tuple(call.watched for call in talk.calls if call.op in STREAMS and call.watched is not None)
    judged.orphans = talk.book.orphans()
    if not judged.orphans:
        # A stream that broke left nothing behind once its task was cancelled or had ended; it broke all the same (R35).
        judged.findings.revise(_refused)
    return judged


def _refused(finding: Finding) -> Finding:
    return replace(finding, verdict=Verdict.REFUSE) if finding.verdict is Verdict.ORPHAN else finding


def _discovered(
    exchanges: Sequence[Exchange],
    judged: Judgement,
    shelf: Shelf,
    given: Given,
    policy: Policy,
    *,
    base_url: str | None,
    resolver: Resolver | None,
) -> Discovery | None:
    """Walk to the card through the evidence; None where a card was given, or nothing was ever asked for one."""
    if given.card is not None:
        return None
    hint_url, card_url = base_url, given.card_url
    if not (hint_url or card_url or given.dispatch_url or given.configured_card):
        hint_url, card_url = first_card_url(exchanges, policy.bounds)
    if not (hint_url or card_url or given.dispatch_url or given.configured_card):
        return None
    walk = discover(
        None if card_url or given.dispatch_url or given.configured_card else hint_url,
        policy,
        resolver=resolver,
        configured_card=given.configured_card,
        credentials_for=given.credentials_for,
        card_url=card_url,
        dispatch_url=given.dispatch_url,
        tenant=given.tenant,
    )
    found = drive(walk, shelf)
    for stage in found.reached:
        judged.findings.reach(stage)
    judged.findings.add(*found.findings)
    judged.not_gradeable = found.not_gradeable
    return found


def _gate(
    judged: Judgement,
    discovery: Discovery | None,
    given: Given,
    shelf: Shelf,
    *,
    intent: Intent,
    policy: Policy,
    now: float,
) -> None:
    """Evaluate the three static gates on the bound card, whatever the others say (R4)."""
    if given.card is not None:
        interface, found = _interface_of(given.card, policy, given.tenant)
        judged.findings.add(*given.card_findings, *found)
        card, served_from = given.card, given.served_from
    elif discovery is not None and discovery.card is not None:
        card, interface, served_from = discovery.card, discovery.interface, discovery.card_url
    else:
        judged.grounds = Grounds(discovery=discovery)
        return
    if interface is None:
        judged.grounds = Grounds(discovery=discovery, card=card)
        return
    statics, keys = gated(card, interface, shelf=shelf, intent=intent, policy=policy, now=now, served_from=served_from)
    for stage in STAGES:
        judged.findings.reach(stage)
    judged.findings.add(*statics.findings)
    judged.grounds = Grounds(
        discovery=discovery,
        card=card,
        interface=interface,
        served_from=served_from,
        statics=statics,
        jku_keys=keys,
    )


def _interface_of(card: Card, policy: Policy, tenant: str | None) -> tuple[Interface | None, Iterable[Finding]]:
    """The interface that a given card would be called at; where none fits its first, so that the gates can speak."""
    interface, found = choose_interface(card, policy, tenant=tenant)
    if interface is not None:
        return interface, ()
    return next(iter(card.interfaces), None), [one for one in found if one.stage is Stage.RESOLVE]

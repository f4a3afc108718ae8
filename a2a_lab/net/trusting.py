"""The trusting posture: does what today's clients do, so that its cost can be measured.

Modelled on the official SDK clients and the orchestrators measured on the wire: one well-known path, no fallback; the
card is matched as it lies there and never bound, verified or pinned; the payload leaves at once in the declared mode;
an input-required answer is answered by sending it again; a stream is read until the peer closes it; only the
transport timeout ends a wait; nothing is cancelled and no artifact type is looked at. It knows what it noticed, and
that is little: what was wrong is for the lab to judge from the evidence.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import dataclass, field

from a2a_lab.core.discovery import card_request_headers
from a2a_lab.core.model import Artifact, Card, Interface, RpcError, State, Task
from a2a_lab.core.modes import declared_modes
from a2a_lab.core.named_modes import named_modes
from a2a_lab.core.resolution import LEGACY_WELL_KNOWN, WELL_KNOWN, ResolvedTarget
from a2a_lab.core.version import line_of, spoken_over
from a2a_lab.errors import LimitExceeded
from a2a_lab.net.caller import Caller, Opened
from a2a_lab.net.client import Http
from a2a_lab.net.job import Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.dialects import Answer, OutMessage, dialect_for
from a2a_lab.wire.parts import payload_part

POLL_S = 0.1
RENEGOTIATIONS = 3  # then even a patient client gives up; the records' initiators asked once


class GivesUp(Exception):
    """What such a client raises to its caller: a text, rarely a useful one, and the slug that we tabulate it under."""

    def __init__(self, slug: str, text: str) -> None:
        super().__init__(text)
        self.slug = slug


@dataclass(slots=True)
class Seen:
    """What the client knows of the task it believes to be its own."""

    task_id: str | None = None
    state: State | None = None
    snapshot: Task | None = None
    error: RpcError | None = None
    artifacts: dict[str, Artifact] = field(default_factory=dict)
    ended: str = ""
    raised: str = ""  # the slug of what the client would raise to its caller
    has_message: bool = False

    def fail(self, slug: str, text: str) -> None:
        self.raised, self.ended = slug, text

    def take(self, task: Task) -> None:
        self.task_id, self.state, self.snapshot = task.id, task.state, task
        self.artifacts |= {artifact.id: artifact for artifact in task.artifacts}


class TrustingInitiator:
    """Fetch, match, commit at once; renegotiate by sending again; wait for the transport timeout."""

    async def run(self, job: Job, http: Http, journal: Journal) -> Outcome:
        outcome = Outcome()
        try:
            await self._run(job, http, journal, outcome)
        except GivesUp as told:
            outcome.said = str(told)
            outcome.errors.append(told.slug)
        return outcome

    async def _run(self, job: Job, http: Http, journal: Journal, outcome: Outcome) -> None:
        card = outcome.card = await self._fetch(job, http, outcome)
        interface = outcome.interface = _first_usable(card, job.policy.bindings, job.tenant)
        self._match(card, job)
        headers = dict(job.resolver.headers) if job.resolver else {}
        url = job.resolver.rewrite(interface.url) if job.resolver else interface.url
        target = outcome.target = ResolvedTarget(
            dispatch_url=url,
            binding=interface.binding,
            version=interface.version,
            tenant_id=interface.tenant,
            headers=headers,
        )
        caller = Caller(
            http,
            dialect_for(_spoken(card, interface, job.policy.supports), interface.binding),
            target,
            credentials=job.credentials.calls,
            bounds=job.policy.bounds,
            extensions=job.intent.extensions,
            plain=job.policy.allow_http,
        )
        await journal.target(target, dialect=caller.dialect.id, nonce=http.expect_nonce)
        mode, seen = job.intent.mode, Seen()
        for _ in range(1 + RENEGOTIATIONS):
            seen = await self._commit(caller, job, journal, mode, seen.task_id)
            asked = named_modes(seen.snapshot or seen.error).modes if seen.snapshot or seen.error else ()
            other = next((can for can in job.intent.payloads if can in asked and can != mode), None)
            if seen.state is not State.INPUT_REQUIRED or other is None:
                break
            mode = other
        outcome.mode = mode
        if seen.state is State.COMPLETED and seen.task_id:
            outcome.booked.add(seen.task_id)
            await journal.booked(seen.task_id)
            has_result = any(artifact.parts for artifact in seen.artifacts.values())
            outcome.said = "takes it as done" + ("" if has_result else ", with no artifact")
        else:
            outcome.errors += [seen.raised] if seen.raised else []
            outcome.said = seen.ended or f"gives up: the task is {seen.state.value if seen.state else 'unknown'}"

    async def _fetch(self, job: Job, http: Http, outcome: Outcome) -> Card:
        """The card at the one well-known path of the client's newest version, parsed as any JSON library would."""
        is_old = not {"1.0", "0.3", "0.3.0"} & set(job.policy.supports)
        url = job.card_url or job.hint_url.rstrip("/") + (LEGACY_WELL_KNOWN if is_old else WELL_KNOWN)
        headers = card_request_headers(job.policy)
        exchange = await http.send("GET", url, headers, purpose="card:hint", credentials=job.credentials.card)
        outcome.card_url = url
        if exchange.status is None or exchange.fault:
            raise GivesUp("client-card-unreachable", f"agent card not reachable: {exchange.fault}")
        if exchange.status != 200:
            raise GivesUp("client-card-http", f"agent card: HTTP {exchange.status}")
        try:
            lenient = json.dumps(json.loads(exchange.body)).encode()
        except (ValueError, RecursionError) as problem:
            raise GivesUp("client-card-unreadable", f"agent card is not JSON: {problem}") from problem
        card = read_card(lenient, bounds=job.policy.bounds).card
        if card is None:
            raise GivesUp("client-card-unreadable", "failed to validate agent card structure")
        return card

    def _match(self, card: Card, job: Job) -> None:
        """Eligible or not, by the card as it lies there."""
        intent = job.intent
        if intent.mode not in declared_modes(card, card.skill(intent.skill), "input").union:
            raise GivesUp("client-not-eligible", f"not eligible: {intent.mode} is not among the card's input modes")
        if intent.skill and card.skill(intent.skill) is None:
            raise GivesUp("client-not-eligible", f"not eligible: no skill {intent.skill}")
        wanted = {*intent.requires, *(["streaming"] if intent.stream else [])}
        missing = sorted(name for name in wanted if not card.capabilities.get(name))
        if missing:
            raise GivesUp("client-not-eligible", f"not eligible: the card does not offer {', '.join(missing)}")

    async def _commit(self, caller: Caller, job: Job, journal: Journal, mode: str, task_id: str | None) -> Seen:
        body = job.intent.payloads[mode]
        message = OutMessage(
            message_id=str(uuid.uuid4()), parts=(payload_part(mode, body, dialect=caller.dialect.id),), task_id=task_id
        )
        await journal.sent(
            message.message_id,
            purpose="commit",
            media_type=mode,
            size=len(body),
            is_payload=True,
            task_id=task_id,
            opens=caller.dialect.task_id_of(message),
        )
        seen = Seen(task_id=task_id)
        if job.wait == "stream":
            await self._watch(caller, job, journal, message, seen)
        else:
            await self._ask(caller, job, journal, message, seen)
        return seen

    async def _ask(self, caller: Caller, job: Job, journal: Journal, message: OutMessage, seen: Seen) -> None:
        immediately = job.wait == "poll"
        called = await caller.call(
            "send", purpose="commit", message=message, accepts=job.intent.accepts, return_immediately=immediately
        )
        if called.answer is None:
            took = called.exchange.ended_ms - called.exchange.started_ms
            seen.fail(*_transport(called.exchange.fault, took))
            await journal.answer(message.message_id, None, called.exchange)
            return
        await journal.answer(message.message_id, called.answer, called.exchange)
        _take(called.answer, seen)
        while seen.task_id and seen.state in (State.SUBMITTED, State.WORKING):
            await asyncio.sleep(POLL_S)
            if job.policy.clocks.total_s * 1000 < caller.now_ms():
                seen.fail("client-still-waiting", "still working when the lab's own limit ended the cell")
                return
            again = await caller.call("get", purpose="get", task_id=seen.task_id)
            if again.answer is None or again.answer.task is None:
                seen.fail("client-task-lost", "task can no longer be read")
                return
            await journal.task(again.answer.task, how="get")
            seen.take(again.answer.task)

    async def _watch(self, caller: Caller, job: Job, journal: Journal, message: OutMessage, seen: Seen) -> None:
        """Read until the peer closes: comments keep the transport timeout from firing, and nothing else ends it."""
        opening = caller.open("stream", purpose="commit", message=message, accepts=job.intent.accepts)
        async with opening as opened:
            live = opened.live
            kind = (live.exchange.header("content-type") or "").partition(";")[0].strip().lower()
            if live.exchange.status is not None and kind != caller.dialect.stream_media:
                await live.rest(job.policy.clocks.total_s)
                seen.fail(
                    "client-no-stream",
                    f"stream parser: expected {caller.dialect.stream_media}, got {kind or 'no content type'}",
                )
                answer = caller.read("send", opened.rpc_id, live.exchange)
                await journal.answer(message.message_id, answer, live.exchange)
                return
            await self._events(caller, job, journal, opened, message.message_id, seen)
            await journal.sizes()
            if seen.error is not None and seen.task_id is None:
                await journal.refused(message.message_id, seen.error)
            elif journal.book.task_of(message.message_id) is None and not seen.has_message:
                await journal.nothing(message.message_id, live.exchange)

    async def _events(
        self, caller: Caller, job: Job, journal: Journal, opened: Opened, message_id: str, seen: Seen
    ) -> None:
        live, reader = opened.live, caller.dialect.frames(job.policy.bounds)
        cap_s = job.policy.clocks.total_s
        try:
            while (data := await live.next(max(0.0, cap_s - caller.now_ms() / 1000))) is not None:
                for raw in reader.feed(data):
                    event, _ = caller.dialect.read_event(raw.data, rpc_id=opened.rpc_id, name=raw.name)
                    await journal.event(event, message_id=message_id)
                    if event.task is not None:
                        seen.take(event.task)
                    elif event.error is not None:
                        seen.error = event.error
                        seen.fail("client-rpc-error", f"stream error: {event.error.message[:200]}")
                        return
                    elif event.message is not None and event.state is None:
                        seen.ended, seen.has_message = "takes the message as the answer", True
                    if event.state is not None and event.kind == "status":
                        seen.state = event.state
                        seen.task_id = event.task_id or seen.task_id
                        if event.task_id:
                            seen.snapshot = Task(
                                id=event.task_id,
                                context_id=event.context_id,
                                state=event.state,
                                wire_state=event.wire_state,
                                message=event.message,
                            )
                    if event.artifact is not None:
                        seen.artifacts[event.artifact.id] = event.artifact
        except TimeoutError:
            live.exchange.cut_by, live.exchange.ending = "cap", "open"
            seen.fail("client-still-waiting", "still waiting when the lab's own limit ended the cell")
            return
        except LimitExceeded as limit:
            seen.fail("client-stream-limit", f"stream too large: {limit}")
            return
        if live.exchange.fault:
            took = live.exchange.ended_ms - live.exchange.started_ms
            seen.fail(*_transport(live.exchange.fault, took))


def _take(answer: Answer, seen: Seen) -> None:
    if answer.task is not None:
        seen.take(answer.task)
    elif answer.error is not None:
        seen.error = answer.error
        seen.fail("client-rpc-error", f"error {answer.error.code}: {answer.error.message[:200]}")
    elif answer.message is not None:
        seen.ended = "takes the message as the answer"
    else:
        seen.fail("client-answer-unreadable", "answer could not be parsed")


def _transport(fault: str | None, took_ms: float) -> tuple[str, str]:
    if fault == "read-timeout":
        return "client-transport-timeout", f"transport timeout after {took_ms / 1000:.1f} s"
    return "client-transport-fault", f"transport: {fault}"


def _first_usable(card: Card, bindings: tuple[str, ...], tenant: str | None = None) -> Interface:
    """The first interface with a transport the client has; 1.x before 0.x, by the leading number only.

    Of those of the tenant that the operator named, if one is: nothing goes to somebody else's.
    """
    usable = [entry for entry in card.interfaces if entry.binding in bindings and entry.url]
    if tenant is not None:
        usable = [entry for entry in usable if entry.tenant == tenant]
    if not usable:
        raise GivesUp("client-no-transport", "no compatible transport found")
    return next((entry for entry in usable if _is_new(entry)), usable[0])


def _is_new(interface: Interface) -> bool:
    """What a lenient version parser makes of it: 1, 1.0, 1.0.0-rc and v1.0 are all 1.0."""
    return str(interface.version or "0.3").lstrip("vV").startswith("1")


def _spoken(card: Card, interface: Interface, supports: tuple[str, ...]) -> str:
    """The version to speak: 1.0, or what the client has of the older ones; nothing is 0.3."""
    if _is_new(interface):
        return "1.0"
    old = [version for version in spoken_over(interface.binding, supports) if version.startswith("0.")]
    said = line_of(interface.version) or card.form
    return said if said in old else next(iter(old), "0.3")

"""The enforcing posture: every rule of the core, in the order of the flow (DESIGN 3). Waits and sends; decides nothing.

    resolve, fetch -> match, signature, version -> pin -> probe, decide -> look again -> commit -> receive -> settle

What the core finds is collected; what it refuses ends the flow, and whatever was begun is settled all the same.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import replace

from a2a_lab.core.asked import Asked, declared_by
from a2a_lab.core.authority import Outcome as Shown
from a2a_lab.core.commitment import Fact
from a2a_lab.core.discovery import Discovery
from a2a_lab.core.drift_findings import FLAPPING
from a2a_lab.core.model import Json, Message, RpcError
from a2a_lab.core.outcome import judge_commit
from a2a_lab.core.pinning import (
    Next,
    PinnedCard,
    Transition,
)
from a2a_lab.core.probe import ProbeReading, judge_ids, read_probe
from a2a_lab.core.receive import judge_artifact
from a2a_lab.core.rehearsal import NOT_COMMITTED, Decision, ProbePlan, next_probe, rehearse
from a2a_lab.net.caller import Caller
from a2a_lab.net.client import Http
from a2a_lab.net.following import Followed, Follower
from a2a_lab.net.groundwork import Groundwork, Stop
from a2a_lab.net.job import Job, Outcome
from a2a_lab.net.journal import Journal
from a2a_lab.net.settling import settle
from a2a_lab.verdicts import Finding, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire.dialects import OutMessage, dialect_for
from a2a_lab.wire.parts import payload_part

RETRY_CARD_S = 1.0  # before the one retry of a revalidation, where the server does not say how long (R34)


class EnforcingInitiator:
    """Resolve, fetch, match; verify; pin; probe; commit what was proven; check what comes; settle everything."""

    async def run(self, job: Job, http: Http, journal: Journal) -> Outcome:
        flow = _Flow(job, http, journal)
        try:
            await flow.run()
        finally:
            await flow.settle()
        flow.conclude()
        return flow.outcome


class _Flow(Groundwork):
    """One cell from its pin to the end. Each method is a step."""

    def __init__(self, job: Job, http: Http, journal: Journal) -> None:
        super().__init__(job, http, journal)
        self.caller: Caller | None = None
        self.follower: Follower | None = None

    async def run(self) -> None:
        try:
            found = await self.discover()
            statics = await self.gate(found)
            pin = self.pin(found, statics)
            if self.job.depth == "card":
                self.outcome.said = "the card was read and judged; nothing was sent"
                self.outcome.would_send = self._would_send(found)
                return
            decision = await self.probe(found)
            found, pin = await self.look_again(found, pin, decision)
            await self.commit(found, decision)
        except Stop:
            pass

    def _would_send(self, found: Discovery) -> bool:
        """Whether the flow would go on to a probe or a payload from here."""
        assert found.card is not None
        plan = next_probe(rehearse(found.card, self.job.intent, self.job.policy, self.outcome.findings.all))
        return isinstance(plan, ProbePlan) or plan.commits

    # -- probe and decide

    async def probe(self, found: Discovery) -> Decision:
        await self._open(found)
        assert found.card is not None
        state = rehearse(found.card, self.job.intent, self.job.policy, self.outcome.findings.all)
        while isinstance(plan := next_probe(state), ProbePlan):
            self.steps.note(Fact.PROBE_SENT)
            reading = await self._probe(found, plan)
            self.steps.note(Fact.PROBE_READ)
            state = state.after(plan, reading)
        self.outcome.findings.add(*plan.findings)
        self.steps.note(Fact.DECIDED_COMMIT if plan.commits else Fact.DECIDED_REFUSE)
        if not plan.commits:
            raise Stop
        return plan

    async def _open(self, found: Discovery) -> None:
        """Ready to call the target in the dialect that the version gate chose."""
        assert found.card is not None and found.interface is not None and found.target is not None
        gate = self.judge(found, {}).version
        self.caller = Caller(
            self.http,
            dialect_for(gate.dialect or "1.0", found.interface.binding),
            found.target,
            credentials=self.job.credentials.calls,
            bounds=self.job.policy.bounds,
            extensions=self.job.intent.extensions,
            plain=self.job.policy.allow_http,
            patience_s=self.job.policy.clocks.hang_s,
        )
        await self.journal.target(found.target, dialect=self.caller.dialect.id, nonce=self.http.expect_nonce)
        self.follower = Follower(
            self.caller,
            self.journal,
            self.job.policy,
            declared=declared_by(found.card, found.interface),
            clock=lambda: self.http.recorder.now_ms() / 1000,
        )

    async def _probe(self, found: Discovery, plan: ProbePlan) -> ProbeReading:
        """Send one probe, follow it, read it, and leave nothing of it open at the agent (R22, R23)."""
        assert self.caller is not None and found.card is not None and found.interface is not None
        message = OutMessage(message_id=str(uuid.uuid4()), parts=(plan.part,), metadata=plan.metadata)
        await self.journal.sent(
            message.message_id,
            purpose=plan.purpose,
            media_type=plan.mode,
            size=0,
            is_payload=False,
            opens=self.caller.dialect.task_id_of(message),
        )
        ended = self.journal.book.ended_tasks()
        followed = await self._follow(message, plan.op, plan.purpose, plan.metadata, plan.accepts)
        seen = self._took(followed, Stage.STREAM if plan.op == "stream" else Stage.RPC)
        self.outcome.findings.reach(Stage.PROBE)
        if self._is_ungraded(followed):
            self.steps.note(Fact.PROBE_READ)
            self.steps.note(Fact.DECIDED_REFUSE)
            raise Stop
        reading = read_probe(
            followed.answer,
            plan.asked(
                dialect=self.caller.dialect.id,
                version_sent="1.0" if self.caller.dialect.id == "1.0" else None,
                task_id=self.caller.dialect.task_id_of(message),
                task_is_known=message.task_id is not None,
                had_ended=followed.task is not None and followed.task.id in ended,
                **declared_by(found.card, found.interface),
            ),
            ending="hang" if followed.is_hang else "answered" if followed.answer is not None else "fault",
            seen=seen,
            is_live=True,
        )
        self.outcome.findings.add(*reading.findings)
        await self._leave(followed, booked=reading.outcome in (Shown.ACCEPTED, Shown.INCONCLUSIVE))
        return reading

    async def _leave(self, followed: Followed, *, booked: bool) -> None:
        """A probe's task is booked where it completed, cancelled where it did not."""
        assert self.caller is not None
        task = followed.task
        if task is not None and task.state.is_terminal and booked:
            await self.journal.booked(task.id)
        await self._settle()

    async def _follow(
        self,
        message: OutMessage,
        op: str,
        purpose: str,
        metadata: Mapping[str, object] | None,
        accepts: tuple[str, ...],
    ) -> Followed:
        assert self.follower is not None
        send = self.follower.stream if op == "stream" else self.follower.send
        return await send(message, purpose=purpose, metadata=metadata, accepts=accepts)

    def _took(self, followed: Followed, stage: Stage) -> list[Finding]:
        """Collect what the wire and the watch said, and judge every part that came (A5)."""
        self.outcome.findings.reach(stage)
        found = list(followed.findings)
        if followed.artifacts and self.outcome.card is not None:
            self.outcome.findings.reach(Stage.RECEIVE)
            skill = self.outcome.card.skill(self.job.intent.skill)
            for artifact in followed.artifacts:
                found += judge_artifact(self.outcome.card, skill, artifact, accepts=self.job.intent.accepts)
        if followed.stream is not None:
            self.outcome.closure = followed.stream.closure
        # An error of the protocol is an answer; what it means is for the probe or the commit to say, not for the wire.
        if isinstance(followed.answer, RpcError):
            found = [one for one in found if one.slug not in ("rpc-error", "error-before-stream")]
        self.outcome.findings.add(*found)
        return found

    def _is_ungraded(self, followed: Followed) -> bool:
        """Whether the agent cannot be judged by what became of a message: we were not let in, or nobody was there."""
        why = followed.not_gradeable
        if why is not None:
            self.outcome.said = f"a call was turned away: {followed.challenge or why.value}"
        elif followed.unreachable:
            why = NotGradeable.UNREACHABLE
            self.outcome.said = "the agent's endpoint could not be reached"
        self.outcome.not_gradeable = why or self.outcome.not_gradeable
        return why is not None

    # -- look again, commit

    async def look_again(self, found: Discovery, pin: PinnedCard, decision: Decision) -> tuple[Discovery, PinnedCard]:
        """Fetch the card once more before what depends on it; go on, discover anew, or stop (P3)."""
        if self.job.configured_card is not None or self.job.policy.drift == "once":
            self.steps.note(Fact.CARD_UNCHANGED)
            return found, pin
        is_other = decision.mode != self.job.intent.mode
        plain = Transition.STREAM if decision.op == "stream" else Transition.COMMIT
        transition = Transition.RENEGOTIATED_SEND if is_other else plain
        judged = await self.revalidate(found, pin, transition, attempt=1)
        if judged.next is Next.RETRY:
            await asyncio.sleep(RETRY_CARD_S)
            judged = await self.revalidate(found, pin, transition, attempt=2)
        elif judged.changed:
            # One more look tells a change from two servers that take turns; it decides nothing else (R34).
            again = await self.revalidate(found, pin, transition, attempt=1, seen=judged.seen)
            judged = again if any(one.slug == FLAPPING.slug for one in again.findings) else judged
        self.outcome.findings.add(*judged.findings)
        if judged.next is Next.STOP:
            self.steps.note(Fact.DECIDED_REFUSE)
            raise Stop
        if judged.next is Next.REDISCOVER:
            return await self._again(judged.seen)
        self.steps.note(Fact.CARD_UNCHANGED)
        return found, pin

    async def _again(self, seen: tuple[str, ...]) -> tuple[Discovery, PinnedCard]:
        """Back to discovery with a new pin, once; what the probes proved still holds, since the plan does (P3)."""
        self.steps.note(Fact.CARD_DRIFTED)
        found = await self.discover()
        pin = self.pin(found, await self.gate(found), seen)
        await self._open(found)
        self.steps.note(Fact.PROBE_SENT)
        self.steps.note(Fact.PROBE_READ)
        self.steps.note(Fact.DECIDED_COMMIT)
        return found, pin

    async def commit(self, found: Discovery, decision: Decision) -> None:
        assert self.caller is not None and decision.mode is not None
        mode = decision.mode
        body = self.job.intent.payloads[mode]
        message = OutMessage(
            message_id=str(uuid.uuid4()),
            parts=(payload_part(mode, body, dialect=self.caller.dialect.id),),
            context_id=decision.context_id,
        )
        await self.journal.sent(
            message.message_id,
            purpose="commit",
            media_type=mode,
            size=len(body),
            is_payload=True,
            context_id=decision.context_id,
            opens=self.caller.dialect.task_id_of(message),
        )
        self.steps.note(Fact.PAYLOAD_SENT)
        self.outcome.mode = mode
        ended = self.journal.book.ended_tasks()
        followed = await self._follow(message, decision.op, "commit", None, decision.accepts)
        seen = self._took(followed, Stage.STREAM if decision.op == "stream" else Stage.RPC)
        if self._is_ungraded(followed):
            self.steps.note(Fact.FAULTED)
            return
        asked = Asked(
            op=decision.op,
            dialect=self.caller.dialect.id,
            mode=mode,
            context_id=decision.context_id,
            task_id=self.caller.dialect.task_id_of(message),
            task_is_known=message.task_id is not None,
            had_ended=followed.task is not None and followed.task.id in ended,
        )
        more = judge_ids(followed.answer, asked)
        more += judge_commit(
            followed.answer, mode=mode, is_stream=decision.op == "stream", timed_out=followed.timed_out
        )
        self.outcome.findings.add(*more)
        seen += more
        is_broken = any(one.verdict.severity > Verdict.HINT.severity for one in seen if one.kind is not Kind.NOTE)
        task = followed.task
        if task is not None and task.state.is_terminal and not is_broken:
            self.steps.note(Fact.RESULT_RECEIVED)
            await self.journal.booked(task.id)
            self.outcome.booked.add(task.id)
            self.outcome.said = f"done in {mode}"
            if decision.op == "stream":
                await self._confirm(task.id)
        else:
            self.steps.note(Fact.FAULTED if followed.answer is not None else Fact.OUTCOME_UNKNOWN)
            if isinstance(followed.answer, Message):
                self.outcome.said = "answered with a message; there is no task and no artifact"

    async def _confirm(self, task_id: str) -> None:
        """Whether what was streamed can be fetched by others too: what the snapshot lacks is an orphan (R35)."""
        assert self.caller is not None
        called = await self.caller.call("get", purpose="get", task_id=task_id, total_s=self.job.policy.clocks.total_s)
        if called.answer is not None and called.answer.task is not None:
            await self.journal.task(called.answer.task, how="get")

    async def _settle(self) -> None:
        assert self.caller is not None
        total_s = self.job.policy.clocks.total_s
        found = await settle(self.caller, self.journal, total_s=total_s, declared=self._declared)
        if found:
            self.outcome.findings.reach(Stage.PROBE)
            self.outcome.findings.add(*found)

    @property
    def _declared(self) -> dict[str, Json]:
        """What the bound card says of the calls that are made, for whoever judges an error by it."""
        card, interface = self.outcome.card, self.outcome.interface
        return declared_by(card, interface) if card is not None and interface is not None else {}

    # -- the end

    async def settle(self) -> None:
        """Nothing of ours stays open at the agent; what cannot be closed is booked as left behind (A7)."""
        if self.caller is not None:
            await self._settle()
        if not self.journal.book.orphans():
            # A stream that broke left nobody behind once its task was cancelled or had ended; it broke all the same.
            self.outcome.findings.revise(
                lambda one: replace(one, verdict=Verdict.REFUSE) if one.verdict is Verdict.ORPHAN else one
            )
        self.outcome.findings.add(*self.journal.book.findings())

    def conclude(self) -> None:
        stopping = [one for one in self.outcome.findings.all if one.verdict.severity >= Verdict.REFUSE.severity]
        self.outcome.errors = list(dict.fromkeys(one.slug for one in stopping))
        if stopping and not self.outcome.said:
            causes = [one for one in stopping if one.slug != NOT_COMMITTED.slug]  # which only says what follows
            worst = max(causes or stopping, key=lambda one: one.verdict.severity)
            self.outcome.said = f"{worst.slug}: {worst.detail}"

"""Reads one call as the core reads a probe: what it was, what is known around it, and what its answer shows (A3, R22).

Whoever made the call is not asked: a send without a label is read like a probe in the mode of its own part, since what
a runtime takes shows in any of them. Only where the evidence holds the lab's own probes is a commit told from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from a2a_lab.core.asked import Asked, Purpose, declared_by
from a2a_lab.core.media import TEXT
from a2a_lab.core.model import Card, Interface, Message, RpcError, State, Task
from a2a_lab.core.outcome import judge_commit
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.probe import Ending, ProbeReading, judge_ids, judge_renegotiations, read_probe
from a2a_lab.core.receive import part_media_type
from a2a_lab.core.refusals import CALL_REFUSED, judge_error
from a2a_lab.judge.histories import History, task_id_of
from a2a_lab.judge.lastword import last_word
from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import Finding, Kind, Verdict
from a2a_lab.wire.exchange import named_version

PROBES: Mapping[str, Purpose] = {"probe": "probe", "rehearsal": "rehearsal", "control": "control"}
"""The labels by which the lab's own recordings tell its probes apart."""
_INTENDED = "intendedInputModes"
_OK = 200
_STILL = 0.9  # of a limit: the last of the lab's own looks comes just before it

Word = Task | Message | RpcError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known beside the calls: the bound card with its interface, if any, and what the consumer is about."""

    intent: Intent
    policy: Policy
    card: Card | None = None
    interface: Interface | None = None
    is_ours: bool = False  # the evidence holds probes that the lab labelled

    def declared(self) -> dict[str, object]:
        return declared_by(self.card, self.interface) if self.card is not None and self.interface is not None else {}


def word_of(call: Call) -> Word:
    """What answered the call in the end; None where nothing usable did."""
    if call.watched is not None:
        return last_word(call.watched, call.answer)
    answer = call.answer
    return None if answer is None else answer.task or answer.message or answer.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What one call showed: findings of stage `probe` or `ledger`, and the reading where it was read as a probe."""

    findings: tuple[Finding, ...]
    reading: ProbeReading | None = None


def read_outcome(place: int, call: Call, history: History, around: Around, seen: Sequence[Finding]) -> Shown:
    """What the answer to a call shows. `seen` are the findings of the wire, the stream and the parts received."""
    word = word_of(call)
    if isinstance(word, RpcError) and _is_at_the_door(call):
        word = None  # nobody was let in, whatever the body says beside the status
    asked = asked_of(place, call, history, around, word)
    if not call.is_send:
        found = judge_ids(word, asked)
        declined = judge_error(word, asked) if isinstance(word, RpcError) else []
        found += [_settling(one, is_ours=around.is_ours) for one in declined]
        return Shown(findings=tuple(found))
    ending = _ending(call, word, around)
    later = history.followed(word, place) if isinstance(word, Task) and call.watched is None else word
    if around.is_ours and call.watched is None and history.look_hung(later, place, around.policy.clocks.hang_s):
        ending = "hang"
    if around.is_ours and call.exchange.purpose == "commit":
        found = judge_ids(word, asked)
        if history.is_superseded(place) or history.not_gradeable is not None:
            return Shown(findings=tuple(found))  # nobody was let in, which is no word about the payload
        clocks = around.policy.clocks
        stood_still = history.stood_still_s(later, place) >= _STILL * clocks.hang_s
        ran_out = history.followed_s(later, place) >= _STILL * clocks.total_s
        timed_out = ending == "hang" or stood_still or ran_out
        found += judge_commit(later, mode=asked.mode, is_stream=call.op == "stream", timed_out=timed_out)
        return Shown(findings=tuple(found))
    is_live = call.exchange.purpose in PROBES
    reading = read_probe(word, asked, ending=ending, seen=seen, is_live=is_live and later is word)
    found = list(reading.findings)
    if later is not word:
        reading = read_probe(later, asked, seen=seen, is_live=is_live)
        found += [one for one in reading.findings if one.slug not in {known.slug for known in found}]
    if isinstance(word, Task) and word.state is State.INPUT_REQUIRED:
        found += judge_renegotiations(history.asks_again(place), around.policy.max_renegotiations)
    return Shown(findings=tuple(found), reading=reading)


def asked_of(place: int, call: Call, history: History, around: Around, word: Word) -> Asked:
    """What was asked, as the core puts it."""
    facts, message = call.asked, call.asked.message
    task_id = task_id_of(call)
    is_error = isinstance(word, RpcError)
    state = None
    if task_id is not None:
        state = history.state_around(task_id, place) if is_error else history.state_before(task_id, place)
    return Asked(
        op=call.op,
        dialect=call.dialect.id,
        mode=mode_of(message),
        intended=_intended(call),
        skill=around.intent.skill if call.is_send else None,
        return_immediately=bool(facts.return_immediately),
        context_id=message.context_id if message is not None else None,
        task_id=task_id,
        # That an error came for a task which the capture does not show proves nothing about the task.
        task_is_known=task_id is None or is_error or history.is_known(task_id, place),
        task_state=state,
        had_ended=history.had_ended(word, place),
        version_sent=named_version(call.exchange.request_headers, call.exchange.url),
        flaws=tuple(one.detail for one in facts.findings if one.verdict.severity > 0),
        configures_push=facts.configures_push,
        is_retry=history.was_throttled(place),
        purpose=PROBES.get(call.exchange.purpose, "probe"),
        **around.declared(),  # type: ignore[arg-type]  # the facts that `declared_by` names
    )


def _is_at_the_door(call: Call) -> bool:
    """Whether the status said so, of HTTP or gRPC. An error under a 200 is the agent's own word, of credentials too."""
    is_turned_away = call.answer is not None and call.answer.not_gradeable is not None
    return is_turned_away and (call.exchange.status != _OK or call.dialect.binding == "GRPC")


def mode_of(message: Message | None) -> str:
    """The media type of what was sent: that of the first part, text where there is none."""
    parts = message.parts if message is not None else ()
    return (part_media_type(parts[0]) if parts else None) or TEXT


def _intended(call: Call) -> str:
    metadata = call.asked.message.metadata if call.asked.message is not None else {}
    named = call.asked.metadata.get(_INTENDED) or metadata.get(_INTENDED)
    return named[0] if isinstance(named, list) and named and isinstance(named[0], str) else ""


def _ending(call: Call, word: Word, around: Around) -> Ending:
    if call.watched is not None:
        return "hang" if call.watched.is_hang else "answered" if word is not None else "fault"
    exchange = call.exchange
    took_s = (exchange.ended_ms - exchange.started_ms) / 1000
    if exchange.fault == "read-timeout" or took_s > around.policy.clocks.total_s:
        return "hang"
    return "answered" if word is not None else "fault"


def _settling(finding: Finding, *, is_ours: bool) -> Finding:
    """That an agent declines to look up, cancel or resubscribe is an answer, and no failure of the cell.

    Least of all where the lab only cleaned up behind itself: what is left behind then is for the books.
    """
    if finding.slug != CALL_REFUSED.slug:
        return finding
    return replace(finding, kind=Kind.NOTE, verdict=Verdict.ACCEPT if is_ours else finding.verdict)

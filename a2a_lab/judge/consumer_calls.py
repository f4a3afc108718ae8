"""Judges what a consumer sent: the version it names, the tenant, the order of its messages, and how long it listened.

The specification binds clients in a few places (§3.6.1, §8.3.2); the rest is measured against this lab's policy of
probing first, never repeating blindly, and knowing a hang by the protocol (A3, A6, R24, R30, R37).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from a2a_lab.core import consumer_findings as found
from a2a_lab.core.holdings import size
from a2a_lab.core.model import Artifact, Interface, Message, State
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.version import line_of
from a2a_lab.judge.answers import was_sent
from a2a_lab.judge.transcript import Call
from a2a_lab.judge.visit import Account, Visit, content_of, is_line
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import first_header, named_version

NO_ANSWER: Final = "no answer"
CAP, TIMEOUT, BY_ITSELF = "cap", "transport-timeout", "left"
_TIMED_OUT: Final = ("timeout", "timed out", "timed-out", "deadline exceeded", "aborted due to")
_EXTENSIONS: Final = ("A2A-Extensions", "X-A2A-Extensions")  # from 1.0 on, and before
_ENDED_BY: Final = {
    CAP: "the lab's cap ended it",
    TIMEOUT: "its own transport timeout ended it",
    BY_ITSELF: "it left by itself",
    "stopped": "the observation was ended",
}


def judge_calls_of(visit: Visit, account: Account | None) -> list[Finding]:
    """What the calls show. `account` is what the consumer told its caller, where the lab knows it."""
    return [
        *once(_versions(visit)),
        *once(_tenants(visit)),
        *once(_extensions(visit)),
        *once(_requests(visit)),
        *_unprobed(visit),
        *_repeated(visit),
        *once(_ids(visit)),
        *_tasks(visit),
        *_waits(visit, account),
        *(_unfinished(visit) if account is None or account.ok else ()),
    ]


def _versions(visit: Visit) -> Iterator[Finding]:
    for call in visit.calls:
        named = visit.named_by(call)
        place = named[0][1] if named else None
        if place is not None and not is_line(place, call.dialect.id):
            offered = sorted({str(one.version) for _, one in named})
            detail = f"{call.asked.method or call.op} is of {call.dialect.id}, and the card declares {listed(offered)} "
            yield found.UNDECLARED_DIALECT(
                f"{detail}at {quoted(place.url)}", found=call.dialect.id, expected=offered, at=call.exchange.url
            )
        elif call.dialect.id == "1.0" and call.exchange.request_headers:
            yield from _version_header(call)


def _version_header(call: Call) -> Iterator[Finding]:
    sent = named_version(call.exchange.request_headers, call.exchange.url)
    what = call.asked.method or call.op
    if not sent:
        yield found.VERSION_HEADER_MISSING(f"{what} was sent without A2A-Version", expected="1.0", at=call.exchange.url)
    elif line_of(sent) != "1.0":
        detail = f"{what} was sent with A2A-Version {quoted(sent)}"
        yield found.VERSION_HEADER_WRONG(detail, found=sent, expected="1.0", at=call.exchange.url)


def _tenants(visit: Visit) -> Iterator[Finding]:
    for call in visit.calls:
        places = [place for _, place in visit.named_by(call) if is_line(place, "1.0")]
        if call.dialect.id != "1.0" or not places:
            continue
        if not any(call.tenant_at(place.url) == (place.tenant or None) for place in places):
            yield _tenant(call, places[0], call.tenant_at(places[0].url))


def _tenant(call: Call, place: Interface, sent: str | None) -> Finding:
    what = f"{call.asked.method or call.op} to {quoted(place.url)} carries tenant {quoted(sent)}"
    if not place.tenant:
        return found.TENANT_INVENTED(f"{what}; the interface has none", found=sent, at=call.exchange.url)
    detail = f"{what}; the interface has {quoted(place.tenant)}"
    return found.INTERFACE_TENANT_NOT_SENT(detail, found=sent, expected=place.tenant, at=call.exchange.url)


def _extensions(visit: Visit) -> Iterator[Finding]:
    """Each generation has a header of its own for the extensions that are spoken."""
    for call in visit.calls:
        headers = call.exchange.request_headers
        own, other = _EXTENSIONS if call.dialect.id == "1.0" else reversed(_EXTENSIONS)
        if first_header(headers, other) and not first_header(headers, own):
            detail = f"{call.asked.method or call.op} was sent with {other}; {call.dialect.id} has {own}"
            yield found.EXTENSIONS_HEADER_NAME(detail, found=other, expected=own, at=call.exchange.url)


def _requests(visit: Visit) -> Iterator[Finding]:
    for call in visit.calls:
        flaws = [one for one in call.asked.findings if one.verdict.severity > 0]
        if flaws:
            detail = f"{call.asked.method or call.op}: {'; '.join(one.detail for one in flaws[:3])}"
            yield found.REQUEST_MALFORMED(detail, found=[one.slug for one in flaws], at=call.exchange.url)


def _unprobed(visit: Visit) -> Iterator[Finding]:
    """A consumer that says everything at once: its first message is also its largest."""
    if not visit.sends or any(call.exchange.purpose in ("probe", "rehearsal") for call in visit.sends):
        return
    sizes = [_size(call) for call in visit.sends]
    if sizes[0] >= max(sizes):
        detail = f"{sizes[0]} bytes left with its first message, {len(visit.sends)} in all"
        yield found.COMMITTED_UNPROBED(detail, bytes=sizes[0], at=visit.sends[0].exchange.url)


def _repeated(visit: Visit) -> Iterator[Finding]:
    """The same parts once more, after an answer that should have changed them, or after no answer at all."""
    last: dict[str, Call] = {}
    looked_at = 0.0
    for call in visit.calls:
        if call.op in ("get", "list", "subscribe"):
            looked_at = call.exchange.started_ms
        if not call.is_send or call.asked.message is None:
            continue
        content = content_of(call)
        before = last.get(content)
        last[content] = call
        if before is None:
            continue
        if before.tasks and before.tasks[-1].state is State.INPUT_REQUIRED:
            yield found.RESENT_AFTER_INPUT_REQUIRED(
                f"{_size(call)} bytes were sent again as they had been", bytes=_size(call), at=call.exchange.url
            )
        elif _is_unknown(before) and looked_at < before.exchange.started_ms:
            why = before.exchange.fault or f"HTTP {before.exchange.status}"
            detail = f"after {why} {_size(call)} bytes were sent again; the task had not been looked for"
            yield found.RESENT_AFTER_UNKNOWN(detail, bytes=_size(call), at=call.exchange.url)


def _ids(visit: Visit) -> Iterator[Finding]:
    """A message id that comes once more, though what it was first sent with had been answered (R35).

    A retry after an error, or after no answer, is another matter: there the id is what tells a careful agent that it
    is the same message.
    """
    answered: dict[str, Call] = {}
    for call in visit.sends:
        if call.asked.message is None or not (name := call.asked.message.id):
            continue
        before = answered.get(name)
        if before is not None and _answered_ms(before) <= call.exchange.started_ms:
            first, then = _answer_of(before), _answer_of(call)
            became = "the same" if first == then else then
            yield found.MESSAGE_ID_REUSED(
                f"messageId {quoted(name)} had been answered with {first} when it was sent again, which got {became}",
                found=name,
                at=call.exchange.url,
            )
        if before is None and _answer_of(call) != NO_ANSWER:
            answered[name] = call


def _answer_of(call: Call) -> str:
    """What a send was answered with: its (first) task, or a message."""
    if call.tasks:
        return f"task {quoted(call.tasks[0].id)}"
    is_message = call.answer is not None and call.answer.message is not None
    return "a message" if is_message or any(one.event.kind == "message" for one in call.events) else NO_ANSWER


def _answered_ms(call: Call) -> float:
    """When the first word of an answer had come."""
    return call.events[0].at_ms if call.events else call.exchange.ended_ms


def _tasks(visit: Visit) -> Iterator[Finding]:
    states: dict[str, State] = {}
    contexts: dict[str, str | None] = {}
    for place, call in enumerate(visit.calls):
        message = call.asked.message
        if call.is_send and message is not None and message.task_id:
            yield from _reuse(message, states, contexts, is_first=place == 0)
        for task in call.tasks:
            states[task.id] = task.state
            contexts[task.id] = task.context_id or contexts.get(task.id)


def _reuse(
    message: Message, states: dict[str, State], contexts: dict[str, str | None], *, is_first: bool
) -> Iterator[Finding]:
    name = quoted(message.task_id)
    assert message.task_id is not None
    state, context = states.get(message.task_id), contexts.get(message.task_id)
    if state is None and not is_first:  # a capture may begin in the middle of a conversation
        yield found.TASK_REUSED_WRONGLY(f"the agent never handed out task {name}", found=message.task_id)
    elif state is not None and state.is_terminal:
        yield found.TASK_REUSED_WRONGLY(f"task {name} had ended as {state.value}", found=message.task_id)
    elif state is not None and context and message.context_id and message.context_id != context:
        detail = f"task {name} is of context {quoted(context)}, the message names {quoted(message.context_id)}"
        yield found.TASK_REUSED_WRONGLY(detail, found=message.context_id, expected=context)


def who_ended(cut_by: str | None, account: Account | None) -> str | None:
    """Who ended an exchange that the consumer left, by its own word; `cut_by` is what the traffic alone says."""
    if cut_by != BY_ITSELF or account is None:
        return cut_by
    if account.hung:
        return CAP
    text = (account.error or "").lower()
    return TIMEOUT if any(word in text for word in _TIMED_OUT) else BY_ITSELF


def _waits(visit: Visit, account: Account | None) -> Iterator[Finding]:
    """Exchanges that the agent did not end: waited out in silence, or left while something was still being said."""
    for call in visit.calls:
        exchange = call.exchange
        by = who_ended(exchange.cut_by, account)
        if by not in _ENDED_BY or _has_ended(call):
            continue
        if call.quiet_s >= visit.policy.clocks.silence_s or by in (TIMEOUT, CAP):
            took_s = (exchange.ended_ms - exchange.started_ms) / 1000
            detail = f"{call.quiet_s:.1f} s after the last word ({took_s:.1f} s in all) {_ENDED_BY[by]}"
            yield found.WAITED_OUT_A_HANG(
                detail, waited_s=round(call.quiet_s, 3), took_s=round(took_s, 3), ended_by=by, at=exchange.url
            )
        elif by == BY_ITSELF and call.is_stream:
            detail = f"{call.quiet_s:.1f} s after the last word, in state {_state(call)}"
            yield found.LEFT_STREAM_EARLY(detail, waited_s=round(call.quiet_s, 3), at=exchange.url)


def _unfinished(visit: Visit) -> Iterator[Finding]:
    """A send whose task was still at work in the answer, and nobody asked again."""
    for place, call in enumerate(visit.calls):
        if call.op != "send" or call.answer is None or call.answer.task is None:
            continue
        task = call.answer.task
        if task.state not in (State.SUBMITTED, State.WORKING):
            continue
        later = visit.calls[place + 1 :]
        if not any(one.op in ("get", "subscribe", "cancel", "list") for one in later):
            detail = f"task {quoted(task.id)} was {task.state.value}, and was not asked for again"
            yield found.UNFINISHED_TASK_TAKEN(detail, found=task.state.value, at=task.id)


def _has_ended(call: Call) -> bool:
    return any(task.state.is_terminal or task.state.is_interrupted for task in call.tasks) or call.error is not None


def _is_unknown(call: Call) -> bool:
    """Whether nobody can say what became of the message (R35)."""
    if not was_sent(call.exchange):
        return False
    status = call.exchange.status
    if status is not None and 300 <= status < 500:
        return False
    return not call.tasks and call.error is None and (call.answer is None or call.answer.message is None)


def _state(call: Call) -> str:
    return call.tasks[-1].state.value if call.tasks else "unknown"


def _size(call: Call) -> int:
    message = call.asked.message
    return size(Artifact(id="", parts=message.parts)) if message is not None else len(call.exchange.request_body)


def once(findings: Iterator[Finding]) -> Iterator[Finding]:
    """A habit is one finding, told at its first place, with how often it showed."""
    seen: dict[str, list[Finding]] = {}
    for one in findings:
        seen.setdefault(one.slug, []).append(one)
    for alike in seen.values():
        more = f" (and {len(alike) - 1} more of its calls)" if len(alike) > 1 else ""
        yield replace(alike[0], detail=alike[0].detail + more, values={**alike[0].values, "times": len(alike)})

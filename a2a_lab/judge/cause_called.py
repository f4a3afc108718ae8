"""Why a pair failed that had come as far as a call: turned away, unread, never ended, ended badly, or lost on the way.

The last send decides, since a consumer tries again before it gives up.
"""

from __future__ import annotations

import re
from typing import Final

from a2a_lab.core import causes, consumer_findings
from a2a_lab.core.model import State
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.refusals import NOT_OF_0_3
from a2a_lab.judge.consumer_calls import CAP, TIMEOUT, who_ended
from a2a_lab.judge.consumer_result import failure_of, is_end_missing, missing_artifacts
from a2a_lab.judge.transcript import Call
from a2a_lab.judge.visit import Account, Visit, is_line
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import named_version

_TYPE: Final = re.compile(
    r"timestamp|parsing time|time data|\benum\b|invalid type|expected .{1,30} but|type mismatch", re.IGNORECASE
)
_MEMBER_FLAWS: Final = frozenset(
    {"timestamp-form", "wrong-type", "enum-number", "state-misspelt", "unknown-state", "member-missing", "id-missing"}
    | {"snake-case", "unknown-role", "wrong-role", "part-shape", "state-missing", "rpc-id-type", "empty-parts"}
)
_SHAPE_FLAWS: Final = frozenset({"version-not-honoured", "result-shape", "first-event", "final-in-1.0"})
_UNKNOWN_HERE: Final = ("MethodNotFound", "VersionNotSupported", "UnsupportedOperation")
_NOT_SERVED: Final = frozenset({404, 405, 410, *range(500, 600)})


def cause_of_call(visit: Visit, account: Account | None, text: str) -> Finding | None:
    """The cause in the last send; None where it shows none. `text` is what the consumer says."""
    if not visit.sends:
        return _strayed(visit, text)
    call = visit.sends[-1]
    return (
        _ignored_error(visit, call, account)
        or _turned_away(visit, call)
        or _unread(visit, call, account, text)
        or _hung(visit, account)
        or _ended_badly(visit, account)
        or _dropped(visit, call, account)
    )


def _strayed(visit: Visit, text: str) -> Finding | None:
    """What was sent is no call of A2A at all."""
    if not visit.strays:
        return None
    last = visit.strays[-1]
    card = visit.cards[-1].card if visit.cards else None
    if last.status == 200 and b"data:" not in last.body and card is not None and card.capabilities.get("streaming"):
        detail = f"the card declares streaming, and {quoted(last.url)} answered with a stream that holds no event"
        return causes.CARD_CONTRADICTS_RUNTIME(detail, at=last.url)
    detail = f"{quoted(last.url)} was sent what is no call of A2A, and answered {last.status or last.fault}"
    return causes.REQUEST_REFUSED(f"{detail}; the consumer says {quoted(text, 200)}", found=last.status or last.fault)


def _ignored_error(visit: Visit, call: Call, account: Account | None) -> Finding | None:
    """A JSON error in place of a stream, which the consumer took for a stream that holds nothing."""
    if call.op != "stream" or account is None or account.error is not None or account.events:
        return None
    failure = failure_of(visit)
    if failure is None:
        return None
    detail = f"{failure}; its caller was told {quoted(account.said)}"
    return causes.STREAM_ERROR_IGNORED(detail, found=_status(call), at=call.exchange.url)


def _turned_away(visit: Visit, call: Call) -> Finding | None:
    """The agent answered the call with an error, or with nothing that is an answer."""
    exchange = call.exchange
    if exchange.status is None and exchange.cut_by is None:
        return causes.CONNECTION_BROKEN(f"{quoted(exchange.url)}: {exchange.fault}", found=exchange.fault)
    if call.error is None and (exchange.status is None or exchange.status < 400):
        return None
    what = f"{call.asked.method or call.op} to {quoted(exchange.url)} was answered with {_status(call)}"
    named = visit.named_by(call)
    if not named and visit.card_before(exchange):
        return consumer_findings.UNBOUND_CARD_USED(f"{what}; no card names that URL", found=exchange.url)
    if named and not is_line(named[0][1], call.dialect.id):
        offered = sorted({str(place.version) for _, place in named})
        detail = f"{what}; the call is of {call.dialect.id}, and the card declares {listed(offered)}"
        return consumer_findings.UNDECLARED_DIALECT(detail, found=call.dialect.id, expected=offered)
    flaws = [one.detail for one in call.asked.findings if one.verdict.severity > 0]
    if flaws:
        return consumer_findings.REQUEST_MALFORMED(f"{what}; the request: {'; '.join(flaws[:2])}", at=exchange.url)
    if _names_no_version(call):
        return consumer_findings.VERSION_HEADER_MISSING(f"{what}; without A2A-Version it is one of 0.3", expected="1.0")
    is_unserved = exchange.status in _NOT_SERVED if call.error is None else call.error.name in _UNKNOWN_HERE
    if named and is_unserved:
        declared = named[0][1]
        detail = f"{what}; the card declares {declared.binding} {declared.version} there"
        return causes.CARD_CONTRADICTS_RUNTIME(detail, found=_status(call))
    return causes.REQUEST_REFUSED(what, found=_status(call))


def _names_no_version(call: Call) -> bool:
    """Whether an agent that does not serve the call took it for one of 0.3, as it must (§3.6.2)."""
    is_unnamed = call.dialect.id == "1.0" and named_version(call.exchange.request_headers, call.exchange.url) == ""
    return is_unnamed and call.error is not None and call.error.name in NOT_OF_0_3


def _unread(visit: Visit, call: Call, account: Account | None, text: str) -> Finding | None:
    """The agent answered, and the consumer could not make anything of it, and said so."""
    if account is None or account.error is None or not (call.tasks or call.events or call.answer):
        return None
    if _cut(visit, account):
        return None
    findings = [*call.findings, *(call.watched.findings if call.watched else ())]
    slugs = {one.slug for one in findings}
    detail = f"the agent answered {_status(call)}, and the consumer says {quoted(text, 300)}"
    if _TYPE.search(text) or (slugs & _MEMBER_FLAWS and not slugs & _SHAPE_FLAWS):
        flaw = next((f"; {one.detail}" for one in findings if one.slug in _MEMBER_FLAWS), "")
        return causes.WIRE_TYPE_MISMATCH(detail + flaw, found=text[:400], at=call.exchange.url)
    if call.is_stream or slugs & _SHAPE_FLAWS:
        return causes.STREAM_SHAPE_MISMATCH(detail, found=text[:400], at=call.exchange.url)
    return None


def _hung(visit: Visit, account: Account | None) -> Finding | None:
    cut = _cut(visit, account)
    if cut is None:
        return None
    took_s = (cut.exchange.ended_ms - cut.exchange.started_ms) / 1000
    return causes.NEVER_ENDED(
        f"{cut.asked.method or cut.op} was waited for {took_s:.1f} s, the last {cut.quiet_s:.1f} s in silence",
        waited_s=round(cut.quiet_s, 3),
    )


def _ended_badly(visit: Visit, account: Account | None) -> Finding | None:
    state = visit.state
    if state is not None and state.is_terminal and state is not State.COMPLETED:
        return causes.TASK_FAILED(f"the task ended as {state.value}", found=state.value)
    if state is not None and state.is_interrupted:
        return causes.INPUT_ASKED(f"the task ended as {state.value}", found=state.value)
    last = visit.sends[-1]
    is_taken = account is None or account.ok
    if is_taken and state in (State.SUBMITTED, State.WORKING) and not last.is_stream:
        detail = f"the answer to {last.asked.method or last.op} was {state.value}, and was taken for the result"
        return consumer_findings.UNFINISHED_TASK_TAKEN(detail, found=state.value)
    return None


def _dropped(visit: Visit, call: Call, account: Account | None) -> Finding | None:
    """Everything came, and part of it went no further; nobody said so."""
    if account is None or account.error is not None:
        return None
    lost = missing_artifacts(visit, account)
    if not lost and not is_end_missing(visit, account) and visit.state is not None:
        return None
    what = f"artifacts {listed(lost)}" if lost else "the end of the task"
    kind = causes.STREAM_SHAPE_DROPPED if call.is_stream else causes.ANSWER_SHAPE_DROPPED
    return kind(f"{what} did not reach its caller, who was told {quoted(account.said)}", found=lost)


def _cut(visit: Visit, account: Account | None) -> Call | None:
    """The last call that a timeout ended, of the consumer's or of the lab's."""
    ends = (call for call in reversed(visit.calls) if call.exchange.cut_by)
    return next((call for call in ends if who_ended(call.exchange.cut_by, account) in (TIMEOUT, CAP)), None)


def _status(call: Call) -> str:
    if call.error is not None:
        return f"error {call.error.code} {quoted(call.error.message, 120)}"
    if call.exchange.status is None:
        return str(call.exchange.fault)
    body = call.exchange.body[:160].decode("utf-8", "replace") if call.exchange.status >= 400 else ""
    return f"HTTP {call.exchange.status}" + (f" {quoted(body, 120)}" if body else "")

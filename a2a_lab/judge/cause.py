"""Names why a pair failed: one cause, from the evidence first, and from the consumer's words only where that is mute.

Error texts of clients are no help by themselves: one message stands for several causes ("No compatible transport
found"), and one cause for several messages (a card of another generation is called unreachable, invalid or empty). So
the traffic decides how far the pair came, the cards and answers decide between the causes of that place, and a text is
asked last. What can go wrong after the first call is in `cause_called`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from a2a_lab.core import causes, consumer_findings
from a2a_lab.core.model import Card, State
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.urls import same_target
from a2a_lab.core.version import line_of
from a2a_lab.judge.cause_called import cause_of_call
from a2a_lab.judge.consumer_cards import lost_base_path
from a2a_lab.judge.consumer_result import failure_of, is_end_missing, missing_artifacts
from a2a_lab.judge.visit import Account, Look, Visit, is_line, places_of
from a2a_lab.verdicts import Finding, FindingKind, Verdict
from a2a_lab.wire.exchange import first_header

# What clients write when a rule of their own about addresses turned a card away.
_GATE: Final = re.compile(r"same origin|must use https|loopback|allow-?list|not allowed|untrusted|insecure", re.I)
_SCHEMA: Final = re.compile(r"validat|field required|missing|schema|required propert|unmarshal|deserial|parse", re.I)
_URL_MISSING: Final = re.compile(
    r"[\"'(\[\s]url[\"')\]\s].{0,40}(required|missing)|(required|missing).{0,60}\burl\b", re.I | re.S
)
_NO_TRANSPORT: Final = re.compile(
    r"no (compatible|supported) (transport|interface)|has no supported interfaces", re.IGNORECASE
)
_NO_CARD_THERE: Final = (400, 404, 405, 410)


def cause_of_failure(
    visit: Visit,
    account: Account | None = None,
    *,
    own_card_url: str | None = None,
    dialects: Sequence[str] = (),
    bindings: Sequence[str] = (),
) -> Finding | None:
    """Why the pair failed, as a finding whose slug is the cause; None where it did not.

    `account` is what the consumer told its caller, None where only its traffic is known. `own_card_url` is where the
    agent's card lies, where the lab knows it; `dialects` and `bindings` are what the consumer claims to speak.
    """
    if not has_failed(visit, account):
        return None
    text = (account.error or account.said) if account is not None else ""
    steps: tuple[Callable[[], Finding | None], ...] = (
        lambda: _unreached(visit, text),
        lambda: _without_card(visit, text, own_card_url),
        lambda: _swallowed(visit, account),
        lambda: _declined_card(visit, text, dialects, bindings),
        lambda: cause_of_call(visit, account, text),
    )
    for step in steps:
        if (cause := step()) is not None:
            return cause
    if account is None:  # nobody told what it wanted: what its traffic does not show is held against nobody
        asked = listed(list(dict.fromkeys(f"{one.method} {one.url}" for one in visit.exchanges)))
        return causes.UNEXPLAINED(f"the traffic shows no reason; it asked for {asked}", verdict=Verdict.HINT)
    return causes.UNEXPLAINED(f"the consumer says {quoted(text, 300)}", found=text[:400])


def has_failed(visit: Visit, account: Account | None) -> bool:
    """Whether anything was lost between the agent and whoever asked the consumer."""
    if account is None:
        return failure_of(visit) is not None or not visit.posted or not _is_delivered(visit)
    if not account.ok or account.error is not None:
        return True
    if not visit.posted and visit.is_blind:
        return False  # it went past the recorder, and is content
    return not _is_delivered(visit) or bool(missing_artifacts(visit, account)) or is_end_missing(visit, account)


def _is_delivered(visit: Visit) -> bool:
    """Whether the agent gave what it was asked for, as far as the traffic shows."""
    is_message = any(call.answer is not None and call.answer.message is not None for call in visit.sends)
    watched = any(call.watched is not None and call.watched.message is not None for call in visit.sends)
    return visit.state is State.COMPLETED or is_message or watched


def _unreached(visit: Visit, text: str) -> Finding | None:
    if not visit.exchanges:
        return causes.NEVER_ASKED(f"no request came; the consumer says {quoted(text, 300)}", found=text[:400])
    return None


def _without_card(visit: Visit, text: str, own_card_url: str | None) -> Finding | None:
    """No card came to the consumer, whether or not it went on without."""
    if visit.cards or not visit.looks:
        return None
    first = visit.looks[0]
    if visit.posted:
        asked = [look.url for look in visit.looks]
        detail = f"no card came from {listed(asked)}, and it called {quoted(visit.posted[0].url)} all the same"
        return consumer_findings.CARD_INVENTED(detail, found=visit.posted[0].url, asked=asked)
    lost = lost_base_path(visit)
    if lost is not None:
        detail = f"given {quoted(visit.address)} it asked for {quoted(first.url)}, which is HTTP {first.status}"
        return causes.BASE_PATH_JOINED(detail, found=first.url, expected=lost[0])
    asked = [f"{look.url} ({f'HTTP {look.status}' if look.status else look.exchange.fault})" for look in visit.looks]
    is_elsewhere = own_card_url is not None and not any(same_target(look.url, own_card_url)[0] for look in visit.looks)
    if is_elsewhere or all(look.status in _NO_CARD_THERE for look in visit.looks):
        there = f"; the card lies at {quoted(own_card_url)}" if own_card_url else ""
        return causes.WRONG_WELL_KNOWN_PATH(f"it asked for {listed(asked)}{there}", found=asked, expected=own_card_url)
    return causes.NO_CARD_SERVED(f"it asked for {listed(asked)}; it says {quoted(text, 200)}", found=asked)


def _swallowed(visit: Visit, account: Account | None) -> Finding | None:
    if account is None or not account.ok or account.error is None:
        return None
    failure = failure_of(visit)
    detail = f"it reported {quoted(account.error, 200)} beside the answer {quoted(account.said, 200)}"
    return consumer_findings.FAILURE_SWALLOWED(detail + (f"; {failure}" if failure else ""), found=account.error[:400])


def _declined_card(visit: Visit, text: str, dialects: Sequence[str], bindings: Sequence[str]) -> Finding | None:
    """A card came, and nothing was sent."""
    if visit.posted or not visit.cards:
        return None
    look = visit.cards[-1]
    assert look.card is not None
    said = f"it fetched {quoted(look.url)} and sent nothing; it says {quoted(text, 300)}"
    if _GATE.search(text):
        return causes.CONSUMER_GATE(said, found=text[:400], at=look.url)
    offered = {place.binding for place in places_of(look.card) if any(is_line(place, one) for one in dialects)}
    if offered and bindings and not offered & set(bindings):
        return causes.NO_COMMON_BINDING(said, found=sorted(offered), expected=list(bindings), at=look.url)
    if kind := _generation(look, look.card, text, dialects):
        return kind(said, found=text[:400], at=look.url)
    if _SCHEMA.search(text):
        return causes.CARD_SCHEMA_STRICTER(said, found=text[:400], at=look.url)
    return consumer_findings.READABLE_CARD_DECLINED(said, found=text[:400], at=look.url)


def _generation(look: Look, card: Card, text: str, dialects: Sequence[str]) -> FindingKind | None:
    """Whether the card is of another generation than the consumer reads; the text decides where it reads both."""
    is_new = bool(card.document.get("supportedInterfaces"))
    is_old = isinstance(card.document.get("url"), str)
    asks_for = first_header(look.exchange.request_headers, "A2A-Version")
    reads_new = (line_of(asks_for) or "").startswith("1.") or any(one.startswith("1.") for one in dialects)
    reads_old = any(one.startswith("0.") for one in dialects)
    if is_new and not is_old:
        is_shut_out = bool(_URL_MISSING.search(text)) or (not reads_new and (reads_old or _NO_TRANSPORT.search(text)))
        return causes.NEWER_CARD_UNREADABLE if is_shut_out else None
    if is_old and not is_new:
        is_shut_out = bool(_NO_TRANSPORT.search(text)) or (reads_new and not reads_old)
        return causes.OLDER_CARD_UNUSABLE if is_shut_out else None
    return None

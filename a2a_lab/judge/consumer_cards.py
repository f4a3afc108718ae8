"""Judges how a consumer looked for the card, and whether what it called is what a card of its names (D1-D6).

The traffic alone tells: which paths were asked in which order, with what selection, and what was called then. That a
stock server keeps its card at the origin is no fault of its clients (D3), so only what leads to another card is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final
from urllib.parse import parse_qsl

from a2a_lab.core import consumer_findings as found
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.resolution import is_under
from a2a_lab.core.urls import is_url, origin, parse_url
from a2a_lab.judge.consumer_calls import once
from a2a_lab.judge.transcript import Call
from a2a_lab.judge.visit import Look, Visit, content_of
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import Exchange, first_header

_TENANT: Final = re.compile(r"tenant", re.IGNORECASE)
_MAX_AGE: Final = re.compile(r"max-age\s*=\s*(\d+)", re.IGNORECASE)
_VALIDATORS: Final = ("If-None-Match", "If-Modified-Since")


def judge_discovery(visit: Visit) -> list[Finding]:
    """What the looks for a card show, and the card that was used in the end."""
    return [
        *_paths(visit),
        *_base_path(visit),
        *_found_or_not(visit),
        *_binding(visit),
        *_selection(visit),
        *once(_cache(visit)),
    ]


def _paths(visit: Visit) -> Iterator[Finding]:
    if visit.looks and all(look.is_legacy for look in visit.looks):
        asked = [look.url for look in visit.looks]
        yield found.LEGACY_PATH_ONLY(f"it asked for {listed(asked)} and for nothing newer", found=asked)


def lost_base_path(visit: Visit) -> tuple[str, Look] | None:
    """The path of the address and the first look, where every look went above that path (RFC 3986 joining)."""
    level = visit.level
    if not level or not visit.looks:
        return None
    if any(is_under(level, look.level) for look in visit.looks):
        return None
    first = visit.looks[0]
    return (level, first) if is_under(first.level, level) else None


def _base_path(visit: Visit) -> Iterator[Finding]:
    lost = lost_base_path(visit)
    if lost is None:
        return
    level, first = lost
    detail = f"given {quoted(visit.address)} it asked for {quoted(first.url)}: {quoted(level)} was not kept whole"
    yield found.BASE_PATH_DROPPED(detail, found=first.url, expected=level)
    taken = next((look for look in visit.cards if is_under(look.level, level)), None)
    if taken is not None:
        detail = (
            f"the card at {quoted(taken.url)} speaks for what lies above {quoted(level)}, and was taken for its own"
        )
        yield found.PARENT_CARD_USED(detail, found=taken.url, expected=level)


def _found_or_not(visit: Visit) -> Iterator[Finding]:
    first = visit.posted[0] if visit.posted else None
    if first is None:
        return
    if not visit.looks:
        yield found.CARD_UNASKED(f"it called {quoted(first.url)} without asking for any card", found=first.url)
    elif not visit.card_before(first):
        asked = [f"{look.url} ({look.status or look.exchange.fault})" for look in visit.looks]
        detail = f"asked: {listed(asked)}; no card came, and it called {quoted(first.url)}"
        yield found.CARD_INVENTED(detail, found=first.url, asked=asked)


def _binding(visit: Visit) -> Iterator[Finding]:
    """Whether each place that was called is named by a card, once a place."""
    for call in _once_a_place(visit):
        cards = visit.card_before(call.exchange)
        if not cards:
            continue
        named = visit.named_by(call)
        if not named:
            names = [look.url for look in cards]
            detail = f"{quoted(call.exchange.url)} is named by no card that it fetched ({listed(names)})"
            yield found.UNBOUND_CARD_USED(detail, found=call.exchange.url, expected=names)
            continue
        look = named[0][0]
        if not is_url(call.exchange.url) or _is_beside(look, call):
            continue
        if origin(look.url) != origin(call.exchange.url) and not _asked_at(visit, call.exchange):
            detail = f"{quoted(call.exchange.url)} was called on the word of {quoted(look.url)} alone"
            yield found.TARGET_CARD_UNASKED(detail, found=call.exchange.url, expected=origin(call.exchange.url))


def _selection(visit: Visit) -> Iterator[Finding]:
    """Tenant selectors that came with the call and with no look: the card was matched before the target was chosen."""
    looked = [selectors(look.exchange) for look in visit.cards]
    for call in _once_a_place(visit):
        chosen = selectors(call.exchange)
        missing = [name for name, value in chosen.items() if all(one.get(name) != value for one in looked)]
        if looked and missing:
            detail = f"{quoted(call.exchange.url)} was called with {listed(missing)}, no card was asked for with it"
            yield found.MATCHED_BEFORE_RESOLVED(detail, found=missing, at=call.exchange.url)


def selectors(exchange: Exchange) -> Mapping[str, str]:
    """What selects a tenant in a request: headers and query keys that say so by their name."""
    query = parse_qsl(exchange.url.partition("#")[0].partition("?")[2], keep_blank_values=True)
    pairs = [(f"header {name.lower()}", value) for name, value in exchange.request_headers]
    pairs += [(f"query {name}", value) for name, value in query]
    return {name: value for name, value in pairs if _TENANT.search(name)}


def _cache(visit: Visit) -> Iterator[Finding]:
    yield from _validators(visit)
    opened = [call for call in visit.sends if call.asked.message is not None and not call.asked.message.task_id]
    contexts: set[str | None] = set()
    last: Call | None = None
    for call in opened:
        context = call.asked.message.context_id if call.asked.message is not None else None
        cards = visit.card_before(call.exchange)
        is_again = last is not None and content_of(last) == content_of(call)  # one that failed, tried once more
        is_new = not is_again and (context is None or context not in contexts)
        if last is not None and is_new and cards and cards[0].exchange.started_ms < last.exchange.started_ms:
            yield from _reused(cards[0], call)
        contexts |= {context, *(task.context_id for task in call.tasks)}
        last = call


def _reused(look: Look, call: Call) -> Iterator[Finding]:
    age_s = (call.exchange.started_ms - look.exchange.ended_ms) / 1000
    detail = f"the card of {quoted(look.url)} was {age_s:.1f} s old when it was used again"
    yield found.CARD_REUSED(detail, age_s=round(age_s, 3), at=look.url)
    policy = look.exchange.header("cache-control") or ""
    limit = _MAX_AGE.search(policy)
    fresh_s = (
        0.0 if "no-cache" in policy.lower() or "no-store" in policy.lower() else float(limit[1]) if limit else None
    )
    if fresh_s is not None and age_s > fresh_s:
        stale = f"{detail}; its server had said {quoted(policy)}"
        yield found.CARD_STALE(stale, age_s=round(age_s, 3), fresh_s=fresh_s, at=look.url)


def _validators(visit: Visit) -> Iterator[Finding]:
    by_url: dict[str, list[Look]] = {}
    for look in visit.looks:
        by_url.setdefault(look.url, []).append(look)
    for url, looks in by_url.items():
        for before, after in pairwise(looks):
            given = [name for name in ("ETag", "Last-Modified") if before.exchange.header(name)]
            sent = any(first_header(after.exchange.request_headers, name) for name in _VALIDATORS)
            if given and not sent:
                detail = f"{quoted(url)} was fetched again without validators; {listed(given)} had been given"
                yield found.VALIDATORS_UNUSED(detail, found=given, at=url)
                break


def _once_a_place(visit: Visit) -> Iterator[Call]:
    seen: set[str] = set()
    for call in visit.sends:
        if call.exchange.url not in seen:
            seen.add(call.exchange.url)
            yield call


def _is_beside(look: Look, call: Call) -> bool:
    """Whether a call over gRPC went to the host of the card: its port is its own, and no place for a card."""
    return call.dialect.binding == "GRPC" and parse_url(look.url).host == parse_url(call.exchange.url).host


def _asked_at(visit: Visit, exchange: Exchange) -> bool:
    """Whether a card was asked for at the place itself, at its path or above it."""
    path = parse_url(exchange.url).path
    return any(
        is_url(look.url) and origin(look.url) == origin(exchange.url) and is_under(look.level, path)
        for look in visit.looks
    )

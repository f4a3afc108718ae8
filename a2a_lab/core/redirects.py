"""Decides whether a redirect may be followed: generously for the card, hardly ever for a call (R10).

A card's redirect may lead within one site and over https, a few hops, without credentials once the origin changes. A
POST carries a payload, so only a 307 or 308 to the same origin is followed, once. The caller asks before it follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import quoted
from a2a_lab.core.urls import joined, normalise, origin, parse_url, same_site
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict

REDIRECTS = frozenset({301, 302, 303, 307, 308})
KEEPS_THE_BODY = frozenset({307, 308})  # RFC 9110 15.4.8 and 15.4.9: method and content stay

CARD_REDIRECTED = FindingKind(
    slug="card-redirected",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="R10",
    means="the card was found behind a redirect within one site; what is pinned is the final URL",
)
CARD_REDIRECT_REFUSED = FindingKind(
    slug="card-redirect-refused",
    stage=Stage.FETCH,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="R10, D8",
    means="the card's redirect leads to another site or out of https, so that card would speak for somebody else",
)
CARD_REDIRECT_LIMIT = FindingKind(
    slug="card-redirect-limit",
    stage=Stage.FETCH,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="R10",
    means="the card's redirects do not end",
)
POST_REDIRECTED = FindingKind(
    slug="post-redirected",
    stage=Stage.RESOLVE,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="R10",
    means="the call was redirected within its origin; the card should have named the final URL",
    other="the discovery record compares URLs byte for byte and would refuse",
)
REDIRECT_NOWHERE = FindingKind(
    slug="redirect-nowhere",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    kind=Kind.CONFORMANCE,
    judge=Judge.SPEC,
    rule="R1, R10",
    clause="RFC 9110 §10.2.2 and §15.4 (Location: a URI reference)",
    means="a redirect says in no way that can be read where to",
)
POST_REDIRECT_REFUSED = FindingKind(
    slug="post-redirect-refused",
    stage=Stage.RESOLVE,
    verdict=Verdict.REFUSE,
    kind=Kind.CONFORMANCE,
    judge=Judge.POLICY,
    rule="R10",
    means="a call is not sent again to where a redirect points, unless it is a 307 or 308 to the same origin, once",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """What to do about one redirect: `url` is where to go on, None where the finding says why not."""

    url: str | None
    keeps_credentials: bool
    findings: tuple[Finding, ...] = ()


def judge_card_redirect(*, url: str, status: int, location: str | None, hops: int, policy: Policy) -> Hop:
    """Whether a card GET follows a redirect. `hops` counts the redirects already followed.

    Credentials are dropped on any change of origin. An origin that the operator allows by name may always be followed.
    """

    def refused(why: str, kind: FindingKind = CARD_REDIRECT_REFUSED) -> Hop:
        finding = kind(f"{quoted(url)} answers {status} to {quoted(location)}: {why}", found=location, expected=url)
        return Hop(url=None, keeps_credentials=False, findings=(finding,))

    if hops >= policy.bounds.redirects:
        return refused(f"that is redirect number {hops + 1}, and {hops} are followed", CARD_REDIRECT_LIMIT)
    try:
        target = _target(url, location)
    except _Nowhere as why:
        return why.hop(url, status, location, Stage.FETCH)
    except ValueError as why:
        return refused(str(why))
    there = parse_url(target)
    is_named = bool({there.origin, there.host} & policy.allow_origins)
    if not is_named and not _same_place(url, target):
        return refused(f"that is another site; if it is yours, allow it: --allow-origin {there.origin}")
    if there.scheme == "http" and not is_loopback(there.host) and there.host not in policy.allow_http:
        return refused(f"that leaves https; allow it by name: --allow-http {there.host}")
    note = CARD_REDIRECTED(f"{quoted(url)} answers {status} to {quoted(target)}", found=target, expected=url)
    return Hop(url=target, keeps_credentials=origin(url) == there.origin, findings=(note,))


def judge_post_redirect(*, url: str, status: int, location: str | None, hops: int) -> Hop:
    """Whether a call is sent again, with the same body, to where a redirect points. `hops` as for the card."""

    def refused(why: str) -> Hop:
        detail = f"the call to {quoted(url)} was answered {status} to {quoted(location)}: {why}"
        return Hop(url=None, keeps_credentials=False, findings=(POST_REDIRECT_REFUSED(detail, found=location),))

    try:
        target = _target(url, location)
    except _Nowhere as why:
        return why.hop(url, status, location, Stage.RPC)
    except ValueError as why:
        return refused(str(why))
    if status not in KEEPS_THE_BODY:
        return refused("such a redirect may turn a POST into a GET, so the call is not repeated")
    if hops:
        return refused("it was redirected once already")
    if origin(target) != origin(url):
        return refused("that is another origin, and the payload was not meant for it")
    if target == normalise(url):
        return refused("that is the same URL again")
    note = POST_REDIRECTED(
        f"the card names {quoted(url)} and the server moved the call to {quoted(target)}", found=target, expected=url
    )
    return Hop(url=target, keeps_credentials=True, findings=(note,))


class _Nowhere(Exception):
    """A Location is missing, or no URL."""

    def hop(self, url: str, status: int, location: str | None, stage: Stage) -> Hop:
        detail = f"{quoted(url)} answers {status} to {quoted(location)}: {self}"
        finding = REDIRECT_NOWHERE(detail, stage=stage, found=location, expected=url)
        return Hop(url=None, keeps_credentials=False, findings=(finding,))


def _target(url: str, location: str | None) -> str:
    """Where a Location leads. Raises _Nowhere where it cannot be read, ValueError for a URL that is not for us."""
    if location is None or not location.strip():
        raise _Nowhere("no Location says where to")
    try:
        target = joined(url, location.strip())
    except ValueError as fault:
        if location.strip().partition(":")[0].lower() in ("http", "https") or "://" not in location:
            raise _Nowhere(str(fault)) from fault
        raise
    if parse_url(target).userinfo:
        raise ValueError("it carries a user name")
    return target


def _same_place(url: str, target: str) -> bool:
    both_here = is_loopback(parse_url(url).host) and is_loopback(parse_url(target).host)
    return both_here or same_site(url, target)

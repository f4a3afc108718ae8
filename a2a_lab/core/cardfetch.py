"""Asks for one card at one URL: redirects, one patient retry, and what each HTTP answer means (R6, R10, R2).

A generator that yields what to send and is sent what came back, so that live traffic and recorded evidence take the
same path. Whoever drives it follows no redirect, parses the body with the wire's card reader, and attaches credentials
only where the request says so.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from a2a_lab.core.model import Card
from a2a_lab.core.patience import RETRY_DEFAULT_S, asked_for_s
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import quoted
from a2a_lab.core.redirects import REDIRECTS, judge_card_redirect
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, NotGradeable, Stage, Verdict


def _refusal(
    slug: str, means: str, rule: str, clause: str | None = None, verdict: Verdict = Verdict.REFUSE
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.FETCH,
        verdict=verdict,
        kind=Kind.CONFORMANCE,
        judge=Judge.POLICY if verdict is Verdict.REFUSE else Judge.SPEC,
        rule=rule,
        means=means,
        clause=clause,
    )


CARD_NEEDS_AUTH = _refusal(
    "card-needs-credentials",
    "the card is protected; without credentials nothing is known about the agent",
    "R6, R13",
    "A2A 1.0.1 §3.3.2 (authentication errors)",
)
CARD_THROTTLED = _refusal("card-throttled", "the server asked for patience twice", "R2, R6")
CARD_UNREACHABLE = _refusal("card-unreachable", "nobody could be reached who might have a card", "R2")
CARD_NOT_ANSWERED = _refusal(
    "card-not-answered",
    "the server took the request for the card and gave no whole HTTP answer",
    "R2",
    "RFC 9110 §3.4; RFC 9112 §8",
    Verdict.CONFORMANCE_ERROR,
)
CARD_NOT_HTTP = _refusal(
    "card-not-http",
    "what answers the request for the card is no HTTP",
    "R2",
    "RFC 9112 §2.1, §4",
    Verdict.CONFORMANCE_ERROR,
)
CARD_UNDECODABLE = _refusal(
    "card-undecodable",
    "the card is not in the content coding that it is labelled with, or in one that nobody asked for",
    "R2, R13",
    "RFC 9110 §8.4, §12.5.3",
    Verdict.CONFORMANCE_ERROR,
)
CARD_LIMIT = _refusal("card-limit", "the card is larger than the reader's bound, so it is not read at all", "DESIGN 9")
CARD_HTTP_STATUS = _refusal("card-http-status", "the server failed where a card may lie, so the search stops", "R6")

GO_ON = frozenset({400, 404, 405, 410})  # "not here" in the words of the servers measured: 400 wants a parameter
TRY_AGAIN = frozenset({429, 502, 503, 504})
_REMEDIES = {
    "connect": "is the agent running, and are host and port right?",
    "dns": "is the name of the host right?",
    "tls": "is it https that is spoken there? --ca-bundle names authorities of your own",
    "proxy": "is the proxy right? NO_PROXY leaves hosts out",
    "read-timeout": "the server took the request and never answered it",
}
NEVER_REACHED = ("connect", "dns", "tls", "proxy")
"""How the faults begin of whom nobody could reach: no name, no connection, no TLS (R2)."""
_NO_HTTP_1 = "malformed: illegal request line"
"""How the fault reads where the first byte of an answer is a control byte: HTTP/2, gRPC, or TLS on a plain port."""
RETRY_LIMIT_S = 5.0  # a server that wants more than this is throttling, and is not asked again

Reason = Literal["hint", "target", "union", "other-path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRequest:
    """One GET to make. Redirects are not followed by who sends it.

    Wait `wait_s` seconds first. Attach credentials for the URL's origin only where `with_credentials`. `reason` says
    what the card is asked for; an `optional` request serves a finding only, and may be answered `CardAnswer()`.
    """

    url: str
    headers: Mapping[str, str]
    reason: Reason
    wait_s: float = 0.0
    with_credentials: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CardAnswer:
    """What came back: `fault` for a transport fault, `status` for an answer, neither where evidence has no such GET.

    `card` and `findings` are what the wire's card reader made of the body of a 2xx answer.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None
    card: Card | None = None
    findings: tuple[Finding, ...] = ()

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers.items() if key.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What one URL gave. `url` is the final one. `stop` holds the findings that end the search; `notes` those that go
    with the card; `rejected` why a body was no card. Without any of them the URL just has no card."""

    url: str
    card: Card | None = None
    notes: tuple[Finding, ...] = ()
    rejected: tuple[Finding, ...] = ()
    stop: tuple[Finding, ...] = ()
    not_gradeable: NotGradeable | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Asking = Generator[CardRequest, CardAnswer, Fetched]


def ask(request: CardRequest, policy: Policy) -> Asking:
    """Ask one URL, following what may be followed, and say what it gave."""
    notes: tuple[Finding, ...] = ()
    may_retry, hops = True, 0
    while True:  # ended by the bound on redirects
        answer = yield request
        wait_s = _retry_after(answer) if answer.status in TRY_AGAIN and may_retry else None
        if wait_s is not None:
            may_retry = False
            again = yield replace(request, wait_s=wait_s)
            answer = again if again.status or again.fault else answer
        if answer.status not in REDIRECTS or answer.fault:
            return _meaning(request, answer, notes)
        hop = judge_card_redirect(
            url=request.url,
            status=answer.status or 0,
            location=answer.header("location"),
            hops=hops,
            policy=policy,
        )
        if hop.url is None:
            return Fetched(url=request.url, stop=hop.findings)
        notes += hop.findings
        may_keep = request.with_credentials and hop.keeps_credentials
        request = replace(request, url=hop.url, with_credentials=may_keep, wait_s=0.0)
        hops += 1


def _remedy(fault: str) -> str:
    return next((f"; {remedy}" for start, remedy in _REMEDIES.items() if fault.startswith(start)), "")


def _meaning(request: CardRequest, answer: CardAnswer, notes: tuple[Finding, ...]) -> Fetched:
    url, status = request.url, answer.status
    if answer.fault == _NO_HTTP_1 and request.reason == "hint":
        # The operator typed this place; no card has promised that HTTP is spoken there.
        detail = (
            f"{quoted(url)}: something that is no HTTP/1.1 answers here; if it is gRPC, give the URL where the card "
            "lies in its place, or with --card-url, since a port of gRPC serves none"
        )
        kind = CARD_UNREACHABLE(detail, found=answer.fault)
        return Fetched(url=url, stop=(kind,), not_gradeable=NotGradeable.UNREACHABLE)
    if answer.fault:
        return _no_answer(url, answer.fault)
    if status is None or status in GO_ON:
        return Fetched(url=url)
    if 200 <= status < 300:
        if answer.card is None:
            return Fetched(url=url, rejected=answer.findings)
        return Fetched(url=url, card=answer.card, notes=notes + answer.findings, headers=answer.headers)
    if status in (401, 403):
        challenge = answer.header("www-authenticate")
        asks = f"asks for {quoted(challenge)}" if challenge else "does not say which credentials it wants"
        finding = CARD_NEEDS_AUTH(f"{quoted(url)} answers {status} and {asks}", found=status)
        return Fetched(url=url, stop=(finding,), not_gradeable=NotGradeable.AUTH_NEEDED)
    retry_after = answer.header("retry-after")
    if status == 429 or (status == 503 and retry_after):
        said = f", Retry-After {quoted(retry_after)}" if retry_after else ""
        finding = CARD_THROTTLED(f"{quoted(url)} answers {status}{said}; try again later", found=status)
        return Fetched(url=url, stop=(finding,), not_gradeable=NotGradeable.THROTTLED)
    detail = f"{quoted(url)} answers {status}; less specific cards are not tried in its place"
    return Fetched(url=url, stop=(CARD_HTTP_STATUS(detail, found=status),))


def _no_answer(url: str, fault: str) -> Fetched:
    """No whole HTTP answer: nobody was reached, or who was did not keep to HTTP."""
    detail = f"{quoted(url)} gave no HTTP answer: {fault[:200]}{_remedy(fault)}"
    kinds = {"reset": CARD_NOT_ANSWERED, "read-timeout": CARD_NOT_ANSWERED, "malformed": CARD_NOT_HTTP}
    kinds |= {"limit": CARD_LIMIT}
    kind = next((kind for word, kind in kinds.items() if fault.startswith(word)), None)
    if kind is None:  # also where a recording does not say what happened
        return Fetched(url=url, stop=(CARD_UNREACHABLE(detail, found=fault),), not_gradeable=NotGradeable.UNREACHABLE)
    verdict = Verdict.HANG if fault == "read-timeout" else None
    return Fetched(url=url, stop=(kind(detail, verdict=verdict, found=fault),))


def _retry_after(answer: CardAnswer) -> float | None:
    """Seconds to wait before the one retry; None where the server wants more patience than we have."""
    wanted_s = asked_for_s(answer.header("retry-after"), answer.header("date"))
    seconds = RETRY_DEFAULT_S if wanted_s is None else wanted_s
    return seconds if seconds <= RETRY_LIMIT_S else None

"""Says by which plain facts a finding can be seen again from outside, and in which exchange of the recording.

A short script cannot judge as the lab does. But a stream that never ends, a task that is rejected or a card that is
still the same can be seen without it; and where a finding is about the form of an answer, its form can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from a2a_lab.core.cardfetch import CARD_LIMIT
from a2a_lab.core.policy import Bounds
from a2a_lab.core.resolution import is_well_known
from a2a_lab.judge.transcript import Call, read_call, read_request
from a2a_lab.lab.faultfacts import WAITING, facts_of
from a2a_lab.verdicts import Finding, Stage
from a2a_lab.wire.exchange import Exchange

Facts = Mapping[str, Any]

_UNDER_WAY: Final = ("submitted", "working")

_CARD_STAGES: Final = (Stage.RESOLVE, Stage.FETCH, Stage.MATCH, Stage.SIGNATURE, Stage.VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """The fault is there while every named fact of these exchanges is as it was recorded.

    `facts` are by place in the recording. `differ` are places whose cards differed from one another, and the fault is
    there while they do. `last` is the last exchange that has to be made.
    """

    facts: Mapping[int, Facts]
    differ: tuple[int, ...] = ()
    told: str

    @property
    def last(self) -> int:
        return max([*self.facts, *self.differ], default=0)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to see a fault: which facts, in which exchange (the last that fits), and in words."""

    facts: tuple[str, ...]
    fits: Callable[[Facts], bool]
    told: str
    is_first: bool = False  # in the first exchange that fits instead of the last


_HANG = _Way(("hang",), lambda one: one["hang"], "no end comes within the limit")
_BROKEN = _Way(
    ("ending", "over"),
    lambda one: not one["over"] and one["ending"] in ("close", "reset") and one["media"] == "text/event-stream",
    "the stream ends before the task does",
)
_EMPTY = _Way(("over", "has_artifact"), lambda one: one["over"] and not one["has_artifact"], "it ends with no artifact")
_LINGERS = _Way(("ending", "over"), lambda one: one["over"] and one["ending"] == "open", "the socket stays open")
_TORN = _Way(("torn",), lambda one: one["torn"], "the last event is cut")
_MEDIA = _Way(("media", "status"), lambda one: one["status"] is not None, "the answer comes as another media type")
_DECLINED = _Way(
    ("state", "error"),
    lambda one: one["error"] is not None or one.get("state") in (*WAITING, "rejected", "failed"),
    "the agent does not take what its card offers",
)
_ERROR = _Way(("error", "status"), lambda one: one["error"] is not None, "the error code is the same")
_TYPES = _Way(("types",), lambda one: bool(one["types"]), "parts come in the same media types")
_EARLY = _Way(
    ("state",),
    lambda one: one.get("state") in _UNDER_WAY,
    "the call comes back before its task has ended",
    is_first=True,
)
_NO_FINAL = _Way(
    ("over", "final"),
    lambda one: one["over"] and not one["final"] and one["media"] == "text/event-stream",
    "no event says final:true",
)
_STUCK = _Way(("state",), lambda one: one.get("state") in _UNDER_WAY, "the task does not move")
_FOREIGN = _Way(
    ("tasks", "contexts"), lambda one: one["tasks"] > 1 or one["contexts"] > 1, "two tasks share one answer"
)
_REPLACED = _Way(
    ("task_kept", "context_kept"),
    lambda one: not (one["task_kept"] and one["context_kept"]),
    "the answer is about another task or context than was asked for",
)
_LARGE = _Way(("bytes", "over"), lambda one: not one["over"], "the answer grows past every bound")
_ID = _Way(("id",), lambda one: one["id"] not in ("same", "none"), "the answer does not carry the request's id")
_JSON = _Way(("json",), lambda one: one["json"] not in ("ok", "none"), "the answer is no proper JSON")
_STATE = _Way(("state",), lambda one: one.get("state") is not None, "the task stays in the same state")
_HTTP = _Way(("status",), lambda one: one["status"] is not None, "the HTTP status is the same")

_WAYS: Final[Mapping[_Way, tuple[str, ...]]] = {
    _HANG: (
        *("idle-hang", "live-hang", "drip-hang", "end-not-signalled", "probe-hang", "payload-unfinished"),
        *("payload-outcome-unknown", "never-ended"),
    ),
    _EARLY: ("blocking-cut-short",),
    _NO_FINAL: ("final-missing",),
    _FOREIGN: ("foreign-task", "foreign-context"),
    _REPLACED: ("context-replaced", "task-replaced", "unknown-task-accepted"),
    _LARGE: ("stream-limit",),
    _BROKEN: ("eof-nonterminal", "stream-reset", "open-artifact"),
    _TORN: ("stream-truncated",),
    _EMPTY: ("stream-without-artifact", "completed-without-artifact"),
    _LINGERS: ("not-closed",),
    _MEDIA: ("wrong-media", "no-stream-media-type", "answer-media-type"),
    _DECLINED: (
        *("mode-narrowed", "narrowed-after-commit", "payload-refused", "payload-interrupted", "probe-mode-refused"),
        *("probe-refused", "probe-interrupted", "request-refused", "input-asked", "resent-after-input-required"),
        *("no-common-mode", "task-failed", "card-contradicts-runtime"),
    ),
    _ERROR: (
        *("misinforming-error", "general-error-code", "declared-method-missing", "declared-version-rejected"),
        *("call-refused", "error-code-range", "stream-error", "error-before-stream"),
    ),
    _TYPES: ("media-not-declared", "media-outside-skill", "media-by-range", "media-undeclared", "media-wildcard"),
    _ID: ("rpc-id-missing", "rpc-id-null", "rpc-id-type", "rpc-id-foreign"),
    _JSON: ("not-json", "duplicate-key", "nan", "bad-utf8"),
    _STATE: ("orphaned-task", "orphaned-artifact", "cancel-not-effective", "state-after-end"),
    _HTTP: ("http-error", "http-status", "error-http-status", "card-http-status", "card-needs-credentials"),
}
_WAY_OF: Final = {slug: way for way, slugs in _WAYS.items() for slug in slugs}
_OF_CARDS: Final[Mapping[str, tuple[str, ...]]] = {
    "unsigned": ("signed",),
    "version-inexact": ("versions",),
    "version-missing": ("versions",),
    "version-wrong-type": ("versions",),
    "version-incompatible": ("versions",),
}
_IS_ABSENCE: Final = re.compile(r"missing|without|not-echoed|unsealed|no-")  # a form in which something is not there
_LOST: Final = frozenset({"card-gone", "card-unavailable", "card-needs-auth"})  # it was served once
_DRIFT: Final = frozenset({"card-drift", "card-flapping", "card-renegotiated", "etag-unchanged"})


def symptom(finding: Finding, exchanges: Sequence[Exchange]) -> Symptom:
    """How the finding can be seen again; where it has no way of its own, by the form of the answer it is about."""
    seen = [observed(one, origins_of(exchanges)) for one in exchanges]
    if finding.slug in _DRIFT:
        cards = [place for place, one in enumerate(seen) if "card" in one]
        return Symptom(facts={}, differ=tuple(cards), told="the card is another one each time it changes hands")
    if finding.stage in _CARD_STAGES or finding.slug.startswith("card-"):
        return _of_card(finding, exchanges, seen)
    ways = [_WAY_OF[finding.slug]] if finding.slug in _WAY_OF else []
    ways += [_STUCK] if _HANG in ways else []
    calls = [place for place, one in enumerate(exchanges) if read_request(one) is not None]
    for way in ways:
        fitting = [place for place in calls if way.fits(seen[place])]
        if fitting:
            place = fitting[0] if way.is_first else fitting[-1]
            return Symptom(facts=_picked(seen, place, way.facts), told=way.told)
    about = _about(finding, exchanges) or calls[-1:] or [len(exchanges) - 1]
    names = (
        ("shape", "json", "id", "error", "ending") if exchanges[about[0]].chunks else ("shape", "json", "id", "error")
    )
    return Symptom(facts=_picked(seen, about[0], names), told="the answer has the same form")


def observed(exchange: Exchange, origins: tuple[str, ...] = ()) -> dict[str, Any]:
    """The facts of a recorded exchange."""
    fault = exchange.fault or ""
    if fault.startswith(("connect", "dns", "tls", "proxy")):
        ending = "unreachable"
    elif fault in ("", "read-timeout") or fault.startswith("limit"):
        ending = "open" if fault else exchange.ending
    else:
        ending = "reset"
    headers = {name.lower(): value for name, value in exchange.response_headers}
    body = b"".join(chunk.data for chunk in exchange.chunks) or exchange.body
    return facts_of(exchange.request_body, exchange.status, headers, body, ending=ending, origins=origins)


def origins_of(exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    """The recorded origins, as URLs spell them."""
    parts = (urlsplit(one.url) for one in exchanges)
    return tuple(dict.fromkeys(f"{one.scheme}://{one.netloc}" for one in parts))


def _of_card(finding: Finding, exchanges: Sequence[Exchange], seen: Sequence[Facts]) -> Symptom:
    """What the card says, where it is served; a card that is not there is told by its status."""
    cards = [place for place, one in enumerate(seen) if "card" in one]
    if cards and finding.slug not in _LOST:
        return Symptom(
            facts=_picked(seen, cards[-1], _OF_CARDS.get(finding.slug, ("status", "card"))),
            told="the same card is served",
        )
    asked = [
        place
        for place, one in enumerate(exchanges)
        if one.method == "GET" and (is_well_known(urlsplit(one.url).path) or one.purpose.startswith("card"))
    ]
    wanted = asked[-1:] if finding.slug in _LOST else asked
    names = ("bytes",) if finding.slug == CARD_LIMIT.slug else ("status", "is_card")
    facts = {place: facts for one in wanted or [0] for place, facts in _picked(seen, one, names).items()}
    return Symptom(facts=facts, told="no card that can be read is served there")


def _about(finding: Finding, exchanges: Sequence[Exchange]) -> list[int]:
    """The exchanges whose own reading makes this finding."""
    calls: list[tuple[int, Call]] = [
        (place, call) for place, one in enumerate(exchanges) if (call := read_call(one, bounds=Bounds())) is not None
    ]
    return [place for place, call in calls if any(one.slug == finding.slug for one in call.findings)]


def _picked(seen: Sequence[Facts], place: int, names: Sequence[str]) -> dict[int, Facts]:
    return {place: {name: seen[place].get(name) for name in names}}

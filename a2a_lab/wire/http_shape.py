"""What the HTTP status and media type of an answer say, before anybody reads the body.

The body wins over the status where it holds a JSON-RPC answer; otherwise the status decides, and is looked at before
the media type. 401, 403 and a throttled call are not the vendor's failure (R2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from a2a_lab.core.patience import asked_for_s
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire.exchange import first_header
from a2a_lab.wire.messages import Headers


def _fault(
    slug: str, means: str, verdict: Verdict, *, kind: Kind = Kind.CONFORMANCE, clause: str | None = None
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RPC,
        verdict=verdict,
        kind=kind,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule="R1, R2",
        clause=clause,
        means=means,
    )


AUTH_NEEDED = _fault("auth-needed", "the call needs credentials", Verdict.REFUSE, clause="A2A 1.0.1 §7; RFC 9110 §15.5")
THROTTLED = _fault("throttled", "the agent asks to come back later", Verdict.REFUSE, clause="RFC 9110 §10.2.3")
HTTP_ERROR = _fault("http-error", "an HTTP failure without an answer of A2A", Verdict.REFUSE, clause="RFC 9110 §15")
HTTP_STATUS = _fault(
    "http-status", "an answer of A2A under an unusual HTTP status; the body counts", Verdict.ACCEPT, kind=Kind.NOTE
)
EMPTY_ANSWER = _fault(
    "empty-answer", "success without a body", Verdict.CONFORMANCE_ERROR, clause="A2A 1.0.1 §9.1; JSON-RPC 2.0 §5"
)
ANSWER_MEDIA = _fault(
    "answer-media-type",
    "an answer in JSON is labelled as something else",
    Verdict.HINT,
    clause="A2A 1.0.1 §9.1 (application/json)",
)

# Under such a status, and without a JSON-RPC answer, the message was declined by whoever answered: nothing was started.
DECLINED: Final = range(300, 500)

_JSON_TYPES: Final = ("application/json", "application/a2a+json")
_WITHOUT_RETRY_AFTER: Final = (429,)  # 503 counts as throttled only where it says when to come back


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpShape:
    """`finding` is what the status means if the body holds no answer; None where the status is a success."""

    media_type: str | None
    finding: Finding | None = None
    not_gradeable: NotGradeable | None = None
    retry_after_s: float | None = None
    challenge: str | None = None


def read(status: int, headers: Headers, *, wanted: str = "a JSON-RPC answer") -> HttpShape:
    """Judge status and headers alone. `wanted` is what the body would have to hold under a failing status."""
    media = media_type(headers)
    if 200 <= status <= 299:
        return HttpShape(media_type=media)
    retry_after = asked_for_s(first_header(headers, "Retry-After"), first_header(headers, "Date"))
    if status in (401, 403):
        challenge = first_header(headers, "WWW-Authenticate")
        detail = f"HTTP {status}; challenge: {quoted(challenge) if challenge else 'none'}"
        return HttpShape(
            media_type=media,
            finding=AUTH_NEEDED(detail, status=status, challenge=challenge),
            not_gradeable=NotGradeable.AUTH_NEEDED,
            challenge=challenge,
        )
    if status in _WITHOUT_RETRY_AFTER or (status == 503 and retry_after is not None):
        detail = f"HTTP {status}, Retry-After {'not given' if retry_after is None else f'{retry_after:g} s'}"
        return HttpShape(
            media_type=media,
            finding=THROTTLED(detail, status=status, retry_after_s=retry_after),
            not_gradeable=NotGradeable.THROTTLED,
            retry_after_s=retry_after,
        )
    where = f" to {quoted(first_header(headers, 'Location'))}" if 300 <= status <= 399 else ""
    return HttpShape(
        media_type=media,
        finding=HTTP_ERROR(f"HTTP {status}{where} without {wanted}", status=status),
        retry_after_s=retry_after,
    )


def media_type(headers: Headers) -> str | None:
    """type/subtype in lower case, without parameters; None where the header is missing or empty."""
    value = first_header(headers, "Content-Type")
    return (value.partition(";")[0].strip().lower() or None) if value else None


def judge_media(found: str | None) -> Finding | None:
    """A finding where a JSON answer is not labelled as JSON."""
    if found in _JSON_TYPES:
        return None
    named = "no Content-Type" if found is None else f"Content-Type {quoted(found)}"
    return ANSWER_MEDIA(f"the answer is JSON but has {named}; application/json is meant", found=found)

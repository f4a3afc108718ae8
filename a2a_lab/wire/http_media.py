"""The media type of an HTTP+JSON call: 1.0.1 asks for its own, 1.0.0 had plain JSON, and real servers refuse the one.

A 415 speaks of the body that HTTP carried before it may speak of the parts in it, and nothing of the message was taken.
So it proves nothing about modes until the same call was made in the other spelling (R22: never blame who is right).
"""

from __future__ import annotations

from typing import Final

from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire.http_shape import media_type
from a2a_lab.wire.messages import Headers

OWN: Final = "application/a2a+json"
PLAIN: Final = "application/json"
UNSUPPORTED: Final = 415

MEDIA_TYPE_REFUSED = FindingKind(
    slug="http-media-type-refused",
    stage=Stage.RPC,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.SPEC,
    rule="R1",
    clause="A2A 1.0.1 §11.1 SHOULD; 1.0.0 §11 has application/json",
    means="the agent takes calls over HTTP+JSON under one media type only, so they are made under that one",
)


def other_media_type(headers: Headers, status: int | None) -> str | None:
    """The media type under which a call may be made again, after an answer with `status`; None where it may not."""
    return PLAIN if status == UNSUPPORTED and media_type(headers) == OWN else None


def media_type_refused(url: str) -> Finding:
    """The note on a call that was made again under the other media type."""
    return MEDIA_TYPE_REFUSED(
        f"{url} was answered 415 under {OWN}; it is called under {PLAIN}", at=url, found=OWN, expected=PLAIN
    )

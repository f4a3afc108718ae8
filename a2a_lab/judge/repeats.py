"""Which recorded calls were made once more since HTTP refused how they were made, and so say nothing of the message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import Finding
from a2a_lab.wire.http_media import media_type_refused, other_media_type
from a2a_lab.wire.http_shape import media_type
from a2a_lab.wire.rest_bases import base_holds_version, other_base


def made_again(calls: Sequence[Call]) -> Mapping[int, Finding]:
    """By the ids (as `id` gives them) of calls over HTTP+JSON that were refused: the note on why the same bytes were
    sent once more, under the other media type or without a second /v1.
    """
    last: dict[tuple[str, bytes, str | None], int] = {}  # where a call was made for the last time; label None is any
    for place, call in enumerate(calls):
        sent = call.exchange
        last[sent.url, sent.request_body, media_type(sent.request_headers)] = place
        last[sent.url, sent.request_body, None] = place
    found: dict[int, Finding] = {}
    for place, call in enumerate(calls):
        asked = call.exchange
        if call.dialect.binding != "HTTP+JSON":
            continue
        other = other_media_type(asked.request_headers, asked.status)
        there = other_base(asked.url, asked.status) if call.dialect.id == "0.3" else None
        if other is None and there is None:
            continue
        if last.get((there or asked.url, asked.request_body, other), -1) > place:
            found[id(call)] = base_holds_version(asked.url, there) if there else media_type_refused(asked.url)
    return found

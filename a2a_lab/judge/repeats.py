"""Which recorded calls were made once more because HTTP refused their label, and so say nothing of the message."""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab.judge.transcript import Call
from a2a_lab.wire.http_media import other_media_type
from a2a_lab.wire.http_shape import media_type


def relabelled(calls: Sequence[Call]) -> frozenset[int]:
    """The ids (as `id` gives them) of calls over HTTP+JSON that were refused with 415 and followed by the same call,
    same path and same bytes, under the other media type.
    """
    labels = [media_type(call.exchange.request_headers) for call in calls]
    found = set()
    for place, call in enumerate(calls):
        other = other_media_type(call.exchange.request_headers, call.exchange.status)
        if call.dialect.binding != "HTTP+JSON" or other is None:
            continue
        same = call.exchange.url, call.exchange.request_body
        for later, label in zip(calls[place + 1 :], labels[place + 1 :], strict=True):
            if label == other and (later.exchange.url, later.exchange.request_body) == same:
                found.add(id(call))
                break
    return frozenset(found)

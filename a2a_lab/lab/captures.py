"""Reads recordings of HTTP: what of them is A2A, which agents are in them, and when they were made.

A capture of production holds everything that its machine said: pages, images, other protocols. Kept are calls, and the
GETs that may be about a card. Where calls go to several origins, each is an agent of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a2a_lab.core.policy import Bounds
from a2a_lab.core.urls import is_url, origin
from a2a_lab.judge.grounds import first_card_url
from a2a_lab.judge.transcript import read_request
from a2a_lab.wire.dialects import spoken
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.har import from_har


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A recording. `conversations` are (name, exchanges), the name empty where there is only one.

    `entries` counts all that was recorded; `began` is Unix seconds, None where the file does not say.
    """

    conversations: tuple[tuple[str, tuple[Exchange, ...]], ...]
    entries: int
    began: float | None


def is_har(document: object) -> bool:
    """Whether a JSON document is meant as a HAR file, whole or not."""
    return isinstance(document, Mapping) and "log" in document


def read_capture(document: Any) -> Capture:
    """The A2A traffic of a HAR document. Raises RecordFault that names the entry which cannot be read."""
    exchanges = sorted((one for one in from_har(document) if is_url(one.url)), key=lambda one: one.started_ms)
    heard = spoken()
    called = {id(one) for one in exchanges if read_request(one, heard=heard) is not None}
    gets = [one for one in exchanges if one.method == "GET"]
    if not called and first_card_url(gets, Bounds()) == (None, None):
        return Capture(conversations=(), entries=len(exchanges), began=None)
    kept = [one for one in exchanges if id(one) in called or one.method == "GET"]
    places = dict.fromkeys(origin(one.url) for one in kept if id(one) in called)
    if len(places) <= 1:
        found = [("", tuple(kept))]
    else:
        found = [(place, tuple(one for one in kept if origin(one.url) == place)) for place in places]
    return Capture(conversations=tuple(found), entries=len(exchanges), began=_began(document["log"]["entries"]))


def _began(entries: Sequence[Mapping[str, Any]]) -> float | None:
    """When the first entry was made."""
    text = entries[0].get("startedDateTime") if entries else None
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None

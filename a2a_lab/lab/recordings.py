"""Reads a file into what a replay can serve: the exchanges of a case or a HAR file, and a card for whoever wants one.

A card that the case states, but that was not fetched in it, is put where its agent would serve it. Where a recording
has no card at all, one can be made, so that clients that begin with a card reach the calls; it says that it is made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from a2a_lab.core.resolution import LEGACY_WELL_KNOWN, WELL_KNOWN, is_well_known
from a2a_lab.core.urls import is_url, origin
from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.judge.transcript import Call, read_request
from a2a_lab.lab.captures import is_har, read_capture
from a2a_lab.lab.caseevidence import STREAM_URL
from a2a_lab.lab.casereading import Case, is_case, read_case
from a2a_lab.lab.cases import load
from a2a_lab.wire.exchange import Exchange

# How a card of each dialect spells its version; the draft's cards have none.
_VERSIONS: Final[Mapping[str, str | None]] = {"1.0": "1.0", "0.3": "0.3.0", "0.2": "0.2.6", "0.1": None}
_OPERATION: Final = re.compile(r"(/v1)?/(message:(send|stream)|tasks(/.*)?|card|extendedAgentCard)$")
MADE_CARD = "This card was made for a replay: the recording holds none."


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What a file holds, in order. `case` is set for a case file."""

    name: str
    exchanges: tuple[Exchange, ...]
    summary: str = ""
    case: Case | None = None

    @property
    def has_card(self) -> bool:
        """Whether anybody asked for a card in it, with or without success."""
        return any(one.method == "GET" and is_well_known(urlsplit(one.url).path) for one in self.exchanges)


def read_recording(path: Path) -> Recording:
    """A case or HAR file as a recording. Raises RecordFault that names the file and what is wrong with it."""
    document = load(path)
    try:
        if is_case(document):
            return of_case(read_case(document, name=path.name))
        if is_har(document):
            return _of_har(document, path)
    except Misuse as fault:
        raise RecordFault(fault.message) from fault
    except RecursionError as fault:
        raise RecordFault(f"{path}: a body is nested deeper than can be written") from fault
    raise RecordFault(f"{path}: neither a case (given, expect) nor a HAR file (log.entries)")


def of_case(case: Case) -> Recording:
    """The exchanges of a case, and the card that it states as bound. Raises Misuse for a URL that is none."""
    wrong = next((one.url for one in case.exchanges if not is_url(one.url)), None)
    if wrong is not None:
        raise Misuse(f"{case.id}: {wrong!r:.80} is no URL that could be asked for")
    recording = Recording(name=case.id, exchanges=case.exchanges, summary=case.summary, case=case)
    if case.given.card is None or recording.has_card:
        return recording
    place = next((entry.url for entry in case.given.card.interfaces if entry.url), STREAM_URL)
    url = case.given.served_from or origin(place)
    url = url if is_well_known(urlsplit(url).path) else url.rstrip("/") + WELL_KNOWN
    return replace(recording, exchanges=(*case.exchanges, _card_get(url, case.given.card.raw)))


def with_made_card(recording: Recording) -> Recording:
    """The recording with a card for its first call; unchanged where it has no call, or somebody asked for a card."""
    calls = [call for one in recording.exchanges if (call := read_request(one)) is not None]
    if recording.has_card or not calls:
        return recording
    first, streams = calls[0], any(call.op in ("stream", "subscribe") for call in calls)
    url, version = _base(first), _VERSIONS[first.dialect.id]
    card: dict[str, Any] = {
        "name": recording.name,
        "description": MADE_CARD,
        "version": "0",
        "capabilities": {"streaming": streams},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain", "application/json", "application/octet-stream"],
        "skills": [{"id": "replay", "name": "Replay", "description": recording.name, "tags": ["replay"]}],
    }
    if version == "1.0":
        interface = {"url": url, "protocolBinding": first.dialect.binding, "protocolVersion": version}
        card["supportedInterfaces"] = [interface]
    else:
        card["url"] = url
        if version == "0.3.0":
            card["preferredTransport"] = first.dialect.binding
        if version is None:
            card["authentication"] = {"schemes": []}
        else:
            card["protocolVersion"] = version
    path = WELL_KNOWN if version in ("1.0", "0.3.0") else LEGACY_WELL_KNOWN
    made = _card_get(f"{origin(url)}{path}", json.dumps(card).encode())
    return replace(recording, exchanges=(*recording.exchanges, made))


def _base(call: Call) -> str:
    """The URL that a card would give for a call: that of a REST call without the path of its operation."""
    url = call.exchange.url.partition("?")[0]
    return _OPERATION.sub("", url) if call.dialect.binding == "HTTP+JSON" else url


def _of_har(document: Any, path: Path) -> Recording:
    try:
        capture = read_capture(document)
    except RecordFault as fault:
        raise RecordFault(f"{path}: {fault.message}") from fault
    kept = {id(one): one for _, exchanges in capture.conversations for one in exchanges}
    if not kept:
        raise RecordFault(f"{path}: none of its {capture.entries} entries is a card or a call of A2A")
    in_order = sorted(kept.values(), key=lambda one: one.started_ms)
    return Recording(name=path.stem, exchanges=tuple(in_order), summary=f"{len(in_order)} exchanges of a recording")


def _card_get(url: str, body: bytes) -> Exchange:
    headers = [("Content-Type", "application/json")]
    return Exchange(method="GET", url=url, status=200, response_headers=headers, body=body, purpose="card")

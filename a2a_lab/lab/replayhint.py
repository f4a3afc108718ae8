"""Which `check` meets a replay: the recorded address, led to where the replay listens, and what else it needs (R43).

A card names where its agent was when it was recorded, and a check goes where the card says. Without --connect-to it
would leave the replay for the recorded agent, which may be alive.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from a2a_lab.core.addresses import is_loopback
from a2a_lab.core.resolution import base_of, is_well_known
from a2a_lab.core.urls import Url, parse_url
from a2a_lab.judge.transcript import Call, read_request
from a2a_lab.wire.exchange import Exchange

_USUAL = ("1.0", "0.3")  # the versions that a check speaks untold


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckHint:
    """`command` is ready to paste; `has_sends` says whether anything but cards was recorded that could be asked for."""

    command: str
    has_sends: bool


def check_hint(
    exchanges: Sequence[Exchange], connect_to: Mapping[str, str], *, rewritten_to: str = "", send: bool = False
) -> CheckHint:
    """The check of a recording. `connect_to` is that of the replay, `rewritten_to` its own origin where it rewrites.

    `send` adds --send where the recording holds sends. A recording is asked for at the address of its first card.
    """
    calls = [call for one in exchanges if (call := read_request(one)) is not None]
    has_sends = any(call.op in ("send", "stream") for call in calls)
    typed = _typed(exchanges)
    words = ["a2a-lab", "check"]
    if rewritten_to:
        words.append(rewritten_to + typed.path.rstrip("/"))
    else:
        words.append(str(typed).rstrip("/"))
        for place, there in connect_to.items():
            words += ["--connect-to", f"{place}={there}"]
        words += _allowed(typed, calls)
    words += _spoken(calls)
    if send and has_sends:
        words.append("--send")
    return CheckHint(command=shlex.join(words), has_sends=has_sends)


def _typed(exchanges: Sequence[Exchange]) -> Url:
    """The address that whoever was recorded may have typed: what the first card asked for is the card of."""
    card = next((one for one in exchanges if one.method == "GET" and is_well_known(urlsplit(one.url).path)), None)
    place = parse_url((card or exchanges[0]).url)
    path = base_of(place.path) if card is not None else ""
    return Url(scheme=place.scheme, host=place.host, port=place.port, path=path)


def _allowed(typed: Url, calls: Sequence[Call]) -> list[str]:
    """What the operator has to allow by name: calls to another origin, and plain http anywhere but on this machine."""
    called = {place.origin: place for place in (parse_url(call.exchange.url) for call in calls)}
    words: list[str] = []
    for name in called:
        if name != typed.origin:
            words += ["--allow-origin", name]
    for host in dict.fromkeys(place.host for place in (typed, *called.values()) if place.scheme == "http"):
        if not is_loopback(host):
            words += ["--allow-http", host]
    return words


def _spoken(calls: Sequence[Call]) -> list[str]:
    """The versions and bindings that were recorded, where a check would not speak them untold."""
    words: list[str] = []
    for version in dict.fromkeys(call.dialect.id for call in calls):
        if version not in _USUAL:
            words += ["--supports", version]
    for binding in dict.fromkeys(call.dialect.binding for call in calls):
        if binding != "JSONRPC":
            words += ["--binding", binding]
    return words

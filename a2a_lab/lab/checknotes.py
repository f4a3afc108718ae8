"""What `check` says beside its verdict: that the target, or the card, is not where the address led to believe.

Nothing of it is against a rule. Yet whoever typed one address and has a payload sent to another place must be told.
"""

from __future__ import annotations

from a2a_lab.core.quoting import quoted
from a2a_lab.core.resolution import base_of, is_under, is_well_known
from a2a_lab.core.urls import Url, parse_url
from a2a_lab.net.job import Job, Outcome


def notes_of(job: Job, outcome: Outcome) -> list[str]:
    """Sentences about the places of the target and of the card; none where they are as the address says."""
    return [note for note in (_elsewhere(job, outcome), _less_specific(job, outcome)) if note]


def _elsewhere(job: Job, outcome: Outcome) -> str:
    if outcome.target is None:
        return ""
    binding = outcome.interface.binding if outcome.interface is not None else "JSONRPC"
    target = parse_url(outcome.target.dispatch_url, binding=binding)
    typed = parse_url(job.hint_url)
    is_one_place = target.host == typed.host if binding == "GRPC" else target.origin == typed.origin
    if is_one_place:
        return ""
    sends = "was sent" if job.depth == "send" else "would be sent"
    return (
        f"the target is at another origin than the address you gave: the card names {quoted(str(target))}, and what is "
        f"sent {sends} there, not to {typed.origin}; --connect-to HOST:PORT=HOST:PORT leads it elsewhere"
    )


def _less_specific(job: Job, outcome: Outcome) -> str:
    """Where the card of the origin stands in for a path that has none, though the operator meant the path (D3, R6)."""
    if outcome.card_url is None or outcome.target is None or job.card_url:
        return ""
    typed, card = parse_url(job.hint_url), parse_url(outcome.card_url)
    binding = outcome.interface.binding if outcome.interface is not None else "JSONRPC"
    target = parse_url(outcome.target.dispatch_url, binding=binding)
    meant, level = _level(typed), _level(card)
    if meant == level or not is_well_known(card.path) or not is_under(level, meant) or is_under(meant, target.path):
        return ""
    whose = f"of {level}" if level else "of the whole origin"
    return (
        f"there is no card at {meant}, the path you gave: this is the card {whose}, and its target, "
        f"{quoted(str(target))}, is not under that path"
    )


def _level(place: Url) -> str:
    """The path that an address or a card is for, without its slash at the end; "" for the whole origin."""
    return (base_of(place.path) if is_well_known(place.path) else place.path).rstrip("/")

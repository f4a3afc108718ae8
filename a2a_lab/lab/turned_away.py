"""Says of an agent that did not let the lab in whether it was shown credentials, and which (R2, R38).

A finding quotes what the agent asked for; only whoever sent the request knows what went along. A refused credential
must not read as a missing one: the remedy is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from a2a_lab.core.cardfetch import CARD_NEEDS_AUTH
from a2a_lab.core.urls import origin
from a2a_lab.lab.desk import LiveDesk
from a2a_lab.net.job import Outcome
from a2a_lab.vendors.auth import Auth, StaticAuth
from a2a_lab.verdicts import Finding, NotGradeable
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.http_shape import AUTH_NEEDED

_SLUGS: Final = frozenset({CARD_NEEDS_AUTH.slug, AUTH_NEEDED.slug})
_STATUS: Final = (401, 403)
_GRPC_STATUS: Final = ("7", "16")  # PERMISSION_DENIED, UNAUTHENTICATED


def add_advice(outcome: Outcome, exchanges: Sequence[Exchange], desk: LiveDesk) -> None:
    """Put into what the outcome says, and into its findings, what was shown to who let nobody in."""
    if outcome.not_gradeable is not NotGradeable.AUTH_NEEDED or not (advice := _advice(exchanges, desk)):
        return

    def advised(finding: Finding) -> Finding:
        return replace(finding, detail=f"{finding.detail}; {advice}") if finding.slug in _SLUGS else finding

    outcome.findings.revise(advised)
    outcome.said = f"{outcome.said}; {advice}" if outcome.said else advice


def _advice(exchanges: Sequence[Exchange], desk: LiveDesk) -> str:
    refused = [one for one in exchanges if one.status in _STATUS or one.header("grpc-status") in _GRPC_STATUS]
    if not refused:
        return ""
    last, live = refused[-1], desk.live
    auth = live.auth_card if last.purpose.startswith("card") else live.auth_calls
    known = {name.lower() for name in desk.credentials.header_names}
    if auth is not None and any(name.lower() in known for name, _ in last.request_headers):
        return f"the credentials from {_named(auth)} were sent and refused"
    if auth is not None:
        return f"the credentials from {_named(auth)} were not sent there: they are for {_origins(desk)}"
    return "give credentials for this origin"


def _named(auth: Auth) -> str:
    return " and ".join(auth.variables) if isinstance(auth, StaticAuth) else auth.told


def _origins(desk: LiveDesk) -> str:
    return " and ".join(sorted(desk.credentials.origins)) or origin(desk.live.address)

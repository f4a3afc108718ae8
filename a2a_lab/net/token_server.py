"""Obtains a token by OAuth 2.0 client credentials (RFC 6749 4.4), for `Leased` to hold.

The secret goes to the token URL alone: no redirect is followed, and the host must be allowed by name. What the server
says is bounded, is not recorded, and is told in an error only by its error code. Decides nothing about renewal.
"""

from __future__ import annotations

import base64
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote_plus, urlencode

import httpx

from a2a_lab.core.lease import Lease
from a2a_lab.core.policy import Bounds
from a2a_lab.core.quoting import quoted
from a2a_lab.core.typed import not_header_value
from a2a_lab.core.urls import origin
from a2a_lab.errors import Withheld
from a2a_lab.net.client import Http
from a2a_lab.net.evidence import Recorder
from a2a_lab.verdicts import NotGradeable

TOTAL_S: Final = 15.0
_LONGEST_S: Final = 10**12  # as many digits as a text may have
BODY_BYTES: Final = 65_536  # a token of a few kilobytes is a large one


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TokenServer:
    """Whom to ask and as whom. `client_auth` says where the client's own secret stands: a header, or the form."""

    url: str
    client_id: str
    client_secret: str
    scope: str = ""
    audience: str = ""
    client_auth: Literal["basic", "post"] = "basic"

    async def obtain(
        self,
        client: httpx.AsyncClient,
        *,
        know: Callable[[list[str]], None],
        connect_to: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Lease:
        """A token. Raises Withheld (auth-needed) that says what the server answered instead, without its words."""
        form = {"grant_type": "client_credentials", "scope": self.scope, "audience": self.audience}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if self.client_auth == "basic":
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"
        else:
            form |= {"client_id": self.client_id, "client_secret": self.client_secret}
        body = urlencode({name: value for name, value in form.items() if value}).encode()
        since = clock()
        http = Http(client, Recorder(clock), bounds=Bounds(body_bytes=BODY_BYTES), connect_to=connect_to)
        answer = await http.send("POST", self.url, headers, body, purpose="token", total_s=TOTAL_S)
        if answer.status is None or answer.fault is not None:
            raise self._refused(f"gave no whole answer ({answer.fault})")
        document = _object(answer.body)
        if answer.status != 200:
            code = document.get("error")
            raise self._refused(f"answered {answer.status}" + (f" {quoted(code)}" if isinstance(code, str) else ""))
        token, kind = document.get("access_token"), document.get("token_type", "Bearer")
        if not isinstance(token, str) or not token:
            raise self._refused("answered 200 without an access_token")
        know([token])
        if not isinstance(kind, str) or kind.lower() != "bearer" or not_header_value(token):
            raise self._refused(f"gave a token of type {quoted(kind)} that a header cannot carry as Bearer")
        return Lease(
            headers={"Authorization": f"Bearer {token}"}, since=since, life_s=life_of(document.get("expires_in"))
        )

    def _refused(self, what: str) -> Withheld:
        return Withheld(
            f"no token could be had: {origin(self.url)} {what}; check token_url, the client's id and secret, scope and "
            "audience",
            word=NotGradeable.AUTH_NEEDED,
            slug="no-token",
        )

    def __repr__(self) -> str:
        return f"TokenServer(url={self.url!r})"


def life_of(stated: Any) -> float | None:
    """Seconds of life, as a server states them; None where it does not, or in no way that means any."""
    if isinstance(stated, str) and stated.isascii() and stated.isdigit():
        stated = int(stated[:12])
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return None
    stated = min(stated, _LONGEST_S)
    return max(0.0, float(stated)) if math.isfinite(stated) else None


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}

"""Under which key a fetched card is kept, and how it is asked for again (D6, R33, R34).

Two requests that a server may answer with two cards have two keys: the gateway's URI alone is never one. A card enters
a cache only after it passed the gates; that is the caller's to keep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.core.urls import normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class CardKey:
    """Everything that may select a card. `varied` holds the request's values of the headers that `Vary` names."""

    card_url: str
    dispatch_url: str
    binding: str
    version: str
    tenant: str | None
    selectors: tuple[tuple[str, str], ...]
    credential: str | None
    varied: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """The key as 64 hex digits, for a file name or a row."""
        parts = [getattr(self, name) for name in self.__slots__]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def card_key(
    card_url: str,
    target: ResolvedTarget,
    *,
    request_headers: Mapping[str, str],
    answer_headers: Mapping[str, str],
    credential: str | None = None,
) -> CardKey | None:
    """The key of a card that was fetched for a target; None where `Vary: *` says that no key will do.

    `credential` is the name of the credential that went along, never its value.
    """
    sent = {name.lower(): value for name, value in request_headers.items()}
    vary = {name.strip().lower() for name in _value(answer_headers, "vary").split(",")} - {""}
    if "*" in vary:
        return None
    return CardKey(
        card_url=normalise(card_url),
        dispatch_url=normalise(target.dispatch_url, binding=target.binding),
        binding=target.binding,
        version=json.dumps(target.version),  # 1.0 and "1.0" are two
        tenant=target.tenant_id,
        selectors=tuple(sorted((name.lower(), value) for name, value in target.headers.items())),
        credential=credential,
        varied=tuple(sorted((name, sent.get(name, "")) for name in vary)),
    )


def validators(answer_headers: Mapping[str, str]) -> dict[str, str]:
    """The request headers by which a server may answer 304 to the next GET of this card; empty where it gave none."""
    pairs = {
        "If-None-Match": _value(answer_headers, "etag"),
        "If-Modified-Since": _value(answer_headers, "last-modified"),
    }
    return {name: value for name, value in pairs.items() if value}


def _value(headers: Mapping[str, str], name: str) -> str:
    return ", ".join(value for key, value in headers.items() if key.lower() == name)

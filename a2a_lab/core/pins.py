"""Remembers a card as it was when the plan was made (P1-P2), under a key that no other card can answer to (R33).

Two version surfaces stay apart: the protocol spoken at the interface, and the version that the card gives itself. Says
nothing about whether a later card may be used; that is the business of `revalidation`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from a2a_lab.core.canonical import canonical_bytes, content_digest, full_digest
from a2a_lab.core.members import PlanMember, plan_members
from a2a_lab.core.model import Card, Interface, Json
from a2a_lab.core.policy import Intent

# Their values are secrets; the name of the credential stands for them.
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PinKey:
    """What a pin and the card cache are keyed by (D6, R33): where the card lies, and all that selects it there.

    `card_url` is with its query, `dispatch_url` that of the interface, `selectors` the headers that choose the target,
    `credential` the name of the one attached (never its value), `vary` the values sent for headers that `Vary` names.
    An extended card has a key of its own (R12).
    """

    card_url: str
    dispatch_url: str
    binding: str
    version: Json
    tenant: str | None = None
    selectors: tuple[tuple[str, str], ...] = ()
    credential: str | None = None
    vary: tuple[tuple[str, str], ...] = ()
    extended: bool = False

    @classmethod
    def of(
        cls,
        *,
        card_url: str,
        interface: Interface,
        selectors: Mapping[str, str] | None = None,
        credential: str | None = None,
        sent: Mapping[str, str] | None = None,
        vary: str | None = None,
        extended: bool = False,
    ) -> PinKey:
        """The key of a card as fetched: `sent` are the request's headers, `vary` the answer's `Vary` header.

        Header names are compared in lower case, an empty tenant is none (R8), and `Vary: *` stands for every header.
        """
        headers = {name.lower(): value for name, value in (sent or {}).items()}
        named = {name.strip().lower() for name in (vary or "").split(",")} - {""}
        chosen = set(headers) if "*" in named else named
        return cls(
            card_url=card_url,
            dispatch_url=interface.url,
            binding=interface.binding,
            version=interface.version,
            tenant=interface.tenant or None,
            selectors=tuple(sorted((name.lower(), value) for name, value in (selectors or {}).items())),
            credential=credential,
            vary=tuple(sorted((name, headers.get(name, "")) for name in chosen - _SECRET_HEADERS)),
            extended=extended,
        )

    @property
    def text(self) -> str:
        """The key as the ledger writes it: 64 hex digits."""
        return hashlib.sha256(
            canonical_bytes(
                [
                    self.card_url,
                    self.dispatch_url,
                    self.binding,
                    self.version,
                    self.tenant,
                    [list(pair) for pair in self.selectors],
                    self.credential,
                    [list(pair) for pair in self.vary],
                    self.extended,
                ]
            )
        ).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedCard:
    """A card at the moment it was pinned. `at` is Unix seconds; `etag` that of its answer, if any.

    `authoritative` says whether a signature had verified; `seen` are content digests of this target before this pin,
    in order, so that two that take turns are told from one change (R34).
    """

    card: Card
    interface: Interface
    intent: Intent
    at: float
    content_digest: str
    full_digest: str
    authoritative: bool = False
    extended: bool = False
    etag: str | None = None
    seen: tuple[str, ...] = ()

    @property
    def protocol_version(self) -> Json:
        """The wire protocol at the pinned interface, as the card wrote it (P1)."""
        return self.interface.version

    @property
    def card_version(self) -> str:
        """The version that the card gives itself, which says nothing about the protocol (P1)."""
        return self.card.version

    @property
    def plan(self) -> dict[str, PlanMember]:
        """What the plan made on this card depends on."""
        return plan_members(self.card, self.interface, self.intent)


def pin_card(
    card: Card,
    *,
    interface: Interface,
    intent: Intent,
    at: float,
    authoritative: bool = False,
    extended: bool = False,
    etag: str | None = None,
    seen: tuple[str, ...] = (),
) -> PinnedCard:
    """Pin a bound card (pinning record, P2). Raises `MalformedJson` where the card has no digest (P5)."""
    return PinnedCard(
        card=card,
        interface=interface,
        intent=intent,
        at=at,
        content_digest=content_digest(card.document),
        full_digest=full_digest(card.document),
        authoritative=authoritative,
        extended=extended,
        etag=etag,
        seen=seen,
    )

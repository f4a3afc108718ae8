"""The words around a revalidation: what the client is about to do, what the card's URL answered, what follows (R34)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from a2a_lab.core.model import Card
from a2a_lab.core.signatures import SignatureReport
from a2a_lab.verdicts import Finding


class Transition(StrEnum):
    """What the client is about to do (R34)."""

    COMMIT = "commit"
    STREAM = "stream"
    RESUBSCRIBE = "resubscribe"
    RENEGOTIATED_SEND = "renegotiated-send"
    GET = "get"
    CANCEL = "cancel"


DEPENDENT = frozenset(Transition) - {Transition.GET, Transition.CANCEL}


class Next(StrEnum):
    """What the caller does after a revalidation."""

    GO_ON = "go-on"
    RETRY = "retry"  # once, after what Retry-After asks for
    REDISCOVER = "rediscover"  # back to D1 with a new pin; the plan still holds
    STOP = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refetch:
    """What the card's URL answered now. `status` is None and `fault` named where no HTTP answer came.

    `conditional` says whether validators were sent, None where the evidence does not tell; `extended` that this is the
    answer of the extended card's operation.
    """

    status: int | None
    card: Card | None = None
    fault: str | None = None
    etag: str | None = None
    conditional: bool | None = None
    extended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Revalidation:
    """The judgement. `rotated` says that only signatures changed, `signature` how they were judged again.

    `changed` and `depends` are JSON Pointers as in the drift error; `digest` is the content digest that was found and
    `seen` the digests so far, to be handed to the next revalidation.
    """

    next: Next
    findings: tuple[Finding, ...] = ()
    rotated: bool = False
    signature: SignatureReport | None = None
    changed: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    digest: str | None = None
    seen: tuple[str, ...] = ()

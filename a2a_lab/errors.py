"""Every error the lab raises.

    LabError
      PeerFault                      the peer's doing: becomes a verdict, never stops a run
        AgentCardResolutionError     discovery record: no card can be bound to the dispatch target
        AgentCardConformanceError    authority record: declared contract and runtime differ
          StreamFault                a stream broke its own rules or never ended
          MediaFault                 an artifact part is of a type nobody declared
        AgentCardDriftError          pinning record: the card changed between pinning and use
        MalformedJson                bytes that strict JSON refuses (P5)
        LimitExceeded                a bound of the reader was passed; names the bound
        Unreachable                  no HTTP answer at all
      Withheld                       the lab did not send: no credentials, a budget, a tier, a pause that was asked for
      HarnessFault                   ours: a simulated agent did not start, an environment did not build
      Misuse                         the caller skipped a stage, or a parameter cannot be right
      RecordFault                    records that are cut, duplicated or mixed

Messages say what happened, the two values, and what to do next. `slug` is stable and used in tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from a2a_lab.verdicts import Finding, NotGradeable


class LabError(Exception):
    """Base of all errors of the lab. `fields` holds the values that the message names."""

    slug: ClassVar[str] = "lab-error"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields


class PeerFault(LabError):
    """A fault of the peer. `finding` says where it belongs; without one the caller knows the stage."""

    slug = "peer-fault"

    def __init__(self, message: str, *, finding: Finding | None = None, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.finding = finding

    @property
    def name(self) -> str:
        """The slug to tabulate: that of the finding, where there is one."""
        return self.finding.slug if self.finding else self.slug


class AgentCardResolutionError(PeerFault):
    """An Agent Card cannot be bound to a concrete dispatch target (discovery record, D1-D8)."""

    slug = "card-resolution"


class AgentCardConformanceError(PeerFault):
    """A card's declared contract and what the runtime enforces differ (authority record, A1-A7)."""

    slug = "card-conformance"


class StreamFault(AgentCardConformanceError):
    """A stream broke its rules, or did not end within the limits (A6)."""

    slug = "stream-fault"


class MediaFault(AgentCardConformanceError):
    """An artifact part is of a media type that the card does not declare (A5)."""

    slug = "media-fault"


class AgentCardDriftError(PeerFault):
    """The card changed between pinning and use (pinning record, P3-P4).

    `changed` holds JSON Pointers, `depends` those of them the plan depends on.
    """

    slug = "card-drift"


class MalformedJson(PeerFault):
    """Bytes that are no JSON, or JSON that two parsers would read differently (P5). `at` is a byte offset."""

    slug = "malformed-json"


class LimitExceeded(PeerFault):
    """A bound of the reader was passed; the message names the bound and its value."""

    slug = "limit-exceeded"


class Unreachable(PeerFault):
    """No HTTP answer at all: name resolution, connection, TLS or transport failed."""

    slug = "unreachable"


class Withheld(LabError):
    """The lab did not send something, for a reason that says nothing about the agent (R37).

    `word` is that of `NotGradeable` under which the cell is recorded.
    """

    slug = "withheld"

    def __init__(self, message: str, *, word: NotGradeable, slug: str = "withheld", **fields: Any) -> None:
        super().__init__(message, **fields)
        self.word, self.reason = word, slug


class HarnessFault(LabError):
    """A fault of the lab or its machine, never of a vendor."""

    slug = "harness-fault"


class Misuse(LabError):
    """The caller's mistake: a stage skipped, a parameter that cannot be right. Says what was expected."""

    slug = "misuse"


class RecordFault(LabError):
    """Records that are cut, duplicated or mixed."""

    slug = "record-fault"

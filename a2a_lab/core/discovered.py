"""What a walk found: a card bound to its target, or why none is. A value; how it is found is the business of `walk`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from a2a_lab.core.model import Card, Interface
from a2a_lab.core.resolution import ResolvedTarget, Topology
from a2a_lab.verdicts import Finding, NotGradeable, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What the walk found. `card` and `interface` are set together, and only where the card is bound to `target`.

    `card_url` is the final URL of that card and `card_headers` those of its answer, for validators and `Vary` (R33);
    `candidates_asked` holds every URL in order; `hint_card` is the signpost met before, `union_of` a less specific card
    that differs. `findings` are of the stages resolve and fetch.
    """

    target: ResolvedTarget | None = None
    card: Card | None = None
    interface: Interface | None = None
    hint_card: Card | None = None
    card_url: str | None = None
    candidates_asked: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_gradeable: NotGradeable | None = None
    union_of: Card | None = None
    topology: Topology | None = None
    request_headers: Mapping[str, str] = field(default_factory=dict)
    card_headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_bound(self) -> bool:
        return self.card is not None

    @property
    def reached(self) -> tuple[Stage, ...]:
        """The stages this walk can be judged on: fetch once anything was asked, resolve once there was a target."""
        named = {finding.stage for finding in self.findings}
        asked = {Stage.FETCH} if self.candidates_asked or self.card else set()
        there = {Stage.RESOLVE} if self.target else set()
        return tuple(stage for stage in Stage if stage in named | asked | there)

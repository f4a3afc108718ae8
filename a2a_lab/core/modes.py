"""What a card declares about modes: the record's union, and the set the specification means for one skill (R15, A5).

The record joins a skill's modes to the defaults; the proto comment lets them replace the defaults. Both are computed,
the union decides, and where the two disagree that is a finding of whoever asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.media import TEXT, Why, best_match
from a2a_lab.core.model import Card, Skill

Side = Literal["input", "output"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes:
    """Declared modes of one side, as written. `defaults` is None where the card does not state the list."""

    union: tuple[str, ...]
    spec: tuple[str, ...]
    defaults: tuple[str, ...] | None

    def covers(self, mode: str) -> tuple[bool, Why, str | None]:
        """Whether the union covers a mode, by which declaration, or what keeps the nearest one from it."""
        return best_match(self.union, mode)

    def is_in_spec_set(self, mode: str) -> bool:
        return best_match(self.spec, mode)[0]


def declared_modes(card: Card, skill: Skill | None, side: Side) -> Modes:
    """The modes of a side for a named skill, or for any skill where none is named.

    Without a skill the union is over all of them, as in the record's listing. A skill's empty list is an unset one
    (ProtoJSON prints neither). The 0.1 draft defaults to text/plain.
    """
    defaults = card.default_input_modes if side == "input" else card.default_output_modes
    if defaults is None and card.form == "0.1":
        defaults = (TEXT,)
    lists = [_own(one, side) for one in ((skill,) if skill else card.skills)]
    union = tuple(dict.fromkeys([*(defaults or ()), *(mode for own in lists for mode in own)]))
    own = _own(skill, side) if skill else ()
    spec = own or (union if skill is None else defaults or ())
    return Modes(union=union, spec=spec, defaults=defaults)


def _own(skill: Skill, side: Side) -> tuple[str, ...]:
    return (skill.input_modes if side == "input" else skill.output_modes) or ()

"""How each dialect spells task states and roles, and which other spellings can be understood all the same.

A state of another dialect, a misspelt one and an enum number are decoded, so that a report can say what was meant,
and are faults (R32). Anything else is `unknown`, which never counts as working or complete; 0.3 has a word for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from a2a_lab.core.model import State

_LOWER: Final = {state.value: state for state in State if state is not State.UNKNOWN}
_UPPER: Final = {f"TASK_STATE_{state.name}": state for state in State if state is not State.UNKNOWN}
_MISSPELT: Final = {"cancelled": State.CANCELED, "TASK_STATE_CANCELLED": State.CANCELED}
# The numbers of the 1.0 proto; 0 is UNSPECIFIED, which no task may be in.
_NUMBERS: Final = (
    State.UNKNOWN,
    State.SUBMITTED,
    State.WORKING,
    State.COMPLETED,
    State.FAILED,
    State.CANCELED,
    State.INPUT_REQUIRED,
    State.REJECTED,
    State.AUTH_REQUIRED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """One dialect's names; the foreign ones are those of the other generation, `numbers` those of a proto enum.

    `agent` and `user` are the roles, in the order of the proto's numbers 2 and 1.
    """

    dialect: str
    states: Mapping[str, State]
    foreign_states: Mapping[str, State]
    numbers: tuple[State, ...]
    agent: str
    user: str
    foreign_roles: frozenset[str]
    has_kind: bool
    misspelt: Mapping[str, State]


V1_0: Final = Spelling(
    dialect="1.0",
    states=_UPPER,
    foreign_states=_LOWER,
    numbers=_NUMBERS,
    agent="ROLE_AGENT",
    user="ROLE_USER",
    foreign_roles=frozenset({"agent", "user"}),
    has_kind=False,
    misspelt=_MISSPELT,
)

V0_3: Final = Spelling(
    dialect="0.3",
    states=_LOWER | {"unknown": State.UNKNOWN},
    foreign_states=_UPPER,
    numbers=(),
    agent="agent",
    user="user",
    foreign_roles=frozenset({"ROLE_AGENT", "ROLE_USER"}),
    has_kind=True,
    misspelt=_MISSPELT,
)

"""How each dialect spells task states and roles, and which other spellings can be understood all the same.

A state of another dialect, a misspelt one and an enum number are decoded, so that a report can say what was meant,
and are faults (R32). Anything else is `unknown`, which never counts as working or complete; 0.3 has a word for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from a2a_lab.core.model import State

_LOWER: Final = {state.value: state for state in State if state is not State.UNKNOWN}
_UPPER: Final = {f"TASK_STATE_{state.name}": state for state in State if state is not State.UNKNOWN}
_MISSPELT: Final = {"cancelled": State.CANCELED, "TASK_STATE_CANCELLED": State.CANCELED}
# The draft has no such states; those who send them speak a later version.
_LATER: Final = frozenset({State.AUTH_REQUIRED, State.REJECTED})

PartForm = Literal["", "kind", "type", "nested"]
"""How a part tells what it holds: by its one member, by a tag of that name, or by a member that nests the content."""
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

    `agent` and `user` are the roles, in the order of the proto's numbers 2 and 1. `content` is the member of a message
    that lists its parts. `wants_utc`: timestamps are those of ProtoJSON, which end with a Z.
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
    part_form: PartForm
    wants_utc: bool
    content: str = "parts"


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
    part_form="",
    wants_utc=True,
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
    part_form="kind",
    wants_utc=False,
)

V0_2: Final = replace(V0_3, dialect="0.2")

V0_3_PROTO: Final = Spelling(  # what SDKs of 0.3 write over HTTP+JSON
    dialect="0.3",
    states={name: state for name, state in _UPPER.items() if state is not State.CANCELED}
    | {"TASK_STATE_CANCELLED": State.CANCELED},
    foreign_states=_LOWER,
    numbers=_NUMBERS,
    agent="ROLE_AGENT",
    user="ROLE_USER",
    foreign_roles=frozenset({"agent", "user"}),
    has_kind=False,
    misspelt={"cancelled": State.CANCELED, "TASK_STATE_CANCELED": State.CANCELED},
    part_form="nested",
    wants_utc=True,
    content="content",
)

V0_1: Final = replace(
    V0_3,
    dialect="0.1",
    states={name: state for name, state in V0_3.states.items() if state not in _LATER},
    foreign_states=_UPPER | {name: state for name, state in _LOWER.items() if state in _LATER},
    has_kind=False,
    part_form="type",
)

"""Single values whose spelling a dialect fixes: task states, roles, timestamps.

Called where a value is not simply the expected one. Understands other spellings where the meaning is clear, and reports
each; what cannot be understood stays unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from a2a_lab.core.model import Json, State
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Stage, Verdict
from a2a_lab.wire import faults

if TYPE_CHECKING:
    from a2a_lab.wire.objects import ObjectReader

_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_OFFSET: Final = re.compile(r".*[+-]\d\d:?\d\d")


def judge_role(reader: ObjectReader, role: Json, at: str) -> None:
    """A role that is not the expected one: another speaker, another spelling, or no role at all."""
    spelling = reader.spelling
    roles = (spelling.user, spelling.agent)
    detail = f"role is {quoted(role)} at {at}, expected {reader.role!r}"
    if role is None:
        reader.say(faults.MEMBER_MISSING, f"role is missing at {at}", at=at)
    elif role in roles:
        reader.say(faults.WRONG_ROLE, detail, at=at, found=role)
    elif isinstance(role, str) and role in spelling.foreign_roles:
        reader.foreign(f"role is spelt {quoted(role)}", at=at)
    elif type(role) is int and spelling.numbers and 0 < role <= len(roles):
        reader.say(faults.ENUM_NUMBER, f"role is the number {role} ({roles[role - 1]})", at=at, found=role)
    else:
        reader.say(faults.UNKNOWN_ROLE, detail, at=at, found=quoted(role))


def other_state(reader: ObjectReader, wire_state: Json, at: str) -> State:
    """A state that the dialect does not spell so."""
    spelling = reader.spelling
    if wire_state is None:
        reader.say(faults.STATE_MISSING, "the status has no state", at=at)
        return State.UNKNOWN
    if type(wire_state) is int and 0 < wire_state < len(spelling.numbers):
        state = spelling.numbers[wire_state]
        reader.say(faults.ENUM_NUMBER, f"state is the number {wire_state} ({state.value})", at=at, found=wire_state)
        return state
    if not isinstance(wire_state, str):
        reader.wrong_type(wire_state, str, at)
    elif (meant := spelling.misspelt.get(wire_state)) is not None:
        detail = f"state is {quoted(wire_state)}; {meant.value} is meant"
        reader.say(faults.STATE_MISSPELT, detail, at=at, found=wire_state)
        if not reader.in_stream:  # the call broke the enum (R32), while the answer itself can be settled
            reader.findings.append(faults.STATE_MISSPELT(detail, at=at, stage=Stage.PROBE, verdict=Verdict.HINT))
        return meant
    elif (foreign := spelling.foreign_states.get(wire_state)) is not None:
        reader.foreign(f"state is spelt {quoted(wire_state)}", at=at)
        return foreign
    reader.say(faults.UNKNOWN_STATE, f"state is {quoted(wire_state)}", at=at, found=quoted(wire_state))
    return State.UNKNOWN


def judge_timestamp(reader: ObjectReader, stamp: Json, at: str) -> None:
    """ProtoJSON wants UTC with a final Z; the other dialects only say that it is a text."""
    if not isinstance(stamp, str):
        reader.wrong_type(stamp, str, at)
    elif reader.spelling.wants_utc and not _UTC.fullmatch(stamp):
        verdict = Verdict.HINT if _OFFSET.fullmatch(stamp) else None  # a zone, if not Z, is read by everybody
        detail = f"timestamp {quoted(stamp)} is not in UTC with a final Z"
        reader.say(faults.TIMESTAMP_FORM, detail, at=at, verdict=verdict, found=quoted(stamp))

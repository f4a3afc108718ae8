"""Compares requests: alike, different in ids only, or different, and where (R43).

A consumer chooses ids of its own, so they never tell two requests apart; what was blanked before the evidence was
stored equals anything that stands in its place.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from a2a_lab.lab.renaming import KINDS, Renames
from a2a_lab.net.redact import PLACEHOLDER

_MISSING: Final = object()

Query = list[tuple[str, str]]


@dataclass(slots=True)
class Compared:
    """How two requests differ: in ids, which are renamed, and at JSON Pointers, which are named."""

    renames: Renames = field(default_factory=Renames)
    differs: list[str] = field(default_factory=list)


def content_of(body: bytes) -> Any:
    """The JSON of a body; the bytes themselves where it is none; nothing for an empty one."""
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def form_of(body: bytes, query: Query) -> object:
    """What requests have in common that differ in ids only: equal, and fit to be looked up by."""
    content = content_of(body)
    try:
        form: object = json.dumps(_bare(content, outermost=True), sort_keys=True, default=repr)
    except (RecursionError, ValueError):
        form = body
    return form, tuple(sorted(query))


def _bare(value: Any, *, outermost: bool = False) -> Any:
    if isinstance(value, list):
        return [_bare(one) for one in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, dict):
        return value
    return {
        name: _bare(one)
        for name, one in value.items()
        if not (outermost and name == "id") and (name not in KINDS or isinstance(one, dict))
    }


def compare(recorded: Any, live: Any) -> Compared:
    """Compare two contents member by member; the second is the live one."""
    found = Compared()
    try:
        _walk(recorded, live, "", None, found)
    except RecursionError:
        found.differs.append("(too deep to compare)")
    return found


def _walk(recorded: Any, live: Any, at: str, key: str | None, found: Compared) -> None:
    """Compare two JSON values member by member."""
    if isinstance(recorded, dict) and isinstance(live, dict):
        for name in {**recorded, **live}:
            _member(recorded.get(name, _MISSING), live.get(name, _MISSING), at, name, found)
    elif isinstance(recorded, list) and isinstance(live, list) and len(recorded) == len(live):
        for place, (old, new) in enumerate(zip(recorded, live, strict=True)):
            _walk(old, new, f"{at}/{place}", key, found)
    elif key is not None and isinstance(recorded, str) and isinstance(live, str):
        found.renames.ids[(KINDS[key], recorded)] = live
    elif not _equal(recorded, live):
        found.differs.append(at or "the body")


def _member(recorded: Any, live: Any, at: str, name: str, found: Compared) -> None:
    here = f"{at}/{name}"
    if at == "" and name == "id":
        # The id of a JSON-RPC request; a REST body has no id of its own.
        found.renames.rpc = (None if recorded is _MISSING else recorded, None if live is _MISSING else live)
    elif name in KINDS and not isinstance(recorded, dict) and not isinstance(live, dict):
        if recorded not in (None, _MISSING) and live not in (None, _MISSING):
            _walk(recorded, live, here, name, found)
    elif recorded is _MISSING or live is _MISSING:
        found.differs.append(here)
    else:
        _walk(recorded, live, here, None, found)


def _equal(recorded: Any, live: Any) -> bool:
    if isinstance(recorded, str) and isinstance(live, str) and PLACEHOLDER in recorded:
        before, _, after = recorded.partition(PLACEHOLDER)
        return live.startswith(before) and live.endswith(after.rpartition(PLACEHOLDER)[2])
    return isinstance(recorded, bool) is isinstance(live, bool) and bool(recorded == live)


def same_query(recorded: Query, live: Query) -> bool:
    return len(recorded) == len(live) and all(
        name == other and _equal(value, new)
        for (name, value), (other, new) in zip(sorted(recorded), sorted(live), strict=True)
    )


def operation_in(content: Any) -> str | None:
    """What a body asks for: the JSON-RPC method; nothing that tells REST bodies of one path apart."""
    method = content.get("method") if isinstance(content, dict) else None
    return method if isinstance(method, str) else None


def operation_of(body: bytes) -> str:
    """The JSON-RPC method that a body names; empty for none."""
    return operation_in(content_of(body)) or ""

"""Keeps which keys a run trusted, beside its records: keys of simulated vendors live no longer than the run (R40).

Public keys only, a line for each host process that served cells of the run, so that signatures can be judged again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from a2a_lab.core.keys import KeySet
from a2a_lab.errors import HarnessFault, Misuse, RecordFault

TRUST: Final = "trust.jsonl"


def note_keys(folder: Path, jwks: Mapping[str, Any], *, since: str) -> None:
    """Write down a JWK set that counts as trusted from a time on (ISO 8601, UTC). Raises HarnessFault."""
    try:
        with (folder / TRUST).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"since": since, "jwks": jwks}) + "\n")
    except OSError as fault:
        raise HarnessFault(f"cannot write {folder / TRUST}: {fault.strerror}") from fault


def keys_at(folder: Path, started: str) -> Mapping[str, Any] | None:
    """The JWK set that was trusted when a cell started; None where the run did not keep it. Raises RecordFault."""
    path = folder / TRUST
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as fault:
        raise RecordFault(f"{path} cannot be read: {fault}") from fault
    held: Mapping[str, Any] | None = None
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if str(entry["since"]) <= started:
                KeySet.from_jwks(entry["jwks"])
                held = entry["jwks"]
        except (ValueError, KeyError, TypeError, Misuse) as fault:
            raise RecordFault(f"{path}, line {number}: no key set with its time ({fault}); is the file cut?") from fault
    return held

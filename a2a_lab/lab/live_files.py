"""Finds the vendor file that a matrix means, and keeps what of it a judge needs beside a run.

A matrix names a file by its path, relative to the matrix, or by a name: then `vendors/NAME.toml` of the working
directory is meant. A file is edited after a run; by what the cells were judged then is in the run's own copy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.net.redact import Redactor
from a2a_lab.vendors.live import LiveVendor, parse_live, read_live

FOLDER: Final = "vendors"
KEPT: Final = "live.json"


def find_live(who: str, *, folder: Path | None) -> LiveVendor | None:
    """The vendor of a path or name as a matrix gives it; None where a name has no file. Raises Misuse for its content.

    `folder` is that of the matrix, None where it came from no file.
    """
    file = (folder or Path()) / who if is_path(who) else Path(FOLDER) / f"{who}.toml"
    if not is_path(who) and not file.is_file():
        return None
    return read_live(file)


def is_path(who: str) -> bool:
    return who.endswith(".toml")


def live_names() -> tuple[str, ...]:
    """The names of the files in the folder of the working directory."""
    return tuple(sorted(path.stem for path in Path(FOLDER).glob("*.toml")))


def keep_live(folder: Path, live: Mapping[str, LiveVendor]) -> None:
    """Write what judges need of the vendors, by their name in the matrix, into the run's folder, once."""
    path = folder / KEPT
    if path.exists() or not live:
        return
    kept = {
        name: {"where": one.where, "held_for": one.held_for, **one.kept, **_addresses(one)}
        for name, one in live.items()
    }
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
    except OSError as fault:
        raise HarnessFault(f"cannot write {path}: {fault.strerror}") from fault


def kept_live(folder: Path) -> dict[str, LiveVendor]:
    """The vendors that were kept beside a run; none where it met none."""
    path = folder / KEPT
    if not path.is_file():
        return {}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {name: _again(name, dict(table), folder) for name, table in kept.items()}
    except (OSError, ValueError, AttributeError, TypeError) as fault:
        raise Misuse(f"{path} cannot be read: {fault}") from fault


def _addresses(live: LiveVendor) -> dict[str, str]:
    """Where it is, without a key that stands in the URL."""
    redactor = Redactor(urls=[live.url, live.card_url])
    named = {"url": live.url, "card_url": live.card_url}
    return {key: redactor.url(url) for key, url in named.items() if url}


def _again(name: str, table: dict[str, Any], folder: Path) -> LiveVendor:
    where, held_for = table.pop("where", KEPT), table.pop("held_for", ())
    return replace(parse_live(table, name=name, where=str(where), folder=folder), held_for=tuple(held_for))

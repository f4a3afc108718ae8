"""Keeps the matrix that a run was made by beside its records, so that the run can be read wherever it is taken.

A matrix file is edited, moved or upgraded after a run; what its consumers wanted then is what the run is judged by.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from a2a_lab.errors import HarnessFault, Misuse
from a2a_lab.lab.live_files import keep_live, kept_live
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.records import Header
from a2a_lab.vendors.live import LiveVendor

MATRIX: Final = "matrix.toml"


def keep_matrix(folder: Path, matrix: Matrix) -> None:
    """Write the text of the matrix into the run's folder, once. Raises HarnessFault.

    A matrix that a program made or changed has no text that says the same, and is not kept.
    """
    path = folder / MATRIX
    if path.exists() or not matrix.source:
        return
    live = live_of(matrix)
    if Matrix.parse(matrix.source, name=matrix.name, where=MATRIX, live=live) != matrix:
        return
    keep_live(folder, live)
    try:
        path.write_text(matrix.source, encoding="utf-8")
    except OSError as fault:
        raise HarnessFault(f"cannot write {path}: {fault.strerror}") from fault


def kept_matrix(folder: Path, header: Header) -> Matrix:
    """The matrix of a run: the kept one, else the one that its header names. Raises Misuse where it cannot be read."""
    path = folder / MATRIX
    if not path.is_file():
        return Matrix.load(str(header.parameters.get("matrix", header.matrix)))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise Misuse(f"{path} cannot be read: {fault}") from fault
    return Matrix.parse(text, name=header.matrix, where=str(path), live=kept_live(folder))


def live_of(matrix: Matrix) -> dict[str, LiveVendor]:
    """The agents of a matrix that are not ours, by their names in it."""
    entries = matrix.pairings.agents.values() if matrix.pairings is not None else ()
    return {entry.name: entry.live for entry in entries if entry.live is not None}

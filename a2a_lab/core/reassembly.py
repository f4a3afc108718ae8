"""Puts artifacts together from their chunks, and says where the chunks contradict each other (R29).

A chunk without `append` creates or replaces, one with it adds parts; a Task snapshot replaces everything. Parts are
never merged: no version says whether texts join. What cannot be used is kept for the report, never dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from a2a_lab.core.artifact_findings import (
    APPEND_TO_UNKNOWN,
    ARTIFACT_RENAMED,
    ARTIFACT_REPLACED,
    ARTIFACT_UNSEALED,
    SNAPSHOT_DISAGREES,
    SNAPSHOT_DROPS,
    UPDATE_AFTER_LAST_CHUNK,
)
from a2a_lab.core.model import Artifact, Json, Part
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.verdicts import Finding, Verdict

_ALIKE: Final = 20  # findings of one kind that are kept of one artifact's chunks


@dataclass(slots=True)
class _Pieces:
    """One artifact in the making. `late` is what came after the last chunk, `replaced` what a chunk overwrote."""

    id: str
    parts: list[Part]
    name: str | None
    metadata: dict[str, Json]
    chunks: int = 1
    is_sealed: bool = False
    expects_more: bool = False  # lastChunk:false was written out
    is_flawed: bool = False
    late: list[Part] = field(default_factory=list)
    replaced: list[Part] = field(default_factory=list)

    def artifact(self) -> Artifact:
        return Artifact(id=self.id, parts=tuple(self.parts), name=self.name, metadata=self.metadata)


class Reassembly:
    """The artifacts of one stream. `appends_strictly` is 1.0's reading of append; up to 0.3 it may create."""

    def __init__(self, *, appends_strictly: bool, known: Iterable[Artifact] = ()) -> None:
        self._strictly = appends_strictly
        self._pieces: dict[str, _Pieces] = {}
        self._dropped: dict[str, Artifact] = {}
        for artifact in known:
            self._create(artifact)

    def receive(self, artifact: Artifact, *, append: bool, last_chunk: bool | None) -> list[Finding]:
        """Take one chunk."""
        pieces = self._pieces.get(artifact.id)
        findings: list[Finding] = []
        if pieces is None:
            pieces = self._create(artifact)
            if append:
                pieces.is_flawed = self._strictly
                detail = f"append:true for artifact {quoted(artifact.id)}, which was not sent before"
                findings.append(APPEND_TO_UNKNOWN(detail, verdict=None if self._strictly else Verdict.HINT))
        elif pieces.is_sealed:
            pieces.late.extend(artifact.parts)
            pieces.is_flawed = True
            way = "append" if append else "replace"
            detail = f"artifact {quoted(artifact.id)} had its last chunk, and another came to {way} it"
            return [UPDATE_AFTER_LAST_CHUNK(detail, kept=_text(pieces.parts), late=_text(artifact.parts))]
        else:
            findings += self._change(pieces, artifact, append=append)
        pieces.is_sealed = last_chunk is True
        pieces.expects_more = pieces.expects_more or last_chunk is False
        return findings

    def rebase(self, artifacts: Iterable[Artifact], *, is_final: bool) -> list[Finding]:
        """A Task snapshot restates the artifacts and replaces what is known; a final one must agree with it."""
        stated = {artifact.id: artifact for artifact in artifacts}
        missing = [name for name in self._pieces if name not in stated]
        findings = self._disagreements(stated, missing) if is_final else []
        if missing and not is_final:
            findings.append(SNAPSHOT_DROPS(f"not in the snapshot: {listed(missing)}", found=missing[:_ALIKE]))
        for name in missing:
            self._dropped[name] = self._pieces.pop(name).artifact()
        for name, artifact in stated.items():
            before = self._pieces.get(name)
            pieces = self._create(artifact)
            if before is not None:
                pieces.is_sealed = before.is_sealed
                pieces.late = before.late
        return findings

    def confirm(self, artifacts: Iterable[Artifact]) -> list[Finding]:
        """A snapshot after the end: replaces nothing, may add what was not streamed, must agree with the rest."""
        stated = {artifact.id: artifact for artifact in artifacts}
        missing = [name for name in self._pieces if name not in stated]
        findings = self._disagreements(stated, missing)
        for name, artifact in stated.items():
            if name not in self._pieces:
                self._create(artifact)
        return findings

    def complete(self) -> list[Finding]:
        """The task completed: name the artifacts that were sent in chunks and never closed."""
        unsealed = [p.id for p in self._pieces.values() if not p.is_sealed and (p.chunks > 1 or p.expects_more)]
        if not unsealed:
            return []
        detail = f"no lastChunk:true was seen for {listed(unsealed)}; completion closes them"
        return [ARTIFACT_UNSEALED(detail, found=unsealed[:_ALIKE])]

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """What was received, in the order of first appearance, flawed or not."""
        return tuple(pieces.artifact() for pieces in self._pieces.values())

    @property
    def open_ids(self) -> tuple[str, ...]:
        """The artifacts that more chunks may belong to."""
        return tuple(pieces.id for pieces in self._pieces.values() if not pieces.is_sealed)

    @property
    def flawed_ids(self) -> tuple[str, ...]:
        """The artifacts that must not be reported as complete."""
        return tuple(pieces.id for pieces in self._pieces.values() if pieces.is_flawed)

    @property
    def unused(self) -> Mapping[str, tuple[Part, ...]]:
        """Parts that are no part of any artifact, by artifact: late, replaced, or dropped by a snapshot."""
        kept = {p.id: (*p.replaced, *p.late) for p in self._pieces.values() if p.replaced or p.late}
        return kept | {name: artifact.parts for name, artifact in self._dropped.items()}

    def _create(self, artifact: Artifact) -> _Pieces:
        pieces = _Pieces(artifact.id, list(artifact.parts), artifact.name, dict(artifact.metadata))
        self._pieces[artifact.id] = pieces
        return pieces

    def _change(self, pieces: _Pieces, artifact: Artifact, *, append: bool) -> list[Finding]:
        findings: list[Finding] = []
        if append:
            pieces.parts.extend(artifact.parts)
        else:
            if not _begins_with(artifact.parts, pieces.parts):
                was, now = _text(pieces.parts), _text(artifact.parts)
                detail = f"artifact {quoted(artifact.id)} was {quoted(was)}; a chunk without append: {quoted(now)}"
                findings.append(ARTIFACT_REPLACED(detail, was=was, now=now))
                pieces.replaced.extend(pieces.parts)
            pieces.parts = list(artifact.parts)
        if artifact.name is not None and pieces.name is not None and artifact.name != pieces.name:
            detail = f"artifact {quoted(artifact.id)} is {quoted(pieces.name)}, then {quoted(artifact.name)}"
            findings.append(ARTIFACT_RENAMED(detail, kept=pieces.name[:80], found=artifact.name[:80]))
        pieces.name = pieces.name or artifact.name
        if artifact.metadata:
            pieces.metadata = {**artifact.metadata, **pieces.metadata}
        pieces.chunks += 1
        return findings

    def _disagreements(self, stated: Mapping[str, Artifact], missing: list[str]) -> list[Finding]:
        findings = []
        if missing:
            detail = f"streamed, but not in the final snapshot: {listed(missing)}"
            findings.append(SNAPSHOT_DISAGREES(detail, found=missing[:_ALIKE]))
        for name, artifact in stated.items():
            pieces = self._pieces.get(name)
            if pieces is not None and _joined(artifact.parts) != _joined(pieces.parts):
                was, now = _text(pieces.parts), _text(artifact.parts)
                detail = f"artifact {quoted(name)} was streamed as {quoted(was)}, the final snapshot has {quoted(now)}"
                findings.append(SNAPSHOT_DISAGREES(detail, streamed=was, found=now))
        return findings[:_ALIKE]


def _joined(parts: Iterable[Part]) -> list[Part | tuple[str, str | None]]:
    """Parts for comparison: neighbouring texts of one type count as one, since no version says whether they join."""
    joined: list[Part | tuple[str, str | None]] = []
    texts: list[str] = []
    label: str | None = None
    for part in parts:
        if part.kind == "text" and texts and part.media_type == label:
            texts.append(part.text or "")
            continue
        if texts:
            joined.append(("".join(texts), label))
            texts = []
        if part.kind == "text":
            texts, label = [part.text or ""], part.media_type
        else:
            joined.append(part)
    return [*joined, ("".join(texts), label)] if texts else joined


def _begins_with(now: tuple[Part, ...], was: list[Part]) -> bool:
    """Whether a replacement loses nothing: it repeats what was there, perhaps with more behind it."""
    new, old = _joined(now), _joined(was)
    if not old or new[: len(old)] == old:
        return True
    last, grown = old[-1], new[len(old) - 1] if len(new) >= len(old) else None
    if new[: len(old) - 1] != old[:-1] or not isinstance(last, tuple) or not isinstance(grown, tuple):
        return False
    return grown[1] == last[1] and grown[0].startswith(last[0])


def _text(parts: Iterable[Part], limit: int = 200) -> str:
    """The text of parts for a report, with a mark for what is no text."""
    text = ""
    for part in parts:
        text += part.text if part.text is not None else f"<{part.kind}>"
        if len(text) > limit:
            return f"{text[:limit]}..."
    return text

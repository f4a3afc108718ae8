"""Checks every part of an artifact when it arrives, whatever was asked for (A5, R16).

The card's union of modes decides; the specification's narrower set, ranges, missing labels and labels that contradict
the part are named. Content is never sniffed and a file name is never believed.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from a2a_lab.core.media import BYTES, JSON, TEXT, MediaType, best_match, essence, parse_media_type
from a2a_lab.core.model import Artifact, Card, Part, Skill
from a2a_lab.core.modes import Modes, declared_modes
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _received(
    slug: str,
    verdict: Verdict,
    means: str,
    *,
    clause: str | None = None,
    other: str | None = None,
    kind: Kind = Kind.CONFORMANCE,
    judge: Judge = Judge.POLICY,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RECEIVE,
        verdict=verdict,
        kind=kind,
        judge=judge,
        rule="A5, R16",
        means=means,
        clause=clause,
        other=other,
    )


MEDIA_NOT_DECLARED = _received(
    "media-not-declared",
    Verdict.CONFORMANCE_ERROR,
    "a part is of a media type that the card does not declare",
    clause="A2A 1.0.1 §4.4.1 defaultOutputModes and §4.4.5 AgentSkill.output_modes",
)
MEDIA_OUTSIDE_SKILL = _received(
    "media-outside-skill",
    Verdict.HINT,
    "a part is of a default mode, but not of one of the named skill's own",
    clause="A2A 1.0.1 §4.4.5 AgentSkill.output_modes (override the defaults)",
    other="by the proto comment the skill's list replaces the defaults, and the part is undeclared",
)
MEDIA_BY_RANGE = _received(
    "media-by-range",
    Verdict.HINT,
    "a part fits only a range or a short name that the card declares",
    kind=Kind.AUTHORITY,
)
MEDIA_UNDECLARED = _received(
    "media-undeclared",
    Verdict.HINT,
    "a file part states no media type; it is kept as bytes, and its name is not believed",
    clause="A2A 1.0.1 §4.1.6 Part.media_type (optional)",
)
MEDIA_MALFORMED = _received(
    "media-malformed", Verdict.CONFORMANCE_ERROR, "a part states what is no media type", clause="RFC 9110 §8.3.1"
)
MEDIA_WILDCARD = _received(
    "media-wildcard",
    Verdict.CONFORMANCE_ERROR,
    "a part states a range of media types, which says nothing about what it is",
    clause="RFC 9110 §8.3.1",
)
MEDIA_CONTRADICTS = _received(
    "media-contradicts-part",
    Verdict.CONFORMANCE_ERROR,
    "the media type of a part cannot be that of its content",
    clause="A2A 1.0.1 §4.1.6 (text, raw, url or data)",
)
BASE64_UNDECODABLE = _received(
    "base64-undecodable",
    Verdict.CONFORMANCE_ERROR,
    "the bytes of a part cannot be decoded",
    clause="ProtoJSON mapping of bytes (A2A 1.0.1 §5.5)",
    judge=Judge.SPEC,
)
BASE64_URL_SAFE = _received(
    "base64-url-safe",
    Verdict.HINT,
    "the bytes are in the URL-safe or unpadded form, which strict readers of this version refuse",
    clause="A2A 0.3.0 FileWithBytes.bytes (base64)",
)
PART_EMPTY = _received(
    "part-without-content",
    Verdict.CONFORMANCE_ERROR,
    "a part has none of the contents that its version knows",
    clause="A2A 1.0.1 §4.1.6 (exactly one content)",
    judge=Judge.SPEC,
)
OUTPUT_NOT_ACCEPTED = _received(
    "output-not-accepted",
    Verdict.ACCEPT,
    "a part is of a declared media type that the consumer did not ask for",
    clause="A2A 1.0.1 §4.2.1 acceptedOutputModes (SHOULD)",
    kind=Kind.NOTE,
    judge=Judge.SPEC,
)

_BINARY_TYPES = frozenset({"image", "audio", "video", "font", "model"})
_BINARY_SUBTYPES = re.compile(
    r"octet-stream|pdf|zip|gzip|x-gzip|x-tar|x-7z-compressed|zstd|wasm|cbor|msword|x-protobuf|protobuf"
    r"|vnd\.openxmlformats-.*|vnd\.ms-.*|vnd\.oasis\.opendocument\..*"
)
_TEXTUAL = frozenset({"xml", "json", "yaml"})
_BASE64 = re.compile(r"([A-Za-z0-9+/]*+|[A-Za-z0-9_-]*+)(={0,2})")  # one alphabet or the other, never both


def part_media_type(part: Part) -> str | None:
    """The media type of a part as written, or the one its kind implies; None for a file that states none (R16)."""
    if part.media_type:
        return part.media_type
    return {"text": TEXT, "data": JSON}.get(part.kind)


def judge_artifact(
    card: Card, skill: Skill | None, artifact: Artifact, *, accepts: Sequence[str] = ()
) -> list[Finding]:
    """What is wrong with the parts of an artifact, against the card's output modes (A5).

    `accepts` are the output modes that the request asked for; what lies outside them is only noted.
    """
    modes = declared_modes(card, skill, "output")
    findings = []
    for place, part in enumerate(artifact.parts):
        at = f"/artifacts/{artifact.id}/parts/{place}"
        findings += _content(part, card, at)
        findings += _media(part, modes, skill, accepts, at) if part.kind != "unknown" else []
    return findings


def decoded(raw: str) -> bytes:
    """The bytes of a raw part: standard or URL-safe base64, padded or not, as ProtoJSON reads it. Raises ValueError."""
    found = _BASE64.fullmatch(raw)
    if found is None or len(found[1]) % 4 == 1 or (found[2] and len(raw) % 4):
        raise ValueError("no base64")
    return base64.urlsafe_b64decode(found[1].replace("+", "-").replace("/", "_") + "=" * (-len(found[1]) % 4))


def _content(part: Part, card: Card, at: str) -> list[Finding]:
    if part.kind == "unknown":
        return [PART_EMPTY(at=at)]
    if part.kind != "raw":
        return []
    raw = part.raw or ""
    try:
        decoded(raw)
    except ValueError:
        return [BASE64_UNDECODABLE(f"what the part holds, {len(raw)} characters, is no base64", at=at)]
    is_plain = len(raw) % 4 == 0 and not set("-_") & set(raw)
    if card.form == "1.0" or is_plain:
        return []
    return [
        BASE64_URL_SAFE(
            f"what the part holds, {len(raw)} characters, decodes only as URL-safe or unpadded base64", at=at
        )
    ]


def _media(part: Part, modes: Modes, skill: Skill | None, accepts: Sequence[str], at: str) -> list[Finding]:
    stated = part_media_type(part)
    if stated is None:
        name = f", named {quoted(part.filename)}" if part.filename else ""
        return [MEDIA_UNDECLARED(f"a {part.kind} part{name} states no media type; it counts as {BYTES}", at=at)]
    parsed = parse_media_type(stated)
    if parsed is None:
        return [MEDIA_MALFORMED(f"{quoted(stated)} is no media type", found=stated, at=at)]
    if parsed.is_wildcard:
        return [MEDIA_WILDCARD(f"{quoted(stated)} is a range; only a card may declare one", found=stated, at=at)]
    findings = []
    if contradicts(part, parsed):
        detail = f"a {part.kind} part is labelled {quoted(stated)}, which its content cannot be"
        findings.append(MEDIA_CONTRADICTS(detail, found=stated, at=at))
    covered, why, declared = modes.covers(stated)
    if not covered:
        near = f"; nearest is {quoted(declared)}, which differs in its {why}" if declared else ""
        detail = f"{quoted(stated)} came, the card declares {listed(modes.union) or 'nothing'}{near}"
        return [*findings, MEDIA_NOT_DECLARED(detail, found=stated, expected=list(modes.union), at=at)]
    if why != "exact":
        detail = f"{quoted(stated)} fits the card's {quoted(declared)} only by guess"
        findings.append(MEDIA_BY_RANGE(detail, found=stated, expected=declared, at=at))
    if not modes.is_in_spec_set(stated):
        named = quoted(skill.id if skill else None)
        detail = f"{quoted(stated)} is a default mode; skill {named} lists only {listed(modes.spec)}"
        findings.append(MEDIA_OUTSIDE_SKILL(detail, found=stated, expected=list(modes.spec), at=at))
    if accepts and not best_match(accepts, stated)[0]:
        detail = f"{quoted(essence(stated))} came, the request asked for {listed(list(accepts))}"
        findings.append(OUTPUT_NOT_ACCEPTED(detail, found=stated, expected=list(accepts), at=at))
    return findings


def contradicts(part: Part, label: MediaType) -> bool:
    """Whether the label cannot be true of a part of this kind. Bytes and references may be anything."""
    is_binary = label.suffix not in _TEXTUAL and (
        label.type in _BINARY_TYPES
        or (label.type == "application" and _BINARY_SUBTYPES.fullmatch(label.subtype) is not None)
    )
    if part.kind == "text":
        return is_binary
    # A data part is a JSON value: another format would have come as text or as bytes.
    syntax = label.suffix or label.subtype
    return part.kind == "data" and syntax != "json" and (is_binary or label.type == "text" or syntax in _TEXTUAL)

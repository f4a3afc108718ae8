"""Reads one entry of a card's `signatures` to the letter of RFC 7515 and specification 8.4.2, before any key is used.

Whatever may be read in two ways is refused here: padding, duplicate names, critical extensions, an unencoded payload,
a name in both headers. Says what the entry claims; whether the claim holds is the business of `signatures`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from a2a_lab.core.model import Json
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict

SHAPE = FindingKind(
    slug="signature-shape",
    stage=Stage.SIGNATURE,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.SPEC,
    rule="A1, R19",
    clause="A2A 1.0.1 8.4.2, 4.4.7 (MUST): protected and signature are texts",
    means="what stands in `signatures` is no signature, so the card counts as unsigned",
)
ENCODING = FindingKind(
    slug="signature-encoding",
    stage=Stage.SIGNATURE,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.SPEC,
    rule="A1, R20",
    clause="RFC 7515 2 and 5.2 (MUST): base64url without padding, header in UTF-8 JSON",
    means="a member of the signature is not encoded as JWS demands",
    other="a lenient reader would decode it and go on",
)
HEADER = FindingKind(
    slug="signature-header",
    stage=Stage.SIGNATURE,
    verdict=Verdict.HINT,
    kind=Kind.AUTHORITY,
    judge=Judge.SPEC,
    rule="R20",
    clause="A2A 1.0.1 8.4.2 (MUST alg and kid), RFC 7515 4 and 4.1.11 (MUST), RFC 7797 6 (MUST)",
    means="the header of the signature is not one that the lab may act on",
)
TYPE = FindingKind(
    slug="signature-type",
    stage=Stage.SIGNATURE,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.SPEC,
    rule="R20",
    clause='A2A 1.0.1 8.4.2 (SHOULD): typ is "JOSE"',
    means="the protected header has another `typ` than JOSE",
)

EMBEDDED = FindingKind(
    slug="signature-brings-key",
    stage=Stage.SIGNATURE,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="A1",
    means="the header brings a key along, which proves nothing about the signer and is ignored",
    other="RFC 7515 4.1.3, 4.1.5 and 4.1.6 allow such members",
)

_STRAY = re.compile(r"[^A-Za-z0-9_-]")
_KEY_MEMBERS = ("jwk", "x5c", "x5u")


class Unreadable(Exception):
    """An entry that cannot be acted on. Carries the finding that says why; never leaves the core."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one signature claims. `repeated` are names that stand in both headers, which disqualifies it (R20)."""

    place: int
    protected: str
    signature: bytes
    algorithm: str
    kid: str
    jku: str | None = None
    repeated: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()

    def signing_input(self, payload: bytes) -> bytes:
        """The bytes that were signed: RFC 7515 5.1 with the detached payload put back."""
        return f"{self.protected}.".encode() + base64.urlsafe_b64encode(payload).rstrip(b"=")


def read_entry(entry: Json, place: int) -> Entry:
    """One element of `signatures`, by its place in the list. Raises `Unreadable` with the finding."""
    at = f"/signatures/{place}"
    if not isinstance(entry, Mapping):
        raise Unreadable(SHAPE(f"signature {place} is {quoted(entry)}; expected an object", at=at))
    protected, signature = entry.get("protected"), entry.get("signature")
    if not isinstance(protected, str) or not isinstance(signature, str) or not protected:
        missing = "protected" if not isinstance(protected, str) or not protected else "signature"
        raise Unreadable(
            SHAPE(
                f"signature {place} has {missing} {quoted(entry.get(missing))} and the members "
                f"{listed(sorted(str(name) for name in entry))}; expected the texts protected and signature",
                at=at,
            )
        )
    header = _header(decode(protected, f"{at}/protected"), at)
    repeated = _unprotected(entry.get("header"), header, at)
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str):
        raise Unreadable(HEADER(f"the protected header has alg {quoted(algorithm)}; expected a name", at=at))
    if not isinstance(kid, str) or not kid:
        raise Unreadable(HEADER(f"the protected header has kid {quoted(kid)}; without it no key is meant", at=at))
    return Entry(
        place=place,
        protected=protected,
        signature=decode(signature, f"{at}/signature"),
        algorithm=algorithm,
        kid=kid,
        jku=_jku(header, at),
        repeated=repeated,
        notes=_notes(header, at),
    )


def decode(text: str, at: str) -> bytes:
    """Bytes of base64url as JWS demands it: no padding, no white space, no spare bits. Raises `Unreadable`."""
    if stray := _STRAY.search(text):
        why = "is padded" if stray[0] == "=" else f"holds {quoted(stray[0])}"
        raise Unreadable(ENCODING(f"{at} {why}; base64url in a JWS has neither padding nor other letters", at=at))
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if len(text) % 4 != 1 else b""
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != text:
        raise Unreadable(ENCODING(f"{at} is cut or has spare bits set; no encoder writes it so", at=at))
    return data


def _header(data: bytes, at: str) -> dict[str, Json]:
    try:
        header = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        raise Unreadable(ENCODING(f"{at}/protected is no JSON: {quoted(str(fault))}", at=at)) from fault
    if not isinstance(header, dict):
        raise Unreadable(ENCODING(f"{at}/protected holds {quoted(header)}; expected an object", at=at))
    if "crit" in header:
        names = header["crit"]
        asked = listed([str(name) for name in names]) if isinstance(names, list) and names else quoted(names)
        raise Unreadable(HEADER(f"the protected header demands crit {asked}, which the lab does not know", at=at))
    if header.get("b64", True) is not True:
        raise Unreadable(HEADER(f"the protected header has b64 {quoted(header['b64'])}; the payload is encoded", at=at))
    return header


def _unprotected(unprotected: Json, header: Mapping[str, Json], at: str) -> tuple[str, ...]:
    """Names that stand in both headers. The unprotected header decides nothing here, whatever it says."""
    if unprotected is None:
        return ()
    if not isinstance(unprotected, Mapping):
        raise Unreadable(SHAPE(f"{at}/header is {quoted(unprotected)}; expected an object", at=at))
    if open_ := [name for name in ("crit", "b64") if name in unprotected]:
        raise Unreadable(HEADER(f"{open_[0]} stands in the unprotected header, where nobody signed it", at=at))
    return tuple(name for name in unprotected if name in header)


def _jku(header: Mapping[str, Json], at: str) -> str | None:
    jku = header.get("jku")  # the Python SDK writes null where the signer named none
    if jku is not None and not isinstance(jku, str):
        raise Unreadable(HEADER(f"the protected header has jku {quoted(jku)}; expected a URL", at=at))
    return jku


def _notes(header: Mapping[str, Json], at: str) -> tuple[Finding, ...]:
    notes = []
    if header.get("typ") != "JOSE":
        notes.append(TYPE(f"the protected header has typ {quoted(header.get('typ'))}; expected 'JOSE'", at=at))
    if brought := [name for name in _KEY_MEMBERS if name in header]:
        notes.append(EMBEDDED(f"the protected header brings a key ({', '.join(brought)}), which is ignored", at=at))
    return tuple(notes)


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member name stands twice")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")

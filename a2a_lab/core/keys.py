"""Holds the keys that the operator trusts: parsed once, refused early, asked by `kid` (A1, R20).

Trust is the operator's: a set handed in is held to the letter and a fault in it is `Misuse`, while a set fetched from
an allowed `jku` is the peer's, where keys that cannot be used are left out and named. Time is an argument.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

from a2a_lab.core.model import Json
from a2a_lab.core.quoting import quoted
from a2a_lab.core.urls import parse_url
from a2a_lab.errors import Misuse

# Allowed algorithms: the key type, the curve, and the length of a signature in bytes where it is fixed (RFC 7518 3,
# RFC 8037, RFC 9864). Everything symmetric, `none` and what rests on SHA-1 is absent by intent.
ALGORITHMS: Mapping[str, tuple[str, str | None, int | None]] = {
    "ES256": ("EC", "P-256", 64),
    "ES384": ("EC", "P-384", 96),
    "ES512": ("EC", "P-521", 132),
    "EdDSA": ("OKP", "Ed25519", 64),
    "Ed25519": ("OKP", "Ed25519", 64),
    **{f"{family}{bits}": ("RSA", None, None) for family in ("RS", "PS") for bits in (256, 384, 512)},
}

_LAST_SECOND = 253_402_300_799  # of the year 9999; what lies beyond is milliseconds, or a mistake

RSA_BITS = 2048  # RFC 7518 3.3 and 3.5 demand this much (MUST)

_PUBLIC = {"EC": ("crv", "x", "y"), "OKP": ("crv", "x"), "RSA": ("n", "e")}
_PRIVATE = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One public key. `expires`, `not_before` and `revoked_at` are Unix seconds; `origins` say where it may speak."""

    kid: str
    algorithms: frozenset[str]
    expires: float | None = None
    not_before: float | None = None
    revoked_at: float | None = None
    origins: frozenset[str] | None = None
    jwk: Any = field(repr=False, compare=False)

    def unusable(self, now: float) -> str | None:
        """Why the key must not verify at `now` (Unix seconds), None where it may (specification 8.4.3)."""
        if self.revoked_at is not None and now >= self.revoked_at:
            return f"was revoked at {_shown_time(self.revoked_at)}"
        if self.expires is not None and now >= self.expires:
            return f"expired at {_shown_time(self.expires)}"
        if self.not_before is not None and now < self.not_before:
            return f"is not valid before {_shown_time(self.not_before)}"
        return None

    def verifies(self, algorithm: str, signing_input: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's over these bytes. The caller has checked `algorithm` against the key."""
        from cryptography.exceptions import InvalidSignature

        length = ALGORITHMS[algorithm][2]
        if length is not None and len(signature) != length:
            return False
        try:
            _algorithm(algorithm).verify(self.jwk, signing_input, signature)
        except InvalidSignature:
            return False
        return True


@cache
def _algorithm(name: str) -> Any:
    from jwcrypto.jwa import JWA

    return JWA.signing_alg(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySet:
    """Public keys by `kid`. `left_out` names the keys of a fetched set that cannot be used, and why."""

    keys: Mapping[str, Key] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @classmethod
    def from_jwks(cls, document: Json) -> KeySet:
        """The operator's JWK set. Raises `Misuse` that names the key and what is wrong with it (R20)."""
        keys: dict[str, Key] = {}
        for place, entry in enumerate(_entries(document)):
            key = _parse(entry, f"key {place}")
            if key.kid in keys:
                raise Misuse(f"two keys are called {quoted(key.kid)}; a kid has to name one key, rename one of them")
            keys[key.kid] = key
        return cls(keys=keys)

    @classmethod
    def from_fetched(cls, document: Json) -> KeySet:
        """A JWK set that an allowed `jku` answered with: unusable keys and doubtful kids are left out by name."""
        keys: dict[str, Key] = {}
        left_out: list[str] = []
        doubtful: set[str] = set()
        try:
            entries = list(_entries(document))
        except Misuse as fault:
            return cls(left_out=(fault.message,))
        for place, entry in enumerate(entries):
            try:
                key = _parse(entry, f"key {place}")
            except Misuse as fault:
                left_out.append(fault.message)
                continue
            if key.kid in keys:
                doubtful.add(key.kid)
            keys[key.kid] = key
        left_out += [f"two keys are called {quoted(kid)}" for kid in sorted(doubtful)]
        return cls(keys={kid: key for kid, key in keys.items() if kid not in doubtful}, left_out=tuple(left_out))

    def get(self, kid: str) -> Key | None:
        return self.keys.get(kid)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys.values())

    def __len__(self) -> int:
        return len(self.keys)


def _entries(document: Json) -> list[Json]:
    keys = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(keys, list):
        raise Misuse(f'{quoted(document)} is no JWK set; expected an object {{"keys": [...]}} (RFC 7517 5)')
    return keys


def _parse(entry: Json, place: str) -> Key:
    """One entry of a JWK set. Raises `Misuse`; `place` says which one until its kid is known."""
    if not isinstance(entry, Mapping):
        raise Misuse(f"{place} is {quoted(entry)}; expected an object (RFC 7517 4)")
    kid, kty = entry.get("kid"), entry.get("kty")
    if not isinstance(kid, str) or not kid:
        raise Misuse(f"{place} has kid {quoted(kid)}; a card names its key by kid, so give it a text")
    place = f"key {quoted(kid)}"
    if not isinstance(kty, str) or kty not in _PUBLIC:
        what = "is symmetric, so whoever verifies could sign" if kty == "oct" else f"has kty {quoted(kty)}"
        raise Misuse(f"{place} {what}; expected a public key of kty EC, OKP or RSA")
    if private := [name for name in _PRIVATE if name in entry]:
        raise Misuse(f"{place} holds private material ({', '.join(private)}); hand in the public half only")
    operations = entry.get("key_ops", ["verify"])
    if entry.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        raise Misuse(f"{place} is not for signatures (use {quoted(entry.get('use'))}); leave it out")
    expires, not_before = _time(entry.get("exp"), f"{place}: exp"), _time(entry.get("nbf"), f"{place}: nbf")
    return Key(
        kid=kid,
        algorithms=_algorithms(entry, place),
        expires=expires,
        not_before=not_before,
        revoked_at=_revocation(entry, place),
        origins=_origins(entry.get("origins"), place),
        jwk=_public_key(entry, place),
    )


def _algorithms(entry: Mapping[str, Json], place: str) -> frozenset[str]:
    kty, crv = entry["kty"], entry.get("crv")
    fit = frozenset(name for name, (type_, curve, _) in ALGORITHMS.items() if type_ == kty and curve in (None, crv))
    if not fit:
        raise Misuse(f"{place} is on the curve {quoted(crv)}; expected P-256, P-384, P-521 or Ed25519")
    named = entry.get("alg")
    if named is not None and not (isinstance(named, str) and named in fit):
        raise Misuse(f"{place} has alg {quoted(named)}; a key of this type can do {', '.join(sorted(fit))}")
    return fit if named is None else frozenset((named,))


def _public_key(entry: Mapping[str, Json], place: str) -> Any:
    """The key for jwcrypto, checked by building it once; jwcrypto keeps what it built."""
    from jwcrypto.common import JWException
    from jwcrypto.jwk import JWK

    try:
        jwk = JWK(kty=entry["kty"], **{name: entry[name] for name in _PUBLIC[entry["kty"]] if name in entry})
        public = jwk.get_op_key("verify", entry.get("crv"))
    except (JWException, ValueError, TypeError) as fault:
        raise Misuse(f"{place} is no public key: {quoted(str(fault))}") from fault
    if entry["kty"] == "RSA" and public.key_size < RSA_BITS:
        raise Misuse(f"{place} has {public.key_size} bits; RSA needs {RSA_BITS} or more (RFC 7518 3.3)")
    return jwk


def _time(value: Json, place: str) -> float | None:
    """Unix seconds from a NumericDate or an RFC 3339 text with a zone; None where nothing is said."""
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LAST_SECOND:
        return float(value)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Misuse(f"{place} is {quoted(value)}; expected Unix seconds or a time such as 2026-11-30T00:00:00Z")
    return moment.timestamp()


def _revocation(entry: Mapping[str, Json], place: str) -> float | None:
    """When the key was revoked: `revoked_at`, or `revoked` as true or as OpenID Federation's object."""
    revoked = entry.get("revoked")
    if isinstance(revoked, Mapping):
        at = _time(revoked.get("revoked_at"), f"{place}: revoked.revoked_at")
    elif revoked is None or isinstance(revoked, bool):
        at = _time(entry.get("revoked_at"), f"{place}: revoked_at")
    else:
        raise Misuse(f"{place}: revoked is {quoted(revoked)}; expected true, false or an object with revoked_at")
    return -math.inf if at is None and revoked not in (None, False) else at


def _origins(value: Json, place: str) -> frozenset[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not value:
        raise Misuse(f"{place}: origins is {quoted(value)}; expected a list of scheme://host[:port]")
    try:
        urls = [parse_url(one) for one in value]
    except ValueError as fault:
        raise Misuse(f"{place}: origins: {fault}; expected scheme://host[:port]") from fault
    if paths := [str(url) for url in urls if url.path != "/" or url.query]:
        raise Misuse(f"{place}: origins holds {quoted(paths[0])}; an origin ends with its host or port")
    return frozenset(url.origin for url in urls)


def _shown_time(seconds: float) -> str:
    return "some time" if math.isinf(seconds) else datetime.fromtimestamp(seconds, UTC).isoformat()

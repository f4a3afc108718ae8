"""Signs cards for the tests of the core with keys made for the run, and reads the handed vectors and cases.

No private key is in the repository. A signer signs the form of any profile under any header, also headers that no
honest signer writes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jwcrypto.jwa import JWA
from jwcrypto.jwk import JWK

from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.profiles import PROFILES
from a2a_lab.core.signatures import SignatureReport, verify_card
from a2a_lab.verdicts import Verdict, worst
from tests.core.cards import card_of

DATA = Path(__file__).parents[2] / "data"
NOW = datetime.fromisoformat("2026-11-30T00:00:00Z").timestamp()
KINDS: dict[str, dict[str, Any]] = {
    "ES256": {"kty": "EC", "crv": "P-256"},
    "ES384": {"kty": "EC", "crv": "P-384"},
    "ES512": {"kty": "EC", "crv": "P-521"},
    "EdDSA": {"kty": "OKP", "crv": "Ed25519"},
    "Ed25519": {"kty": "OKP", "crv": "Ed25519"},
    **{f"{family}{bits}": {"kty": "RSA", "size": 2048} for family in ("RS", "PS") for bits in (256, 384, 512)},
}


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@cache
def _private(owner: str, kind: str) -> JWK:
    return JWK.generate(**json.loads(kind))


class Signer:
    """One key with a name. Two signers of one algorithm and `owner` share the key, whatever they call it."""

    def __init__(self, kid: str = "k1", algorithm: str = "ES256", owner: str = "") -> None:
        self.kid = kid
        self.algorithm = algorithm
        self.key = _private(owner or kid, json.dumps(KINDS[algorithm]))

    def public(self, **more: Any) -> dict[str, Any]:
        """The public JWK with `kid` and `alg`; a member changed to `...` is left out."""
        jwk = {**self.key.export_public(as_dict=True), "kid": self.kid, "alg": self.algorithm, **more}
        return {name: value for name, value in jwk.items() if value is not ...}

    def entry(
        self,
        document: Mapping[str, Any],
        *,
        profile: str = "spec",
        protected: bytes | None = None,
        unprotected: Any = ...,
        **header: Any,
    ) -> dict[str, Any]:
        """One element of `signatures` over the form of a profile; a header member changed to `...` is left out."""
        names = {"alg": self.algorithm, "kid": self.kid, "typ": "JOSE", **header}
        text = json.dumps({name: value for name, value in names.items() if value is not ...}).encode()
        written = b64(protected if protected is not None else text)
        payload = b64(PROFILES[profile](document))
        signature = JWA.signing_alg(self.algorithm).sign(self.key, f"{written}.{payload}".encode())
        entry = {"protected": written, "signature": b64(signature)}
        return entry if unprotected is ... else {**entry, "header": unprotected}

    def signed(self, card: Card, **how: Any) -> Card:
        """The card with this signature added to those it has."""
        return with_signatures(card, [*(card.signatures or []), self.entry(card.document, **how)])


def with_signatures(card: Card, signatures: Any) -> Card:
    return card_of({**card.document, "signatures": signatures})


def edited(card: Card, **changes: Any) -> Card:
    """The card with top-level members changed after signing; a member changed to `...` is taken away."""
    document = {**card.document, **changes}
    return card_of({name: value for name, value in document.items() if value is not ...})


def keys(*jwks: Mapping[str, Any]) -> KeySet:
    return KeySet.from_jwks({"keys": list(jwks)})


def judge(
    card: Card,
    *trusted: Mapping[str, Any] | Signer,
    require: bool = False,
    now: float = NOW,
    served_from: str | None = None,
    jku_allow: Iterable[str] = (),
    intent: Intent | None = None,
    **more: Any,
) -> SignatureReport:
    return verify_card(
        card,
        keys(*(key.public() if isinstance(key, Signer) else key for key in trusted)),
        policy=Policy(signature_policy="require" if require else "prefer", jku_allow=frozenset(jku_allow)),
        now=now,
        served_from=served_from,
        interface=more.pop("interface", card.interfaces[0] if card.interfaces else None),
        intent=intent,
        **more,
    )


def verdict(report: SignatureReport) -> Verdict:
    """The verdict of the stage: the worst finding on the full scale."""
    return worst(finding.verdict for finding in report.findings)


def vectors() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((DATA / "vectors").glob("v[0-9]*.json"))]


def cases(pattern: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((DATA / "cases").glob(pattern))]

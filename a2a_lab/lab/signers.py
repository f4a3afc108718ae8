"""Which signed card passes whose verifier: agents that sign with a key of this run, the lab's profiles, and the SDKs'.

Each agent signs two cards, one with a plain name and one with a name beyond ASCII, on which canonical forms part ways.
The key is made for the run and its private half never leaves a folder that is removed; the cards as they were served,
the public key and the table stay, so that they can go into a ticket.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
from jwcrypto import jwk

from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Policy
from a2a_lab.core.signatures import SignatureReport, passing_profiles, verify_card
from a2a_lab.errors import HarnessFault, LabError, Misuse
from a2a_lab.lab.records import run_id
from a2a_lab.lab.stock import Stock
from a2a_lab.vendors.ports import Ports
from a2a_lab.vendors.registry import find_vendor, read_vendors
from a2a_lab.vendors.served import served
from a2a_lab.vendors.vendor import Vendor, filled
from a2a_lab.vendors.verifiers import Verified, run_verifier
from a2a_lab.wire.cards import read_card

NAMES: Final = {"ascii": "echo", "beyond-ascii": "écho 回声"}
KID: Final = "a2a-lab"
ASK_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCard:
    """A card as one agent served it, what the lab makes of its signature, and what each SDK says.

    `passes` are all profiles that its bytes pass, the best first; `by_sdk` holds a sentence where one could not be run.
    """

    signer: str
    name: str
    file: Path
    report: SignatureReport
    passes: tuple[str, ...]
    by_sdk: dict[str, Verified | str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        report = self.report
        return {
            "signer": self.signer,
            "name": self.name,
            "card": self.file.name,
            "lab": {
                "verified_by": report.verified_by,
                "passes": list(self.passes),
                "authoritative": report.authoritative,
                "uncovered": list(report.uncovered),
                "findings": [one.slug for one in report.findings],
            },
            "sdks": {
                name: {"told": one.told, "error": one.error}
                if isinstance(one, Verified)
                else {"told": "not run", "error": one}
                for name, one in self.by_sdk.items()
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Signatures:
    """The whole table. `missing` says of signers why they were not met."""

    folder: Path
    cards: tuple[SignedCard, ...]
    verifiers: tuple[str, ...]
    missing: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        cards = [one.as_json() for one in self.cards]
        return {"folder": str(self.folder), "verifiers": list(self.verifiers), "cards": cards, "missing": self.missing}


def signers(names: Sequence[str] = ()) -> list[Vendor]:
    """The agents that can sign, or those named. Raises Misuse for one that cannot."""
    able = [one for one in read_vendors().values() if one.agent is not None and one.agent.sign]
    able = [one for one in able if one.bindings == ("JSONRPC",)]  # other bindings change the card's interfaces, not how
    chosen = [find_vendor(name) for name in names]
    for one in chosen:
        if one.agent is None or not one.agent.sign:
            told = ", ".join(each.name for each in able)
            raise Misuse(f"{one.name} signs no card; those that do are {told}", name=one.name)
    return chosen or able


def verifiers(names: Sequence[str] = ()) -> list[Vendor]:
    """The SDKs that verify, or those named. Raises Misuse for one that does not."""
    able = [one for one in read_vendors().values() if one.verifier]
    chosen = [find_vendor(name) for name in names]
    for one in chosen:
        if not one.verifier:
            raise Misuse(f"{one.name} verifies no card; those that do are {', '.join(each.name for each in able)}")
    return chosen or able


async def cross_check(
    names: Sequence[str] = (), *, by: Sequence[str] = (), out: str = "runs", say: Callable[[str], None] = lambda _: None
) -> Signatures:
    """Let each signer sign, and each verifier verify. What cannot be built is told, and costs its own cells only."""
    stock = Stock(say=say)
    folder = Path(out) / "signatures" / run_id(datetime.now(UTC), secrets.token_hex(2))
    chosen, asked = signers(names), verifiers(by)
    try:
        folder.mkdir(parents=True)
    except OSError as fault:
        raise Misuse(f"{folder} cannot be written: {fault.strerror}; name another folder by --out") from fault
    key = jwk.JWK.generate(kty="EC", crv="P-256", kid=KID, alg="ES256", use="sig")
    public = folder / "key.public.json"
    public.write_text(key.export_public(), encoding="utf-8")
    keys, cards, missing = KeySet.from_jwks({"keys": [key.export_public(as_dict=True)]}), [], {}
    with tempfile.TemporaryDirectory(prefix="a2a-lab-key-") as hidden, Ports() as ports:
        private = Path(hidden) / "key.json"
        private.touch(mode=0o600)
        private.write_text(key.export_private(), encoding="utf-8")
        for signer in chosen:
            try:
                for label in NAMES:
                    say(f"{signer.name} signs")
                    cards.append(await _sign(signer, label, stock, ports, private=private, folder=folder, keys=keys))
            except LabError as fault:
                missing[signer.name] = fault.message.splitlines()[0]
    for card in cards:
        for one in asked:
            say(f"{one.name} verifies what {card.signer} signed")
            card.by_sdk[one.name] = await _verify(one, stock, card.file, public)
    found = Signatures(folder=folder, cards=tuple(cards), verifiers=tuple(one.name for one in asked), missing=missing)
    (folder / "table.json").write_text(json.dumps(found.as_json(), indent=1, ensure_ascii=False), encoding="utf-8")
    return found


async def _sign(
    signer: Vendor, label: str, stock: Stock, ports: Ports, *, private: Path, folder: Path, keys: KeySet
) -> SignedCard:
    """The card as the agent serves it, in a file of its own, and the lab's own verdict."""
    assert signer.agent is not None
    options = filled(signer.agent.sign, {"key": str(private), "name": NAMES[label]})
    environment = await stock.get(signer)
    async with served(signer, environment, ports=ports, options=options) as agent:
        # As a client of 1.0 asks; a server that has two cards at one URL answers with that of 1.0.
        headers = {"A2A-Version": "1.0"} if "1.0" in signer.dialects else {}
        async with httpx.AsyncClient(trust_env=False, timeout=ASK_S, headers=headers) as client:
            answer = await client.get(agent.card_url)
        card_url = agent.card_url
    file = folder / f"{signer.name}.{label}.json"
    await asyncio.to_thread(file.write_bytes, answer.content)
    reading = read_card(answer.content, bounds=Policy().bounds)
    if reading.card is None:
        raise HarnessFault(f"{signer.name} answered {card_url} with no card: {file}", step="sign")
    card, now = reading.card, time.time()
    interface = card.interfaces[0] if card.interfaces else None
    report = verify_card(card, keys, policy=Policy(), now=now, served_from=card_url, interface=interface)
    return SignedCard(signer=signer.name, name=label, file=file, report=report, passes=passing_profiles(card, keys))


async def _verify(verifier: Vendor, stock: Stock, card: Path, key: Path) -> Verified | str:
    try:
        return await run_verifier(verifier, await stock.get(verifier), card=card, key=key)
    except LabError as fault:
        return fault.message.splitlines()[0]

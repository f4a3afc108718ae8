"""Signed cards across signers (issue 4, item 6): each SDK signs, each verifies, the lab names form and gaps.

The table is that of the vendors' own measurements: four signers, four verifiers, one key. What SDKs sign is theirs to
decide; that a verifier passes a card says nothing of the members that the lab finds left out.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.signers import NAMES, SignedCard, cross_check, signers, verifiers
from a2a_lab.vendors.registry import find_vendor
from a2a_lab.vendors.verifiers import Verified
from tests.cli.console import lab
from tests.vendors.real import LIGHT, built_or_skipped

pytestmark = pytest.mark.vendors

PY1, COMPAT, JS, PY03, CREW = "a2a-sdk-1.3", "a2a-sdk-1.3+compat", "a2a-js-1.3", "a2a-sdk-0.3", "crewai-1.15"
ABOVE = ("/preferredTransport", "/protocolVersion", "/url")
# What the lab says: profile, authority, what is left out; by signer, for a plain name.
LAB = {
    PY1: ("spec", True, ()),
    COMPAT: ("spec", True, ABOVE),  # what a 0.3 client dispatches to is outside the signature
    JS: ("spec", True, ()),
    PY03: ("sdk-0.3", False, ("/preferredTransport", "/protocolVersion")),
    CREW: ("raw", False, ()),  # kid stands in both headers
}
# What the SDKs say, in this order: a2a-sdk 1.3, a2a-js 1.3, a2a-sdk 0.3, crewai.
SDKS = {
    PY1: "verifies verifies unreadable unreadable",
    COMPAT: "verifies verifies fails fails",
    JS: "verifies verifies unreadable unreadable",
    PY03: "fails fails verifies fails",
    CREW: "fails fails fails verifies",
}
RAW = {PY1: True, COMPAT: False, JS: False, PY03: False, CREW: True}  # the served bytes, in canonical form


def crossed(out: Path, signer: str, *by: str) -> dict[str, SignedCard]:
    for name in (signer, *by):
        built_or_skipped(find_vendor(name))
    found = asyncio.run(cross_check([signer], by=by, out=str(out)))
    assert found.missing == {}
    told = json.loads((found.folder / "table.json").read_text())
    assert [one["signer"] for one in told["cards"]] == [signer, signer]
    left = "".join(path.read_text() for path in found.folder.iterdir())
    assert '"d":' not in left and '"d": ' not in left  # nothing private stays
    return {one.name: one for one in found.cards}


@pytest.mark.parametrize("signer", LAB)
def test_what_an_agent_signs_is_named_with_what_it_leaves_out(signer: str, tmp_path: Path) -> None:
    light = [name for name in (PY1, JS, PY03) if name in LIGHT]
    cards = crossed(tmp_path, signer, *light)
    assert set(cards) == set(NAMES)
    plain = cards["ascii"]
    found = (plain.report.verified_by, plain.report.authoritative, plain.report.uncovered)
    assert found == LAB[signer]
    assert ("raw" in plain.passes) is RAW[signer]
    for card in cards.values():
        assert json.loads(card.file.read_bytes())["name"] == NAMES[card.name]
        by = {name: one.told for name, one in card.by_sdk.items() if isinstance(one, Verified)}
        assert [by[name] for name in (PY1, JS, PY03)] == SDKS[signer].split()[:3]


@pytest.mark.parametrize("signer", SDKS)
def test_crewai_passes_its_own_form_only(signer: str, tmp_path: Path) -> None:
    for card in crossed(tmp_path, signer, CREW).values():
        (one,) = card.by_sdk.values()
        assert isinstance(one, Verified) and one.told == SDKS[signer].split()[3]


def test_crewai_escapes_what_it_signs_so_that_another_name_changes_the_form(tmp_path: Path) -> None:
    card = crossed(tmp_path, CREW, PY1)["beyond-ascii"]
    assert card.passes == ("crewai-ascii",) and not card.report.authoritative


def test_who_cannot_sign_or_verify_is_named() -> None:
    with pytest.raises(Misuse, match=r"fasta2a-2.1 signs no card; those that do are a2a-js-1.3"):
        signers(["fasta2a-2.1"])
    with pytest.raises(Misuse, match=r"a2a-sdk-0.2 verifies no card"):
        verifiers(["a2a-sdk-0.2"])
    assert {one.name for one in signers()} >= {PY1, COMPAT, JS, PY03, CREW}
    assert {one.name for one in verifiers()} == {PY1, JS, PY03, CREW}


def test_the_table_is_shown_with_where_the_cards_are(tmp_path: Path) -> None:
    built_or_skipped(find_vendor(PY1))
    said = lab("vendors", "signatures", COMPAT, "--by", PY1, cwd=tmp_path)
    assert said.code == 0, said.err
    assert "spec, with authority" in said.out and "/preferredTransport, /protocolVersion, /url" in said.out
    assert "a2a-sdk-1.3      verifies" in said.out and "runs/signatures/" in said.out

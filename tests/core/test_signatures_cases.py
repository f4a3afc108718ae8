"""The signature cases of the case book, judged from the evidence that each of them gives."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from a2a_lab.core.keys import KeySet
from a2a_lab.core.pinning import choose_card
from a2a_lab.core.policy import Policy
from a2a_lab.core.signatures import SignatureReport, verify_card
from tests.core.cards import card_of
from tests.core.signing import NOW, cases, verdict


def judged(card: dict[str, Any], given: dict[str, Any]) -> SignatureReport:
    """Verify as a caller does: fetch the allowed places that are wanted, from the evidence, and ask again."""
    client = given["client"]
    read = card_of(card)
    served = {exchange["request"]["url"]: exchange["response"].get("json") for exchange in given.get("exchanges", [])}
    fetched: dict[str, KeySet] = {}
    while True:
        report = verify_card(
            read,
            KeySet.from_jwks(client.get("trusted_keys", {"keys": []})),
            policy=Policy(signature_policy=client["signature_policy"], jku_allow=frozenset(given.get("jku_allow", ()))),
            now=datetime.fromisoformat(given["now"]).timestamp() if "now" in given else NOW,
            served_from=given.get("discovery_url"),
            interface=read.interfaces[0],
            jku_keys=fetched,
        )
        if not report.wanted_jku:
            return report
        fetched |= {url: KeySet.from_fetched(served[url]) for url in report.wanted_jku}


@pytest.mark.parametrize("case", cases("sig-*.json"), ids=lambda case: case["id"])
def test_signature_cases(case: dict[str, Any]) -> None:
    assert case["expect"]["stage"] == "signature"
    assert verdict(judged(case["given"]["card"], case["given"])) == case["expect"]["verdict"]


def test_a_refused_extended_card_never_replaces_the_public_one() -> None:
    (case,) = cases("cap-13*.json")
    answers = [exchange["response"]["json"] for exchange in case["given"]["exchanges"]]
    public, extended = card_of(answers[0]), card_of(answers[1]["result"])
    report = judged(answers[1]["result"], case["given"])
    assert verdict(report) == case["expect"]["verdict"] == "refuse"
    chosen, findings = choose_card(public, extended, report)
    assert chosen is public and "pushNotifications" not in chosen.capabilities
    assert findings[-1].slug == "extended-card-dropped"


def test_an_extended_card_that_is_not_refused_governs() -> None:
    (case,) = cases("cap-13*.json")
    answers = [exchange["response"]["json"] for exchange in case["given"]["exchanges"]]
    public, extended = card_of(answers[0]), card_of(answers[1]["result"])
    given = {**case["given"], "client": {**case["given"]["client"], "signature_policy": "prefer"}}
    chosen, findings = choose_card(public, extended, judged(answers[1]["result"], given))
    assert chosen is extended and [finding.slug for finding in findings] == ["signature-type", "untrusted-key"]

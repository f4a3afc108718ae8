"""The three gates on a bound card, always all evaluated; the flow stops after them (R4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from a2a_lab.core.keys import KeySet
from a2a_lab.core.match import match_card
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.signatures import SignatureReport, verify_card
from a2a_lab.core.version import VersionGate, gate_version
from a2a_lab.verdicts import Finding, Stage, Verdict

STAGES = (Stage.MATCH, Stage.SIGNATURE, Stage.VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statics:
    """What the gates found. `refuses` where nothing may be sent."""

    matched: tuple[Finding, ...]
    signature: SignatureReport
    version: VersionGate

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.matched, *self.signature.findings, *self.version.findings)

    @property
    def refuses(self) -> bool:
        return any(finding.verdict.severity >= Verdict.REFUSE.severity for finding in self.findings)


def judge_statics(
    card: Card,
    interface: Interface,
    intent: Intent,
    policy: Policy,
    *,
    now: float,
    served_from: str | None,
    jku_keys: Mapping[str, KeySet] | None = None,
) -> Statics:
    """Match, signature and version of a bound card. `now` is unix seconds, `served_from` where the card came from."""
    return Statics(
        matched=tuple(match_card(card, interface, intent)),
        signature=verify_card(
            card,
            policy.trusted_keys or KeySet(),
            policy=policy,
            now=now,
            served_from=served_from,
            interface=interface,
            jku_keys=jku_keys,
            intent=intent,
        ),
        version=gate_version(card, interface, policy),
    )

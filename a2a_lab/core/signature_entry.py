"""Judges one entry of `signatures` on its own: read, find the key, check what the key may do, try the forms (R18-R20).

What several entries together are worth is the business of `signatures`. Everything that is no evidence of tampering
counts as little as no signature, and no more than the operator's policy allows (R19).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from a2a_lab.core.coverage import Coverage, coverage_of
from a2a_lab.core.jws import HEADER, Entry, Unreadable, read_entry
from a2a_lab.core.keys import Key, KeySet
from a2a_lab.core.model import Card, Interface, Json
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.profiles import Profile, authority_profiles, profiles_for
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.signature_findings import (
    ALGORITHM,
    COMPATIBILITY,
    KEY_ELSEWHERE,
    KEY_UNUSABLE,
    LEFT_OUT,
    TAMPERED,
    UNCOVERED,
    VERIFIED,
)
from a2a_lab.core.trust import find_key, why_elsewhere
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import Finding, Kind, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One entry judged: the findings as they stand alone, and what it would give."""

    findings: tuple[Finding, ...]
    profile: str | None = None
    kid: str | None = None
    coverage: Coverage = field(default_factory=Coverage)
    wanted_jku: str | None = None
    good: bool = False


class Forms:
    """The forms of one card, each made once however many signatures there are."""

    def __init__(self, card: Card) -> None:
        self._card = card
        self._profiles = profiles_for(card.form)
        self._signed: dict[str, tuple[Json, bytes] | MalformedJson] = {}
        self._coverage: dict[str, Coverage] = {}

    def passing(self, key: Key, entry: Entry) -> tuple[Profile, Json] | None:
        """The first profile that the signature passes, and what it signs of the card.

        Raises `MalformedJson` where none passes and the card cannot even be written in one of the forms.
        """
        seen: set[bytes] = set()
        fault: MalformedJson | None = None
        for profile in self._profiles:
            signed = self._form(profile)
            if isinstance(signed, MalformedJson):
                fault = signed
            elif signed[1] not in seen:
                seen.add(signed[1])
                if key.verifies(entry.algorithm, entry.signing_input(signed[1]), entry.signature):
                    return profile, signed[0]
        if fault:
            raise fault
        return None

    def coverage(self, profile: Profile, signed: Json, interface: Interface | None, intent: Intent) -> Coverage:
        """What a profile that passed leaves out of the card, worked out once."""
        if profile.name not in self._coverage:
            self._coverage[profile.name] = coverage_of(self._card, signed, interface, intent)
        return self._coverage[profile.name]

    def _form(self, profile: Profile) -> tuple[Json, bytes] | MalformedJson:
        if profile.name not in self._signed:
            try:
                self._signed[profile.name] = profile.signed(self._card.document)
            except MalformedJson as fault:
                self._signed[profile.name] = fault
        return self._signed[profile.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryJudge:
    card: Card
    keys: KeySet
    policy: Policy
    now: float
    served_from: str | None
    interface: Interface | None
    jku_keys: Mapping[str, KeySet]
    intent: Intent
    forms: Forms

    def entry(self, raw: object, place: int) -> Judged:
        """One entry: read, find the key, check what the key may do, then try the forms."""
        at = f"/signatures/{place}"
        try:
            entry = read_entry(raw, place)
        except Unreadable as fault:
            return Judged(findings=(by_policy(fault.finding, self.policy),))
        found = find_key(entry, self.keys, self.jku_keys, self.policy)
        if found.key is None:
            unknown = by_policy(found.why(found.detail, at=at, kid=quoted(entry.kid)), self.policy)
            return Judged(findings=(*entry.notes, unknown), wanted_jku=found.wanted_jku)
        if obstacle := self._obstacle(entry, found.key, at):
            return Judged(findings=(*entry.notes, obstacle))
        try:
            passing = self.forms.passing(found.key, entry)
        except MalformedJson as fault:
            detail = f"key {quoted(entry.kid)} is trusted, and its signature {place} passes no profile: {fault.message}"
            return Judged(findings=(*entry.notes, TAMPERED(detail, at=at, kid=quoted(entry.kid))))
        if passing is None:
            detail = (
                f"key {quoted(entry.kid)} is trusted, and its signature {place} passes no profile: the card was "
                "changed after it was signed, or the signature is another card's; who rewrites a card signs it anew"
            )
            return Judged(findings=(*entry.notes, TAMPERED(detail, at=at, kid=quoted(entry.kid))))
        return self._passed(entry, found.key, passing, at)

    def _obstacle(self, entry: Entry, key: Key, at: str) -> Finding | None:
        """Why this key must not be asked about this signature at all."""
        kid = quoted(entry.kid)
        if entry.algorithm not in key.algorithms:
            detail = (
                f"the header says alg {quoted(entry.algorithm)} while key {kid} does {listed(sorted(key.algorithms))}; "
                "nothing is verified under an algorithm that the signer chose"
            )
            return ALGORITHM(detail, at=at, kid=kid)
        if why := key.unusable(self.now):
            return by_policy(KEY_UNUSABLE(f"key {kid} {why}, so it must not verify", at=at, kid=kid), self.policy)
        if where := why_elsewhere(key, self.served_from, self.interface, self.card):
            return by_policy(KEY_ELSEWHERE(f"key {kid} {where}", at=at, kid=kid), self.policy)
        return None

    def _passed(self, entry: Entry, key: Key, passing: tuple[Profile, Json], at: str) -> Judged:
        """Grade a signature that passed: by its profile, by what it leaves out, and by flaws of its header."""
        profile, signed = passing
        coverage = self.forms.coverage(profile, signed, self.interface, self.intent)
        kid = quoted(entry.kid)
        findings = list(entry.notes)
        said = f"signature {entry.place} of key {kid} passes {profile.name} ({profile.what})"
        if entry.repeated:
            detail = f"{listed(entry.repeated)} stands in both headers, which have to be disjoint; {said}"
            findings.append(by_policy(HEADER(detail, at=at, profile=profile.name), self.policy))
        if profile.name not in authority_profiles(self.card.form):
            expected = " or ".join(authority_profiles(self.card.form))
            detail = f"{said} and not {expected}; ask the vendor to sign that form"
            if coverage.uncovered:
                detail += f"; it leaves out {listed(coverage.uncovered)}"
            form = COMPATIBILITY(detail, at=at, profile=profile.name, uncovered=coverage.uncovered)
            findings.append(by_policy(form, self.policy))
        if coverage.depended:
            detail = f"{said}, which leaves out {listed(coverage.depended)}, and the plan depends on that"
            findings.append(by_policy(UNCOVERED(detail, at=at, uncovered=coverage.depended), self.policy))
        good = len(findings) == len(entry.notes)
        if good:
            findings.append(VERIFIED(said, at=at, profile=profile.name, kid=kid))
            if coverage.uncovered:
                detail = f"{said}, which leaves out {listed(coverage.uncovered)}; the plan does not depend on it"
                findings.append(LEFT_OUT(detail, at=at, uncovered=coverage.uncovered))
        return Judged(findings=tuple(findings), profile=profile.name, kid=key.kid, coverage=coverage, good=good)


def by_policy(finding: Finding, policy: Policy) -> Finding:
    """The finding as it stands: the card is advisory under `prefer` and refused under `require` (R19)."""
    if policy.signature_policy == "require":
        return replace(finding, verdict=Verdict.REFUSE, kind=Kind.CONFORMANCE)
    return finding

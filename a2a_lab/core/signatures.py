"""Decides whether a card's signatures make it speak with authority (A1, R18-R20).

The presence of `signatures` proves nothing: each entry is read strictly, its key is looked up among trusted ones, and
the profiles are tried by name. One good signature is enough; a trusted kid whose signature passes no profile refuses
under every policy. Fetches nothing: the caller is told which allowed `jku` would help, and asks again with its keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from a2a_lab.core.jws import SHAPE, Unreadable, read_entry
from a2a_lab.core.keys import KeySet
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.profiles import PROFILES, profiles_for
from a2a_lab.core.quoting import counted, quoted
from a2a_lab.core.signature_entry import EntryJudge, Forms, Judged, by_policy
from a2a_lab.core.signature_findings import TOO_MANY, UNSIGNED
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import Finding, Kind, Verdict

__all__ = ["PROFILES", "KeySet", "SignatureReport", "verify_card"]

ENTRIES_READ = 32  # a rotation needs two; each further one costs up to eight verifications of 0.1 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureReport:
    """What the signatures of one card are worth.

    `verified_by` and `kid` name the best signature that passed, None where none did; `authoritative` says whether it
    gives authority. `uncovered` are JSON Pointers of members that it leaves out. `wanted_jku` are allowed URLs whose
    JWK sets the caller should fetch and hand back as `jku_keys`; until then their signatures count as unknown.
    """

    findings: tuple[Finding, ...]
    verified_by: str | None = None
    kid: str | None = None
    uncovered: tuple[str, ...] = ()
    wanted_jku: tuple[str, ...] = ()
    authoritative: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the flow has to stop after this stage."""
        return any(finding.verdict is Verdict.REFUSE for finding in self.findings)


def verify_card(
    card: Card,
    keys: KeySet,
    *,
    policy: Policy,
    now: float,
    served_from: str | None,
    interface: Interface | None,
    jku_keys: Mapping[str, KeySet] | None = None,
    intent: Intent | None = None,
) -> SignatureReport:
    """Judge the signatures of a bound card; raises nothing on account of the card.

    `keys` are the trusted ones, `now` is Unix seconds, `served_from` the URL or origin the card came from, `interface`
    the one chosen for dispatch, `intent` what the plan depends on, `jku_keys` fetched JWK sets by URL (R18-R20). A set
    that could not be fetched is handed back as `KeySet(left_out=(why,))`, so that it is not wanted again.
    """
    entries = card.signatures
    if entries is None or entries == []:
        return SignatureReport(findings=(by_policy(UNSIGNED(), policy),))
    if not isinstance(entries, list):
        detail = f"signatures is {quoted(entries)}; expected a list, so the card counts as unsigned"
        return SignatureReport(findings=(by_policy(SHAPE(detail, at="/signatures"), policy),))
    judge = EntryJudge(
        card=card,
        keys=keys,
        policy=policy,
        now=now,
        served_from=served_from,
        interface=interface,
        jku_keys=jku_keys or {},
        intent=intent or Intent(),
        forms=Forms(card),
    )
    judged = [judge.entry(entry, place) for place, entry in enumerate(entries[:ENTRIES_READ])]
    return _report(judged, unread=len(entries) - len(judged))


def passing_profiles(card: Card, keys: KeySet) -> tuple[str, ...]:
    """Every profile that any signature of a trusted key passes, those with authority first; for who compares signers.

    `verify_card` stops at the best. Validity in time, algorithms and origins are not looked at.
    """
    passed: dict[str, None] = {}
    for place, raw in enumerate(card.signatures[:ENTRIES_READ] if isinstance(card.signatures, list) else ()):
        try:
            entry = read_entry(raw, place)
        except Unreadable:
            continue
        key = keys.get(entry.kid)
        for profile in profiles_for(card.form):
            with suppress(MalformedJson):
                signed = entry.signing_input(profile(card.document))
                if key is not None and key.verifies(entry.algorithm, signed, entry.signature):
                    passed[profile.name] = None
    return tuple(one.name for one in profiles_for(card.form) if one.name in passed)


def _report(judged: list[Judged], *, unread: int) -> SignatureReport:
    """Compose the entries: a good one silences the others into notes, else the worst of them stands (R19)."""
    passed = [one for one in judged if one.profile]
    best = min(passed, key=lambda one: (not one.good, len(one.coverage.uncovered)), default=None)
    good = best is not None and best.good
    findings = [
        finding if not good or one is best else replace(finding, verdict=Verdict.ACCEPT, kind=Kind.NOTE)
        for one in judged
        for finding in one.findings
    ]
    if unread:
        detail = f"{counted(unread, 'signature')} after the first {ENTRIES_READ} not read"
        findings.append(TOO_MANY(detail, at="/signatures", unread=unread))
    wanted = [one.wanted_jku for one in judged if one.wanted_jku and not good]
    return SignatureReport(
        findings=tuple(findings),
        verified_by=best.profile if best else None,
        kid=best.kid if best else None,
        uncovered=best.coverage.uncovered if best else (),
        wanted_jku=tuple(dict.fromkeys(wanted)),
        authoritative=good,
    )

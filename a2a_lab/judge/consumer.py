"""Judges the consumer of recorded exchanges, as `offline` judges the agent: one visit, everything it shows.

Pure: exchanges and, where the lab launched the consumer, what it told its caller come in; findings go out. The agent's
faults are not looked at here, and the consumer's never count against the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from a2a_lab.core.policy import Policy
from a2a_lab.judge.cause import cause_of_failure
from a2a_lab.judge.consumer_calls import judge_calls_of, who_ended
from a2a_lab.judge.consumer_cards import judge_discovery
from a2a_lab.judge.consumer_result import judge_account
from a2a_lab.judge.visit import Account, Visit
from a2a_lab.verdicts import Finding
from a2a_lab.wire.exchange import Exchange

WHOSE = "whose"
CONSUMER = "consumer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerJudgement:
    """What the evidence shows of the consumer. `cause` is why the pair failed, None where it did not."""

    findings: tuple[Finding, ...]
    cause: Finding | None
    visit: Visit


def judge_consumer(
    exchanges: Sequence[Exchange],
    *,
    policy: Policy,
    address: str | None = None,
    account: Account | None = None,
    own_card_url: str | None = None,
    dialects: Sequence[str] = (),
    bindings: Sequence[str] = (),
) -> ConsumerJudgement:
    """Judge one consumer at one agent. `address` is what it was given, in the agent's terms.

    `account` is what it told its caller, `own_card_url` where the agent's card lies, `dialects` and `bindings` what the
    consumer claims to speak; each None or empty where nobody knows. Every finding carries `whose: consumer`.
    """
    visit = Visit(exchanges, policy=policy, address=address)
    found = [*judge_discovery(visit), *judge_calls_of(visit, account), *judge_account(visit, account)]
    cause = cause_of_failure(visit, account, own_card_url=own_card_url, dialects=dialects, bindings=bindings)
    if cause is not None and cause.slug not in {one.slug for one in found}:
        found.append(cause)
    return ConsumerJudgement(
        findings=tuple(replace(one, values={**one.values, WHOSE: CONSUMER}) for one in found), cause=cause, visit=visit
    )


def attribute_ends(exchanges: Sequence[Exchange], account: Account | None) -> None:
    """Write into the exchanges who ended them, where the consumer's own words say more than its traffic.

    A consumer that reports a timeout left by its transport timeout, and one that the lab ended by the lab's cap; from
    then on whoever reads the evidence counts the same wait.
    """
    for exchange in exchanges:
        exchange.cut_by = who_ended(exchange.cut_by, account)
        if exchange.status is None and exchange.cut_by in ("transport-timeout", "cap"):
            exchange.fault = "read-timeout"

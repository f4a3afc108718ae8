"""Keeps what a cell of real vendors was judged by beside its traffic, and recalls it to be judged again (R5).

A HAR file holds what passed. What the consumer told its caller, where the agent's card lies and what the recorder did
are in a small file beside it, so that verdicts can be recomputed when a rule changes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from a2a_lab.core.consumer_findings import KEPT_CARD_CHANGED
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.errors import HarnessFault, RecordFault
from a2a_lab.judge.steps import approach, card_digest
from a2a_lab.judge.visit import Account, Visit
from a2a_lab.lab.judging import SUPPORTS, PairJudgement, judge_pair
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.lab.rowreading import read_finding
from a2a_lab.net.evidence import read_har
from a2a_lab.net.redact import Redactor
from a2a_lab.verdicts import Finding, Stage
from a2a_lab.wire.dialects import BINDINGS
from a2a_lab.wire.exchange import Exchange

SUFFIX: Final = ".beside.json"
OWN_LOOK: Final = "card:"
"""How the purposes of the lab's own looks begin; those of a watched consumer never do."""
CLOSING: Final = "card:closing"
"""The purpose of the look after a consumer that sent more than one message: whether its card still held by then."""
TEXT: Final = "text/plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is known of a cell beside its traffic. `account` is None where the lab did not launch the consumer.

    `allow` are places that the operator of an agent that is not ours allows by name.
    """

    address: str
    own_card_url: str
    dialects: tuple[str, ...] = ()
    bindings: tuple[str, ...] = ()
    account: Account | None = None
    noted: tuple[Finding, ...] = ()
    allow: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "address": self.address,
            "own_card_url": self.own_card_url,
            "dialects": list(self.dialects),
            "bindings": list(self.bindings),
            "account": asdict(self.account) if self.account is not None else None,
            "noted": [finding.as_json() | {"stage": finding.stage.value} for finding in self.noted],
            "allow": list(self.allow),
        }


def pair_policy(matrix: Matrix) -> Policy:
    """What a foreign consumer and its agent are judged under: every version and binding that the lab reads."""
    return Policy(supports=SUPPORTS, bindings=BINDINGS, clocks=matrix.clocks)


def pair_intent(scenario: str) -> Intent:
    return Intent(mode=TEXT, stream=scenario == "stream")


def judge_cell(
    exchanges: Sequence[Exchange], beside: Beside, *, matrix: Matrix, scenario: str, now: float
) -> PairJudgement:
    """Judge the evidence of one cell; live and recalled it is the same call. `now` is Unix seconds."""
    allowed = frozenset(beside.allow)
    policy = replace(pair_policy(matrix), allow_http=allowed, allow_origins=allowed)
    return judge_pair(
        foreign(exchanges),
        policy=policy,
        intent=pair_intent(scenario),
        now=now,
        address=beside.address,
        account=beside.account,
        looks=own_looks(exchanges),
        own_card_url=beside.own_card_url,
        dialects=beside.dialects,
        bindings=beside.bindings,
        noted=(*beside.noted, *_outdated(exchanges, policy)),
    )


def closing_digest(exchanges: Sequence[Exchange], policy: Policy) -> str | None:
    """The short digest of the agent's card after the consumer was done; None where nobody looked, or none came."""
    cards = Visit([one for one in exchanges if one.purpose == CLOSING], policy=policy).cards
    return card_digest(cards[-1]) if cards else None


def _outdated(exchanges: Sequence[Exchange], policy: Policy) -> Iterator[Finding]:
    """Whether a later message stands on a kept card that is not the agent's any more."""
    served = closing_digest(exchanges, policy)
    if served is None:
        return
    for turn in approach(Visit(foreign(exchanges), policy=policy)).turns[1:]:
        if turn.digest not in (None, served) and not turn.looks and turn.age_ms is not None:
            detail = (
                f"its card was {turn.age_ms / 1000:.1f} s old ({turn.digest}), and the agent's is {served} afterwards"
            )
            values: dict[str, Any] = {"whose": "consumer", "age_s": round(turn.age_ms / 1000, 3)}
            yield KEPT_CARD_CHANGED(detail, found=turn.digest, expected=served, **values)
            return


def own_looks(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """The lab's looks for the card before the consumer came."""
    return [one for one in exchanges if one.purpose.startswith(OWN_LOOK) and one.purpose != CLOSING]


def foreign(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """What the watched consumer did."""
    return [one for one in exchanges if not one.purpose.startswith(OWN_LOOK)]


def write_beside(evidence: Path, beside: Beside, redactor: Redactor) -> None:
    """Write it beside the evidence, readable by the user alone. Raises HarnessFault."""
    path = evidence.with_name(evidence.name + SUFFIX)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(redactor.value(beside.as_json()), file, default=str)
    except OSError as fault:
        raise HarnessFault(f"cannot write {path}: {fault.strerror}") from fault


def recall(run: Run, record: CellRecord, matrix: Matrix) -> PairJudgement:
    """Judge a recorded cell again. Raises RecordFault where its evidence, or what lies beside it, cannot be read."""
    if record.evidence is None:
        raise RecordFault(f"cell {record.key} left no evidence ({record.said or record.verdict.value})")
    path = run.folder / record.evidence
    started = datetime.fromisoformat(record.started).timestamp()
    scenario = record.key.scenario
    return judge_cell(read_har(path), read_beside(path), matrix=matrix, scenario=scenario, now=started)


def read_beside(evidence: Path) -> Beside:
    """What lies beside the evidence of a cell. Raises RecordFault where it cannot be read."""
    path = evidence.with_name(evidence.name + SUFFIX)
    try:
        told: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        account = told["account"]
        return Beside(
            address=told["address"],
            own_card_url=told["own_card_url"],
            dialects=tuple(told["dialects"]),
            bindings=tuple(told["bindings"]),
            account=_account(account) if account is not None else None,
            noted=tuple(read_finding(Stage(one["stage"]), one) for one in told["noted"]),
            allow=tuple(told.get("allow", ())),
        )
    except FileNotFoundError:
        raise RecordFault(f"{path} is not there: what the consumer told its caller is unknown") from None
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise RecordFault(f"{path} cannot be read: {fault}") from fault


def _account(told: Mapping[str, Any]) -> Account:
    steps = tuple((float(at), str(what), str(detail)) for at, what, detail in told.get("steps", ()))
    return Account(**{**told, "steps": steps})

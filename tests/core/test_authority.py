"""A4 and R25: the decision table, its complement, and the record's gate."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from a2a_lab.core.authority import (
    DECISIONS,
    Action,
    Outcome,
    Standing,
    TaskTransition,
    assert_card_authoritative,
    decide,
    standing_of,
)
from a2a_lab.core.commitment import commit_artifact
from a2a_lab.core.model import State
from a2a_lab.core.policy import Policy
from a2a_lab.core.probe_findings import CONTEXT_REPLACED, MODE_NARROWED
from a2a_lab.core.sightings import LEGACY_PATH, NO_CARD, UNION_CARD
from a2a_lab.core.version import VERSION_INCOMPATIBLE, VERSION_INEXACT
from a2a_lab.errors import AgentCardConformanceError
from tests.core.cards import interface, one_zero

COMMITS = {
    (Standing.AUTHORITATIVE, Outcome.ACCEPTED): Action.COMMIT,
    (Standing.AUTHORITATIVE, Outcome.INCONCLUSIVE): Action.COMMIT_AS_HINT,
    (Standing.AUTHORITATIVE, Outcome.NARROWED): Action.RENEGOTIATE,
    (Standing.HINT, Outcome.ACCEPTED): Action.COMMIT_AS_HINT,
    (Standing.HINT, Outcome.INCONCLUSIVE): Action.COMMIT_AS_HINT,
    (Standing.HINT, Outcome.NARROWED): Action.RENEGOTIATE,
}


@pytest.mark.parametrize(("standing", "outcome"), list(product(Standing, Outcome)))
def test_every_combination_is_in_the_table_and_all_but_six_refuse(standing: Standing, outcome: Outcome) -> None:
    assert outcome in DECISIONS[standing]
    assert decide(standing, outcome) is COMMITS.get((standing, outcome), Action.REFUSE)


def test_only_a_signed_exact_and_accepted_card_commits_on_its_own_word() -> None:
    assert [key for key in product(Standing, Outcome) if decide(*key) is Action.COMMIT] == [
        (Standing.AUTHORITATIVE, Outcome.ACCEPTED)
    ]


@pytest.mark.parametrize(
    ("findings", "standing"),
    [
        ([], Standing.AUTHORITATIVE),
        ([UNION_CARD()], Standing.AUTHORITATIVE),
        ([VERSION_INEXACT()], Standing.HINT),
        ([LEGACY_PATH(), UNION_CARD()], Standing.HINT),
        ([VERSION_INEXACT(), VERSION_INCOMPATIBLE()], Standing.VOID),
        ([NO_CARD()], Standing.VOID),
        ([MODE_NARROWED(), CONTEXT_REPLACED()], Standing.AUTHORITATIVE),  # of a later stage
    ],
)
def test_the_standing_of_a_card_comes_from_its_static_gates(findings: list[Any], standing: Standing) -> None:
    assert standing_of(findings) is standing


GOOD: dict[str, Any] = {
    "policy": Policy(supports=("1.0",)),
    "signature_verified": True,
    "probe": TaskTransition(state=State.WORKING, effective_modes=("text/plain",), stream_final_seen=True),
    "intended_mime": "text/plain",
}


def gate(*, card: Any = None, **changes: Any) -> None:
    card = card or one_zero()
    assert_card_authoritative(card=card, interface=card.interfaces[0], **{**GOOD, **changes})


def transition(**changes: Any) -> TaskTransition:
    facts = {"state": State.WORKING, "effective_modes": ("text/plain",), "stream_final_seen": True}
    return TaskTransition(**{**facts, **changes})


def test_a_card_that_holds_in_all_of_it_passes() -> None:
    gate()
    gate(probe=transition(state=State.COMPLETED))
    gate(card=one_zero(capabilities={}), probe=transition(stream_final_seen=False))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"card": one_zero(interface(version="1.0.0"))}, "states version '1.0.0'"),
        ({"card": one_zero(interface(version=1.0))}, "states version 1.0"),
        ({"card": one_zero(interface(version="1.0.0-rc"))}, "states version '1.0.0-rc'"),
        ({"signature_verified": False}, "no signature"),
        ({"card": one_zero(signatures=[{"jws": "..."}]), "signature_verified": False}, "no signature"),
        ({"intended_mime": "application/json"}, "not among the declared text/plain"),
        ({"probe": transition(effective_modes=("text/csv",))}, "the runtime takes text/csv"),
        ({"probe": transition(effective_modes=())}, "nothing it named"),
        ({"probe": transition(state=State.INPUT_REQUIRED)}, "is input-required"),
        ({"probe": transition(state=State.SUBMITTED)}, "is submitted"),
        ({"probe": transition(stream_final_seen=False)}, "no stream of the probe"),
    ],
)
def test_any_divergence_makes_the_card_advisory(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(AgentCardConformanceError, match="renegotiate or refuse") as caught:
        gate(**changes)
    assert word in caught.value.message and caught.value.name == "card-advisory"


def test_a_named_skill_widens_the_declared_modes() -> None:
    card = one_zero(skills=[{"id": "sum", "inputModes": ["application/json"]}])
    asked = {"intended_mime": "application/json", "probe": transition(effective_modes=("application/json",))}
    gate(card=card, skill="sum", **asked)
    gate(card=card, **asked)


def test_an_artifact_leaves_only_through_the_gate() -> None:
    sent: list[str] = []

    def send() -> str:
        sent.append("artifact")
        return "t1"

    card = one_zero()
    assert commit_artifact(send, card=card, interface=card.interfaces[0], **GOOD) == "t1"
    with pytest.raises(AgentCardConformanceError):
        commit_artifact(send, card=card, interface=card.interfaces[0], **{**GOOD, "signature_verified": False})
    assert sent == ["artifact"]

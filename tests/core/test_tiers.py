"""How far a matrix may go with an agent that is not ours (R37)."""

from __future__ import annotations

import pytest

from a2a_lab.core.tiers import Tier, granted


def test_the_tiers_are_an_order() -> None:
    assert [one.value for one in Tier] == ["card", "task-read", "send", "full"]
    assert Tier.FULL.covers(Tier.SEND) and Tier.SEND.covers(Tier.SEND) and not Tier.TASK_READ.covers(Tier.SEND)


@pytest.mark.parametrize(
    ("asked", "environment", "allow_send", "tier", "because"),
    [
        (None, "", False, Tier.CARD, "has no allow_send = true"),
        (None, "", True, Tier.SEND, ""),
        (Tier.CARD, "", True, Tier.CARD, 'tier = "card"'),
        (Tier.TASK_READ, "", True, Tier.TASK_READ, 'tier = "task-read"'),
        (Tier.SEND, "staging", False, Tier.TASK_READ, "has no allow_send = true"),
        (Tier.SEND, "staging", True, Tier.SEND, ""),
        (Tier.FULL, "staging", True, Tier.FULL, ""),
        (Tier.FULL, "prod", True, Tier.CARD, 'environment = "prod" in x.toml caps the tier at card'),
        (None, "prod", True, Tier.CARD, 'environment = "prod"'),
    ],
)
def test_nothing_is_sent_without_a_yes_and_nothing_at_all_in_production(
    asked: Tier | None, environment: str, allow_send: bool, tier: Tier, because: str
) -> None:
    grant = granted(asked=asked, environment=environment, allow_send=allow_send, where="x.toml")
    assert grant.tier is tier and because in grant.because and bool(grant.because) is bool(because)

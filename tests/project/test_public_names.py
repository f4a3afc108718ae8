"""The public names of the package: those of the records exist, each is loaded when first used, and none is missing."""

from __future__ import annotations

import subprocess
import sys

import a2a_lab

OF_THE_RECORDS = {
    "negotiate_capabilities",
    "ResolvedTarget",
    "AgentCardResolutionError",
    "assert_card_authoritative",
    "TaskTransition",
    "commit_artifact",
    "AgentCardConformanceError",
    "canonical_digest",
    "PinnedCard",
    "pin_card",
    "revalidate_before_transition",
    "AgentCardDriftError",
}


def test_every_public_name_can_be_had() -> None:
    assert set(a2a_lab.__all__) >= OF_THE_RECORDS
    assert len(set(a2a_lab.__all__)) == len(a2a_lab.__all__)
    for name in a2a_lab.__all__:
        assert getattr(a2a_lab, name) is not None
    assert set(a2a_lab._HOME) | {"__version__"} == set(a2a_lab.__all__)


def test_the_catalogue_is_whole_in_a_fresh_process() -> None:
    """Findings stand beside their rules, so the catalogue loads every rule before it is shown."""
    code = "import a2a_lab; print(len(a2a_lab.catalogue()), 'card-drift' in a2a_lab.catalogue())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert int(told[0]) > 200 and told[1] == "True"

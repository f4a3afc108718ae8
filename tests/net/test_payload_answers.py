"""R24, A7: a payload opens a task of its own, and counts as delivered only where something of it came back."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from tests.net.agents import Agent, meet


class OneIdForAll(Agent):
    """Answers every message with one and the same finished task."""

    def opened(self) -> str:
        super().opened()
        return "t1"


class OneIdForAllStreams(OneIdForAll):
    streaming: ClassVar[bool] = True


@pytest.mark.parametrize("kind", [OneIdForAll, OneIdForAllStreams])
def test_a_payload_that_is_answered_with_the_finished_probe_was_not_taken(tmp_path: Path, kind: type[Agent]) -> None:
    met = meet(kind(), tmp_path)
    assert met.both("probe") == ("conformance-error", "conformance-error")
    assert all("task-reused" in found for found in met.slugs("probe"))
    assert met.outcome.booked == set(), "what came back is the probe's result"

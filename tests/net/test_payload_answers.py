"""R24, A7: a payload opens a task of its own, and counts as delivered only where something of it came back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

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


class Empty(Agent):
    """Completes with an artifact that holds nothing."""

    def task(self, name: str, state: str, **members: Any) -> dict[str, Any]:
        made = super().task(name, state, **members)
        return made | {"artifacts": [{"artifactId": "a", "parts": []}] if state == "COMPLETED" else []}

    def artifact(self, name: str) -> dict[str, Any]:
        made = {"artifactId": "a", "parts": []}
        return {"artifactUpdate": {"taskId": name, "contextId": "c1", "artifact": made, "lastChunk": True}}


class EmptyStreams(Empty):
    streaming: ClassVar[bool] = True


@pytest.mark.parametrize("posture", ["trusting", "enforcing"])
@pytest.mark.parametrize("kind", [Empty, EmptyStreams])
def test_an_artifact_without_parts_delivers_nothing(tmp_path: Path, kind: type[Agent], posture: str) -> None:
    """R36, R28: what holds no part is no result, and meets no rule that wants one."""
    met = meet(kind(), tmp_path, posture=posture)
    slug = "stream-without-artifact" if kind.streaming else "completed-without-artifact"
    is_judged = posture == "enforcing" or kind.streaming
    assert not is_judged or slug in met.slugs()[1]
    assert posture == "trusting" or slug in met.slugs()[0]
    assert not met.delivered


def test_an_artifact_with_one_empty_text_is_one(tmp_path: Path) -> None:
    """Whether an empty text is a good answer is not for the lab to say; it is an answer."""

    class Silent(Agent):
        def task(self, name: str, state: str, **members: Any) -> dict[str, Any]:
            held = [{"artifactId": "a", "parts": [{"text": ""}]}] if state == "COMPLETED" else []
            return super().task(name, state, **members) | {"artifacts": held}

    assert meet(Silent(), tmp_path).delivered

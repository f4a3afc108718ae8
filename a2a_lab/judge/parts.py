"""Checks every part of every artifact that a recording shows against the card that governs, each once (A5, R16)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from a2a_lab.core.model import Artifact, Card
from a2a_lab.core.policy import Intent
from a2a_lab.core.receive import judge_artifact
from a2a_lab.judge.histories import History
from a2a_lab.judge.lastword import received
from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import Finding, Stage


class Parts:
    """What was received. `card` is the bound one, the extended one once that governs (R12); None says nothing.

    `reached` holds the stage `receive` once an artifact was judged.
    """

    def __init__(self, card: Card | None, intent: Intent) -> None:
        self.card = card
        self.reached: set[Stage] = set()
        self._intent = intent
        self._received: dict[tuple[str | None, str], Artifact] = {}

    def of_call(self, place: int, call: Call, history: History) -> list[Finding]:
        """What a call brought, at once or when its task was looked at later."""
        accepts = call.asked.accepts or self._intent.accepts
        if call.watched is not None:
            return self.take(call.watched.task_id, received(call.watched), accepts)
        later = [history.followed(task, place) for task in call.tasks] if call.is_send else []
        return [one for task in (*call.tasks, *later) for one in self.take(task.id, task.artifacts, accepts)]

    def take(self, task_id: str | None, artifacts: Iterable[Artifact], accepts: Sequence[str]) -> list[Finding]:
        """Judge artifacts of a task that were not seen before as they are now."""
        found: list[Finding] = []
        for artifact in artifacts:
            if self.card is None or self._received.get((task_id, artifact.id)) == artifact:
                continue
            self._received[task_id, artifact.id] = artifact
            self.reached.add(Stage.RECEIVE)
            found += judge_artifact(self.card, self.card.skill(self._intent.skill), artifact, accepts=accepts)
        return found

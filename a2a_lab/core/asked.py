"""What was asked of an agent, as far as its answer is judged by it: the call, its part, and what is known around it.

A fact that the evidence does not hold is None, and then no rule that needs it speaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.media import TEXT
from a2a_lab.core.model import Card, Interface, Json, State
from a2a_lab.core.version import line_of

Op = Literal[
    "send",
    "stream",
    "get",
    "cancel",
    "subscribe",
    "list",
    "extended-card",
    "push-set",
    "push-get",
    "push-list",
    "push-delete",
]

Purpose = Literal["probe", "rehearsal", "control"]

SENDS: frozenset[Op] = frozenset({"send", "stream"})
STREAMS: frozenset[Op] = frozenset({"stream", "subscribe"})
PUSHES: frozenset[Op] = frozenset({"push-set", "push-get", "push-list", "push-delete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call. `mode` is that of the part sent, `intended` the one its metadata speaks of (the same if empty).

    `task_id` and `context_id` are what the request carried. `task_is_known`: the agent itself handed that id out;
    `task_state`: what the evidence says of that task, before or after. `had_ended`: the task that answers had ended
    before this message left. `version_sent` is the `A2A-Version` that was named, "" where none was and None where
    nobody knows; `flaws` are what is wrong with the request itself.
    `configures_push`: a send brought settings for push notifications along.
    `is_retry`: the server had asked for patience first. `purpose` matters for a refusal: it narrows a rehearsal, and is
    what a control hopes for (R23). What is declared comes from the bound card (`declared_by`): `declared_version` is
    that of the interface that was called, `declared_versions` are all that the card offers at its URL.
    """

    op: Op = "send"
    dialect: str = "1.0"
    mode: str = TEXT
    intended: str = ""
    skill: str | None = None
    return_immediately: bool = False
    context_id: str | None = None
    task_id: str | None = None
    task_is_known: bool = True
    task_state: State | None = None
    had_ended: bool = False
    version_sent: str | None = None
    flaws: tuple[str, ...] = ()
    configures_push: bool = False
    is_retry: bool = False
    purpose: Purpose = "probe"
    declared_version: Json = None
    declared_versions: tuple[Json, ...] = ()
    declares_streaming: bool | None = None
    declares_extended_card: bool | None = None
    declares_push: bool | None = None

    @property
    def intended_mode(self) -> str:
        return self.intended or self.mode

    @property
    def opens_task(self) -> bool:
        """Whether the task id is one that the client made for a new task, as clients of the draft do."""
        return self.dialect == "0.1" and self.op in SENDS and self.task_id is not None and not self.task_is_known

    @property
    def is_declared(self) -> bool:
        """Whether the call belongs to what the card promised: its version, and its capabilities where it needs one."""
        if line_of(self.declared_version) != self.dialect:
            return False
        if self.op in STREAMS:
            return bool(self.declares_streaming)
        if self.op in PUSHES:
            return bool(self.declares_push)
        return self.op != "extended-card" or bool(self.declares_extended_card)


def declared_by(card: Card, interface: Interface) -> dict[str, Json]:
    """The facts of a bound card that `Asked` takes: pass them as keywords."""
    extended = card.capabilities.get("extendedAgentCard") or card.document.get("supportsAuthenticatedExtendedCard")
    return {
        "declared_version": interface.version,
        "declared_versions": tuple(entry.version for entry in card.interfaces if entry.url == interface.url),
        "declares_streaming": card.capabilities.get("streaming", False),
        "declares_extended_card": extended is True,
        "declares_push": card.capabilities.get("pushNotifications", False),
    }

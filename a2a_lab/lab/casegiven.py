"""What a case gives beside its exchanges: an artifact, events from before a cut, and tasks of the books by then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from a2a_lab.core.model import Artifact, Card, State, StreamEvent, Task
from a2a_lab.core.stream_content import StreamContent
from a2a_lab.vendors.tables import Table
from a2a_lab.wire.dialects import Dialect, dialect_for, dialect_of_request


def given_artifact(given: Table, card: Card | None) -> tuple[Artifact, ...]:
    """An artifact that was received, in the shape of the card's generation."""
    if "artifact" not in given:
        return ()
    form = card.form if card is not None else "1.0"
    event = {"taskId": "given", "contextId": "given", "artifact": given.take("artifact")}
    # Each generation wraps an artifact in its own way; what is judged is the artifact alone.
    wrapped = {"1.0": {"artifactUpdate": event}, "0.1": {"id": "given", "artifact": event["artifact"]}}
    read = _event(dialect_for(form), wrapped.get(form, {"kind": "artifact-update"} | event))
    if read.artifact is None:
        given.refuse("artifact", "an artifact")
    return (read.artifact,)


def before_cut(given: Table, stream: Table | None) -> tuple[Artifact, ...]:
    """The artifacts that the events before a cut had made."""
    events = given.take("before_cut", [])
    if not isinstance(events, list):
        given.refuse("before_cut", "a list of stream events")
    request = stream.take("request") if stream is not None else None
    dialect = dialect_of_request(json.dumps(request).encode()) or dialect_for("1.0")
    content = StreamContent(dialect.id, op="stream", task_id=None, context_id=None, known=())
    for event in events:
        content.receive(_event(dialect, event))
    return content.reassembly.artifacts


def ledger(given: Table) -> tuple[Task, ...]:
    """What the ledger already held: tasks with the state in which the consumer had left them."""
    rows = given.take("ledger", [])
    if isinstance(rows, Mapping):
        rows = rows.get("tasks", [])
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        given.refuse("ledger", "a list of tasks, each with its id and state")
    return tuple(task for row in rows if (task := _task(row)) is not None)


def _event(dialect: Dialect, result: Any) -> StreamEvent:
    """An event that is written without its envelope."""
    wrapped = json.dumps({"jsonrpc": "2.0", "id": 0, "result": result})
    return dialect.read_event(wrapped, rpc_id=0)[0]


def _task(row: Mapping[str, Any]) -> Task | None:
    name = next((row[key] for key in ("task_id", "taskId", "id", "task") if isinstance(row.get(key), str)), None)
    if name is None:
        return None
    said = row.get("state") if isinstance(row.get("state"), str) else "working"
    word = str(said).removeprefix("TASK_STATE_").lower().replace("_", "-")
    state = next((known for known in State if known.value == word), State.UNKNOWN)
    context = next((row[key] for key in ("context_id", "contextId") if isinstance(row.get(key), str)), None)
    return Task(id=name, context_id=context, state=state, wire_state=said)

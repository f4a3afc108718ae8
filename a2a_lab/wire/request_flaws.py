"""What is wrong with a request itself, beside the objects in it: then an agent that declines it is right to.

Recordings hold what anybody sent, also what testers send on purpose. Judged is what JSON-RPC and A2A ask of every
request: its envelope, the task that it is about, the message that it sends.
"""

from __future__ import annotations

from collections.abc import Mapping

from a2a_lab.core.model import Json
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire.messages import RequestFacts

REQUEST_SHAPE = FindingKind(
    slug="request-shape",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    kind=Kind.CONFORMANCE,
    judge=Judge.SPEC,
    rule="R1",
    clause="JSON-RPC 2.0 §4; A2A 1.0.1 §9.1",
    means="the request is no JSON-RPC request, or lacks what its method is about",
)
_OF_A_TASK = frozenset({"get", "cancel", "subscribe"})
_SENDS = frozenset({"send", "stream"})


def envelope_flaws(document: Mapping[str, Json]) -> list[Finding]:
    """What is wrong with the envelope of a JSON-RPC request."""
    found = []
    if document.get("jsonrpc") != "2.0":
        found.append(REQUEST_SHAPE(f"jsonrpc is {quoted(document.get('jsonrpc'))}, not '2.0'", at="/jsonrpc"))
    if isinstance(document.get("id"), (dict, list, bool)):
        found.append(REQUEST_SHAPE(f"id is {quoted(document['id'])}, neither text nor number", at="/id"))
    if "params" in document and not isinstance(document["params"], (dict, list)):
        found.append(REQUEST_SHAPE(f"params is {quoted(document['params'])}, no object", at="/params"))
    return found


def lacks(facts: RequestFacts) -> list[Finding]:
    """What a call lacks that its operation is about: a task that it names, or a message that it sends."""
    what = facts.method or facts.op
    if facts.op in _OF_A_TASK and not facts.task_id:
        return [REQUEST_SHAPE(f"{what} names no task", at="/params/id")]
    if facts.op in _SENDS and facts.message is None:
        return [REQUEST_SHAPE(f"{what} brings no message", at="/params/message")]
    return []

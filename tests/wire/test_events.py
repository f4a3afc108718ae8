"""Stream frames of both generations, and those that mix them (A6, wire-facts 7.1). Findings are of stage stream."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.model import State
from a2a_lab.wire.dialects import dialect_for
from tests.wire.talk import MESSAGE_0_3, MESSAGE_1_0, TASK_0_3, TASK_1_0, event, slugs

STATUS_1_0 = {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}
ARTIFACT_1_0 = {"taskId": "t1", "contextId": "c1", "artifact": {"artifactId": "a1", "parts": [{"text": "x"}]}}
STATUS_0_3 = {
    "kind": "status-update",
    "taskId": "t1",
    "contextId": "c1",
    "status": {"state": "completed"},
    "final": True,
}
ARTIFACT_0_3 = {
    "kind": "artifact-update",
    "taskId": "t1",
    "contextId": "c1",
    "artifact": {"artifactId": "a1", "parts": [{"kind": "text", "text": "x"}]},
}


@pytest.mark.parametrize(
    ("version", "document", "kind"),
    [
        ("1.0", {"task": TASK_1_0}, "task"),
        ("1.0", {"message": MESSAGE_1_0}, "message"),
        ("1.0", {"statusUpdate": STATUS_1_0}, "status"),
        ("1.0", {"artifactUpdate": ARTIFACT_1_0}, "artifact"),
        ("1.0", {"statusUpdate": STATUS_1_0, "task": None, "x": 1}, "status"),
        ("0.3", TASK_0_3, "task"),
        ("0.3", MESSAGE_0_3, "message"),
        ("0.3", STATUS_0_3, "status"),
        ("0.3", ARTIFACT_0_3, "artifact"),
    ],
)
def test_the_four_kinds_of_events(version: str, document: Any, kind: str) -> None:
    read, findings = event(document, version=version)
    assert (read.kind, findings) == (kind, [])


def test_ids_and_state_are_lifted_out() -> None:
    for version, document in (("1.0", {"statusUpdate": STATUS_1_0}), ("0.3", STATUS_0_3)):
        read, _ = event(document, version=version)
        assert (read.task_id, read.context_id, read.state) == ("t1", "c1", State.COMPLETED)
    read, _ = event({"task": TASK_1_0})
    assert (read.task_id, read.context_id, read.state) == ("t1", "c1", State.WORKING)


@pytest.mark.parametrize(
    ("members", "append", "last_chunk"),
    [
        ({}, False, None),
        ({"append": True, "lastChunk": True}, True, True),
        ({"append": False, "lastChunk": False}, False, False),
        ({"append": None, "lastChunk": None}, False, None),
        ({"append": True, "last_chunk": True}, True, True),
    ],
)
def test_absent_flags_are_false_and_a_written_false_can_be_told(
    members: Any, append: bool, last_chunk: bool | None
) -> None:
    read, _ = event({"artifactUpdate": ARTIFACT_1_0 | members})
    assert (read.append, read.last_chunk) == (append, last_chunk)


@pytest.mark.parametrize("members", [{"append": "true"}, {"lastChunk": 1}])
def test_flags_of_another_type_count_as_unset(members: Any) -> None:
    read, findings = event({"artifactUpdate": ARTIFACT_1_0 | members})
    assert (read.append, read.last_chunk, slugs(findings)) == (False, None, ["wrong-type"])


def test_final_belongs_to_0_3() -> None:
    assert event(STATUS_0_3, version="0.3")[0].final is True
    assert event(STATUS_0_3 | {"final": False}, version="0.3")[0].final is False
    assert event({k: v for k, v in STATUS_0_3.items() if k != "final"}, version="0.3")[0].final is None
    read, findings = event({"statusUpdate": STATUS_1_0 | {"final": True}})
    assert (read.final, slugs(findings)) == (None, ["final-in-1.0"])


@pytest.mark.parametrize(
    ("version", "document", "kind", "expected"),
    [
        ("1.0", STATUS_0_3, "status", ["version-not-honoured", "final-in-1.0"]),
        ("1.0", TASK_0_3, "task", ["version-not-honoured", "legacy-member"]),
        ("1.0", ARTIFACT_0_3, "artifact", ["version-not-honoured", "legacy-member"]),
        ("1.0", {"status_update": STATUS_1_0}, "status", ["snake-case"]),
        ("1.0", {"statusUpdate": STATUS_1_0, "artifactUpdate": ARTIFACT_1_0}, "unknown", ["result-shape"]),
        ("1.0", {}, "unknown", ["result-shape"]),
        ("1.0", {"error": "task timed out"}, "unknown", ["result-shape"]),
        ("1.0", "done", "unknown", ["result-shape"]),
        ("1.0", {"task": "x"}, "unknown", ["wrong-type"]),
        ("1.0", {"message": 5}, "unknown", ["wrong-type"]),
        ("1.0", {"statusUpdate": []}, "unknown", ["wrong-type"]),
        ("1.0", {"artifactUpdate": []}, "unknown", ["wrong-type"]),
        ("1.0", {"artifactUpdate": {"taskId": "t1", "contextId": "c1"}}, "unknown", ["wrong-type"]),
        ("1.0", {"statusUpdate": STATUS_1_0 | {"taskId": ""}}, "status", ["id-missing"]),
        ("1.0", {"statusUpdate": STATUS_1_0 | {"contextId": None}}, "status", ["member-missing"]),
        ("0.3", {"statusUpdate": STATUS_1_0}, "status", ["version-not-honoured"]),
        ("0.3", {"task": TASK_1_0}, "task", ["version-not-honoured", "member-missing"]),
        ("0.3", {"task": TASK_1_0, "message": MESSAGE_1_0}, "unknown", ["result-shape"]),
        ("0.3", {k: v for k, v in STATUS_0_3.items() if k != "kind"}, "status", ["result-shape"]),
        ("0.3", STATUS_0_3 | {"kind": "update"}, "status", ["result-shape"]),
        ("0.3", STATUS_0_3 | {"kind": 5}, "status", ["result-shape"]),
        ("0.3", {"error": "task timed out"}, "unknown", ["result-shape"]),
        ("0.3", {"kind": "status-update"}, "status", ["id-missing", "member-missing", "state-missing"]),
        ("0.3", [], "unknown", ["result-shape"]),
    ],
)
def test_events_as_they_also_come(version: str, document: Any, kind: str, expected: list[str]) -> None:
    """Content is never dropped without a word: what agents mix is read, and each departure is named."""
    read, findings = event(document, version=version)
    assert (read.kind, slugs(findings)) == (kind, expected)
    assert {finding.stage.value for finding in findings} == {"stream"}


def test_a_misspelt_state_in_a_stream_is_one_conformance_error() -> None:
    _, findings = event({"statusUpdate": STATUS_1_0 | {"status": {"state": "TASK_STATE_CANCELLED"}}})
    assert [(f.slug, f.verdict.value) for f in findings] == [("state-misspelt", "conformance-error")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("{", ["not-json"]),
        ('{"a":1,"a":2}', ["duplicate-key"]),
        ("keep-alive", ["not-json"]),
        ('{"jsonrpc":"2.0","id":"r1"}', ["no-outcome"]),
        ("[]", ["batch-answer"]),
    ],
)
def test_data_that_is_no_response(data: str, expected: list[str]) -> None:
    read, findings = dialect_for("1.0").read_event(data, rpc_id="r1")
    assert (read.kind, slugs(findings)) == ("unknown", expected)
    assert {finding.stage.value for finding in findings} == {"stream"}


def test_big_integers_in_an_event_are_a_note() -> None:
    _, findings = event({"task": TASK_1_0 | {"metadata": {"n": 2**60}}})
    assert [(f.slug, f.verdict.value, f.stage.value) for f in findings] == [("big-number", "accept", "stream")]

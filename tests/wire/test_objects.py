"""Tasks, messages and artifacts of both generations: what can be understood is read, each departure is a finding."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.model import State, Task
from a2a_lab.wire.dialects import Answer, dialect_for
from tests.wire.talk import MESSAGE_0_3, MESSAGE_1_0, TASK_0_3, TASK_1_0, answer, envelope, said, slugs


def task(version: str, **members: Any) -> tuple[Task, list[tuple[str, str, str]]]:
    """The standard task with other members, as the answer to a get; a member that is ... is left out."""
    base = TASK_1_0 if version == "1.0" else TASK_0_3
    document = {name: value for name, value in (base | members).items() if value is not ...}
    read = answer(envelope(document), version=version, op="get")
    assert read.task is not None
    return read.task, said(read.findings)


def artifact(version: str, **members: Any) -> list[tuple[str, str, str]]:
    part = {"text": "x"} if version == "1.0" else {"kind": "text", "text": "x"}
    document = {"artifactId": "a1", "parts": [part]} | members
    document = {name: value for name, value in document.items() if value is not ...}
    return task(version, artifacts=[document])[1]


# -- states


@pytest.mark.parametrize("state", [state for state in State if state is not State.UNKNOWN])
def test_every_state_is_read_in_its_own_spelling(state: State) -> None:
    for version, spelt in (("1.0", f"TASK_STATE_{state.name}"), ("0.3", state.value)):
        read, findings = task(version, status={"state": spelt})
        assert (read.state, read.wire_state, findings) == (state, spelt, [])


@pytest.mark.parametrize(
    ("version", "wire", "state", "findings"),
    [
        ("1.0", "TASK_STATE_RUNNING", State.UNKNOWN, [("unknown-state", "conformance-error", "probe")]),
        ("1.0", "TASK_STATE_UNSPECIFIED", State.UNKNOWN, [("unknown-state", "conformance-error", "probe")]),
        ("1.0", "", State.UNKNOWN, [("unknown-state", "conformance-error", "probe")]),
        ("0.3", "input_required", State.UNKNOWN, [("unknown-state", "conformance-error", "probe")]),
        ("0.3", "Completed", State.UNKNOWN, [("unknown-state", "conformance-error", "probe")]),
        ("0.3", "unknown", State.UNKNOWN, [("indeterminate-state", "hint", "probe")]),
        ("1.0", "unknown", State.UNKNOWN, [("unknown-state", "conformance-error", "probe")]),
        ("1.0", "completed", State.COMPLETED, [("version-not-honoured", "conformance-error", "probe")]),
        ("0.3", "TASK_STATE_COMPLETED", State.COMPLETED, [("version-not-honoured", "conformance-error", "probe")]),
        ("1.0", 3, State.COMPLETED, [("enum-number", "conformance-error", "rpc")]),
        ("1.0", 7, State.REJECTED, [("enum-number", "conformance-error", "rpc")]),
        (
            "1.0",
            0,
            State.UNKNOWN,
            [("wrong-type", "conformance-error", "rpc"), ("unknown-state", "conformance-error", "probe")],
        ),
        (
            "1.0",
            9,
            State.UNKNOWN,
            [("wrong-type", "conformance-error", "rpc"), ("unknown-state", "conformance-error", "probe")],
        ),
        (
            "0.3",
            3,
            State.UNKNOWN,
            [("wrong-type", "conformance-error", "rpc"), ("unknown-state", "conformance-error", "probe")],
        ),
        (
            "1.0",
            True,
            State.UNKNOWN,
            [("wrong-type", "conformance-error", "rpc"), ("unknown-state", "conformance-error", "probe")],
        ),
        ("1.0", None, State.UNKNOWN, [("state-missing", "conformance-error", "probe")]),
        (
            "0.3",
            "cancelled",
            State.CANCELED,
            [("state-misspelt", "conformance-error", "rpc"), ("state-misspelt", "hint", "probe")],
        ),
        (
            "1.0",
            "TASK_STATE_CANCELLED",
            State.CANCELED,
            [("state-misspelt", "conformance-error", "rpc"), ("state-misspelt", "hint", "probe")],
        ),
    ],
)
def test_other_spellings_of_states(version: str, wire: Any, state: State, findings: list[tuple[str, str, str]]) -> None:
    """R32: what is meant is decoded for the text and is a fault; what is not in the enum is never mapped to working."""
    read, found = task(version, status={"state": wire})
    assert (read.state, read.wire_state, found) == (state, wire, findings)


def test_a_status_without_state_or_no_status_at_all_is_neither_running_nor_finished() -> None:
    for status in ({}, ...):
        read, findings = task("1.0", status=status)
        assert (read.state, findings) == (State.UNKNOWN, [("state-missing", "conformance-error", "probe")])


# -- ids and members


@pytest.mark.parametrize("identifier", [..., "", None])
def test_a_task_without_an_id_cannot_be_asked_for(identifier: Any) -> None:
    read, findings = task("1.0", id=identifier)
    assert (read.id, findings) == ("", [("id-missing", "conformance-error", "probe")])


def test_an_id_of_another_type_is_not_coerced() -> None:
    read, findings = task("1.0", id=7)
    assert (read.id, [slug for slug, _, _ in findings]) == ("", ["wrong-type", "id-missing"])


@pytest.mark.parametrize(("version", "expected"), [("1.0", []), ("0.3", [("member-missing", "hint", "probe")])])
def test_the_context_of_a_task_is_required_in_0_3_only(version: str, expected: list[tuple[str, str, str]]) -> None:
    read, findings = task(version, contextId=...)
    assert (read.context_id, findings) == (None, expected)


@pytest.mark.parametrize(
    ("members", "slugs_of"),
    [
        ({"contextId": 5}, ["wrong-type"]),
        ({"artifacts": {}}, ["wrong-type"]),
        ({"artifacts": ["x"]}, ["wrong-type"]),
        ({"metadata": []}, ["wrong-type"]),
        ({"status": "working"}, ["wrong-type", "state-missing"]),
        ({"status": {"state": "TASK_STATE_WORKING", "message": "hi"}}, ["wrong-type"]),
        ({"status": {"state": "TASK_STATE_WORKING", "timestamp": 5}}, ["wrong-type"]),
    ],
)
def test_a_member_of_another_type_is_reported_and_left_out(members: Any, slugs_of: list[str]) -> None:
    _, findings = task("1.0", **members)
    assert [slug for slug, _, _ in findings] == slugs_of


@pytest.mark.parametrize(
    "members",
    [
        {"metadata": None, "artifacts": None, "history": None},
        {"status": {"state": "TASK_STATE_WORKING", "message": None, "timestamp": None}},
        {"unheardOf": {"x": 1}, "history": [5]},
        {"artifacts": []},
    ],
)
def test_null_is_unset_and_unknown_members_are_ignored(members: Any) -> None:
    assert task("1.0", **members)[1] == []


def test_snake_case_is_understood_and_reported_once() -> None:
    document = {"id": "t1", "context_id": "c1", "status": {"state": "TASK_STATE_WORKING"}}
    document["artifacts"] = [{"artifact_id": "a1", "parts": [{"text": "x", "media_type": "text/plain"}]}]
    read = answer(envelope(document), op="get")
    assert read.task is not None
    assert (read.task.context_id, read.task.artifacts[0].parts[0].media_type) == ("c1", "text/plain")
    assert said(read.findings) == [("snake-case", "conformance-error", "rpc")]


def test_camel_case_wins_over_its_double() -> None:
    read, findings = task("1.0", context_id="other")
    assert (read.context_id, findings) == ("c1", [])


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-11-30T12:37:07Z", []),
        ("2026-11-30T12:37:07.207407Z", []),
        ("2026-11-30T12:37:07.207407", [("timestamp-form", "conformance-error", "rpc")]),
        ("2026-11-30", [("timestamp-form", "conformance-error", "rpc")]),
        ("2026-11-30T12:37:07+00:00", [("timestamp-form", "hint", "rpc")]),
    ],
)
def test_1_0_wants_timestamps_in_utc(stamp: str, expected: list[tuple[str, str, str]]) -> None:
    assert task("1.0", status={"state": "TASK_STATE_WORKING", "timestamp": stamp})[1] == expected
    assert task("0.3", status={"state": "working", "timestamp": stamp})[1] == []


def test_kind_tells_0_3_objects_apart_and_is_ignored_in_1_0() -> None:
    assert task("0.3", kind=...)[1] == [("member-missing", "hint", "probe")]
    assert task("0.3", kind="message")[1] == [("wrong-type", "conformance-error", "rpc")]
    assert task("1.0", kind="task")[1] == [("legacy-member", "accept", "rpc")]


# -- messages


def status_message(version: str, **members: Any) -> list[tuple[str, str, str]]:
    base = MESSAGE_1_0 if version == "1.0" else MESSAGE_0_3
    message = {name: value for name, value in (base | members).items() if value is not ...}
    state = "TASK_STATE_WORKING" if version == "1.0" else "working"
    return task(version, status={"state": state, "message": message})[1]


@pytest.mark.parametrize(
    ("version", "members", "expected"),
    [
        ("1.0", {}, []),
        ("0.3", {}, []),
        ("0.3", {"kind": ...}, [("member-missing", "hint", "probe")]),
        ("0.3", {"messageId": ...}, [("member-missing", "hint", "probe")]),
        ("1.0", {"messageId": ""}, [("member-missing", "hint", "probe")]),
        ("1.0", {"role": ...}, [("member-missing", "hint", "probe")]),
        ("1.0", {"role": "ROLE_USER"}, [("wrong-role", "hint", "probe")]),
        ("0.3", {"role": "user"}, [("wrong-role", "hint", "probe")]),
        ("1.0", {"role": "agent"}, [("version-not-honoured", "conformance-error", "probe")]),
        ("0.3", {"role": "ROLE_AGENT"}, [("version-not-honoured", "conformance-error", "probe")]),
        ("1.0", {"role": 2}, [("enum-number", "conformance-error", "rpc")]),
        ("1.0", {"role": 3}, [("unknown-role", "conformance-error", "probe")]),
        ("0.3", {"role": 2}, [("unknown-role", "conformance-error", "probe")]),
        ("1.0", {"role": "ROLE_UNSPECIFIED"}, [("unknown-role", "conformance-error", "probe")]),
        ("1.0", {"role": ["x"]}, [("unknown-role", "conformance-error", "probe")]),
        ("1.0", {"parts": []}, [("empty-parts", "hint", "probe")]),
        ("1.0", {"parts": ...}, [("empty-parts", "hint", "probe")]),
        ("1.0", {"parts": "x"}, [("wrong-type", "conformance-error", "rpc"), ("empty-parts", "hint", "probe")]),
    ],
)
def test_messages(version: str, members: Any, expected: list[tuple[str, str, str]]) -> None:
    """A required member that decides nothing is a hint; the state is used all the same (R14)."""
    assert status_message(version, **members) == expected


# -- artifacts


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_an_artifact_needs_an_id(version: str) -> None:
    assert artifact(version) == []
    for missing in (..., "", None):
        assert artifact(version, artifactId=missing) == [("id-missing", "conformance-error", "probe")]


def test_artifact_ids_are_unique_within_a_task() -> None:
    entry = {"artifactId": "a1", "parts": [{"text": "x"}]}
    _, findings = task("1.0", artifacts=[entry, entry | {"artifactId": "a2"}, entry])
    assert findings == [("id-repeated", "conformance-error", "probe")]


def test_a_hostile_answer_does_not_multiply_its_findings() -> None:
    read = answer(envelope(TASK_1_0 | {"artifacts": [5] * 10_000}), op="get")
    assert len(read.findings) == 20


# -- results of calls


def result(version: str, document: Any, op: Any = "send") -> Answer:
    return answer(envelope(document), version=version, op=op)


@pytest.mark.parametrize(
    ("version", "op", "document"),
    [
        ("1.0", "send", {"task": TASK_1_0}),
        ("1.0", "send", {"message": MESSAGE_1_0}),
        ("1.0", "get", TASK_1_0),
        ("1.0", "cancel", TASK_1_0),
        ("0.3", "send", TASK_0_3),
        ("0.3", "send", MESSAGE_0_3),
        ("0.3", "get", TASK_0_3),
    ],
)
def test_each_call_has_its_shape(version: str, op: Any, document: Any) -> None:
    read = result(version, document, op)
    assert read.findings == ()
    assert (read.task is None) is (read.message is not None)


SHAPE, FOREIGN, MISSING = "result-shape", "version-not-honoured", "member-missing"
BARE_STATUS = {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}
KINDLESS = {"id": "t1", "contextId": "c1", "status": {"state": "working"}}
STATUS_0_3 = {"kind": "status-update", "taskId": "t1", "status": {"state": "working"}}


@pytest.mark.parametrize(
    ("version", "op", "document", "expected", "kind"),
    [
        ("1.0", "send", TASK_1_0, [SHAPE, FOREIGN], "task"),
        ("1.0", "send", TASK_0_3, [SHAPE, FOREIGN, "legacy-member"], "task"),
        ("1.0", "send", MESSAGE_1_0, [SHAPE, FOREIGN], "message"),
        ("1.0", "send", {"task": TASK_1_0, "message": MESSAGE_1_0}, [SHAPE], None),
        ("1.0", "send", {}, [SHAPE], None),
        ("1.0", "send", {"task": None}, [SHAPE], None),
        ("1.0", "send", {"error": "timed out"}, [SHAPE], None),
        ("1.0", "send", {"statusUpdate": {}}, [SHAPE], None),
        ("1.0", "send", BARE_STATUS, [SHAPE, FOREIGN], None),
        ("1.0", "send", "done", ["wrong-type"], None),
        ("1.0", "get", {"task": TASK_1_0}, [SHAPE], "task"),
        ("1.0", "get", [], ["wrong-type"], None),
        ("0.3", "send", {"task": TASK_1_0}, [SHAPE, FOREIGN, MISSING], "task"),
        ("0.3", "send", {"message": MESSAGE_1_0}, [SHAPE, FOREIGN, MISSING, MISSING], "message"),
        ("0.3", "get", {"task": TASK_1_0}, [SHAPE, FOREIGN, MISSING], "task"),
        ("0.3", "send", KINDLESS, [SHAPE, MISSING], "task"),
        ("0.3", "send", STATUS_0_3, [SHAPE], None),
        ("0.3", "send", {"error": "timed out"}, [SHAPE], None),
        ("0.3", "send", 5, ["wrong-type"], None),
    ],
)
def test_a_result_of_another_shape_is_understood_where_it_can_be(
    version: str, op: Any, document: Any, expected: list[str], kind: str | None
) -> None:
    read = result(version, document, op)
    assert slugs(read.findings) == expected
    assert (read.task is not None, read.message is not None) == (kind == "task", kind == "message")


def test_a_list_of_tasks() -> None:
    read = result("1.0", {"tasks": [TASK_1_0, "x", TASK_1_0 | {"id": "t2"}], "nextPageToken": ""}, "list")
    assert [task.id for task in read.tasks] == ["t1", "t2"]
    assert slugs(read.findings) == ["wrong-type"]
    assert result("1.0", {}, "list").tasks == ()
    assert slugs(result("1.0", [], "list").findings) == ["wrong-type"]


def test_an_extended_card_is_handed_over_as_it_came() -> None:
    assert result("1.0", {"name": "x"}, "extended-card").result == {"name": "x"}
    assert answer(envelope({"name": "x"}, id="zzz"), op="extended-card").result is None


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_an_empty_text_is_how_proto_writes_what_is_unset(version: str) -> None:
    """Clients that write every member, as the Java SDK's, name no task with "", and label no part with it."""
    part = {"text": "hi", "mediaType": "", "filename": ""} | ({} if version == "1.0" else {"kind": "text"})
    base = MESSAGE_1_0 if version == "1.0" else MESSAGE_0_3
    sent = {"message": base | {"taskId": "", "contextId": "", "parts": [part]}, "tenant": ""}
    dialect = dialect_for(version)
    call = {"jsonrpc": "2.0", "id": 1, "method": dialect.names["send"], "params": sent}
    message = dialect.parse_request(json.dumps(call).encode()).message
    assert message is not None and (message.task_id, message.context_id) == (None, None)
    assert (message.parts[0].media_type, message.parts[0].filename) == (None, None)

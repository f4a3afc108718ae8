"""The draft (spec tag v0.1.0): its calls, its objects, its errors, its streams, and what it makes of later dialects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.model import Part, State
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.dialects import Op, OutMessage, dialect_for
from a2a_lab.wire.draft_objects import DraftReader
from tests.wire.streaming import streamed
from tests.wire.talk import URL, answer, envelope, event, said, slugs

DRAFT = dialect_for("0.1")
STORY = "task-story-456"
QUESTION = OutMessage(
    message_id="task-abc-123",
    parts=(Part(kind="text", text="What is the capital of France?", media_type="text/plain"),),
    context_id="session-xyz-789",
)
TASK: dict[str, Any] = {"id": "t1", "sessionId": "s1", "status": {"state": "working"}}
TEXT = {"type": "text", "text": "hi"}


def sent(op: Op, **options: Any) -> Any:
    return json.loads(DRAFT.request(op, url=URL, rpc_id="req-001", **options).body)


def status(state: str = "working", **members: Any) -> dict[str, Any]:
    return {"id": "t1", "status": {"state": state}} | members


def artifact(*parts: Any, **members: Any) -> dict[str, Any]:
    return {"id": "t1", "artifact": {"parts": list(parts) or [TEXT]} | members}


# -- what is sent


def test_a_send_is_the_example_of_the_draft() -> None:
    """v0.1.0 §9.1, byte for byte but for white space."""
    assert DRAFT.request("send", url=URL, rpc_id="req-001", message=QUESTION).body == (
        b'{"jsonrpc":"2.0","id":"req-001","method":"tasks/send","params":{"id":"task-abc-123",'
        b'"sessionId":"session-xyz-789","message":{"role":"user",'
        b'"parts":[{"type":"text","text":"What is the capital of France?"}]}}}'
    )


@pytest.mark.parametrize(
    ("op", "method"),
    [
        ("send", "tasks/send"),
        ("stream", "tasks/sendSubscribe"),
        ("get", "tasks/get"),
        ("cancel", "tasks/cancel"),
        ("subscribe", "tasks/resubscribe"),
    ],
)
def test_every_call_names_the_task_and_its_metadata(op: Op, method: str) -> None:
    document = sent(
        op, message=QUESTION if op in ("send", "stream") else None, task_id="task-abc-123", metadata={"k": 1}
    )
    assert document["method"] == method
    assert (document["params"]["id"], document["params"]["metadata"]) == ("task-abc-123", {"k": 1})


def test_what_the_draft_has_no_place_for_is_left_out() -> None:
    document = sent(
        "send", message=QUESTION, accepts=("a/b",), return_immediately=True, tenant="acme", history_length=2
    )
    assert set(document["params"]) == {"id", "sessionId", "message", "historyLength"}
    headers = DRAFT.request("send", url=URL, rpc_id=1, message=QUESTION, extensions=("https://e/a",)).headers
    assert set(headers) == {"Accept", "Content-Type"}


def test_the_client_makes_the_id_of_a_new_task_and_keeps_that_of_an_old_one() -> None:
    """§6.1: the server MUST use it. Ours is the message's own, which is as unique."""
    assert DRAFT.task_id_of(QUESTION) == "task-abc-123"
    answer_to = OutMessage(message_id="m2", parts=QUESTION.parts, task_id="t1")
    assert DRAFT.task_id_of(answer_to) == sent("send", message=answer_to)["params"]["id"] == "t1"
    assert dialect_for("0.3").task_id_of(QUESTION) is None


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (Part(kind="text", text="hi"), TEXT),
        (Part(kind="data", data=[1, 2]), {"type": "data", "data": [1, 2]}),
        (
            Part(kind="raw", raw="AA==", media_type="image/png", filename="p.png"),
            {"type": "file", "file": {"bytes": "AA==", "name": "p.png", "mimeType": "image/png"}},
        ),
        (Part(kind="url", url="https://x/y"), {"type": "file", "file": {"uri": "https://x/y"}}),
    ],
)
def test_parts_have_a_type(part: Part, written: Any) -> None:
    message = OutMessage(message_id="m", parts=(part,), metadata={"lab": True})
    assert sent("send", message=message)["params"]["message"] == {
        "role": "user",
        "parts": [written],
        "metadata": {"lab": True},
    }


@pytest.mark.parametrize("op", ["list", "extended-card"])
def test_the_draft_has_no_such_call(op: Op) -> None:
    with pytest.raises(Misuse, match=r"A2A 0\.1 over JSONRPC has no"):
        sent(op)


# -- what comes back


def test_the_answer_of_the_example() -> None:
    text = "The capital of France is Paris."
    read = answer(
        envelope(
            {
                "id": "task-abc-123",
                "sessionId": "session-xyz-789",
                "status": {
                    "state": "completed",
                    "message": {"role": "agent", "parts": [{"type": "text", "text": text}]},
                    "timestamp": "2024-03-15T10:00:05Z",
                },
                "artifacts": [{"name": "Answer", "index": 0, "parts": [{"type": "text", "text": text}]}],
            }
        ),
        version="0.1",
    )
    assert read.findings == () and read.task is not None
    assert (read.task.id, read.task.context_id, read.task.state) == (
        "task-abc-123",
        "session-xyz-789",
        State.COMPLETED,
    )
    assert [(one.id, one.name, one.parts[0].text) for one in read.task.artifacts] == [("0", "Answer", text)]
    assert read.task.message is not None and read.task.message.id is None


def test_a_session_is_optional_and_a_timestamp_needs_no_zone() -> None:
    read = answer(
        envelope({"id": "t1", "status": {"state": "working", "timestamp": "2024-03-15T10:00:05"}}), version="0.1"
    )
    assert read.findings == () and read.task is not None and read.task.context_id is None


@pytest.mark.parametrize("op", ["send", "get", "cancel"])
def test_every_call_answers_the_bare_task(op: Op) -> None:
    read = answer(envelope(TASK), version="0.1", op=op)
    assert read.findings == () and read.task is not None and read.task.id == "t1"


def test_artifacts_that_share_an_index_are_one() -> None:
    """§6.7: they represent parts of the same logical output; an index that is left out is 0."""
    listed = [
        {"parts": [TEXT]},
        {"index": 1, "parts": [TEXT]},
        {"index": 0, "name": "late", "parts": [{"type": "text", "text": "ho"}]},
    ]
    task = answer(envelope(TASK | {"artifacts": listed}), version="0.1").task
    assert task is not None
    assert [(one.id, [part.text for part in one.parts]) for one in task.artifacts] == [
        ("0", ["hi", "ho"]),
        ("1", ["hi"]),
    ]


@pytest.mark.parametrize("index", [-1, 1.5, "0", True, [], {}])
def test_an_index_is_a_whole_number(index: Any) -> None:
    read = answer(envelope(TASK | {"artifacts": [{"index": index, "parts": [TEXT]}]}), version="0.1")
    assert said(read.findings) == [("wrong-type", "conformance-error", "rpc")]


@pytest.mark.parametrize(
    ("state", "expected", "slug"),
    [
        ("unknown", State.UNKNOWN, "indeterminate-state"),
        ("rejected", State.REJECTED, "version-not-honoured"),
        ("auth-required", State.AUTH_REQUIRED, "version-not-honoured"),
        ("TASK_STATE_WORKING", State.WORKING, "version-not-honoured"),
        ("cancelled", State.CANCELED, "state-misspelt"),
        ("paused", State.UNKNOWN, "unknown-state"),
        (2, State.UNKNOWN, "wrong-type"),
    ],
)
def test_states_that_the_draft_does_not_have(state: Any, expected: State, slug: str) -> None:
    read = answer(envelope({"id": "t1", "status": {"state": state}}), version="0.1", op="get")
    assert read.task is not None and read.task.state is expected
    assert slug in slugs(read.findings)


def test_what_is_no_object_is_reported_where_it_stands() -> None:
    read = answer(envelope(TASK | {"artifacts": [7, {"parts": [TEXT]}]}), version="0.1")
    assert read.task is not None and len(read.task.artifacts) == 1
    assert [(one.slug, one.at) for one in read.findings] == [("wrong-type", "/result/artifacts/0")]
    reader = DraftReader(in_stream=False)
    assert (reader.task(7, "/x"), reader.message(7, "/x"), reader.artifact(7, "/x")) == (None, None, None)
    assert [one.at for one in reader.findings] == ["/x", "/x", "/x"]


def test_a_file_may_stand_for_one_that_is_not_sent() -> None:
    parts = [{"type": "file", "file": {"name": "a.csv", "mimeType": "text/csv"}}]
    read = answer(envelope(TASK | {"artifacts": [{"parts": parts}]}), version="0.1")
    assert read.findings == () and read.task is not None
    assert (read.task.artifacts[0].parts[0].kind, read.task.artifacts[0].parts[0].media_type) == ("unknown", "text/csv")


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ({"type": "data", "data": [1]}, []),
        ({"type": "data", "data": "x"}, ["wrong-type"]),
        ({"kind": "text", "text": "hi"}, ["version-not-honoured"]),
        ({"text": "hi"}, ["member-missing"]),
        ({"raw": "AA=="}, ["version-not-honoured"]),
        ({"type": "file", "file": {"bytes": "AA==", "uri": "x"}}, ["part-shape"]),
        ({"type": "song"}, ["part-shape"]),
        ({"type": 1, "text": "hi"}, ["member-missing"]),
    ],
)
def test_parts_that_are_not_of_the_draft(part: Any, found: list[str]) -> None:
    assert slugs(answer(envelope(TASK | {"artifacts": [{"parts": [part]}]}), version="0.1").findings) == found


@pytest.mark.parametrize(
    ("result", "found", "has_task"),
    [
        ({"kind": "task"} | TASK, ["version-not-honoured"], True),
        ({"id": "t1", "contextId": "c1", "status": {"state": "working"}}, ["version-not-honoured"], True),
        ({"task": TASK}, ["result-shape", "version-not-honoured"], True),
        ({"message": {"role": "agent", "parts": [TEXT]}}, ["result-shape", "version-not-honoured"], False),
        ({"role": "agent", "parts": [TEXT]}, ["result-shape"], False),
        ({}, ["result-shape"], False),
        ([], ["wrong-type"], False),
        ({"id": "", "status": {"state": "working"}}, ["id-missing"], True),
    ],
)
def test_results_that_are_no_bare_task(result: Any, found: list[str], has_task: bool) -> None:
    read = answer(envelope(result), version="0.1")
    assert slugs(read.findings) == found
    assert (read.task is not None) is has_task


@pytest.mark.parametrize(
    ("code", "name", "graded"),
    [
        (-32001, "TaskNotFound", None),
        (-32004, "UnsupportedOperation", None),
        (-32006, "StreamingNotSupported", None),
        (-32007, "AuthenticationRequired", NotGradeable.AUTH_NEEDED),
        (-32008, "AuthorizationFailed", NotGradeable.AUTH_NEEDED),
        (-32009, "InvalidTaskState", None),
        (-32010, "RateLimitExceeded", NotGradeable.THROTTLED),
        (-32011, "ResourceUnavailable", None),
    ],
)
def test_codes_mean_what_the_draft_says(code: int, name: str, graded: NotGradeable | None) -> None:
    """wire-facts 8 and 10 (#40): who is not let in, or not yet, is no vendor's failure (R2)."""
    read = answer(envelope(error={"code": code, "message": "no"}), version="0.1")
    assert read.error is not None and (read.error.name, read.not_gradeable) == (name, graded)


# -- streams


def test_the_stream_of_the_example() -> None:
    """v0.1.0 §9.2: event and id lines, updates keyed by id, chunks told inside the artifact, final:true at the end."""
    chunks = [
        {"parts": [{"type": "text", "text": "Unit 734 "}]},
        {"append": True, "parts": [{"type": "text", "text": "rolled "}]},
        {"append": True, "lastChunk": True, "parts": [{"type": "text", "text": "on."}]},
    ]
    results: list[Any] = [{"id": STORY, "status": {"state": "working"}, "final": False}]
    results += [{"id": STORY, "artifact": {"name": "MarsStory.txt", "index": 0} | chunk} for chunk in chunks]
    results += [{"id": STORY, "status": {"state": "completed"}, "final": True}]
    frames = [
        f"id: sse-evt-10{place}\nevent: message\ndata: {json.dumps(envelope(result))}\n\n".encode()
        for place, result in enumerate(results)
    ]
    result = streamed("0.1", *frames, declared_streaming=True, task_id=STORY)
    assert (result.closure, result.verdict.value, result.is_complete) == ("final-proved", "accept", True)
    assert [(one.id, "".join(part.text or "" for part in one.parts)) for one in result.artifacts] == [
        ("0", "Unit 734 rolled on.")
    ]


@pytest.mark.parametrize(
    ("results", "closure", "found"),
    [
        ([status(), status("completed", final=True)], "final-proved", []),
        ([status(), status("completed")], "close-without-final", ["final-missing"]),
        ([status("input-required", final=True)], "interrupted-closed", []),
        ([status("input-required")], "close-without-final", ["final-missing"]),
        ([status("working", final=True)], "final-proved", ["final-while-active"]),
        ([status(), artifact()], "eof-nonterminal", ["eof-nonterminal"]),
        ([artifact(append=True), status("completed", final=True)], "final-proved", ["append-to-unknown"]),
        ([status("completed", final=True), status()], "overrun", ["event-after-end"]),
    ],
)
def test_the_end_is_proved_by_final(results: list[Any], closure: str, found: list[str]) -> None:
    """wire-facts 7.1 and 7.3; what 1.0 forbids in the order of events is no rule here."""
    frames = [f"data: {json.dumps(envelope(result))}\n\n".encode() for result in results]
    result = streamed("0.1", *frames)
    assert (result.closure, slugs(result.findings)) == (closure, found)


def test_an_event_of_another_task_is_not_used() -> None:
    frames = [f"data: {json.dumps(envelope(status('completed', final=True)))}\n\n".encode()]
    assert slugs(streamed("0.1", *frames, task_id="mine").findings)[0] == "foreign-task"


@pytest.mark.parametrize(
    ("result", "kind", "found"),
    [
        (status(), "status", []),
        (artifact(lastChunk=False), "artifact", []),
        (status() | artifact(), "unknown", ["result-shape"]),
        ({"id": "t1"}, "unknown", ["result-shape"]),
        ({"id": "t1", "status": None, "artifact": None}, "unknown", ["result-shape"]),
        ([], "unknown", ["result-shape"]),
        (TASK, "task", ["result-shape"]),
        (status(final="yes"), "status", ["wrong-type"]),
        (artifact(append=1), "artifact", ["wrong-type"]),
        ({"status": {"state": "working"}}, "status", ["id-missing"]),
        ({"id": "t1", "status": "working"}, "status", ["wrong-type", "state-missing"]),
        ({"id": "t1", "artifact": []}, "unknown", ["wrong-type"]),
        ({"taskId": "t1", "contextId": "c1", "status": {"state": "working"}}, "status", ["version-not-honoured"]),
        (artifact() | {"append": True}, "artifact", ["version-not-honoured"]),
        ({"statusUpdate": {"taskId": "t1", "contextId": "c1"} | status()}, "status", ["version-not-honoured"]),
        ({"kind": "message", "role": "agent", "parts": [TEXT]}, "message", ["version-not-honoured"]),
        ({"kind": "task", "id": "t1", "status": {"state": "working"}}, "task", ["version-not-honoured"]),
        (artifact(artifactId="a1"), "artifact", ["version-not-honoured"]),
    ],
)  # fmt: skip
def test_what_an_event_may_hold(result: Any, kind: str, found: list[str]) -> None:
    """Status or artifact, told apart by member; what later versions send is understood and named."""
    read, findings = event(result, version="0.1")
    assert (read.kind, slugs(findings)) == (kind, found)
    assert all(finding.stage.value == "stream" for finding in findings)


def test_the_artifacts_own_flags_win_over_those_beside_it() -> None:
    read, _ = event(artifact(append=False) | {"append": True, "lastChunk": True}, version="0.1")
    assert (read.append, read.last_chunk) == (False, True)


# -- recorded requests


def test_a_request_is_read_back() -> None:
    facts = DRAFT.parse_request(DRAFT.request("send", url=URL, rpc_id=7, message=QUESTION, history_length=3).body)
    assert (facts.op, facts.rpc_id, facts.task_id, facts.history_length) == ("send", 7, "task-abc-123", 3)
    assert facts.findings == () and facts.return_immediately is None
    assert facts.message is not None
    assert (facts.message.id, facts.message.task_id, facts.message.context_id) == (None, None, "session-xyz-789")

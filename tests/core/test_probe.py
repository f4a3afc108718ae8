"""A3, R22, R26: what the answer to a probe shows."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.asked import Asked
from a2a_lab.core.authority import Outcome
from a2a_lab.core.minimal import minimal_part
from a2a_lab.core.model import Message, Part, RpcError, State, Task
from a2a_lab.core.policy import Intent
from a2a_lab.core.probe import ProbeReading, judge_ids, judge_renegotiations, probe_message_metadata, read_probe
from a2a_lab.core.probe_findings import CONTEXT_REPLACED, PROBE_HANG, SKILL_NOT_ECHOED
from a2a_lab.verdicts import Finding, Kind, Verdict
from tests.core.cards import slugs

TEXT, JSON = "text/plain", "application/json"
QUIET = {"return_immediately": True}


def task(state: State, says: str = "", *, id: str = "t1", context: str | None = "c1", **metadata: Any) -> Task:
    parts = (Part(kind="text", text=says),) if says else ()
    message = Message(id="m", role="agent", parts=parts) if says else None
    return Task(id=id, context_id=context, state=state, wire_state=state.value, message=message, metadata=metadata)


def read(answer: Task | Message | RpcError | None, *, seen: tuple[Finding, ...] = (), **asked: Any) -> ProbeReading:
    how = {name: asked.pop(name) for name in ("ending", "is_live") if name in asked}
    return read_probe(answer, Asked(**{**QUIET, **asked}), seen=seen, **how)


@pytest.mark.parametrize("state", [State.SUBMITTED, State.WORKING, State.COMPLETED])
def test_a_task_that_runs_or_is_done_accepted_the_mode_of_its_part(state: State) -> None:
    found = read(task(state), mode="Text/Plain; charset=utf-8", intended=JSON)
    assert found.outcome is Outcome.ACCEPTED and found.runtime_modes == (TEXT,) and found.findings == ()


def test_a_live_task_that_never_left_submitted_is_inconclusive() -> None:
    found = read(task(State.SUBMITTED), is_live=True)
    assert found.outcome is Outcome.INCONCLUSIVE and slugs(found.findings) == ["probe-inconclusive"]
    assert read(task(State.WORKING), is_live=True).outcome is Outcome.ACCEPTED


def test_a_bare_message_is_inconclusive_and_a_matter_of_authority() -> None:
    found = read(Message(id="m", role="agent", parts=()))
    assert found.outcome is Outcome.INCONCLUSIVE and found.task is None
    assert found.findings[0].kind is Kind.AUTHORITY and found.findings[0].verdict is Verdict.HINT


def test_a_state_that_is_none_is_inconclusive() -> None:
    assert read(task(State.UNKNOWN)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("state", [State.REJECTED, State.FAILED, State.CANCELED])
def test_a_task_that_was_not_carried_out_refused(state: State) -> None:
    found = read(task(state))
    assert found.outcome is Outcome.REFUSED and slugs(found.findings) == ["probe-refused"]
    assert found.findings[0].verdict is Verdict.REFUSE and found.runtime_modes == ()


@pytest.mark.parametrize(
    ("mode", "intended", "says", "outcome", "slug"),
    [
        (TEXT, TEXT, "send application/json", Outcome.NARROWED, "mode-narrowed"),
        (TEXT, JSON, "send text/plain", Outcome.NARROWED, "mode-narrowed"),
        (TEXT, JSON, "send application/json", Outcome.NARROWED, "probe-mode-refused"),
        (JSON, JSON, "send text/csv or text/html", Outcome.NARROWED, "mode-narrowed"),
        (TEXT, TEXT, "send your question as text/plain", Outcome.INTERRUPTED, "probe-interrupted"),
        (TEXT, JSON, "send text/plain or application/json", Outcome.INTERRUPTED, "probe-interrupted"),
        (TEXT, TEXT, "which city?", Outcome.INTERRUPTED, "probe-interrupted"),
        (TEXT, TEXT, "", Outcome.INTERRUPTED, "probe-interrupted"),
    ],
)
def test_input_required_narrows_where_it_names_other_modes(
    mode: str, intended: str, says: str, outcome: Outcome, slug: str
) -> None:
    found = read(task(State.INPUT_REQUIRED, says), mode=mode, intended=intended)
    assert found.outcome is outcome and slugs(found.findings) == [slug]
    assert found.findings[0].verdict is Verdict.HINT
    assert found.runtime_modes == (found.named.modes if outcome is Outcome.NARROWED else ())


def test_auth_required_is_interrupted_and_not_failed() -> None:
    found = read(task(State.AUTH_REQUIRED))
    assert found.outcome is Outcome.INTERRUPTED and "authorisation" in found.findings[0].detail


def content_type(message: str = "no", name: str = "ContentTypeNotSupported") -> RpcError:
    return RpcError(code=-32005, message=message, name=name)


def test_content_type_not_supported_narrows_with_or_without_a_name() -> None:
    named = read(content_type("use application/json"))
    assert named.outcome is Outcome.NARROWED and named.runtime_modes == (JSON,) and not named.wants_output
    silent = read(content_type(), intended=JSON)
    assert silent.outcome is Outcome.NARROWED and silent.runtime_modes == ()
    assert "names no other" in silent.findings[0].detail and not silent.wants_output


def test_an_error_that_names_the_mode_that_was_sent_is_about_the_output() -> None:
    found = read(content_type("chat needs text/plain"))
    assert found.outcome is Outcome.NARROWED and found.wants_output and found.findings[0].verdict is Verdict.HINT
    assert "output modes" in found.findings[0].detail
    assert not read(content_type("use text/plain"), intended=JSON).wants_output


def test_any_other_error_refuses() -> None:
    found = read(RpcError(code=-32602, message="bad", name="InvalidParams"))
    assert found.outcome is Outcome.REFUSED and slugs(found.findings) == ["call-refused"]
    assert read(content_type(), op="get", task_id="t").outcome is Outcome.BROKEN


def test_an_error_that_misinforms_leaves_nothing_to_decide_on() -> None:
    found = read(RpcError(code=-32601, message="x", name="MethodNotFound"), declared_version="1.0")
    assert found.outcome is Outcome.BROKEN and slugs(found.findings) == ["declared-method-missing"]


def test_a_refused_rehearsal_narrows() -> None:
    refused = task(State.REJECTED, "please send text/plain")
    found = read(refused, mode=JSON, intended=JSON, purpose="rehearsal")
    assert found.outcome is Outcome.NARROWED and found.runtime_modes == (TEXT,)
    assert slugs(found.findings) == ["mode-narrowed"] and found.findings[0].verdict is Verdict.HINT
    silent = read(RpcError(code=-32602, message="x", name="InvalidParams"), mode=JSON, purpose="rehearsal")
    assert silent.outcome is Outcome.NARROWED and silent.runtime_modes == ()


@pytest.mark.parametrize(
    "answer", [task(State.REJECTED), content_type(), task(State.INPUT_REQUIRED, "send text/plain")]
)
def test_whatever_a_control_is_answered_is_no_fault(answer: Task | RpcError) -> None:
    assert read(answer, mode="model/x-none", purpose="control").findings == ()


def test_a_probe_without_an_answer_in_time_hung() -> None:
    found = read(None, ending="hang")
    assert found.outcome is Outcome.HUNG and slugs(found.findings) == ["probe-hang"]
    assert found.findings[0].verdict is Verdict.HANG


def test_a_hang_that_the_stream_named_is_not_named_twice() -> None:
    found = read(task(State.WORKING), seen=(PROBE_HANG(),), op="stream")
    assert found.outcome is Outcome.HUNG and found.findings == () and found.task is not None


def test_a_fault_or_a_broken_answer_leaves_nothing_to_decide_on() -> None:
    assert read(None, ending="fault").outcome is Outcome.BROKEN
    assert read(task(State.WORKING), seen=(CONTEXT_REPLACED(),)).outcome is Outcome.BROKEN
    assert read(task(State.WORKING), seen=(SKILL_NOT_ECHOED(),)).outcome is Outcome.ACCEPTED
    assert read(task(State.WORKING, context="c9"), context_id="c1").outcome is Outcome.BROKEN


@pytest.mark.parametrize(
    ("state", "asked", "is_early"),
    [
        (State.WORKING, {}, True),
        (State.SUBMITTED, {}, True),
        (State.COMPLETED, {}, False),
        (State.WORKING, {"return_immediately": True}, False),
        (State.WORKING, {"dialect": "0.3"}, False),
        (State.WORKING, {"op": "stream"}, False),
        (State.WORKING, {"is_retry": True}, False),
    ],
)
def test_a_blocking_call_of_1_0_waits(state: State, asked: dict[str, Any], is_early: bool) -> None:
    found = read(task(state), **{"return_immediately": False, **asked})
    assert found.outcome is Outcome.ACCEPTED
    assert slugs(found.findings) == (["blocking-cut-short"] if is_early else [])


@pytest.mark.parametrize(
    ("metadata", "skill", "echoed", "is_generic"),
    [
        ({}, None, None, False),
        ({"skillId": "sum"}, "sum", "sum", False),
        ({}, "sum", None, True),
        ({"skillId": "other"}, "sum", "other", True),
        ({"skillId": ["sum"]}, "sum", None, True),
    ],
)
def test_a_skill_that_is_not_echoed_means_a_generic_executor(
    metadata: dict[str, Any], skill: str | None, echoed: str | None, is_generic: bool
) -> None:
    found = read(task(State.WORKING, **metadata), skill=skill)
    assert (found.skill_echoed, found.is_generic) == (echoed, is_generic)
    assert slugs(found.findings) == (["skill-not-echoed"] if is_generic else [])
    assert all(one.kind is Kind.AUTHORITY for one in found.findings)


def test_a_message_echoes_nothing_and_is_not_asked_to() -> None:
    assert not read(Message(id="m", role="agent", parts=()), skill="sum").is_generic


@pytest.mark.parametrize(
    ("answer", "asked", "slug"),
    [
        (task(State.WORKING, context="c9"), {"context_id": "c1"}, "context-replaced"),
        (Message(id="m", role="agent", parts=(), context_id="c9"), {"context_id": "c1"}, "context-replaced"),
        (task(State.WORKING, id="t9"), {"task_id": "t1"}, "task-replaced"),
        (task(State.WORKING), {"task_id": "t1", "task_is_known": False}, "unknown-task-accepted"),
        (task(State.COMPLETED), {"task_id": "t1", "task_is_known": False}, "unknown-task-accepted"),
        (task(State.INPUT_REQUIRED), {"task_id": "t1", "task_is_known": False}, None),
        (task(State.WORKING), {"task_id": "t1", "task_is_known": False, "op": "get"}, None),
        (task(State.WORKING), {"task_id": "t1", "context_id": "c1"}, None),
        (task(State.WORKING, context=None), {"context_id": "c1"}, None),
        (task(State.WORKING), {}, None),
        (content_type(), {"task_id": "t1"}, None),
    ],
)
def test_an_answer_belongs_to_the_context_and_task_that_were_named(
    answer: Task | Message | RpcError, asked: dict[str, Any], slug: str | None
) -> None:
    found = judge_ids(answer, Asked(**asked))
    assert slugs(found) == ([slug] if slug else [])
    assert all(one.verdict is Verdict.CONFORMANCE_ERROR for one in found)
    assert all(one.verdict is Verdict.HINT for one in judge_ids(answer, Asked(**asked, dialect="0.3")))


def test_a_consumer_stops_after_its_limit() -> None:
    assert judge_renegotiations(3, 3) == []
    assert slugs(judge_renegotiations(4, 3)) == ["renegotiation-limit"]


def test_the_metadata_says_what_is_meant_to_follow() -> None:
    intent = Intent(mode=JSON, skill="sum", accepts=(TEXT,))
    assert probe_message_metadata(intent) == {
        "intendedInputModes": [JSON],
        "intendedOutputModes": [TEXT],
        "skillId": "sum",
    }
    assert probe_message_metadata(Intent(), JSON) == {"intendedInputModes": [JSON], "intendedOutputModes": []}


def test_a_reading_gives_the_records_four_facts() -> None:
    found = read(task(State.WORKING, skillId="sum"), skill="sum").transition(stream_final_seen=True)
    assert (found.state, found.effective_modes, found.skill_id_echoed) == (State.WORKING, (TEXT,), "sum")
    assert found.stream_final_seen
    assert read(None, ending="fault").transition(stream_final_seen=False).state is State.UNKNOWN


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (TEXT, "text"),
        ("text/csv", "text"),
        ("text/x-unheard-of", "text"),
        ("application/xml", "text"),
        ("application/atom+xml", "text"),
        (JSON, "data"),
        ("application/vnd.acme+json; v=1", "data"),
        ("image/png", "raw"),
        ("application/x-unheard-of", "raw"),
        ("no media type", "raw"),
    ],
)
def test_a_minimal_part_has_the_mode_and_asks_for_one_line(mode: str, kind: str) -> None:
    part = minimal_part(mode)
    assert part.kind == kind and part.media_type == mode
    assert part.raw or "one line" in str(part.text or part.data)

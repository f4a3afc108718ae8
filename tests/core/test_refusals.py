"""R27: a legitimate no, a no with too general a code, and a code that misinforms."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.asked import Asked, declared_by
from a2a_lab.core.model import RpcError, State
from a2a_lab.core.refusals import expected_error, judge_acceptance, judge_error
from a2a_lab.verdicts import Finding, Kind, Verdict
from tests.core.cards import one_zero, slugs, zero_three

CODES = {
    "TaskNotFound": -32001,
    "TaskNotCancelable": -32002,
    "PushNotificationNotSupported": -32003,
    "UnsupportedOperation": -32004,
    "ContentTypeNotSupported": -32005,
    "InvalidAgentResponse": -32006,
    "ExtendedAgentCardNotConfigured": -32007,
    "ExtensionSupportRequired": -32008,
    "VersionNotSupported": -32009,
    "MethodNotFound": -32601,
    "InvalidParams": -32602,
    "InternalError": -32603,
}


def judged(name: str | None, message: str = "no", **asked: Any) -> list[Finding]:
    error = RpcError(code=CODES.get(name or "", 502), message=message, name=name)
    return judge_error(error, Asked(**asked))


@pytest.mark.parametrize(
    "name",
    [
        "UnsupportedOperation",
        "InvalidAgentResponse",
        "ExtensionSupportRequired",
        "InvalidParams",
        "InternalError",
        None,
    ],
)
def test_an_agent_may_decline(name: str | None) -> None:
    found = judged(name)
    assert slugs(found) == ["call-refused"] and found[0].verdict is Verdict.REFUSE


@pytest.mark.parametrize(
    ("message", "asked", "better"),
    [
        ("task in terminal state", {"task_id": "t1"}, "UnsupportedOperation"),
        ("task already closed", {"task_id": "t1", "op": "stream"}, "UnsupportedOperation"),
        ("no such task", {"task_id": "t1", "op": "get"}, "TaskNotFound"),
        ("Unsupported content type(s): image/png", {}, "ContentTypeNotSupported"),
        ("bad version", {}, "VersionNotSupported"),
        ("an extension is missing", {}, "ExtensionSupportRequired"),
        ("streaming is off", {"op": "stream"}, "UnsupportedOperation"),
        ("whatever", {"op": "stream", "declares_streaming": False}, "UnsupportedOperation"),
        ("whatever", {"op": "cancel", "task_id": "t1", "task_state": State.COMPLETED}, "TaskNotCancelable"),
    ],
)
def test_a_general_code_is_refused_with_a_note(message: str, asked: dict[str, Any], better: str) -> None:
    found = judged("InvalidParams", message, **asked)
    assert slugs(found) == ["call-refused", "general-error-code"] and found[1].values["expected"] == better
    assert found[1].verdict is Verdict.ACCEPT


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("task in terminal state", {}),
        ("task in terminal state", {"task_id": "t1", "dialect": "0.3"}),
        ("content type", {"op": "get", "task_id": "t1"}),
        ("streaming is off", {}),
    ],
)
def test_words_that_do_not_fit_the_call_say_nothing(message: str, asked: dict[str, Any]) -> None:
    assert slugs(judged("InvalidParams", message, **asked)) == ["call-refused"]


@pytest.mark.parametrize("op", ["get", "cancel"])
def test_an_agent_may_have_forgotten_a_task_that_had_ended(op: str) -> None:
    assert slugs(judged("TaskNotFound", op=op, task_id="t1", task_state=State.COMPLETED)) == ["call-refused"]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("ExtendedAgentCardNotConfigured", {"op": "extended-card", "declares_extended_card": False}),
        ("UnsupportedOperation", {"op": "extended-card", "declares_extended_card": True}),
        ("TaskNotFound", {"op": "subscribe", "task_id": "t1", "task_state": State.COMPLETED}),
        ("TaskNotFound", {"op": "get", "task_id": "t1", "task_state": State.WORKING}),
        ("TaskNotFound", {"op": "send", "task_id": "t1", "task_state": State.INPUT_REQUIRED}),
        ("TaskNotCancelable", {"op": "send", "task_id": "t1", "task_state": State.COMPLETED}),
        ("UnsupportedOperation", {"op": "cancel", "task_id": "t1", "task_state": State.COMPLETED}),
        ("UnsupportedOperation", {"op": "get", "task_id": "made-up", "task_is_known": False}),
        ("TaskNotFound", {}),
        ("TaskNotCancelable", {"op": "get", "task_id": "t1"}),
        ("PushNotificationNotSupported", {}),
        ("ContentTypeNotSupported", {"op": "get", "task_id": "t1"}),
        ("ExtendedAgentCardNotConfigured", {}),
        ("ContentTypeNotSupported", {"op": "stream", "declares_streaming": False}),
    ],
)
def test_a_code_that_tells_what_is_not_so_is_a_conformance_error(name: str, asked: dict[str, Any]) -> None:
    found = judged(name, **asked)
    assert slugs(found) == ["misinforming-error"] and found[0].verdict is Verdict.CONFORMANCE_ERROR


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("UnsupportedOperation", {"op": "extended-card", "declares_extended_card": False}),
        ("ExtendedAgentCardNotConfigured", {"op": "extended-card", "declares_extended_card": True}),
        ("ExtendedAgentCardNotConfigured", {"op": "extended-card"}),
        ("ExtendedAgentCardNotConfigured", {"op": "extended-card", "declares_extended_card": False, "dialect": "0.3"}),
        ("UnsupportedOperation", {"op": "subscribe", "task_id": "t1", "task_state": State.FAILED}),
        ("TaskNotFound", {"op": "get", "task_id": "made-up", "task_is_known": False}),
        ("TaskNotFound", {"op": "send", "task_id": "t1"}),
        ("TaskNotCancelable", {"op": "cancel", "task_id": "t1", "task_state": State.CANCELED}),
        ("UnsupportedOperation", {"op": "stream", "declares_streaming": False}),
        ("UnsupportedOperation", {"op": "send", "task_id": "t1", "task_state": State.FAILED, "dialect": "0.3"}),
    ],
)
def test_the_right_code_is_a_plain_refusal(name: str, asked: dict[str, Any]) -> None:
    assert slugs(judged(name, **asked)) == ["call-refused"]


@pytest.mark.parametrize(
    ("asked", "slug"),
    [
        ({"declared_version": "1.0"}, "declared-method-missing"),
        ({"declared_version": "1.0.0"}, "declared-method-missing"),
        ({"declared_version": "0.3.0", "dialect": "0.3"}, "declared-method-missing"),
        ({"declared_version": "1.0", "op": "stream", "declares_streaming": True}, "declared-method-missing"),
        ({"declared_version": "1.0", "op": "stream", "declares_streaming": False}, "call-refused"),
        ({"declared_version": "1.0", "op": "extended-card", "declares_extended_card": None}, "call-refused"),
        ({"declared_version": "0.3"}, "call-refused"),
        ({"declared_version": ["1.0"]}, "call-refused"),
        ({}, "call-refused"),
    ],
)
def test_a_core_method_of_the_declared_version_must_be_known(asked: dict[str, Any], slug: str) -> None:
    found = judged("MethodNotFound", **asked)
    assert found[0].slug == slug
    assert (found[0].verdict is Verdict.CONFORMANCE_ERROR) == (slug == "declared-method-missing")


@pytest.mark.parametrize(
    ("sent", "declared", "slug"),
    [
        ("1.0", "1.0", "declared-version-rejected"),
        ("1.0.1", "1.0", "declared-version-rejected"),
        ("1.0", "1.0.0", "declared-version-rejected"),
        ("1.0.1", None, "declared-version-rejected"),
        ("1.0", None, "call-refused"),
        ("1.0", "0.3", "call-refused"),
        ("9.9", "1.0", "call-refused"),
        (None, "1.0", "call-refused"),
    ],
)
def test_only_major_and_minor_of_a_version_may_decide(sent: str | None, declared: str | None, slug: str) -> None:
    assert slugs(judged("VersionNotSupported", version_sent=sent, declared_version=declared)) == [slug]


@pytest.mark.parametrize("name", ["VersionNotSupported", "MethodNotFound"])
@pytest.mark.parametrize("declared", [None, "1.0"])
def test_a_call_that_names_no_version_is_one_of_0_3(name: str, declared: str | None) -> None:
    """§3.6.2 MUST: an agent that knows no such call in 0.3 is right, whatever its card declares."""
    assert slugs(judged(name, version_sent="", declared_version=declared)) == ["request-at-fault"]


@pytest.mark.parametrize("name", ["ParseError", "InvalidRequest", "InvalidParams", "InternalError"])
def test_a_request_that_is_wrong_by_itself_is_declined_rightly(name: str) -> None:
    (finding,) = judged(name, flaws=("params is 'text', no object",))
    assert (finding.slug, finding.kind) == ("request-at-fault", Kind.NOTE) and "no object" in finding.detail


@pytest.mark.parametrize("name", ["MethodNotFound", "VersionNotSupported", "UnsupportedOperation", None])
def test_a_call_of_a_version_that_the_card_does_not_offer_is_declined_by_any_error(name: str | None) -> None:
    """§3.6.3: testers and clients of 0.3 call methods of theirs at agents of 1.0, whose -32601 is no general code."""
    asked = {"op": "push-set", "dialect": "0.3", "declares_push": False}
    assert slugs(judged(name, declared_versions=("1.0",), **asked)) == ["request-at-fault"]
    assert slugs(judged(name, declared_versions=("1.0", "0.2.6"), **asked)) != ["request-at-fault"]


def test_other_errors_are_not_about_the_request() -> None:
    assert slugs(judged("UnsupportedOperation", flaws=("SendMessage brings no message",))) == ["call-refused"]


@pytest.mark.parametrize(
    ("name", "declared", "slug"),
    [
        ("PushNotificationNotSupported", False, "call-refused"),  # §3.3.4 asks for just this
        ("UnsupportedOperation", False, "misinforming-error"),
        ("PushNotificationNotSupported", None, "call-refused"),
        ("TaskNotFound", True, "call-refused"),
        ("TaskNotCancelable", True, "misinforming-error"),
    ],
)
def test_push_that_is_not_declared_has_an_error_of_its_own(name: str, declared: bool | None, slug: str) -> None:
    assert slugs(judged(name, op="push-set", declares_push=declared)) == [slug]
    if name != "TaskNotFound":  # which no send without a task can be answered
        assert slugs(judged(name, op="send", configures_push=True, declares_push=declared)) == [slug]


@pytest.mark.parametrize(
    ("sent", "offered", "is_fault"),
    [
        ("1.9", ("1.0",), True),
        ("0.3", ("1.0",), True),
        ("2.0", ("1.0", "0.3"), True),
        ("abc", ("1.0",), True),
        ("1.0", ("1.0",), False),
        ("1.0.7", ("1.0",), False),  # a patch must not be considered
        ("1.0", ("1.0.0",), False),
        ("0.3", ("1.0", "0.3"), False),
        (None, ("1.0",), False),  # proves nothing, as servers of both kinds are met
        ("1.9", (), True),  # no card, and no such version exists
        ("1.0", (), False),
        ("0.3", (1.0,), False),  # a number is no version, so nothing is known of what is offered
    ],
)
def test_a_version_that_is_not_spoken_must_be_declined(
    sent: str | None, offered: tuple[Any, ...], is_fault: bool
) -> None:
    found = judge_acceptance(Asked(version_sent=sent, declared_versions=offered))
    assert slugs(found) == (["foreign-version-accepted"] if is_fault else [])


def test_without_a_situation_no_error_is_expected() -> None:
    assert expected_error(Asked(op="get", task_id="t1", task_state=State.COMPLETED)) is None
    assert expected_error(Asked(op="send", task_id="t1")) is None


def test_what_a_card_declares_is_taken_from_it() -> None:
    card = one_zero(capabilities={"extendedAgentCard": True})
    assert declared_by(card, card.interfaces[0]) == {
        "declared_version": "1.0",
        "declared_versions": ("1.0",),
        "declares_streaming": False,
        "declares_extended_card": True,
        "declares_push": False,
    }
    old = zero_three(supportsAuthenticatedExtendedCard=True)
    assert declared_by(old, old.interfaces[0])["declares_extended_card"] is True
    assert Asked(**declared_by(one_zero(), one_zero().interfaces[0])).is_declared

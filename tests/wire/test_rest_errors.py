"""Error bodies over HTTP+JSON: the tables of 1.0.1 and 1.0.0, ErrorInfo, problem details, and the shapes of 0.3."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from a2a_lab.core.named_modes import named_modes
from a2a_lab.wire.dialects import Op
from a2a_lab.wire.errors_table import HTTP_STATUS
from tests.wire.talk import said, slugs
from tests.wire.test_rest import answer

INFO = "type.googleapis.com/google.rpc.ErrorInfo"
STATUSES = (400, 404, 409, 415, 500, 502)
PROBLEM = {"Content-Type": "application/problem+json"}
NOT_FOUND = {"@type": INFO, "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}
ERRORS = "https://a2a-protocol.org/errors"


def reason(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def status_body(
    status_code: int, /, *, name: str = "", domain: str = "a2a-protocol.org", **members: Any
) -> dict[str, Any]:
    details = [{"@type": INFO, "reason": reason(name), "domain": domain}] if name else []
    error = {"code": status_code, "status": "FAILED_PRECONDITION", "message": "no"}
    return {"error": error | ({"details": details} if details else {}) | members}


def test_the_example_of_1_0() -> None:
    """1.0.1 §11.6."""
    info = NOT_FOUND | {"metadata": {"taskId": "task-123"}}
    message = "The specified task ID does not exist or is not accessible"
    error = {"code": 404, "status": "NOT_FOUND", "message": message, "details": [info]}
    read = answer({"error": error}, op="get", status=404)
    assert read.error is not None
    assert (read.error.code, read.error.name, read.error.message) == (404, "TaskNotFound", message)
    assert read.error.data == [info]
    assert said(read.findings) == [("rpc-error", "refuse", "rpc")]


@pytest.mark.parametrize(("name", "status"), [*product(HTTP_STATUS, STATUSES)])
def test_every_error_under_every_status(name: str, status: int) -> None:
    """§5.4: the table of 1.0.1 is right, that of 1.0.0 is accepted and told, any other status is a fault (#41)."""
    read = answer(status_body(status, name=name), op="cancel", status=status)
    assert read.error is not None and read.error.name == name
    new, *old = HTTP_STATUS[name]
    found = [] if status == new else ["error-http-status-1.0.0"] if status in old else ["error-http-status"]
    assert slugs(read.findings) == [*found, "rpc-error"]
    verdicts = {one.slug: one.verdict.value for one in read.findings}
    assert verdicts.get("error-http-status-1.0.0", "accept") == "accept"
    assert verdicts.get("error-http-status", "conformance-error") == "conformance-error"


@pytest.mark.parametrize(
    ("body", "status", "op", "name", "found"),
    [
        (status_body(404, status="NOT_FOUND"), 404, "get", "TaskNotFound", ["error-info-missing"]),
        (status_body(404, status="NOT_FOUND"), 404, "send", "MethodNotFound", []),
        (status_body(409, status="ABORTED"), 409, "cancel", "TaskNotCancelable", ["error-info-missing"]),
        (status_body(409, status="ABORTED"), 409, "send", None, []),
        (status_body(415, status="X"), 415, "send", "ContentTypeNotSupported", ["error-info-missing"]),
        (status_body(400), 400, "send", None, ["error-info-missing"]),
        (status_body(400, status="INVALID_ARGUMENT"), 400, "send", "InvalidParams", []),
        (status_body(500, status="INTERNAL"), 500, "send", "InternalError", []),
        (status_body(400, status=7), 400, "send", None, []),
        (status_body(405, status="UNIMPLEMENTED"), 405, "send", "MethodNotFound", []),
        (
            status_body(-32001, status="NOT_FOUND"),
            404,
            "get",
            "TaskNotFound",
            ["rest-error-shape", "error-info-missing"],
        ),
        (status_body(-32602, status="X"), 400, "send", "InvalidParams", ["rest-error-shape"]),
    ],
)
def test_an_error_without_its_reason_is_named_as_far_as_the_rest_tells(
    body: Any, status: int, op: Op, name: str | None, found: list[str]
) -> None:
    """§11.6 MUST: several A2A errors share a status, so only ErrorInfo tells them apart. General errors need none."""
    read = answer(body, op=op, status=status)
    assert read.error is not None and read.error.name == name
    assert slugs(read.findings) == [*found, "rpc-error"]


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"code": 400}, ["rest-error-shape"]),
        ({"code": "404"}, ["rest-error-shape"]),
        ({"message": None}, ["rest-error-shape"]),
        ({"details": {}}, ["rest-error-shape", "error-info-missing"]),
        ({"details": ["x", {"@type": 7}, {"reason": "TASK_NOT_FOUND"}]}, ["error-info-missing"]),
        ({"details": [{"@type": INFO, "reason": 7}]}, []),
        ({"details": [{"@type": INFO, "reason": "OUT_OF_COFFEE", "domain": "a2a-protocol.org"}]}, []),
        ({"details": [{"@type": INFO, "reason": "TASK_NOT_FOUND", "domain": "acme.example"}]}, ["rest-error-shape"]),
        ({"details": [{"@type": INFO, "reason": "TASK_NOT_FOUND"}]}, ["rest-error-shape"]),
        ({"details": [{"@type": INFO}]}, ["error-info-missing"]),
        ({"details": [{"@type": "type.googleapis.com/google.rpc.BadRequest"}, NOT_FOUND]}, []),
    ],
)
def test_members_of_a_status_that_are_not_as_they_must_be(members: dict[str, Any], found: list[str]) -> None:
    read = answer(status_body(404, name="TaskNotFound", **members), op="get", status=404)
    assert slugs(read.findings) == [*found, "rpc-error"]
    assert read.error is not None


@pytest.mark.parametrize(
    ("body", "headers", "name"),
    [
        ({"type": f"{ERRORS}/task-not-found", "title": "x", "status": 404, "detail": "x"}, PROBLEM, "TaskNotFound"),
        ({"type": f"{ERRORS}/version-not-supported/", "status": 404, "title": "x"}, {}, "VersionNotSupported"),
        ({"status": 404, "detail": "Invalid parameters", "errors": []}, PROBLEM, "TaskNotFound"),
        ({"type": "about:blank", "title": "Not Found"}, PROBLEM, "TaskNotFound"),
        ({"type": 7, "title": []}, PROBLEM, "TaskNotFound"),
    ],
)
def test_problem_details_are_understood_and_named(body: Any, headers: Any, name: str) -> None:
    """#42: the shape of the pre-release, still in the examples of §6.4 and §6.5."""
    read = answer(body, op="get", status=404, headers=headers)
    assert read.error is not None and read.error.name == name
    assert said(read.findings) == [
        ("problem-body", "conformance-error", "rpc"),
        ("rpc-error", "refuse", "rpc"),
    ]
    old = answer(body, version="0.3", op="get", status=404, headers=PROBLEM)
    assert slugs(old.findings) == ["rpc-error"]


@pytest.mark.parametrize("status", [400, 404, 405, 500, 501, 502])
@pytest.mark.parametrize("op", ["send", "stream", "extended-card", "get", "cancel", "subscribe"])
@pytest.mark.parametrize("body", [b"<html>", b"", b'{"detail":"Not Found"}', b"[]", b'{"error":"no"}', b"null"])
def test_a_failure_without_an_error_body_is_that_of_whatever_answered(body: bytes, op: Op, status: int) -> None:
    """A path that is not there is a method that is missing, unless a task in it may be what is missing (R27)."""
    read = answer(body, op=op, status=status, headers={})
    assert said(read.findings) == [("http-error", "refuse", "rpc")]
    is_route = status in (404, 405, 501) and op in ("send", "stream", "extended-card")
    assert (read.error is not None and read.error.name == "MethodNotFound") is is_route


@pytest.mark.parametrize("status", [200, 201])
def test_an_error_under_success(status: int) -> None:
    read = answer(status_body(404, name="TaskNotFound"), op="get", status=status)
    assert read.error is not None and read.error.name == "TaskNotFound"
    assert slugs(read.findings)[0] == "error-under-success"
    assert ("http-status" in slugs(read.findings)) is (status == 201)


def test_a_task_with_a_member_error_is_a_task() -> None:
    task = {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_FAILED"}, "error": {"code": 1}}
    assert answer(task, op="get").task is not None


def test_modes_that_an_error_names_are_read() -> None:
    body = status_body(
        400, name="ContentTypeNotSupported", message="Unsupported content type image/png; use text/plain"
    )
    read = answer(body, status=400)
    assert read.error is not None and named_modes(read.error).modes == ("text/plain",)


@pytest.mark.parametrize(
    ("body", "status", "op", "name"),
    [
        ({"code": -32001, "message": "no"}, 404, "get", "TaskNotFound"),
        ({"code": -32002, "message": "no"}, 409, "cancel", "TaskNotCancelable"),
        ({"code": -32007, "message": "no"}, 500, "extended-card", "ExtendedAgentCardNotConfigured"),
        ({"message": "no"}, 404, "get", "TaskNotFound"),
        ({"message": "no"}, 404, "send", "MethodNotFound"),
        ({"message": "no"}, 409, "cancel", "TaskNotCancelable"),
        ({"message": "no"}, 415, "send", "ContentTypeNotSupported"),
        ({"message": "no"}, 422, "send", "InvalidParams"),
        ({"message": "no"}, 501, "stream", "UnsupportedOperation"),
        ({"message": "no"}, 418, "send", None),
        ({"error": {"code": -32601, "message": "no"}}, 501, "send", "MethodNotFound"),
        (status_body(404, name="TaskNotFound"), 404, "get", "TaskNotFound"),
        (status_body(400, name="ContentTypeNotSupported"), 400, "send", "ContentTypeNotSupported"),
        ({"error": {"message": 7}}, 500, "send", "InternalError"),
    ],
)
def test_0_3_fixes_no_shape_and_its_sdks_have_three(body: Any, status: int, op: Op, name: str | None) -> None:
    """JavaScript: a JSON-RPC error object; Python 0.3: a message; Python 1.x serving 0.3: a google.rpc.Status."""
    read = answer(body, version="0.3", op=op, status=status, headers={"Content-Type": "application/json"})
    assert read.error is not None and read.error.name == name
    assert slugs(read.findings) == ["rpc-error"]

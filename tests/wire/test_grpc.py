"""The gRPC binding, read and written as evidence has it: no protobuf, no socket (wire-facts 5.2, 8)."""

from __future__ import annotations

import json

import pytest

from a2a_lab.core.model import Part, State
from a2a_lab.core.policy import Bounds, Clocks
from a2a_lab.core.stream import StreamWatch
from a2a_lab.verdicts import NotGradeable
from a2a_lab.wire.dialects import OutMessage, dialect_for, dialect_of_request
from a2a_lab.wire.exchange import Exchange
from a2a_lab.wire.protojson import BESIDE, line
from a2a_lab.wire.streams import StreamReader
from tests.wire.grpc_talk import HEADERS, TASK, URL, answer, event, failed, info
from tests.wire.talk import said, slugs

V1, V03 = dialect_for("1.0", "GRPC"), dialect_for("0.3", "GRPC")
MESSAGE = OutMessage(message_id="m1", parts=(Part(kind="text", text="hi"),))


# ---- what is asked


def test_a_call_of_1_0_names_its_method_and_its_version() -> None:
    request = V1.request(
        "send", url=URL, rpc_id=1, message=MESSAGE, tenant="acme", extensions=("https://a", "https://b")
    )
    assert (request.method, request.url) == (
        "POST",
        "https://agent.example.test:50051/lf.a2a.v1.A2AService/SendMessage",
    )
    assert request.headers == {
        "content-type": "application/grpc",
        "te": "trailers",
        "a2a-version": "1.0",
        "a2a-extensions": "https://a,https://b",
    }
    assert json.loads(request.body)["tenant"] == "acme"


def test_a_call_of_0_3_names_the_task_as_a_resource() -> None:
    asked = [V03.request(op, url=URL, rpc_id=1, task_id="t1") for op in ("get", "cancel", "subscribe")]
    assert {request.body for request in asked} == {b'{"name":"tasks/t1"}'}
    assert [request.url.rpartition("/")[2] for request in asked] == ["GetTask", "CancelTask", "TaskSubscription"]
    assert "a2a-version" not in asked[0].headers


@pytest.mark.parametrize(
    ("url", "there"),
    [
        ("agent.example.test:50051", "https://agent.example.test:50051"),
        ("127.0.0.1:50051", "http://127.0.0.1:50051"),
        ("http://agent.example.test:50051", "http://agent.example.test:50051"),
        ("https://agent.example.test/a2a/grpc", "https://agent.example.test:443"),
        ("[::1]:7", "http://[::1]:7"),
    ],
)
def test_the_url_of_an_interface_may_be_host_and_port_alone(url: str, there: str) -> None:
    """Without a scheme, plain text is for this machine (D8)."""
    assert V1.request("get", url=url, rpc_id=1, task_id="t").url == f"{there}/lf.a2a.v1.A2AService/GetTask"


def test_a_recorded_call_tells_its_version_and_what_it_asks() -> None:
    request = V1.request("cancel", url=URL, rpc_id=1, task_id="t1", tenant="acme")
    recorded = Exchange(method="POST", url=request.url, request_body=request.body)
    assert dialect_of_request(recorded) is V1
    asked = V1.parse_request(request.body, url=request.url)
    assert (asked.op, asked.task_id, asked.tenant) == ("cancel", "t1", "acme")
    assert asked.endpoint == "https://agent.example.test:50051"
    old = V03.request("get", url=URL, rpc_id=1, task_id="t1")
    assert dialect_of_request(Exchange(method="POST", url=old.url, request_body=old.body)) is V03
    assert V03.parse_request(old.body, url=old.url).task_id == "t1"


def test_what_is_odd_about_a_request_is_told() -> None:
    body = line({"id": "t1", BESIDE: {"unknown": ["/9 (varint)"]}})
    asked = V1.parse_request(body, url=V1.request("get", url=URL, rpc_id=1, task_id="t").url)
    assert asked.task_id == "t1" and slugs(asked.findings) == ["grpc-unknown-field"]


# ---- what answers


def test_an_answer_is_read_as_that_of_1_0_over_json() -> None:
    sent, got = answer({"task": TASK}), answer(TASK, op="get")
    assert sent.task is not None and sent.task == got.task and sent.task.state is State.WORKING
    assert sent.findings == () == got.findings
    assert answer({"task": {**TASK, "status": {}}}).findings[0].slug == "state-missing"  # proto omits UNSPECIFIED


def test_an_answer_of_0_3_has_the_names_of_its_proto() -> None:
    task = {**TASK, "status": {"state": "TASK_STATE_CANCELLED", "message": {"messageId": "m", "role": "ROLE_AGENT"}}}
    read = answer(task, op="cancel", version="0.3")
    assert read.task is not None and read.task.state is State.CANCELED
    update, findings = event(
        {"statusUpdate": {"taskId": "t", "contextId": "c", "status": TASK["status"], "final": True}}, "0.3"
    )
    assert update.final is True and findings == []


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        ({"unknown": ["/99 (varint)"]}, ("grpc-unknown-field", "accept", "rpc")),
        ({"wrong": ["/id (varint)"]}, ("grpc-wire-type", "conformance-error", "rpc")),
        ({"several": ["task", "message"]}, ("result-shape", "conformance-error", "rpc")),
    ],
)
def test_what_stands_beside_a_message_is_judged(beside: object, found: tuple[str, str, str]) -> None:
    read = answer({"task": TASK, BESIDE: beside})
    assert read.task is not None and said(read.findings) == [found]
    seen, findings = event({"task": TASK, BESIDE: beside})
    assert seen.kind == "task" and said(findings) == [(*found[:2], "stream")]


def test_bytes_that_are_no_message_are_a_finding() -> None:
    broken = {BESIDE: {"malformed": "Wire format was corrupt", "bytes": 3}}
    assert said(answer(broken).findings) == [("grpc-undecodable", "conformance-error", "rpc")]
    seen, findings = event(broken)
    assert seen.kind == "unknown" and said(findings) == [("grpc-undecodable", "conformance-error", "stream")]


def test_an_unknown_state_counts_as_neither_working_nor_complete() -> None:
    read = answer({"task": {**TASK, "status": {"state": "99"}}})
    assert read.task is not None and read.task.state is State.UNKNOWN and slugs(read.findings) == ["unknown-state"]


def test_no_message_and_several_messages() -> None:
    assert slugs(answer().findings) == ["empty-answer"]
    twice = answer({"task": TASK}, {"task": TASK})
    assert twice.task is not None and slugs(twice.findings) == ["grpc-several-answers"]


# ---- errors (wire-facts 8)


@pytest.mark.parametrize(
    ("said_so", "name", "findings"),
    [
        (failed(5, "no", info("TASK_NOT_FOUND")), "TaskNotFound", []),
        (failed(9, "no", info("UNSUPPORTED_OPERATION")), "UnsupportedOperation", []),
        (failed(12, "no", info("UNSUPPORTED_OPERATION")), "UnsupportedOperation", ["grpc-error-code-1.0.0"]),
        (failed(13, "no", info("TASK_NOT_FOUND")), "TaskNotFound", ["grpc-error-code"]),
        (failed(5, "no", info("TASK_NOT_FOUND", "x")), "TaskNotFound", ["grpc-error-info-shape"]),
        (failed(5), "TaskNotFound", ["grpc-error-info-missing"]),
        (failed(9), None, ["grpc-error-info-missing"]),
        (failed(3), "InvalidParams", []),
        (failed(12), "MethodNotFound", []),
        (failed(13, "no", info("OUR_OWN_REASON")), "InternalError", []),
        ({"error": {"code": "five", "details": {}}}, None, []),
        ({"error": 7}, None, []),
    ],
)
def test_a_status_names_its_error_by_its_error_info(said_so: object, name: str | None, findings: list[str]) -> None:
    read = answer(said_so, op="get")
    assert read.error is not None and read.error.name == name
    assert slugs(read.findings) == [*findings, "rpc-error"]


def test_0_3_names_its_error_in_the_text() -> None:
    named = answer(failed(9, "TaskNotCancelableError: it has ended"), op="cancel", version="0.3")
    assert named.error is not None and named.error.name == "TaskNotCancelable"
    by_code = answer(failed(5), op="get", version="0.3")
    assert (
        by_code.error is not None and by_code.error.name == "TaskNotFound" and slugs(by_code.findings) == ["rpc-error"]
    )


@pytest.mark.parametrize(
    ("code", "not_gradeable", "slug"),
    [
        (16, NotGradeable.AUTH_NEEDED, "auth-needed"),
        (7, NotGradeable.AUTH_NEEDED, "auth-needed"),
        (8, NotGradeable.THROTTLED, "throttled"),
    ],
)
def test_who_was_not_let_in_cannot_grade(code: int, not_gradeable: NotGradeable, slug: str) -> None:
    read = answer(failed(code))
    assert read.not_gradeable is not_gradeable and slugs(read.findings) == [slug]


@pytest.mark.parametrize("code", [1, 2, 4, 14])
def test_a_status_of_the_transport_leaves_the_outcome_unknown(code: int) -> None:
    """UNKNOWN is what a server says whose handler broke: as HTTP 500 without a body, it is no answer of A2A (R35)."""
    read = answer(failed(code))
    assert read.error is None and slugs(read.findings) == ["grpc-failure"]


# ---- streams


def streamed(*lines: bytes, ending: str = "close") -> StreamReader:
    reader = StreamReader(V1, StreamWatch("1.0", Clocks(), opened=0.0), rpc_id=None)
    reader.open(200, HEADERS, 0.0)
    for number, one in enumerate(lines):
        reader.feed(one, float(number) / 10)
    reader.close(1.0, ending)  # type: ignore[arg-type]
    return reader


UPDATE = {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}
ARTIFACT = {"taskId": "t1", "contextId": "c1", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}


def test_a_stream_is_a_message_a_line() -> None:
    result = streamed(line({"task": TASK}), line({"artifactUpdate": ARTIFACT}), line({"statusUpdate": UPDATE})).result
    assert result.closure == "final-proved" and result.findings == ()


def test_a_stream_that_fails_before_it_begins_is_an_error_answer() -> None:
    reader = streamed(line(failed(9, "no", info("UNSUPPORTED_OPERATION"))))
    assert reader.result.closure == "rpc-error-before-stream" and reader.answer is not None
    assert reader.answer.error is not None and reader.answer.error.name == "UnsupportedOperation"
    assert streamed(line(failed(2))).result.closure == "http-error"
    assert streamed(line(failed(16))).not_gradeable is NotGradeable.AUTH_NEEDED


def test_a_stream_that_fails_on_the_way_has_an_error_event() -> None:
    result = streamed(line({"task": TASK}), line(failed(13, "broke"))).result
    assert result.closure == "error-frame"


def test_a_stream_that_ends_well_before_its_task_does_is_named() -> None:
    assert streamed(line({"task": TASK})).result.closure == "eof-nonterminal"
    assert streamed().result.closure == "eof-nonterminal"
    assert streamed(line({"task": TASK}), ending="reset").result.closure == "reset"


def test_the_bounds_of_a_stream_are_named() -> None:
    bounds = Bounds(events=2)
    reader = StreamReader(V1, StreamWatch("1.0", Clocks(), opened=0.0), rpc_id=None, bounds=bounds)
    reader.open(200, HEADERS, 0.0)
    reader.feed(b"".join([line({"task": TASK})] * 3), 0.1)
    assert reader.result.closure == "limit" and "events = 2" in reader.result.findings[-1].detail

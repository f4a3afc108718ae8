"""DESIGN 9 over gRPC: a fault of the transport is a word in the evidence, every wait ends, every bound is named."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from a2a_lab.core.model import Part
from a2a_lab.core.policy import Bounds
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.errors import Misuse
from a2a_lab.net.caller import Called, Caller
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.credentials import Fixed
from a2a_lab.net.evidence import Recorder
from a2a_lab.net.redact import Redactor
from a2a_lab.wire.dialects import OutMessage, dialect_for
from a2a_lab.wire.har import from_har, to_har
from a2a_lab.wire.protobuf import schema
from tests.net.grpc_peers import (
    DATA,
    END,
    END_HEADERS,
    RST_STREAM,
    STATUS_200,
    STATUS_404,
    Handler,
    frame,
    grpc_peer,
    head,
    http2_peer,
    message,
)
from tests.net.peers import peer
from tests.wire.grpc_talk import TASK, packed
from tests.wire.talk import slugs

MESSAGE = OutMessage(message_id="m1", parts=(Part(kind="text", text="hi"),))
ANSWER = packed("SendMessageResponse", {"task": TASK})
EVENT = packed("StreamResponse", {"task": TASK})


@contextlib.asynccontextmanager
async def caller_of(
    place: str, *, version: str = "1.0", credentials: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Caller]:
    reach = Reach(trust_env=False)
    async with new_client(reach, tls_context(reach)) as client:
        options.setdefault("bounds", Bounds())
        http = Http(client, Recorder(), reach=reach, **options)
        target = ResolvedTarget(dispatch_url=place, binding="GRPC", version=version)
        own = Fixed(credentials) if credentials else None
        yield Caller(http, dialect_for(version, "GRPC"), target, credentials=own, bounds=options["bounds"])


def sent(handler: Handler | None, *, total_s: float = 5.0, **options: Any) -> Called:
    """One SendMessage to a server with this handler (None: one that has no such method)."""

    async def life() -> Called:
        methods = {} if handler is None else {"SendMessage": handler}
        async with grpc_peer(**methods) as place, caller_of(place, **options) as caller:
            return await caller.call("send", purpose="commit", message=MESSAGE, total_s=total_s)

    return asyncio.run(life())


async def honest(request: bytes, context: Any) -> AsyncIterator[bytes]:
    yield ANSWER


def test_an_exchange_holds_the_json_the_bytes_and_the_trailers() -> None:
    called = sent(honest)
    exchange = called.exchange
    assert called.answer is not None and called.answer.task is not None and called.answer.findings == ()
    assert exchange.status == 200 and json.loads(exchange.body) == {"task": TASK}
    assert exchange.header("grpc-status") == "0" and exchange.grpc is not None
    assert (exchange.grpc.messages, exchange.grpc.trailers) == ([ANSWER], ["grpc-status"])
    asked = schema("1.0").messages["SendMessageRequest"].FromString(exchange.grpc.request)
    assert asked.message.message_id == "m1" and json.loads(exchange.request_body)["message"]["messageId"] == "m1"


def test_evidence_opens_in_any_har_viewer_and_comes_back_as_it_was() -> None:
    exchange = sent(honest).exchange
    document = json.loads(json.dumps(to_har([exchange], started=Recorder().started, tool="a2a-lab 0")))
    (entry,) = document["log"]["entries"]
    assert json.loads(entry["response"]["content"]["text"]) == {"task": TASK}
    assert base64.b64decode(entry["_grpc"]["messages"][0]) == ANSWER
    assert {"name": "grpc-status", "value": "0"} in entry["response"]["headers"]
    (again,) = from_har(document)
    assert (again.grpc, again.body, again.response_headers) == (exchange.grpc, exchange.body, exchange.response_headers)


def test_version_extensions_and_credentials_go_along_as_metadata() -> None:
    heard: dict[str, Any] = {}

    async def listens(request: bytes, context: Any) -> AsyncIterator[bytes]:
        heard.update(context.invocation_metadata())
        yield ANSWER

    called = sent(listens, credentials={"Authorization": "Bearer t0ken", "X-Own-bin": "AQI="})
    assert (heard["a2a-version"], heard["authorization"], heard["x-own-bin"]) == ("1.0", "Bearer t0ken", b"\x01\x02")
    assert "a2a-lab" in heard["user-agent"]
    stored = Redactor(headers=["X-Own-bin"], values=["t0ken"]).exchange(called.exchange)
    assert ("Authorization", "REDACTED") in stored.request_headers


def test_bytes_that_hold_a_secret_are_not_stored() -> None:
    """Their JSON is redacted; bytes cannot be."""

    async def leaks(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield packed("SendMessageResponse", {"message": {"messageId": "m", "parts": [{"text": "s3cret"}]}})

    stored = Redactor(values=["s3cret"]).exchange(sent(leaks).exchange)
    assert b"s3cret" not in stored.body and stored.grpc is not None
    assert stored.grpc.messages == [] and stored.grpc.request is not None


def test_a_secret_in_a_field_that_no_json_shows_is_not_stored_either() -> None:
    async def hides(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield ANSWER + b"\xa2\x06\x06s3cret"

    stored = Redactor(values=["s3cret"]).exchange(sent(hides).exchange)
    assert stored.grpc is not None and stored.grpc.messages == []


@pytest.mark.parametrize("header", [{"X Bad": "v"}, {"x-a": "é"}, {"x-a": "a\nb"}, {"x-a-bin": "x"}])
def test_a_header_that_no_metadata_can_hold_is_said_in_a_sentence(header: dict[str, str]) -> None:
    with pytest.raises(Misuse, match=f"header '{next(iter(header)).lower()}' cannot be sent as gRPC metadata"):
        sent(honest, credentials=header)


# ---- what servers do


def test_a_status_with_details_is_the_error_it_names() -> None:
    types = schema("rpc").messages
    status = types["Status"](code=5, message="gone")
    status.details.add().Pack(types["ErrorInfo"](reason="TASK_NOT_FOUND", domain="a2a-protocol.org"))

    async def refuses(request: bytes, context: Any) -> AsyncIterator[bytes]:
        import grpc

        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        await context.abort(grpc.StatusCode.NOT_FOUND, "gone")
        yield b""

    called = sent(refuses)
    assert called.answer is not None and called.answer.error is not None
    assert called.answer.error.name == "TaskNotFound" and slugs(called.answer.findings) == ["rpc-error"]
    assert called.exchange.header("grpc-status") == "5" and called.exchange.header("grpc-message") == "gone"
    assert called.exchange.grpc is not None and "grpc-status-details-bin" in called.exchange.grpc.trailers


async def _aborts(code: str, context: Any) -> None:
    import grpc

    await context.abort(getattr(grpc.StatusCode, code), "said so")


@pytest.mark.parametrize(
    ("code", "slug"),
    [
        ("FAILED_PRECONDITION", "grpc-error-info-missing"),
        ("UNKNOWN", "grpc-failure"),
        ("UNAUTHENTICATED", "auth-needed"),
    ],
)
def test_a_status_without_details_is_told_by_its_code(code: str, slug: str) -> None:
    async def refuses(request: bytes, context: Any) -> AsyncIterator[bytes]:
        await _aborts(code, context)
        yield b""

    called = sent(refuses)
    assert called.answer is not None and slug in slugs(called.answer.findings) and called.exchange.status == 200


def test_a_method_that_is_not_there_is_an_answer() -> None:
    called = sent(None)
    assert called.answer is not None and called.answer.error is not None
    assert called.answer.error.name == "MethodNotFound"


def test_a_handler_that_breaks_leaves_the_outcome_unknown() -> None:
    async def breaks(request: bytes, context: Any) -> AsyncIterator[bytes]:
        raise ValueError("a bug of the server")
        yield b""

    called = sent(breaks)
    assert (
        called.answer is not None and called.answer.error is None and slugs(called.answer.findings) == ["grpc-failure"]
    )


@pytest.mark.parametrize(
    ("raw", "slug"),
    [
        (packed("AgentCard", {"name": "a", "skills": [{"id": "s"}]}), "grpc-undecodable"),
        (packed("ListTasksResponse", {"pageSize": 3, "tasks": [TASK]}), "grpc-unknown-field"),
        (b"\x08\x01", "grpc-wire-type"),
        (ANSWER[:-2], "grpc-undecodable"),
        (ANSWER.replace(b"\x08\x02", b"\x08\x63"), "unknown-state"),
        (b"", "result-shape"),
        (b"\xa2\x06\x01a" + ANSWER, "grpc-unknown-field"),
    ],
    ids=[
        "another message",
        "a list",
        "a number for a task",
        "cut",
        "an unknown enum",
        "nothing in it",
        "a field of its own",
    ],
)
def test_a_wrong_message_is_a_named_finding(raw: bytes, slug: str) -> None:
    async def answers(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield raw

    called = sent(answers)
    assert called.answer is not None and slug in slugs(called.answer.findings)


def test_two_messages_for_one_call_do_not_hang_and_are_named() -> None:
    async def twice(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield ANSWER
        yield ANSWER

    called = sent(twice)
    assert called.answer is not None and slugs(called.answer.findings) == ["grpc-several-answers"]


# ---- faults and limits


def test_a_message_beyond_the_bound_is_named() -> None:
    async def large(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield packed("SendMessageResponse", {"message": {"messageId": "m", "parts": [{"text": "x" * 5000}]}})

    called = sent(large, bounds=Bounds(body_bytes=1000))
    assert called.answer is None and called.exchange.fault == "limit: body_bytes 1000"


def test_a_hang_ends_at_the_total_of_the_call_and_at_the_transport_timeout() -> None:
    async def hangs(request: bytes, context: Any) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    ours, theirs = sent(hangs, total_s=0.2), sent(hangs, transport_timeout_s=0.2)
    assert [one.exchange.fault for one in (ours, theirs)] == ["read-timeout", "read-timeout"]
    assert [one.exchange.cut_by for one in (ours, theirs)] == ["total-limit", "transport-timeout"]
    assert ours.exchange.status is None


def test_nobody_there_and_nobody_who_speaks_it() -> None:
    async def over_http_1(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async def life() -> list[str]:
        faults = []
        async with peer(over_http_1) as other:
            for place in ("127.0.0.1:1", "nobody.invalid:50051", other):
                async with caller_of(place) as caller:
                    called = await caller.call("get", purpose="get", task_id="t", total_s=5.0)
                    assert called.answer is None and called.exchange.status is None
                    faults.append(called.exchange.fault or "")
        return faults

    refused, unknown, http = asyncio.run(life())
    assert (refused, unknown) == ("connect-refused", "dns") and http.startswith("connect: failed to connect")


def test_a_stream_keeps_each_message_with_its_time_and_can_be_left() -> None:
    is_gone = asyncio.Event()

    async def drips(request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield EVENT
        await asyncio.sleep(0.1)
        yield EVENT
        try:
            await asyncio.Event().wait()
        finally:
            is_gone.set()

    async def life() -> None:
        async with grpc_peer(SendStreamingMessage=drips) as place, caller_of(place) as caller:
            async with caller.open("stream", purpose="commit", message=MESSAGE, open_s=5.0) as opened:
                first, second = await opened.live.next(5.0), await opened.live.next(5.0)
            exchange = opened.live.exchange
            assert first == second and json.loads(first or b"") == {"task": TASK}
            early, late = exchange.chunks
            assert late.offset_ms - early.offset_ms >= 90 and exchange.ending == "open"
            async with asyncio.timeout(5):
                await is_gone.wait()  # leaving cancels the call at the server

    asyncio.run(life())


def test_a_server_that_dies_in_the_middle_is_a_reset_and_no_end() -> None:
    async def life() -> None:
        is_begun = asyncio.Event()

        async def begins(request: bytes, context: Any) -> AsyncIterator[bytes]:
            yield EVENT
            is_begun.set()
            await asyncio.Event().wait()

        async with contextlib.AsyncExitStack() as server:
            place = await server.enter_async_context(grpc_peer(SendStreamingMessage=begins))
            async with caller_of(place) as caller:
                async with caller.open("stream", purpose="commit", message=MESSAGE, open_s=5.0) as opened:
                    assert await opened.live.next(5.0) is not None
                    await is_begun.wait()
                    await server.aclose()
                    assert await opened.live.next(5.0) is None
                exchange = opened.live.exchange
                assert exchange.ending == "reset" and exchange.fault == "reset-after-request"

    asyncio.run(life())


def test_a_stream_of_endless_messages_stops_at_its_bound() -> None:
    async def floods(request: bytes, context: Any) -> AsyncIterator[bytes]:
        while True:
            yield EVENT

    async def life() -> str | None:
        async with (
            grpc_peer(SendStreamingMessage=floods) as place,
            caller_of(place, bounds=Bounds(stream_bytes=5000)) as caller,
        ):
            async with caller.open("stream", purpose="commit", message=MESSAGE, open_s=5.0) as opened:
                await opened.live.rest(5.0)
            return opened.live.exchange.fault

    assert asyncio.run(life()) == "limit: stream_bytes 5000"


def test_0_3_is_called_by_its_own_service() -> None:
    async def answers(request: bytes, context: Any) -> AsyncIterator[bytes]:
        asked = schema("0.3").messages["GetTaskRequest"].FromString(request)
        yield packed(
            "Task", {"id": asked.name.removeprefix("tasks/"), "contextId": "c", "status": TASK["status"]}, "0.3"
        )

    async def life() -> Called:
        async with grpc_peer("a2a.v1.A2AService", GetTask=answers) as place, caller_of(place, version="0.3") as caller:
            return await caller.call("get", purpose="get", task_id="t9", total_s=5.0)

    called = asyncio.run(life())
    assert called.answer is not None and called.answer.task is not None and called.answer.task.id == "t9"


# ---- what is no gRPC, on the wire of HTTP/2


def sent_to(answers: Callable[[int], bytes]) -> Called:
    async def life() -> Called:
        async with http2_peer(answers) as place, caller_of(place) as caller:
            return await caller.call("send", purpose="commit", message=MESSAGE, total_s=5.0)

    return asyncio.run(life())


def test_a_page_over_http_2_is_an_answer_and_none_of_grpc() -> None:
    """Whether a server of another kind or a proxy that lost the trailers: nobody knows what became of the call."""
    page = sent_to(lambda n: head(n, STATUS_404, content_type="text/html") + frame(DATA, END, n, b"<html>"))
    lost = sent_to(
        lambda n: head(n, STATUS_200, content_type="application/grpc") + frame(DATA, END, n, message(ANSWER))
    )
    for called in (page, lost):
        assert called.answer is not None and called.answer.error is None
        assert slugs(called.answer.findings) == ["grpc-failure"] and called.exchange.header("grpc-status") is None


def test_trailers_alone_are_the_whole_answer() -> None:
    only = {"content_type": "application/grpc", "grpc_status": "9", "grpc_message": "no"}
    called = sent_to(lambda n: head(n, STATUS_200, flags=END | END_HEADERS, **only))
    assert called.exchange.header("grpc-status") == "9" and called.answer is not None
    assert called.answer.error is not None and called.answer.error.message == "no"


def test_a_reset_stream_is_a_fault_of_the_transport() -> None:
    called = sent_to(lambda n: frame(RST_STREAM, 0, n, (2).to_bytes(4, "big")))
    assert called.answer is None and called.exchange.fault == "reset-after-request"


def test_a_status_that_no_table_has_is_none_of_a2a() -> None:
    odd = {"content_type": "application/grpc", "grpc_status": "77"}
    called = sent_to(lambda n: head(n, STATUS_200, flags=END | END_HEADERS, **odd))
    assert called.answer is not None and slugs(called.answer.findings) == ["grpc-failure"]

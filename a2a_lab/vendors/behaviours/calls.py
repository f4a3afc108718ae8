"""Misbehaviours of whole calls: never answered, answered in another way, or answered with the wrong error."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

from a2a_lab.vendors.behaviours.table import Behaviour, Call, Document, Option, Options, Serve
from a2a_lab.vendors.traffic import Reply, json_reply, to_json

_HEADERS = {
    401: {"WWW-Authenticate": 'Bearer realm="lab"'},
    429: {"Retry-After": "1"},
    503: {"Retry-After": "1"},
}


async def _blocks_forever(call: Call, serve: Serve, options: Options) -> Reply:
    """The message is taken and worked on; only the answer never leaves."""
    await serve(call)
    await asyncio.Event().wait()
    raise AssertionError("unreachable: the event is never set")


async def _silent_downgrade(call: Call, serve: Serve, options: Options) -> Reply:
    return await serve(replace(call, as_stream=False, immediate=False))


async def _answers_early(call: Call, serve: Serve, options: Options) -> Reply:
    return await serve(replace(call, immediate=True))


async def _wrong_error_code(call: Call, serve: Serve, options: Options) -> Reply:
    reply = await serve(call)
    if reply.media_type != "application/json" or not isinstance(reply.body, bytes):
        return reply
    answer = json.loads(reply.body)
    if "error" not in answer:
        return reply
    answer["error"] = {"code": options["code"], "message": answer["error"]["message"]}
    return json_reply(answer, status=reply.status)


async def _ignores_cancel(call: Call, serve: Serve, options: Options) -> Reply:
    """Answers the task as it stands, and goes on working at it."""
    return await serve(replace(call, op="get"))


async def _http_status(call: Call, serve: Serve, options: Options) -> Reply:
    body = b"<html><body>the proxy in front of the agent is unhappy</body></html>"
    return Reply(
        status=options["status"], media_type="text/html", headers=_HEADERS.get(options["status"], {}), body=body
    )


async def _ndjson(call: Call, serve: Serve, options: Options) -> Reply:
    reply = await serve(call)
    return reply if isinstance(reply.body, bytes) else replace(reply, media_type="application/x-ndjson")


async def _problem_details(call: Call, serve: Serve, options: Options) -> Reply:
    """The error body of the pre-release of 1.0, under the same status."""
    reply = await serve(call)
    if reply.status < 400 or not isinstance(reply.body, bytes) or "json" not in reply.media_type:
        return reply
    error = json.loads(reply.body)
    error = error.get("error", error)
    kind = next((detail["reason"] for detail in error.get("details", [])), "INVALID_REQUEST")
    problem = {
        "type": f"https://a2a-protocol.org/errors/{kind.lower().replace('_', '-')}",
        "title": kind.replace("_", " ").capitalize(),
        "status": reply.status,
        "detail": error["message"],
    }
    return replace(reply, media_type="application/problem+json", body=to_json(problem))


def _both_members(envelope: Document, options: Options) -> Document:
    if "result" not in envelope:
        return envelope
    return envelope | {"error": {"code": -32603, "message": "and an error as well"}}


BEHAVIOURS = (
    Behaviour(
        name="blocks-forever",
        says="Takes the message and never answers the call.",
        breaks="R30",
        call=_blocks_forever,
    ),
    Behaviour(
        name="silent-downgrade",
        says="Answers a stream call with plain JSON at the end of the work.",
        breaks="A6; 1.0 section 3.1.2",
        call=_silent_downgrade,
    ),
    Behaviour(
        name="answers-early",
        says="Answers a blocking send while the task is still at work.",
        breaks="R22; 1.0 section 3.2.2",
        call=_answers_early,
    ),
    Behaviour(
        name="wrong-error-code",
        says="Says every error with one code of its choice.",
        breaks="R27",
        bindings=("JSONRPC",),
        options=(Option(name="code", kind="any", says="the code", default=-32603),),
        ops=("send", "stream", "get", "cancel", "subscribe", "extended-card", ""),
        call=_wrong_error_code,
    ),
    Behaviour(
        name="ignores-cancel",
        says="Answers a cancel with the task as it stands, and goes on.",
        breaks="A7, R35",
        ops=("cancel",),
        call=_ignores_cancel,
    ),
    Behaviour(
        name="http-status",
        says="Answers calls with an HTTP status and a page instead of JSON-RPC.",
        breaks="R1, R13",
        options=(Option(name="status", kind="whole", says="the status", default=502),),
        call=_http_status,
    ),
    Behaviour(
        name="wrong-stream-media",
        says="Sends the events under a content type that is not text/event-stream.",
        breaks="A6; 1.0 section 9.4",
        call=_ndjson,
    ),
    Behaviour(
        name="problem-details",
        says="Writes errors as problem details, the shape of the pre-release.",
        breaks="R27; 1.0 section 11.6",
        ops=("send", "stream", "get", "cancel", "subscribe", "extended-card", ""),
        bindings=("HTTP+JSON",),
        call=_problem_details,
    ),
    Behaviour(
        name="speaks-another-version",
        says="The card declares its version, and the wire is that of another one.",
        breaks="A2; 1.0 section 8.3.1",
        options=(Option(name="dialect", kind="text", says="which", default="0.3", words=("1.0", "0.3", "0.2", "0.1")),),
        speaks=True,
    ),
    Behaviour(
        name="result-and-error",
        says="Answers with both a result and an error.",
        breaks="JSON-RPC 2.0 section 5",
        bindings=("JSONRPC",),
        envelope=_both_members,
    ),
)

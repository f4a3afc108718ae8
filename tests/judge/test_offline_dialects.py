"""Recordings in the other dialects are judged by the same gates: HTTP+JSON, 0.2, and the draft (R5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.core.policy import Policy
from a2a_lab.judge.offline import Judgement
from a2a_lab.judge.transcript import read_calls
from a2a_lab.verdicts import Stage
from a2a_lab.wire.exchange import Chunk, Exchange
from tests.judge.evidence import JSON, ORIGIN, call, card, get, judged, slugs, task, verdicts

REST = f"{ORIGIN}/rest"
VERSION = ("A2A-Version", "1.0")
BOTH = Policy(supports=("1.0", "0.3", "0.2", "0.1"), bindings=("JSONRPC", "HTTP+JSON"))
NEW = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
OLD = {"messageId": "m1", "role": "ROLE_USER", "content": [{"text": "hi"}]}
LEGACY = f"{ORIGIN}/.well-known/agent.json"


def rest(
    method: str, path: str, answer: Any, *, body: Any = None, status: int = 200, base: str = REST, **more: Any
) -> Exchange:
    """A call over HTTP+JSON; without `request_headers` it names 1.0."""
    return Exchange(
        method=method,
        url=base + path,
        request_body=b"" if body is None else json.dumps(body).encode(),
        status=status,
        response_headers=list(JSON),
        body=json.dumps(answer).encode(),
        **({"request_headers": [VERSION], "started_ms": 1, "ended_ms": 2} | more),
    )


def declares(version: str = "1.0", **members: Any) -> Exchange:
    interface = {"url": REST, "protocolBinding": "HTTP+JSON", "protocolVersion": version} | members
    return get(card(supportedInterfaces=[interface]))


def read(*exchanges: Exchange) -> Judgement:
    return judged(list(exchanges), policy=BOTH)


@pytest.mark.parametrize(
    ("base", "tenant"),
    [(REST, None), (f"{REST}/acme", "acme"), (f"{REST}/acme%20corp", "acme corp"), (f"{REST}/globex", "globex")],
)
def test_the_tenant_of_a_call_over_http_json_is_a_segment_of_its_path(base: str, tenant: str | None) -> None:
    """D2. A call of any tenant of the interface is a call to it, so that what came is judged by its card."""
    done = {"task": task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "x", "mediaType": "a/b"}]}])}
    sent = rest("POST", "/message:send", done, body={"message": NEW}, base=base)
    assert "media-not-declared" in slugs(read(declares(tenant="acme"), sent), Stage.RECEIVE)
    (call_,) = read_calls([sent])
    assert call_.tenant_at(REST) == call_.tenant_at(f"{REST}/") == tenant


def test_a_call_elsewhere_is_not_judged_by_the_card() -> None:
    done = {"task": task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "x", "mediaType": "a/b"}]}])}
    sent = rest("POST", "/message:send", done, body={"message": NEW}, base=f"{ORIGIN}/other/place")
    assert slugs(read(declares(), sent), Stage.RECEIVE) == []


def test_a_look_up_by_get_belongs_to_the_conversation() -> None:
    working, done = task("WORKING"), task("COMPLETED")
    judgement = read(
        declares("0.3"),
        rest("POST", "/v1/message:send", {"task": working}, body={"message": OLD}, request_headers=[]),
        rest("GET", "/v1/tasks/t1", done, request_headers=[], started_ms=3, ended_ms=4),
    )
    assert verdicts(judgement) | {"signature": "-"} == {
        "resolve": "accept",
        "fetch": "accept",
        "match": "accept",
        "signature": "-",
        "version": "accept",
        "rpc": "accept",
        "probe": "accept",
        "ledger": "accept",
    }
    assert judgement.orphans == ()


def test_foreign_gets_are_no_calls() -> None:
    """A page that lists tasks of its own is not one of A2A."""
    judgement = read(rest("GET", "/tasks", [], request_headers=[]), rest("GET", "/tasks/7", {}, request_headers=[]))
    assert verdicts(judgement) == {}


def test_a_stream_over_http_json_is_watched() -> None:
    events = [
        {"task": task("WORKING")},
        {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}},
    ]
    exchange = rest("POST", "/message:stream", None, body={"message": NEW})
    exchange.response_headers = [("Content-Type", "text/event-stream")]
    exchange.chunks = [Chunk(offset_ms=10.0 * (place + 1), data=one) for place, one in enumerate(map(_event, events))]
    exchange.body, exchange.ended_ms = b"".join(one.data for one in exchange.chunks), 50.0
    judgement = read(declares(), exchange)
    assert judgement.closure == "final-proved"
    assert slugs(judgement, Stage.STREAM) == ["stream-without-artifact"]


def _event(body: Any) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


def test_a_declared_path_that_is_not_there_is_a_declared_method_that_is_missing() -> None:
    """`ver-01` over HTTP+JSON: the card says 1.0, the server has the paths of 0.3."""
    judgement = read(
        declares(), rest("POST", "/message:send", {"detail": "Not Found"}, body={"message": NEW}, status=404)
    )
    assert slugs(judgement, Stage.PROBE) == ["declared-method-missing"]
    assert verdicts(judgement)["probe"] == "conformance-error"


def test_codes_are_decoded_in_the_version_of_the_card() -> None:
    """-32007 means something from 0.3 on; under a 0.2 card it is nobody's code."""
    old = {"protocolVersion": "0.2.6", "url": f"{ORIGIN}/rpc", "name": "x", "version": "1", "description": "x"}
    rest_of = {
        "capabilities": {},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
    }
    params = {
        "message": {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
    }
    refused = call("message/send", params, error={"code": -32007, "message": "no"})
    judgement = read(get(old | rest_of, url=LEGACY), refused)
    (finding,) = [one for one in judgement.findings.all if one.slug == "call-refused"]
    assert "unknown to this version" in finding.detail
    assert "ExtendedAgentCardNotConfigured" in read(refused).findings.stages[Stage.PROBE][1][0].detail


def test_a_conversation_of_the_draft_keeps_its_books_by_the_clients_ids() -> None:
    """Two questions of the agent are one renegotiation: the first message continued nothing."""

    def said(state: str, at: float) -> Exchange:
        message = {"role": "user", "parts": [{"type": "text", "text": "hi"}]}
        result = {"id": "mine", "status": {"state": state}}
        return call("tasks/send", {"id": "mine", "message": message}, result=result, at=at)

    judgement = read(said("input-required", 1), said("input-required", 3), said("completed", 5))
    assert "renegotiation-limit" not in slugs(judgement, Stage.PROBE)
    assert "unknown-task-accepted" not in slugs(judgement, Stage.PROBE)
    assert judgement.orphans == ()
    twice = read(said("input-required", 1), said("input-required", 3), said("input-required", 5))
    assert "renegotiation-limit" in slugs(twice, Stage.PROBE)
    assert [row.task_id for row in twice.orphans if row.what == "task"] == ["mine"]


def test_a_task_of_the_draft_under_another_id_is_replaced() -> None:
    message = {"role": "user", "parts": [{"type": "text", "text": "hi"}]}
    result = {"id": "theirs", "status": {"state": "completed"}}
    judgement = read(call("tasks/send", {"id": "mine", "message": message}, result=result))
    assert slugs(judgement, Stage.PROBE) == ["task-replaced"]


REFUSED = {
    "error": {
        "code": 415,
        "status": "INVALID_ARGUMENT",
        "message": "Incompatible content types",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "CONTENT_TYPE_NOT_SUPPORTED",
                "domain": "a2a-protocol.org",
            }
        ],
    }
}


def under(media_type: str) -> list[tuple[str, str]]:
    return [VERSION, ("Content-Type", media_type)]


def test_a_label_that_http_refuses_says_nothing_of_the_modes() -> None:
    """R22: the same call under application/json was taken, so nothing was narrowed and nothing was sent twice."""
    body = {"message": NEW}
    first = rest("POST", "/message:send", REFUSED, body=body, status=415, request_headers=under("application/a2a+json"))
    done = {"task": task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "x"}]}])}
    again = rest("POST", "/message:send", done, body=body, request_headers=under("application/json"), started_ms=3)
    found = read(declares(), first, again)
    assert "http-media-type-refused" in slugs(found, Stage.RPC)
    assert "mode-narrowed" not in slugs(found, Stage.PROBE)
    assert verdicts(found)[Stage.LEDGER] == "accept"


@pytest.mark.parametrize("label", ["application/json", "application/a2a+json"])
def test_a_415_that_no_other_label_mends_is_about_the_parts(label: str) -> None:
    refused = rest("POST", "/message:send", REFUSED, body={"message": NEW}, status=415, request_headers=under(label))
    found = read(declares(), refused)
    assert "mode-narrowed" in slugs(found, Stage.PROBE) and "http-media-type-refused" not in slugs(found, Stage.RPC)

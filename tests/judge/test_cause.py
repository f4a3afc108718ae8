"""One word for why a pair failed: the ten causes of the measured matrix, with texts that clients really wrote."""

from __future__ import annotations

import pytest

from a2a_lab.core.causes import CONSUMER_GATE
from a2a_lab.judge.visit import Account
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import (
    BASE,
    OK,
    RPC,
    WHOLE_STREAM,
    call,
    card_0_3,
    card_1_0,
    judged,
    look,
    message,
    status,
    stream,
    task,
)

NO_TRANSPORT = "Error: No compatible transport found, available transports: JSONRPC,HTTP+JSON"
NO_URL = (
    "A2AClientJSONError: JSON Error: Failed to validate agent card structure from http://127.0.0.1:1/.well-known/agent-"
    'card.json: [{"type":"missing","loc":["url"],"msg":"Field required"'
)
CREW_NO_URL = (
    "RuntimeError: Failed to fetch agent card from http://127.0.0.1:1/x. Ensure the A2A agent is running and "
    "accessible. Error: 1 validation error for AgentCard url Field required"
)


def failed(text: str, **more: object) -> Account:
    return Account(ok=False, error=text, said=f"failed after 0 events: {text[:60]}", **more)  # type: ignore[arg-type]


def cause(*exchanges: Exchange, account: Account | None, **more: object) -> str | None:
    found = judged(*exchanges, account=account, **more).cause  # type: ignore[arg-type]
    return found.slug if found is not None else None


def test_a_pair_that_works_has_no_cause() -> None:
    assert cause(look(card_1_0()), call(answer={"task": task()}), account=OK) is None
    assert cause(look(card_1_0()), stream(*WHOLE_STREAM), account=OK) is None
    assert cause(look(card_1_0()), stream(*WHOLE_STREAM), account=None) is None


# 1 and 2: one message of the JS client stands for two causes, and one cause for three messages


@pytest.mark.parametrize("text", [NO_URL, CREW_NO_URL, NO_TRANSPORT])
def test_a_1_x_card_is_unreadable_to_a_0_3_client(text: str) -> None:
    assert cause(look(card_1_0()), account=failed(text), dialects=("0.3",)) == "newer-card-unreadable"


@pytest.mark.parametrize(
    "text",
    [
        NO_TRANSPORT,
        "ValueError: no compatible transports found.",
        "agent card has no supported interfaces",
        "ValueError: AgentCard has no supported interfaces to determine the base URL from.",
    ],
)
def test_a_0_3_card_is_unusable_to_a_1_x_client(text: str) -> None:
    asked = look(card_0_3(), sent={"A2A-Version": "1.0"})
    assert cause(asked, account=failed(text), dialects=("1.0",)) == "older-card-unusable"
    assert cause(look(card_0_3()), account=failed(text)) == "older-card-unusable"


def test_without_an_account_the_headers_tell_the_generation() -> None:
    assert cause(look(card_0_3(), sent={"A2A-Version": "1.0"}), account=None) == "older-card-unusable"
    assert cause(look(card_1_0()), account=None, dialects=("0.3",)) == "newer-card-unreadable"
    assert cause(look(card_1_0()), account=None) == "readable-card-declined"


# 3 and 7: both are a 404, at two different places


def test_the_card_lies_at_the_other_well_known_path() -> None:
    text = "A2AClientHTTPError: HTTP Error 404: Failed to fetch agent card"
    own = f"{BASE}/.well-known/agent-card.json"
    old = look(path="/.well-known/agent.json")
    assert cause(old, account=failed(text), own_card_url=own) == "wrong-well-known-path"
    assert cause(look(), account=failed(text)) == "wrong-well-known-path"


def test_what_answers_there_need_not_be_a_404() -> None:
    """A JSON-RPC error under every path, as some servers give."""
    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}'
    own = f"{BASE}/.well-known/agent-card.json"
    wrong = look(path="/.well-known/agent.json", body=body)
    assert cause(wrong, account=failed(NO_URL), own_card_url=own) == "wrong-well-known-path"
    assert cause(look(status=500, body=b"x"), account=failed("500"), own_card_url=own) == "no-card-served"


def test_the_end_of_the_base_path_was_lost() -> None:
    text = f"Error: Failed to fetch Agent Card from {BASE}/a2a/.well-known/agent-card.json: 404"
    lost = look(path="/a2a/.well-known/agent-card.json")
    own = f"{BASE}/a2a/one/.well-known/agent-card.json"
    assert cause(lost, account=failed(text), address=f"{BASE}/a2a/one", own_card_url=own) == "base-path-joined"


# 4: the card contradicts the runtime


@pytest.mark.parametrize(
    "answer",
    [
        call("message/send", status=500, body=b"Unknown content type: None"),
        call("message/send", status=404, body=b"Not Found"),
        call("message/send", error={"code": -32601, "message": "Method not found"}),
    ],
    ids=["500", "404", "-32601"],
)
def test_what_is_declared_is_not_served(answer: Exchange) -> None:
    assert cause(look(card_0_3()), answer, account=failed("Error: HTTP error")) == "card-contradicts-runtime"


def test_a_call_that_nobody_declared_is_the_consumers() -> None:
    """The same -32601, and another culprit."""
    answer = call("message/send", error={"code": -32601, "message": "Method not found"})
    assert cause(look(card_1_0()), answer, account=failed("JSON-RPC error")) == "undeclared-dialect"


@pytest.mark.parametrize("code", [-32601, -32009])
def test_a_call_of_1_0_that_names_no_version_is_the_consumers(code: int) -> None:
    """§3.6.2 MUST: without A2A-Version it is one of 0.3, which an agent of 1.0 alone declines as either."""
    answer = call(version=None, error={"code": code, "message": "no"})
    assert cause(look(card_1_0()), answer, account=failed("JSON-RPC error")) == "version-header-missing"
    answer = call(error={"code": code, "message": "no"})
    assert cause(look(card_1_0()), answer, account=failed("JSON-RPC error")) != "version-header-missing"


def test_a_request_that_is_declined_for_what_it_is_is_refused() -> None:
    wants = call(status=400, body=b'{"error":"Accept header must include application/json"}')
    assert cause(look(card_1_0()), wants, account=failed("unexpected HTTP status: 400")) == "request-refused"
    media = call(error={"code": -32005, "message": "Unsupported part type"})
    assert cause(look(card_1_0()), media, account=failed("-32005")) == "request-refused"


def test_a_url_that_no_card_names_explains_its_404() -> None:
    sent = call(status=404, body=b"Not Found", url=f"{RPC}/tasks/send")
    assert cause(look(card_1_0()), sent, account=failed("404")) == "unbound-card-used"


# 5: everything agrees but one member


NAIVE = {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-11-30T13:00:32.483647"}


@pytest.mark.parametrize(
    "text",
    [
        "ParseError: Failed to parse timestamp field: time data '2026-11' does not match format '%Y-%m-%dT%H:%M:%S'",
        'failed to unmarshal event: parsing time "2026-11-30T13:00:32.483647" as "2006-01-02T15:04:05Z07:00"',
        "A2A request failed",
    ],
)
def test_a_timestamp_without_a_zone_breaks_only_when_it_runs(text: str) -> None:
    answer = call(answer={"task": task() | {"status": NAIVE}})
    assert cause(look(card_1_0()), answer, account=failed(text)) == "wire-type-mismatch"


# 6: shapes of two generations in one stream, loud or not

FLAT = (
    '{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t1","contextId":"c1",'
    '"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"echo: hello"}]}}}',
    '{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t1","contextId":"c1",'
    '"status":{"state":"TASK_STATE_COMPLETED"},"final":true}}',
)
MIXED = stream({"task": task("submitted", artifact="")}, raw=FLAT)


def test_a_mixed_stream_that_the_consumer_refuses_is_told_from_one_that_it_empties() -> None:
    loud = failed("StreamResponse with no known payload field", state="submitted", events=1)
    assert cause(look(card_1_0()), MIXED, account=loud) == "stream-shape-mismatch"
    silent = Account(ok=True, state="submitted", events=3, said="submitted, 2 of 3 events had nothing in them")
    assert cause(look(card_1_0()), MIXED, account=silent) == "stream-shape-dropped"
    whole = Account(ok=True, events=1, said="ended without a state, 1 of 1 events had nothing in them")
    assert cause(look(card_1_0()), call(answer={"task": task()}), account=whole) == "answer-shape-dropped"


def test_a_json_error_taken_for_an_empty_stream_is_a_cause_of_its_own() -> None:
    refused = call("SendStreamingMessage", error={"code": -32601, "message": "no"})
    silent = Account(ok=False, events=0, said="nothing came, and the SDK reported no error")
    assert cause(look(card_1_0()), refused, account=silent) == "stream-error-ignored"


# 8: a gate of the consumer's own


@pytest.mark.parametrize(
    "text",
    [
        "Agent card RPC URL must have the same origin as the location the card was fetched from",
        "Agent card RPC URL must use https, or http on a loopback host: 127.0.0.1:18102",
    ],
)
def test_a_rule_of_the_consumers_own_turned_a_valid_card_away(text: str) -> None:
    grpc = {"url": "127.0.0.1:18102", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
    http = {"url": RPC, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    found = judged(look(card_1_0(http, grpc)), account=failed(text), dialects=("1.0",)).cause
    assert found is not None and (found.slug, found.rule) == (CONSUMER_GATE.slug, "D8, R9")


def test_a_binding_that_nobody_offers_is_no_gate_and_no_generation() -> None:
    text = "ValueError: no compatible transports found."
    found = {"dialects": ("1.0",), "bindings": ("GRPC",)}
    assert cause(look(card_1_0()), account=failed(text), **found) == "no-common-binding"
    assert cause(look(card_0_3()), account=failed(text), **found) == "older-card-unusable"
    grpc = look(card_1_0({"url": "127.0.0.1:5", "protocolBinding": "GRPC", "protocolVersion": "1.0"}))
    odd = failed("UnsupportedProtocol: Request URL is missing an 'http://' or 'https://' protocol.")
    assert cause(grpc, account=odd, dialects=("1.0",), bindings=("JSONRPC",)) == "no-common-binding"
    assert cause(grpc, account=failed(NO_URL), dialects=("0.3",), bindings=("JSONRPC",)) == "newer-card-unreadable"


def test_a_schema_that_wants_more_than_the_version_is_another_cause() -> None:
    text = "ValidationError: 2 validation errors for AgentCard skills.0.inputModes Field required [type=missing]"
    assert cause(look(card_1_0()), account=failed(text), dialects=("1.0",)) == "card-schema-stricter"


# 9 and 10: what the consumer makes up, and what it keeps to itself


def test_a_card_that_was_made_up_comes_before_what_followed_from_it() -> None:
    answer = call(error={"code": -32600, "message": "invalid request"})
    told = Account(ok=True, events=1, error="no card", said="answered, message '{\"jsonrpc\"'")
    assert cause(look(), look(path="/agent.json"), answer, account=told) == "card-invented"


def test_a_failure_that_the_orchestrator_swallowed() -> None:
    broken = call("message/send", status=500, body=b"Unknown content type: None")
    crew = Account(ok=True, events=2, error="A2A delegation failed: HTTP 500", said="the manager's own words")
    assert cause(look(card_0_3()), broken, account=crew) == "failure-swallowed"


# and what ends without any of these


def test_a_wait_without_end() -> None:
    silent = stream(*WHOLE_STREAM[:2], ended_ms=9000, ending="open", cut_by="left")
    assert cause(look(card_1_0()), silent, account=failed("ReadTimeout: timed out")) == "never-ended"
    assert cause(look(card_1_0()), silent, account=failed("-", hung=True)) == "never-ended"


@pytest.mark.parametrize(("state", "expected"), [("failed", "task-failed"), ("input-required", "input-asked")])
def test_a_task_that_ended_otherwise(state: str, expected: str) -> None:
    ended = stream(*WHOLE_STREAM[:1], status(state))
    assert cause(look(card_1_0()), ended, account=None) == expected


def test_a_task_at_work_that_was_taken_for_the_result() -> None:
    answer = call(answer={"task": task("submitted", artifact="")})
    taken = Account(ok=True, state="submitted", events=1, said="submitted")
    assert cause(look(card_1_0()), answer, account=taken) == "unfinished-task-taken"


def test_a_connection_that_broke_and_a_consumer_that_never_came() -> None:
    broken = call(status=None, fault="reset-after-request", body=b"", ending="reset")
    assert cause(look(card_1_0()), broken, account=failed("RemoteProtocolError")) == "connection-broken"
    assert cause(account=failed("ImportError: no module")) == "consumer-never-asked"


def test_a_client_that_went_past_the_recorder_and_is_content_has_not_failed() -> None:
    """gRPC has a port of its own, where nobody listens in."""
    grpc = {"url": "127.0.0.1:18102", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
    assert cause(look(card_1_0(grpc)), account=OK) is None
    assert cause(look(card_1_0()), account=OK) == "readable-card-declined"


def test_what_nothing_explains_says_so() -> None:
    answer = call(answer={"task": task()}, params={"message": message("hello")})
    assert cause(look(card_1_0()), answer, account=failed("RuntimeError: boom")) == "failure-unexplained"


def test_a_client_of_whom_only_odd_requests_are_known_is_not_accused() -> None:
    """A client that was given the wrong address asks for a page; nobody knows what it wanted."""
    page = Exchange(method="GET", url=f"{BASE}/", status=405, started_ms=1, ended_ms=2)
    found = judged(page, account=None).cause
    assert found is not None and (found.slug, found.verdict.value) == ("failure-unexplained", "hint")
    assert f"GET {BASE}/" in found.detail

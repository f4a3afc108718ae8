"""Issue 3: files that an operator hands over are judged, or named for what is wrong with them; never a traceback."""

from __future__ import annotations

import copy
import json
import random
import resource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2a_lab.core.policy import Intent
from a2a_lab.lab.cases import PROBLEMS, Judged, judge_file
from a2a_lab.verdicts import Stage

BOOK = Path(__file__).parents[2] / "data" / "cases"
CARD: dict[str, Any] = {
    "name": "Test Agent",
    "description": "Agent under test.",
    "version": "1.0.0",
    "supportedInterfaces": [
        {"url": "https://agent.example.test/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    ],
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "sum", "name": "Summarise", "description": "Shortens a text.", "tags": ["text"]}],
}


def written(folder: Path, content: bytes | Any, name: str = "case.json") -> list[Judged]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return judge_file(path)


def entry(
    method: str, url: str, *, body: Any = None, answer: Any = None, status: int = 200, at: str = "00:00:00", **more: Any
) -> dict[str, Any]:
    """One entry of a HAR file as browsers and proxies write it."""
    request: dict[str, Any] = {"method": method, "url": url, "headers": []}
    if body is not None:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(body)}
    text = answer if isinstance(answer, str) else json.dumps(answer)
    content = {"size": len(text), "mimeType": "application/json", "text": text}
    headers = [{"name": "content-type", "value": "application/json"}]
    response = {"status": status, "headers": headers, "content": content}
    return {
        "startedDateTime": f"2026-11-30T{at}Z",
        "time": 5,
        "request": request,
        "response": response | more.pop("response", {}),
        **more,
    }


def har(*entries: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": "proxy", "version": "1"}, "entries": list(entries)}}


def rpc(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


MESSAGE = {"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}
DONE = {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}}
SENT = entry(
    "POST",
    "https://agent.example.test/rpc",
    body=rpc("SendMessage", MESSAGE),
    answer={"jsonrpc": "2.0", "id": 1, "result": DONE},
)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "not-json"),
        (b'{"id": "x", "given": {', "not-json"),
        (b'{"log": {"entries": [{"request": {"method": "GE', "not-json"),
        (bytes(range(256)), "not-json"),
        (b"[" * 100_000 + b"]" * 100_000, "too-deep"),
        (b"[1, 2]", "not-evidence"),
        (b"null", "not-evidence"),
        (b'{"some": "json"}', "not-evidence"),
        (b'{"log": {}}', "har-malformed"),
        (b'{"log": {"entries": [7]}}', "har-malformed"),
        (b'{"log": {"entries": [{"request": {}, "response": {}}]}}', "har-malformed"),
        (b'{"log": null}', "har-malformed"),
        (json.dumps({"log": {"entries": [SENT | {"_ending": ["close"]}]}}).encode(), "har-malformed"),
        (json.dumps({"log": {"entries": [SENT | {"_cut_by": {}}]}}).encode(), "har-malformed"),
        (b'{"log": {"entries": []}}', "no-a2a-traffic"),
        (b'{"given": []}', "case-malformed"),
        (b'{"given": {"exchanges": {}}}', "case-malformed"),
    ],
)
def test_a_file_that_is_no_evidence_is_named_for_what_it_is(tmp_path: Path, content: bytes, name: str) -> None:
    (judged,) = written(tmp_path, content)
    assert judged.problem == name and name in PROBLEMS
    assert judged.met is None and judged.as_json()["error"] == {"name": name, "detail": judged.detail}
    assert 0 < len(judged.detail) < 1000


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (judged,) = judge_file(tmp_path / "absent.json")
    assert judged.problem == "file-unreadable" and "absent.json" in judged.detail


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ({"given": {"exchange": []}}, "did you mean 'exchanges'?"),
        ({"given": {"client": {"suports": ["1.0"]}}}, "did you mean 'supports'?"),
        ({"given": {}, "expekt": {}}, "unknown key 'expekt'"),
        ({"given": {}, "expect": {"stage": "strem", "verdict": "accept"}}, "did you mean 'stream'?"),
        ({"given": {}, "expect": {"stage": "stream", "verdict": "fine"}}, "'fine' is not one of"),
        ({"given": {"client": {"supports": [1.0]}}}, "list of strings"),
        ({"given": {"client": {"trusted_keys": {"keys": [{"kty": "oct", "kid": "a"}]}}}}, "symmetric"),
        ({"given": {"now": "today"}}, "a time with a zone"),
        ({"given": {"discovery_url": "no url"}}, "URL"),
        ({"given": {"exchanges": [{"request": {"method": "GET", "url": "https://a.test"}, "response": {}}]}}, "status"),
        ({"given": {"stream": {"request": {}, "response": {}, "frames": [{"text": "a", "b64": "!"}]}}}, "base64"),
        ({"given": {"stream": {"request": {}, "response": {}, "then": "stay"}}}, "'stay' is not one of"),
    ],
)
def test_a_wrong_member_of_a_case_is_named_with_what_was_expected(tmp_path: Path, case: Any, says: str) -> None:
    (judged,) = written(tmp_path, {"id": "x"} | case)
    assert judged.problem == "case-malformed" and says in judged.detail


def test_every_documented_input_of_a_case_is_read(tmp_path: Path) -> None:
    """FORMAT.md lists more than the handed cases use: books kept before, time that passed, a tenant by header."""
    get = {"method": "GET", "url": "https://agent.example.test/.well-known/agent-card.json"}
    case = {
        "id": "x",
        "given": {
            "client": {"tenant": "acme", "tenant_by": "header", "allow_origins": ["https://a.example.test"]},
            "discovery_url": "https://agent.example.test",
            "exchanges": [{"request": get, "response": {"status": 200, "headers": {}, "json": CARD}}],
            "ledger": [{"task_id": "t9", "state": "TASK_STATE_WORKING"}],
            "elapsed_s": 40,
            "now": 1_796_000_000,
            "jku_allow": ["keys.example.test"],
            "pin": True,
        },
        "expect": {"stage": "ledger", "verdict": "orphan"},
    }
    (judged,) = written(tmp_path, case)
    assert judged.met, judged.detail
    assert [row.task_id for row in judged.judgement.orphans] == ["t9"]


def test_an_expected_stage_that_is_not_reached_is_not_met(tmp_path: Path) -> None:
    (judged,) = written(tmp_path, {"id": "x", "given": {}, "expect": {"stage": "stream", "verdict": "accept"}})
    assert judged.met is False and judged.found is None


def test_the_answer_has_the_form_that_programs_read(tmp_path: Path) -> None:
    (judged,) = judge_file(next(BOOK.glob("life-18*.json")))
    shown = judged.as_json()
    assert set(shown) == {"case", "stages", "expected", "met"} and shown["met"] is True
    (finding,) = shown["stages"]["stream"]["findings"]
    assert {"slug", "verdict", "rule", "detail"} <= set(finding)
    assert shown["expected"]["opinions_differ"]


def test_a_capture_of_a_browser_needs_no_labels(tmp_path: Path) -> None:
    card = entry("GET", "https://agent.example.test/.well-known/agent-card.json", answer=CARD)
    page = entry("GET", "https://agent.example.test/app.js", answer="<script>")
    (judged,) = written(tmp_path, har(page, card, SENT), "capture.har")
    stages = {stage: verdict.value for stage, (verdict, _) in judged.judgement.findings.stages.items()}
    assert stages[Stage.FETCH] == stages[Stage.RPC] == stages[Stage.PROBE] == "accept"
    assert judged.name == "capture" and judged.expected is None and judged.met is None


def test_what_a_capture_speaks_is_what_its_client_speaks(tmp_path: Path) -> None:
    """R9 is about the client's bindings: a recording shows them, and the lab's own preferences bind nobody in it."""
    interface = {"url": "https://agent.example.test", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}
    card = entry(
        "GET",
        "https://agent.example.test/.well-known/agent-card.json",
        answer=CARD | {"supportedInterfaces": [interface]},
    )
    (read,) = written(tmp_path, har(card), "card.har")
    called = entry("POST", "https://agent.example.test/message:send", body=MESSAGE, answer=DONE)
    (used,) = written(tmp_path, har(card, called), "used.har")
    both = {
        "supportedInterfaces": [
            {**interface, "protocolBinding": "JSONRPC", "url": f"{interface['url']}/rpc"},
            interface,
        ]
    }
    second = entry("GET", "https://agent.example.test/.well-known/agent-card.json", answer=CARD | both)
    (other,) = written(tmp_path, har(second, called), "second.har")
    assert other.judgement.grounds.interface is not None
    assert other.judgement.grounds.interface.binding == "HTTP+JSON"
    for judged in (read, used, other):
        stages = {stage: verdict.value for stage, (verdict, _) in judged.judgement.findings.stages.items()}
        assert stages[Stage.RESOLVE] == stages[Stage.VERSION] == "accept"


def test_a_capture_is_judged_by_the_intent_of_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "capture.har"
    card = entry("GET", "https://agent.example.test/.well-known/agent-card.json", answer=CARD)
    path.write_text(json.dumps(har(card)))
    (judged,) = judge_file(path, intent=Intent(requires=("streaming",)))
    assert judged.judgement.findings.stages[Stage.MATCH][0].value == "refuse"


def test_each_agent_of_a_capture_is_judged_for_itself(tmp_path: Path) -> None:
    other = entry(
        "POST",
        "https://other.example.test/rpc",
        body=rpc("SendMessage", MESSAGE),
        answer={"jsonrpc": "2.0", "id": 2, "result": DONE},
    )
    answers = written(tmp_path, har(SENT, other), "two.har")
    assert [one.name for one in answers] == ["two#https://agent.example.test", "two#https://other.example.test"]
    verdicts = [one.judgement.findings.stages[Stage.RPC][0].value for one in answers]
    assert verdicts == ["accept", "conformance-error"]


def test_entries_are_read_in_the_order_of_their_time(tmp_path: Path) -> None:
    """Merged recordings are not sorted: what was asked later must not come first."""
    look = entry(
        "POST",
        "https://agent.example.test/rpc",
        body=rpc("GetTask", {"id": "t1"}),
        answer={"jsonrpc": "2.0", "id": 1, "result": DONE["task"]},
        at="00:00:09",
    )
    (judged,) = written(tmp_path, har(look, SENT), "merged.har")
    assert judged.judgement.findings.stages[Stage.LEDGER][0].value == "accept"


def test_a_body_that_the_recorder_left_out_is_not_judged(tmp_path: Path) -> None:
    left_out = entry(
        "POST",
        "https://agent.example.test/rpc",
        body=rpc("SendStreamingMessage", MESSAGE),
        response={"content": {"size": 900, "mimeType": "text/event-stream"}},
    )
    (judged,) = written(tmp_path, har(left_out), "browser.har")
    assert [one.slug for one in judged.judgement.findings.all] == ["body-not-recorded"]


@pytest.mark.parametrize(
    ("said", "is_unreachable"), [("net::ERR_CONNECTION_REFUSED", True), ("net::ERR_CONNECTION_RESET", False)]
)
def test_faults_are_read_in_the_words_of_browsers(tmp_path: Path, said: str, is_unreachable: bool) -> None:
    failed = entry(
        "POST",
        "https://agent.example.test/rpc",
        body=rpc("SendMessage", MESSAGE),
        status=0,
        response={"_error": said, "content": {}},
    )
    (judged,) = written(tmp_path, har(failed), "browser.har")
    assert (judged.not_gradeable is not None) is is_unreachable
    assert bool(judged.judgement.orphans) is not is_unreachable


def _stream(*frames: Any) -> dict[str, Any]:
    response = {"status": 200, "headers": {"Content-Type": "text/event-stream"}}
    request = {"jsonrpc": "2.0", "id": "r1", "method": "SendStreamingMessage", "params": MESSAGE}
    return {"id": "x", "given": {"stream": {"request": request, "response": response, "frames": list(frames)}}}


def _frame(result: Any) -> dict[str, str]:
    return {"text": f"data: {json.dumps({'jsonrpc': '2.0', 'id': 'r1', 'result': result})}\n\n"}


WORKING = {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}}
COMPLETED = {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}}


def _chunk(text: str, **members: Any) -> dict[str, Any]:
    artifact = {"artifactId": "a1", "parts": [{"text": text}]}
    return {"artifactUpdate": {"taskId": "t1", "contextId": "c1", "artifact": artifact} | members}


@pytest.mark.parametrize(("fault", "verdict"), [("read-timeout", "hang"), ("reset after request", "orphan")])
def test_a_stream_that_never_began_has_an_end_as_well(tmp_path: Path, fault: str, verdict: str) -> None:
    case = _stream()
    case["given"]["stream"]["response"] = {"fault": fault}
    (judged,) = written(tmp_path, case)
    assert judged.judgement.findings.stages[Stage.STREAM][0].value == verdict


def test_a_line_of_megabytes_is_an_ordinary_event(tmp_path: Path) -> None:
    (judged,) = written(
        tmp_path, _stream(_frame(WORKING), _frame(_chunk("A" * 3_000_000, lastChunk=True)), _frame(COMPLETED))
    )
    assert judged.judgement.findings.stages[Stage.STREAM][0].value == "accept"


def test_ten_thousand_events_are_judged(tmp_path: Path) -> None:
    chunks = [_frame(_chunk("x", append=number > 0)) for number in range(10_000)]
    (judged,) = written(tmp_path, _stream(_frame(WORKING), *chunks, _frame(COMPLETED)))
    (result,) = judged.judgement.streams
    assert result.events == 10_002 and judged.judgement.findings.stages[Stage.STREAM][0].value == "hint"


@pytest.mark.parametrize("unit", ["A", ": ping\n\n", "data: {}\n\n"])
def test_a_case_cannot_ask_for_more_memory_than_a_reader_takes(tmp_path: Path, unit: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (judged,) = written(tmp_path, _stream({"repeat": unit, "count": 10**12}))
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert "stream-limit" in {one.slug for one in judged.judgement.findings.all}
    assert grown_kb < 100_000


def test_hostile_nesting_in_a_body_is_a_fault_of_the_peer(tmp_path: Path) -> None:
    url = "https://agent.example.test/.well-known/agent-card.json"
    deep = {"request": {"method": "GET", "url": url}, "response": {"status": 200, "headers": {}, "text": "[" * 200_000}}
    (judged,) = written(tmp_path, {"id": "x", "given": {"exchanges": [deep]}})
    assert "too-deep" in {one.slug for one in judged.judgement.findings.all}


ODD: tuple[Any, ...] = (None, True, -1, 1e308, "", "\ud800", [], {}, [None], {"given": {}}, "x" * 100)
SEEDS = [
    *(json.loads(path.read_text(encoding="utf-8")) for path in sorted(BOOK.glob("*.json"))[::6]),
    har(SENT, entry("GET", "https://agent.example.test/agent.json", answer=CARD)),
]


def mutated(seed: int) -> Any:
    """A case of the book, or a capture, with a few members replaced, removed or doubled anywhere."""
    chance = random.Random(seed)
    document = copy.deepcopy(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 3)):
        holder: Any = document
        while True:
            name = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            inner = holder[name]
            if not isinstance(inner, dict | list) or not inner or chance.random() < 0.4:
                break
            holder = inner
        if isinstance(holder, dict) and len(holder) > 1 and chance.random() < 0.3:
            del holder[name]
        else:
            holder[name] = copy.deepcopy(chance.choice((*ODD, [inner], {"also": inner})))
    return document


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9))
def test_no_file_is_too_odd_to_be_answered(tmp_path: Path, seed: int) -> None:
    for judged in written(tmp_path, mutated(seed)):
        assert json.dumps(judged.as_json(), default=str)

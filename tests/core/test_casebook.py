"""The case book, as far as discovery, match, version, media and the reading of probes reach.

Cards and answers go through the wire's readers here, so that the core's conclusions are about real bytes.
A case's verdict is that of its own stage; every other gate is taken as passed (data/cases, FORMAT).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.core.asked import Asked, declared_by
from a2a_lab.core.cardfetch import CardAnswer
from a2a_lab.core.discovery import Discovery, discover
from a2a_lab.core.match import match_card
from a2a_lab.core.model import Card, State
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.probe import judge_renegotiations, read_probe
from a2a_lab.core.receive import judge_artifact
from a2a_lab.core.resolution import base_of, choose_interface
from a2a_lab.core.version import gate_version
from a2a_lab.verdicts import Finding, Stage, Verdict, worst
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.dialects import dialect_for, dialect_of_request
from tests.core.cards import Served

CASES = Path(__file__).parents[2] / "data" / "cases"
AREAS = ("disc", "ver", "mode", "cap", "task", "retry-05", "rpc-18", "rpc-19", "rpc-20", "life-10")
STATIC = {"resolve", "fetch", "match", "version"}


def cases(*stages: str) -> list[Any]:
    found = [json.loads(path.read_text()) for path in sorted(CASES.glob("*.json")) if path.name.startswith(AREAS)]
    return [pytest.param(case, id=case["id"]) for case in found if case["expect"]["stage"] in stages]


def policy_of(client: Mapping[str, Any]) -> Policy:
    told = {name: tuple(client[name]) for name in ("supports", "bindings") if name in client}
    topology = {"single": "direct"}.get(client.get("topology", "auto"), client.get("topology", "auto"))
    return Policy(**told, topology=topology, allow_http=frozenset(client.get("allow_plain_http_hosts", ())))


def intent_of(client: Mapping[str, Any]) -> Intent:
    return Intent(
        mode=client.get("input_mode", "text/plain"),
        skill=client.get("skill"),
        requires=tuple(name for name, wanted in client.get("require", {}).items() if wanted),
        extensions=tuple(client.get("extensions", ())),
        accepts=tuple(client.get("output_modes", ())),
    )


def raw(response: Mapping[str, Any]) -> bytes:
    return str(response["text"]).encode() if "text" in response else json.dumps(response.get("json")).encode()


def card_of(document: Any) -> Card:
    card = read_card(json.dumps(document).encode()).card
    assert card is not None
    return card


def answer(response: Mapping[str, Any]) -> CardAnswer:
    if "fault" in response:
        return CardAnswer(fault=response["fault"])
    if response["status"] != 200:
        return CardAnswer(status=response["status"], headers=response["headers"])
    reading = read_card(raw(response))
    return CardAnswer(status=200, headers=response["headers"], card=reading.card, findings=tuple(reading.findings))


def discovered(given: Mapping[str, Any]) -> Discovery:
    client = given.get("client", {})
    gets = [one for one in given.get("exchanges", ()) if one["request"]["method"] == "GET"]
    served = Served({one["request"]["url"]: answer(one["response"]) for one in gets})
    first = gets[0]["request"]["url"] if gets else None
    configured = card_of(client["configured_card"]) if "configured_card" in client else None
    walk = discover(
        given.get("discovery_url") or (base_of(first.partition("?")[0]) if first else None),
        policy_of(client),
        configured_card=configured,
        credentials_for=frozenset(client.get("credentials_for", ())),
        card_url=client.get("card_url"),
        dispatch_url=given.get("resolved_url"),
    )
    return served.drive(walk)


def judged_statically(given: Mapping[str, Any]) -> tuple[list[Finding], Discovery | None]:
    """The findings of resolve, fetch, match and version; a case that gives a card bare begins at its gates."""
    policy, intent = policy_of(given.get("client", {})), intent_of(given.get("client", {}))
    found = None if "card" in given else discovered(given)
    card = card_of(given["card"]) if found is None else found.card
    findings = list(found.findings) if found else []
    if card is None:
        return findings, found
    interface, refused = (found.interface, []) if found else choose_interface(card, policy)
    assert interface is not None, refused
    return [*findings, *match_card(card, interface, intent), *gate_version(card, interface, policy).findings], found


def verdict(findings: list[Finding], stage: str) -> Verdict:
    return worst(finding.verdict for finding in findings if finding.stage is Stage(stage))


@pytest.mark.parametrize("case", cases(*STATIC))
def test_static_gates(case: dict[str, Any]) -> None:
    expected = case["expect"]
    findings, found = judged_statically(case["given"])
    assert verdict(findings, expected["stage"]).value == expected["verdict"], [one.detail for one in findings]
    if found is not None and expected["stage"] in ("resolve", "fetch"):
        assert Stage(expected["stage"]) in found.reached


@pytest.mark.parametrize("case", cases("receive"))
def test_received_artifacts(case: dict[str, Any]) -> None:
    given, expected = case["given"], case["expect"]
    card = card_of(given["card"])
    is_current = card.form == "1.0"
    task = {
        "id": "t",
        "contextId": "c",
        "status": {"state": "TASK_STATE_COMPLETED" if is_current else "completed"},
        "artifacts": [given["artifact"]],
    }
    result: Any = {"task": task} if is_current else {"kind": "task", **task}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
    read = dialect_for(card.form).read_answer("send", rpc_id=1, status=200, headers={}, body=body)
    assert read.task is not None
    skill = card.skill(given.get("client", {}).get("skill"))
    findings = judge_artifact(card, skill, read.task.artifacts[0])
    assert verdict(findings, "receive").value == expected["verdict"], [one.detail for one in findings]


@pytest.mark.parametrize("case", cases("probe"))
def test_probes(case: dict[str, Any]) -> None:
    """Calls are judged one by one, each by what the evidence as a whole says of its task."""
    given, expected = case["given"], case["expect"]
    client = given.get("client", {})
    served = any(one["request"]["method"] == "GET" for one in given["exchanges"])
    card = card_of(given["card"]) if "card" in given else discovered(given).card if served else None
    declared = declared_by(card, card.interfaces[0]) if card else {}
    calls = [one for one in given["exchanges"] if one["request"]["method"] == "POST" and one.get("label") is None]
    read = []
    for one in calls:
        body = raw(one["request"])
        dialect = dialect_of_request(body)
        assert dialect is not None
        asked = dialect.parse_request(body)
        response = one["response"]
        found = dialect.read_answer(
            asked.op or "send",
            rpc_id=asked.rpc_id,
            status=response["status"],
            headers=response["headers"],
            body=raw(response),
        )
        read.append((one, dialect, asked, found))
    states = {found.task.id: found.task.state for _, _, _, found in read if found.task}
    findings: list[Finding] = []
    again = 0
    for place, (one, dialect, asked, found) in enumerate(read):
        if found.not_gradeable:  # throttled once; the retry is what counts
            continue
        message = asked.message
        task_id = asked.task_id or (message.task_id if message else None)
        facts = Asked(
            op=asked.op or "send",
            dialect=dialect.id,
            skill=client.get("skill"),
            return_immediately=bool(asked.return_immediately),
            context_id=message.context_id if message else None,
            task_id=task_id,
            task_is_known=task_id in {earlier.task.id for *_, earlier in read[:place] if earlier.task}
            or (found.error is not None and task_id not in states),
            task_state=states.get(task_id) if task_id and asked.op not in ("send", "stream") else None,
            version_sent=one["request"].get("headers", {}).get("A2A-Version"),
            is_retry=any(earlier.not_gradeable for *_, earlier in read[:place]),
            **declared,
        )
        reading = read_probe(found.task or found.message or found.error, facts, seen=found.findings)
        again += (
            bool(message and message.task_id)
            and reading.task is not None
            and reading.task.state is State.INPUT_REQUIRED
        )
        findings += [*found.findings, *reading.findings]
    findings += judge_renegotiations(again, client.get("max_renegotiations", 1))
    assert verdict(findings, "probe").value == expected["verdict"], [(one.slug, one.detail) for one in findings]

"""R38: what an agent wrote in a part does not leave in a sentence, quoted by whichever SDK could not read it."""

from __future__ import annotations

import json

from a2a_lab.judge.transcript import read_calls
from a2a_lab.lab.contents import HIDDEN, contents_of, finding_without, without_contents
from a2a_lab.verdicts import Finding, Judge, Kind, Stage, Verdict
from a2a_lab.wire.exchange import Exchange

SECRET = "Anna Example, born on 1980-02-30 in a town that she would rather not name"


def answered() -> list[Exchange]:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m", "parts": []}}}
    status = {"state": "TASK_STATE_COMPLETED", "message": {"messageId": "n", "parts": [{"data": {"deep": [SECRET]}}]}}
    parts = [{"text": SECRET}, {"text": "hello canary-1 and more words"}, {"text": "short"}]
    task = {"id": "t", "contextId": "c", "status": status, "artifacts": [{"artifactId": "a", "parts": parts}]}
    return [
        Exchange(
            method="POST",
            url="https://agent.example/rpc",
            request_headers=[("A2A-Version", "1.0")],
            request_body=json.dumps(asked).encode(),
            status=200,
            response_headers=[("Content-Type", "application/json")],
            body=json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"task": task}}).encode(),
        )
    ]


def test_texts_of_parts_are_found_and_our_own_words_are_not() -> None:
    assert contents_of(read_calls(answered()), own="canary-1") == (SECRET,)


def test_a_sentence_that_quotes_a_part_says_how_it_went_and_not_what_was_written() -> None:
    """SDKs shorten what they quote, so a run of the content is enough."""
    said = f"1 validation error: input_value={{'text': '{SECRET[:30]}...{SECRET[-20:]}'}}, input_type=dict"
    shown = without_contents(said, [SECRET])
    assert shown == f"1 validation error: input_value={{'text': '{HIDDEN}...{HIDDEN}'}}, input_type=dict"


def test_what_quotes_no_content_stays_as_it_is() -> None:
    for said in ("", "no card", "the agent answered 500 with a body of 12 bytes", SECRET[:15]):
        assert without_contents(said, [SECRET]) == said
    assert without_contents(SECRET, []) == SECRET


def test_findings_lose_it_in_detail_and_values() -> None:
    finding = Finding(
        slug="x",
        stage=Stage.RPC,
        verdict=Verdict.HINT,
        kind=Kind.NOTE,
        judge=Judge.POLICY,
        rule="R38",
        clause=None,
        detail=f"the consumer says '{SECRET[:40]}'",
        values={"found": [SECRET], "whose": "consumer"},
    )
    shown = finding_without(finding, [SECRET])
    assert shown.detail == f"the consumer says '{HIDDEN}'" and shown.values == {"found": [HIDDEN], "whose": "consumer"}

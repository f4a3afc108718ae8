"""Whatever passed a recorder is judged and never raises: every byte from a peer is hostile (DESIGN 9)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from a2a_lab.bundled import bundled_root
from a2a_lab.judge.consumer import judge_consumer
from a2a_lab.judge.steps import approach
from a2a_lab.judge.visit import Account
from a2a_lab.lab.casereading import read_case
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import BASE, OK, POLICY, call, card_1_0, judged, look, stream

CASES = sorted((bundled_root() / "data" / "cases").glob("*.json"))
ACCOUNTS = (None, OK, Account(ok=False, error="boom", said="-"), Account(ok=True, error="beside", said="-", hung=True))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_case_of_the_book_is_judged(path: Path) -> None:
    case = read_case(json.loads(path.read_text(encoding="utf-8")), name=path.stem)
    for account in ACCOUNTS:
        found = judge_consumer(case.exchanges, policy=POLICY, account=account)
        assert all(one.values["whose"] == "consumer" for one in found.findings)
        approach(found.visit)


@pytest.mark.parametrize(
    "change",
    [
        {"url": "not a url"},
        {"url": "http://[::1"},
        {"url": f"{BASE}/\x00/../..//"},
        {"request_body": b"\xff\xfe{"},
        {"request_body": b"[" * 5000},
        {"request_body": b'{"jsonrpc":"2.0","id":[1],"method":"SendMessage","params":[1]}'},
        {"request_body": b'{"method":"SendMessage","params":{"message":{"parts":[{"data":{"a":1e999}}]}}}'},
        {"request_headers": [("A2A-Version", "\u0000" * 40), ("x-tenant", "a" * 5000)]},
        {"response_headers": [("content-type", "text/event-stream"), ("content-type", "application/json")]},
        {"body": b'{"jsonrpc":"2.0","result":{"task":{"id":7,"status":[],"artifacts":{}}}}'},
        {"status": 999},
        {"started_ms": float("inf")},
        {"ending": "reset", "fault": "x" * 3000},
    ],
)
def test_odd_requests_and_answers_are_judged(change: dict[str, object]) -> None:
    card = look(card_1_0())
    for exchange in (call(answer={}), stream({"task": {}}, raw=("{", "null", "[]")), look(body=b"{}")):
        odd = replace(exchange, **change)  # type: ignore[arg-type]
        for account in ACCOUNTS:
            judged(card, odd, account=account)
            judged(odd, address=str(change.get("url", BASE)), account=account)


def test_a_hostile_card_is_judged() -> None:
    odd = [
        {"url": 7},
        {"url": "http://["},
        5,
        None,
        {"url": "", "protocolVersion": []},
        {"url": "grpc:x", "protocolBinding": "GRPC"},
    ]
    for document in (
        card_1_0() | {"supportedInterfaces": odd, "additionalInterfaces": odd, "url": "::"},
        card_1_0() | {"supportedInterfaces": [{"url": "http://[", "protocolBinding": "JSONRPC"}]},
        {"name": "x" * 100_000, "skills": [[]] * 50},
    ):
        judged(look(document), call(answer={}), account=OK)
        judged(look(document), account=Account(ok=False, error="url missing" * 500, said="-"))


def test_thousands_of_exchanges_take_no_quadratic_time() -> None:
    many: list[Exchange] = [look(card_1_0(), at_ms=at * 10) for at in range(500)]
    many += [call(answer={}, at_ms=at * 10 + 5) for at in range(500)]
    judged(*sorted(many, key=lambda one: one.started_ms), account=OK)

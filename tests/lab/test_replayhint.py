"""The check that a replay prints: the recorded address, all that leads it to the replay, and what it has to speak."""

from __future__ import annotations

import json

import pytest

from a2a_lab.lab.replayhint import check_hint
from a2a_lab.wire.exchange import Exchange

CARD = "/.well-known/agent-card.json"
LED = {"a.test:443": "http://127.0.0.1:7"}


def get(url: str) -> Exchange:
    return Exchange(method="GET", url=url, status=200)


def send(url: str, method: str = "SendMessage") -> Exchange:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": {"parts": []}}}).encode()
    headers = [("Content-Type", "application/json"), *([("A2A-Version", "1.0")] if method == "SendMessage" else [])]
    return Exchange(method="POST", url=url, status=200, request_headers=headers, request_body=body)


@pytest.mark.parametrize(
    ("exchanges", "options"),
    [
        ([get(f"https://a.test{CARD}")], "https://a.test --connect-to a.test:443=http://127.0.0.1:7"),
        ([get(f"https://a.test/x/y{CARD}")], "https://a.test/x/y --connect-to a.test:443=http://127.0.0.1:7"),
        (
            [get(f"https://a.test{CARD}"), send("https://b.test/rpc")],
            "https://a.test --connect-to a.test:443=http://127.0.0.1:7 --allow-origin https://b.test --send",
        ),
        (
            [get(f"http://a.test{CARD}"), send("http://a.test/rpc")],
            "http://a.test --connect-to a.test:443=http://127.0.0.1:7 --allow-http a.test --send",
        ),
        (
            [get(f"http://127.0.0.1:9{CARD}"), send("http://127.0.0.1:9/rpc")],
            "http://127.0.0.1:9 --connect-to a.test:443=http://127.0.0.1:7 --send",
        ),
        (
            [get(f"https://a.test{CARD}"), send("https://a.test/", "tasks/send")],
            "https://a.test --connect-to a.test:443=http://127.0.0.1:7 --supports 0.1 --send",
        ),
    ],
)
def test_the_command_has_what_the_recording_needs(exchanges: list[Exchange], options: str) -> None:
    hint = check_hint(exchanges, LED, send=True)
    assert hint.command == f"a2a-lab check {options}" and hint.has_sends is options.endswith("--send")


def test_a_replay_that_rewrites_is_checked_where_it_is() -> None:
    hint = check_hint([get(f"https://a.test/x{CARD}")], LED, rewritten_to="http://127.0.0.1:7", send=True)
    assert hint.command == "a2a-lab check http://127.0.0.1:7/x" and not hint.has_sends

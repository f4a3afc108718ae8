"""What a replay can serve of a file: its exchanges, the card that a case states, and one made where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.core.model import Part
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.version import gate_version
from a2a_lab.errors import RecordFault
from a2a_lab.lab.recordings import MADE_CARD, Recording, read_recording, with_made_card
from a2a_lab.wire.cards import read_card
from a2a_lab.wire.dialects import Dialect, OutMessage
from a2a_lab.wire.exchange import Exchange
from tests.vendors.bench import SIMULATED

BOOK = Path(__file__).parents[2] / "data" / "cases"


def test_a_card_that_a_case_states_is_served_where_it_is_said_to_come_from() -> None:
    stated = read_recording(BOOK / "sig-30-valid-card-served-elsewhere.json")
    assert [one.url for one in stated.exchanges] == ["https://mirror.example.org/.well-known/agent-card.json"]
    bare = read_recording(BOOK / "mode-01-text-shorthand.json")
    assert [one.url for one in bare.exchanges] == ["https://agent.example.test/.well-known/agent-card.json"]


@pytest.mark.parametrize("dialect", SIMULATED, ids=lambda one: f"{one.id} {one.binding}")
def test_a_made_card_leads_to_the_recorded_call_in_its_own_dialect(dialect: Dialect) -> None:
    base = "https://agent.example.test/rpc"
    message = OutMessage(message_id="m", parts=(Part(kind="text", text="hi"),))
    sent = dialect.request("send", url=base, rpc_id=1, message=message)
    call = Exchange(method=sent.method, url=sent.url, request_headers=[*sent.headers.items()], request_body=sent.body)
    made = with_made_card(Recording(name="x", exchanges=(call,))).exchanges
    assert made[0] is call and made[1].url.startswith("https://agent.example.test/.well-known/agent")
    card = read_card(made[1].body).card
    assert card is not None and card.document["description"] == MADE_CARD
    (interface,) = card.interfaces
    assert (interface.url, interface.binding) == (base, dialect.binding)
    # A request of 0.2 cannot be told from one of 0.3, and is read as that; what it is answered with is the same.
    spoken = "0.3" if dialect.id == "0.2" else dialect.id
    policy = Policy(supports=(spoken,), bindings=(dialect.binding,))
    assert gate_version(card, interface, policy).dialect == spoken
    assert Intent().mode in (card.default_input_modes or ())


@pytest.mark.parametrize(
    "name", ["disc-17-target-card-unreachable-no-fallback", "disc-24-registered-card-no-well-known"]
)
def test_no_card_is_made_where_somebody_asked_for_one(name: str) -> None:
    """That there was none is what such a case is about."""
    recording = read_recording(BOOK / f"{name}.json")
    assert with_made_card(recording) == recording


def har(*entries: dict[str, Any]) -> str:
    return json.dumps({"log": {"entries": list(entries)}})


def entry(method: str, url: str, body: str = "", at: str = "2026-11-30T10:00:00Z") -> dict[str, Any]:
    request = {"method": method, "url": url, "postData": {"text": body}}
    return {"startedDateTime": at, "request": request, "response": {"status": 200, "content": {"text": "{}"}}}


CALL = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[]}}}'


def test_of_a_capture_only_the_a2a_traffic_is_served_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "day.har"
    file.write_text(
        har(
            entry("POST", "https://b.test/rpc", CALL, at="2026-11-30T10:00:02Z"),
            entry("POST", "https://a.test/login", "user=x", at="2026-11-30T10:00:01Z"),
            entry("POST", "https://a.test/rpc", CALL),
        )
    )
    assert {one.url for one in read_recording(file).exchanges} == {"https://a.test/rpc", "https://b.test/rpc"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (har(entry("POST", "https://a.test/login", "user=x")), "none of its 1 entries"),
        (har(), "none of its 0 entries"),
        ('{"log":{"entries":[{}]}}', "HAR entry 0"),
        (
            '{"given":{"exchanges":[{"request":{"method":"GET","url":"http://[x"},"response":{"status":200}}]}}',
            "no URL",
        ),
        ('{"name":"a card"}', "neither a case"),
    ],
)
def test_what_is_no_recording_is_named_with_its_file(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    with pytest.raises(RecordFault, match=says):
        read_recording(file)

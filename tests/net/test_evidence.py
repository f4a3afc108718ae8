"""R38: secrets are replaced before anything is stored; what is stored reads back as it was."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.net.credentials import from_environment, header_variables
from a2a_lab.net.evidence import read_har, write_har
from a2a_lab.net.redact import PLACEHOLDER, Redactor
from a2a_lab.wire.exchange import Chunk, Exchange
from a2a_lab.wire.har import from_har, to_har

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def exchange(**changes: object) -> Exchange:
    fields: dict[str, object] = {"method": "POST", "url": "https://agent.example.test/rpc", "status": 200} | changes
    return Exchange(**fields)  # type: ignore[arg-type]


def test_credentials_never_reach_the_disk(tmp_path: Path) -> None:
    secret = "s3cr3t-value"
    asked = exchange(
        url=f"https://user:{secret}@agent.example.test/rpc?api_key={secret}&page=2",
        request_headers=[("Authorization", f"Bearer {secret}"), ("X-Own", secret), ("Accept", "text/event-stream")],
        request_body=json.dumps({"pushNotificationConfig": {"token": secret}, "text": f"my {secret}"}).encode(),
        response_headers=[("Set-Cookie", "sid=1"), ("Location", f"https://x.test/?access_token={secret}")],
        body=b'{"token": "' + secret.encode() + b'"}',
    )
    path = write_har(
        tmp_path / "cell.har",
        [asked],
        started=NOW,
        tool="a2a-lab 0",
        redactor=Redactor(headers=["X-Own"], values=[secret]),
    )
    stored = path.read_text()
    assert secret not in stored and "sid=1" not in stored
    assert PLACEHOLDER in stored and "page=2" in stored and "text/event-stream" in stored
    assert path.stat().st_mode & 0o077 == 0


def test_secret_split_between_two_chunks_is_replaced() -> None:
    parts = [Chunk(offset_ms=1, data=b"data: s3cr"), Chunk(offset_ms=2, data=b"3t\n\n")]
    redacted = Redactor(values=["s3cr3t"]).exchange(exchange(chunks=parts, body=b"data: s3cr3t\n\n"))
    assert b"s3cr" not in redacted.body and b"".join(chunk.data for chunk in redacted.chunks) == redacted.body


def test_presigned_url_in_a_part_loses_its_signature() -> None:
    body = b'{"url":"https://s3.example.test/a.png?X-Amz-Signature=abcdef&part=1"}'
    assert b"abcdef" not in Redactor().data(body) and b"part=1" in Redactor().data(body)


def test_card_body_is_never_touched() -> None:
    card = b'{"name":"x","token":"not a secret of ours"}'
    assert Redactor().exchange(exchange(purpose="card", body=card)).body == card


@given(
    st.lists(
        st.builds(
            exchange,
            method=st.sampled_from(["GET", "POST"]),
            url=st.sampled_from(["https://a.test/rpc", "http://127.0.0.1:9/x?q=1"]),
            status=st.one_of(st.none(), st.integers(100, 599)),
            request_body=st.binary(max_size=40),
            body=st.binary(max_size=40),
            started_ms=st.integers(0, 10_000).map(float),
            fault=st.just("read-timeout"),
            cut_by=st.one_of(st.none(), st.just("silence")),
            ending=st.sampled_from(["close", "open", "reset"]),
            purpose=st.sampled_from(["card", "probe", ""]),
        ),
        max_size=4,
    )
)
def test_har_reads_back_what_was_written(exchanges: list[Exchange]) -> None:
    for one in exchanges:
        one.ended_ms = one.started_ms
    document = json.loads(json.dumps(to_har(exchanges, started=NOW, tool="a2a-lab 0.1.0")))
    assert from_har(document) == exchanges


@given(st.binary(max_size=30), st.integers(0, 30))
def test_chunks_survive_a_split_character(data: bytes, cut: int) -> None:
    parts = [Chunk(offset_ms=0.0, data=data[:cut]), Chunk(offset_ms=5.0, data=data[cut:])]
    document = to_har([exchange(chunks=parts, body=data, fault="x")], started=NOW, tool="a2a-lab 0.1.0")
    assert from_har(document)[0].chunks == parts


def test_har_of_a_browser_is_read() -> None:
    entry = {
        "startedDateTime": "2026-11-30T10:00:00.000Z",
        "time": 12.5,
        "request": {"method": "GET", "url": "https://a.test/", "headers": [], "postData": None},
        "response": {
            "status": 200,
            "headers": [{"name": "X", "value": "1"}],
            "content": {"text": "aGk=", "encoding": "base64"},
        },
    }
    later = entry | {"startedDateTime": "2026-11-30T10:00:01.500Z"}
    first, second = from_har({"log": {"entries": [entry, later]}})
    assert (first.body, first.header("x"), second.started_ms) == (b"hi", "1", 1500.0)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"log":{}}', '{"log":{"entries":[{}]}}', '{"log":{"entries":[{"request":3}]}}']
)
def test_broken_har_is_a_named_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.har"
    path.write_text(text)
    with pytest.raises(RecordFault, match=r"x\.har"):
        read_har(path)


def test_credentials_come_from_variables_and_do_not_show() -> None:
    made = from_environment(
        bearer="TOKEN",
        api_key="X-Key=KEY",
        headers={"X-T": "TEN"},
        environment={"TOKEN": "abc1", "KEY": "k123", "TEN": "t123"},
    )
    assert made.calls is not None and made.calls is made.card
    assert asyncio.run(made.calls.headers("https://a.test")) == {
        "Authorization": "Bearer abc1",
        "X-Key": "k123",
        "X-T": "t123",
    }
    assert "abc1" not in repr(made) and "abc1" not in repr(made.calls)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"bearer": "MISSING"}, "'MISSING' is not set"),
        ({"bearer": "EMPTY"}, "'EMPTY' is empty"),
        ({"basic": "USER"}, "USER_VARIABLE:PASSWORD_VARIABLE"),
        ({"bearer": "A", "basic": "A:A"}, "both set Authorization"),
        ({"bearer": "A", "send_with": "cards"}, "expected card, calls or both"),
        ({"headers": {"X": "BREAK"}}, r"'BREAK', header X: character 2 of 3 is U\+000A"),
        ({"bearer": "ACCENT"}, r"'ACCENT', the bearer token: character 3 of 4 is U\+00E9; a header holds printable"),
        ({"headers": {"X Y": "A"}}, "header 'X Y': expected the name of an HTTP header"),
    ],
)
def test_unusable_credentials_say_what_to_do(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(Misuse, match=says):
        from_environment(**arguments, environment={"A": "aaaa", "EMPTY": "", "BREAK": "a\nb", "ACCENT": "abéc"})  # type: ignore[arg-type]


def test_header_pair_without_variable_is_refused() -> None:
    assert header_variables(["X-A=VAR"]) == {"X-A": "VAR"}
    with pytest.raises(Misuse, match="--header-env: expected NAME=VARIABLE"):
        header_variables(["X-A"])

"""R38: one place knows how a secret is spelled, and nothing that is stored, shown or handed out holds one."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.quoting import quoted
from a2a_lab.net.redact import PLACEHOLDER, Redactor
from a2a_lab.net.spellings import spellings
from a2a_lab.verdicts import Finding, Judge, Kind, Stage, Verdict
from a2a_lab.wire.exchange import Exchange
from tests.lab.plain import card

SECRET = 'to"ken\\with/all+of=it%'
CARD_URL = "https://agent.example.test/.well-known/agent-card.json"


def answered(body: bytes, **members: object) -> Exchange:
    fields: dict[str, object] = {"method": "POST", "url": "https://agent.example.test/rpc", "status": 200} | members
    return Exchange(body=body, **fields)  # type: ignore[arg-type]


ECHOES = {
    "plain": lambda value: value,
    "in JSON": lambda value: json.dumps({"said": value}),
    "in JSON, slashes escaped": lambda value: json.dumps({"said": value}).replace("/", "\\/"),
    "JSON quoted in JSON": lambda value: json.dumps(json.dumps({"said": value})),
    "in a query": lambda value: f"https://x.test/?q={quote_plus(value)}",
    "in a path": lambda value: f"https://x.test/{quote(value, safe='')}",
    "in lower hex": lambda value: "".join(
        f"%{byte:02x}" if not chr(byte).isalnum() else chr(byte) for byte in value.encode()
    ),
    "in HTML": lambda value: f"<p>{html.escape(value)}</p>",
    "as Basic": lambda value: f"Basic {base64.b64encode(f'somebody:{value}'.encode()).decode()}",
    "in a URL within a URL": lambda value: (
        f"https://x.test/?to={quote(f'https://y.test/?q={quote_plus(value)}', safe='')}"
    ),
    "as JSON in base64": lambda value: base64.b64encode(json.dumps({"said": value}).encode()).decode(),
    "as a client's secret": lambda value: base64.b64encode(f"id:{quote_plus(value)}".encode()).decode(),
    "as base64 in a URL": lambda value: quote(base64.b64encode(value.encode()).decode(), safe=""),
    "in HTML in JSON": lambda value: json.dumps({"page": f"<p>{html.escape(value)}</p>"}),
    "as Python shows it": lambda value: repr({"said": value}),
    "as URL-safe base64": lambda value: base64.urlsafe_b64encode(f"u:{value};".encode()).decode(),
}


@pytest.mark.parametrize("how", ECHOES)
def test_a_secret_is_found_however_it_was_escaped(how: str) -> None:
    """Measured: a value with a quote or a backslash used to survive JSON-escaped in the HAR."""
    echoed = ECHOES[how](SECRET)
    cleaned = Redactor(values=[SECRET]).exchange(answered(echoed.encode())).body.decode()
    assert PLACEHOLDER in cleaned
    assert not [form for form in spellings(SECRET) if form in cleaned]


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40),
    st.sampled_from(sorted(ECHOES)),
)
def test_no_printable_token_survives_any_of_these_escapes(secret: str, how: str) -> None:
    echoed = ECHOES[how](secret)
    cleaned = Redactor(values=[secret]).data(echoed.encode()).decode()
    assert PLACEHOLDER in cleaned and echoed != cleaned


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40),
    st.binary(max_size=7),
    st.binary(max_size=7),
)
def test_base64_that_held_a_secret_is_base64_still(secret: str, before: bytes, after: bytes) -> None:
    """Measured: an agent that echoed a token in a raw part was blamed offline for base64 that was right live (R5)."""
    echoed = base64.b64encode(before + secret.encode() + after)
    cleaned = Redactor(values=[secret]).data(echoed)
    assert cleaned != echoed and base64.b64decode(cleaned, validate=True) is not None


def test_a_secret_that_a_sentence_cut_is_found() -> None:
    """Measured: of a key of 108 characters a finding, the records and the page showed the first 80."""
    secret = "".join(f"{number:04}" for number in range(1, 28))
    redactor = Redactor(values=[secret])
    for echoed in (secret, json.dumps(secret), base64.b64encode(f"me:{secret}".encode()).decode()):
        for cut in (30, 80):
            shown = redactor.text(f"the agent says {quoted(echoed, cut)}, and {quoted(echoed, cut)}")
            assert shown.count(PLACEHOLDER) == 2 and echoed[15:25] not in shown
    assert redactor.text("0001000200030") == "0001000200030"


def test_what_a_watched_client_sent_as_a_credential_is_learned() -> None:
    """Nobody told the lab this token; it travelled as one, and the agent echoes it in a body."""
    asked = answered(
        b'{"message":"no such user for opaque-token-77"}',
        url="https://agent.example.test/rpc?api_key=key-in-the-url",
        request_headers=[("Authorization", "Bearer opaque-token-77"), ("Cookie", "sid=session-4711; theme=dark")],
    )
    redactor = Redactor()
    redactor.learn([asked])
    shown = redactor.exchange(asked)
    assert b"opaque" not in shown.body and "key-in-the-url" not in shown.url
    assert (
        redactor.text("sid session-4711, theme dark, key-in-the-url") == f"sid {PLACEHOLDER}, theme dark, {PLACEHOLDER}"
    )


def test_a_key_in_a_typed_url_is_a_secret_wherever_it_turns_up() -> None:
    redactor = Redactor(urls=["https://a.test/?api_key=k%2Fe%2Fy-1234&page=2"])
    assert redactor.text("k/e/y-1234 and k%2Fe%2Fy-1234 and 2") == f"{PLACEHOLDER} and {PLACEHOLDER} and 2"


def test_a_fault_and_the_name_of_a_header_hold_no_secret() -> None:
    """Measured: an agent that put a token where no header can stand had it quoted, in evidence, page and ticket."""
    asked = answered(
        b"",
        fault=f"malformed: illegal header line: bytearray(b'{SECRET[:9]}')",
        response_headers=[("X-key-4711-0815", "1")],
    )
    shown = Redactor(values=[SECRET[:9], "key-4711-0815"]).exchange(asked)
    assert shown.fault == f"malformed: illegal header line: bytearray(b'{PLACEHOLDER}')"
    assert shown.response_headers == [(f"X-{PLACEHOLDER}", "1")]
    assert Redactor(values=[SECRET]).exchange(answered(b"")).fault is None


def test_findings_quote_no_secret() -> None:
    finding = Finding(
        slug="x",
        stage=Stage.RPC,
        verdict=Verdict.HINT,
        kind=Kind.NOTE,
        judge=Judge.POLICY,
        rule="R38",
        clause=None,
        detail=f"the agent says {SECRET}",
        values={"found": [SECRET, {"deep": SECRET}]},
    )
    shown = Redactor(values=[SECRET]).finding(finding)
    assert SECRET not in json.dumps(shown.as_json()) and json.dumps(SECRET)[1:-1] not in json.dumps(shown.as_json())
    assert shown.slug == "x" and shown.values["found"][1] == {"deep": PLACEHOLDER}


def test_the_body_of_a_card_stays_whatever_it_holds() -> None:
    """A digest must be recomputable from the evidence."""
    body = json.dumps(card("https://agent.example.test/rpc") | {"token": "abcd", "description": SECRET}).encode()
    for purpose in ("card:hint", ""):
        asked = answered(body, method="GET", url=CARD_URL, purpose=purpose)
        assert Redactor(values=[SECRET]).exchange(asked).body == body


def test_a_login_page_in_place_of_a_card_is_no_card() -> None:
    """Measured: it was kept raw. Its tokens go, and of a long page only the beginning is kept."""
    page = (
        b'<html><form action="/sso?code=abc&amp;state=xyz"><input type="hidden" name="csrf" value="c-123">'
        b"hello " + SECRET.encode() + b"</form>" + b"x" * 100_000
    )
    shown = Redactor(values=[SECRET]).exchange(answered(page, method="GET", url=CARD_URL, purpose="card:hint")).body
    assert shown.startswith(b"<html><form") and len(shown) < 17_000 and b"more bytes, of no card" in shown
    assert not [part for part in (b"c-123", b"code=abc", b"state=xyz", SECRET.encode()) if part in shown]


def test_json_in_place_of_a_card_is_masked_as_any_body() -> None:
    body = b'{"error":"login","access_token":"abcdef"}'
    shown = Redactor().exchange(answered(body, method="GET", url=CARD_URL, purpose="card:hint")).body
    assert shown == b'{"error":"login","access_token":"REDACTED"}'


def test_words_of_the_lab_are_nobodys_secret() -> None:
    assert Redactor(values=["accept"]).value({"accept": Verdict.ACCEPT}) == {"accept": Verdict.ACCEPT}


def test_a_client_with_a_new_token_for_each_call_costs_no_hours() -> None:
    asked = [
        answered(b"x" * 2000, request_headers=[("Authorization", f"Bearer token-of-call-{number:05}")])
        for number in range(2000)
    ]
    redactor, began = Redactor(), time.process_time()
    redactor.learn(asked)
    shown = [redactor.exchange(one) for one in asked]
    assert time.process_time() - began < 20
    assert not [one for one in shown if "token-of-call" in str(one.request_headers)]

"""Credentials of an agent that is not ours, over real sockets: renewed, sent to their origin alone, shown nowhere.

Issue 4, item 6; R38, D8. Each file is checked as an operator would check it.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.api import check_agent
from a2a_lab.lab.check import CheckResult
from a2a_lab.net.evidence import read_har
from a2a_lab.net.spellings import spellings
from a2a_lab.wire.exchange import RENEWED
from tests.lab.plain import CARD, Asked, Says, agent, card, says_json, serving
from tests.live.servers import Door, both, oauth, tokens, vendor_file

SECRET = "s3cret/with+signs"


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_ID", "lab")
    monkeypatch.setenv("LAB_SECRET", SECRET)
    monkeypatch.setenv("LAB_CARD", "card-token-1")
    monkeypatch.setenv("LAB_CALLS", "calls-token-1")


def checked(file: Path, **options: Any) -> CheckResult:
    return check_agent(str(file), out=str(file.parent / "runs"), **options)


def kept(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (folder / "runs").rglob("*") if path.is_file())


def shown(result: CheckResult) -> str:
    return json.dumps(result.as_json()) + result.said + json.dumps(dict(result.card))


# ---- client credentials ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client_auth", ["basic", "post"])
def test_a_token_is_asked_for_once_and_carried_by_every_call(tmp_path: Path, client_auth: str) -> None:
    """RFC 6749 4.4 and 2.3.1: the client's secret stands in a header, or in the form, and nowhere else."""
    with both(Door()) as (one, server):
        file = vendor_file(tmp_path, one.url, oauth(server.url, client_auth=client_auth, scope="a2a", audience="agent"))
        result = checked(file, send=True)
    assert (result.verdict.value, result.exit_code, result.measures["delivered"]) == ("accept", 0, True)
    assert {one.headers["authorization"] for one in one.asked if one.method == "POST"} == {"Bearer token-1"}
    (asked,) = server.asked
    form = asked.body.decode()
    assert "grant_type=client_credentials" in form and "scope=a2a" in form and "audience=agent" in form
    in_header = "authorization" in asked.headers
    assert in_header is (client_auth == "basic") and ("client_secret=" in form) is not in_header


def test_neither_token_nor_secret_is_stored_or_shown(tmp_path: Path) -> None:
    with both(Door()) as (one, server):
        inner = one.answer

        def echo(asked: Asked) -> Says:
            says = inner(asked)
            told = asked.headers.get("authorization", "").encode()
            return Says(status=says.status, headers=says.headers, body=says.body.replace(b"done", told or b"done"))

        one.answer = echo
        result = checked(vendor_file(tmp_path, one.url, oauth(server.url)), send=True)
    assert result.verdict.value == "accept"
    basic = base64.b64encode(f"lab:{SECRET}".encode()).decode()
    for secret in ("token-1", SECRET, basic):
        for form in spellings(secret):
            assert form.encode() not in kept(tmp_path) and form not in shown(result), secret


def test_a_token_is_renewed_at_four_fifths_of_its_life(tmp_path: Path) -> None:
    with both(Door(), tokens(expires_in=0)) as (one, server):
        result = checked(vendor_file(tmp_path, one.url, oauth(server.url)), send=True)
    carried = [one.headers["authorization"] for one in one.asked if one.method == "POST"]
    assert result.verdict.value == "accept" and len(set(carried)) == len(carried) > 1, "each call had a new one"


@pytest.mark.parametrize("stated", [{}, {"expires_in": "soon"}, {"expires_in": True}, {"expires_in": 10**400}])
def test_a_life_that_is_not_stated_is_no_life_of_zero(tmp_path: Path, stated: dict[str, Any]) -> None:
    with both(Door(), tokens(**stated)) as (one, server):
        assert checked(vendor_file(tmp_path, one.url, oauth(server.url)), send=True).verdict.value == "accept"
        assert len(server.asked) == 1


def test_a_token_that_is_refused_once_is_renewed_and_the_call_repeated(tmp_path: Path) -> None:
    """The refused request stands in the evidence under its own purpose, and says nothing about the agent."""
    door = Door(good=lambda token: token == "token-2")
    with both(door) as (one, server):
        result = checked(vendor_file(tmp_path, one.url, oauth(server.url)), send=True)
    assert (result.verdict.value, result.measures["delivered"]) == ("accept", True)
    assert door.refused == ["token-1"] and len(server.asked) == 2
    exchanges = read_har(Path(result.evidence))
    assert [one.status for one in exchanges if one.purpose == RENEWED] == [401]
    sent = [json.loads(one.body)["params"]["message"]["messageId"] for one in one.asked if b"SendMessage" in one.body]
    assert sent[0] == sent[1] and len(set(sent)) == len(sent) - 1, "the same message, which had started nothing"


def test_a_token_that_is_refused_for_ever_is_not_the_vendors_fault(tmp_path: Path) -> None:
    door = Door(good=lambda _: False)
    with both(door) as (one, server):
        result = checked(vendor_file(tmp_path, one.url, oauth(server.url)), send=True)
    assert (result.verdict.value, result.exit_code) == ("auth-needed", 2)
    assert door.refused == ["token-1", "token-2"] and len(server.asked) == 2, "once, and not for ever"


@pytest.mark.parametrize(("where", "stage"), [("card", "fetch"), ("calls", "probe")])
def test_a_refused_credential_does_not_read_as_a_missing_one(tmp_path: Path, where: str, stage: str) -> None:
    """Measured: with a wrong token a check said "give credentials for this origin", which were given."""
    lines = ["[auth]", 'kind = "static"', 'bearer_env = "LAB_CARD"']
    with both(Door(good=lambda _: False), cards_too=where == "card") as (one, _):
        result = checked(vendor_file(tmp_path, one.url, *lines), send=True)
        without = check_agent(one.url, send=True, out=str(tmp_path / "runs"))
        apart = check_agent(
            one.url, send=True, out=str(tmp_path / "runs"), bearer_env="LAB_CALLS", send_credentials_with="card"
        )
    assert (result.verdict.value, result.exit_code) == ("auth-needed", 2)
    assert "the credentials from LAB_CARD were sent and refused" in result.said
    assert "the credentials from LAB_CARD were sent and refused" in json.dumps(result.as_json())
    assert "give credentials" not in shown(result) and "card-token-1" not in shown(result)
    assert "give credentials for this origin" in without.said and "refused" not in without.said
    said = "from LAB_CALLS were sent and refused" if where == "card" else "give credentials for this origin"
    assert said in apart.said


def test_a_protected_card_is_fetched_with_a_token_as_well(tmp_path: Path) -> None:
    with both(Door(), cards_too=True) as (one, server):
        assert checked(vendor_file(tmp_path, one.url, oauth(server.url))).verdict.value == "accept"
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Says(status=401, body=b'{"error":"invalid_client"}'), "answered 401 'invalid_client'"),
        (Says(status=500, body=b"<html>"), "answered 500"),
        (Says(body=b"<html>login</html>"), "answered 200 without an access_token"),
        (Says(body=b'{"access_token":"a\\nb"}'), "that a header cannot carry"),
        (Says(body=b'{"access_token":"token-\\ud800"}'), "that a header cannot carry"),
        (Says(body=b'{"access_token":"abcd","token_type":"DPoP"}'), "token of type 'DPoP'"),
        (Says(status=302, headers={"Location": "http://127.0.0.1:9/"}), "answered 302"),
        (Says(body=b"x" * 70_000), "gave no whole answer (limit: body_bytes 65536)"),
    ],
    ids=["refused", "broken", "html", "line break", "surrogate", "other type", "redirect", "large"],
)
def test_where_no_token_can_be_had_nothing_is_sent_and_the_reason_is_said(
    tmp_path: Path, answer: Says, said: str
) -> None:
    with both(Door(), lambda _: answer) as (one, server):
        result = checked(vendor_file(tmp_path, one.url, oauth(server.url)), send=True)
    assert (result.verdict.value, result.exit_code) == ("auth-needed", 2)
    assert said in result.said and "127.0.0.1" in result.said and SECRET not in result.said
    assert not [asked for asked in one.asked if asked.method == "POST"] and len(server.asked) == 1


def test_a_token_server_that_is_away_is_said(tmp_path: Path) -> None:
    with serving(agent()) as one:
        result = checked(vendor_file(tmp_path, one.url, oauth("http://127.0.0.1:9")), send=True)
    assert result.verdict.value == "auth-needed" and "http://127.0.0.1:9 gave no whole answer (connect" in result.said


def test_a_token_host_that_is_not_allowed_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with both(Door()) as (one, server):
        lines = oauth(server.url).replace('["127.0.0.1"]', '["login.example"]')
        with pytest.raises(Misuse, match=r"helpdesk.toml.auth.allow_token_host: .*with '127.0.0.1': the host of token"):
            checked(vendor_file(tmp_path, one.url, lines))
    assert one.asked == [] == server.asked


# ---- to their origin alone -------------------------------------------------------------------------------------------


def test_cards_and_calls_carry_each_their_own(tmp_path: Path) -> None:
    lines = (
        '[auth.card]\nkind = "static"\nbearer_env = "LAB_CARD"\n[auth.calls]\nkind = "static"\nbearer_env = "LAB_CALLS"'
    )
    with serving(agent()) as one:
        assert checked(vendor_file(tmp_path, one.url, lines), send=True).verdict.value == "accept"
    carried = {(asked.method, asked.headers.get("authorization")) for asked in one.asked}
    assert carried == {("GET", "Bearer card-token-1"), ("POST", "Bearer calls-token-1")}


def test_the_card_on_another_origin_gets_its_own_and_the_calls_theirs(tmp_path: Path) -> None:
    """D8: each goes to the origin that the file names for it, and to no other."""
    with serving(agent()) as calls:
        document = card(f"{calls.url}/rpc")
        with serving(lambda asked: says_json(document) if asked.path == CARD else Says(status=404)) as cards:
            lines = (
                f'card_url = "{cards.url}{CARD}"\n[auth.card]\nkind = "static"\nbearer_env = "LAB_CARD"\n'
                '[auth.calls]\nkind = "static"\nbearer_env = "LAB_CALLS"'
            )
            result = checked(vendor_file(tmp_path, calls.url, lines), send=True)
    assert result.verdict.value == "accept"
    assert {asked.headers.get("authorization") for asked in cards.asked} == {"Bearer card-token-1"}
    carried = {(asked.method, asked.headers.get("authorization")) for asked in calls.asked}
    assert carried == {("POST", "Bearer calls-token-1"), ("GET", None)}, "a look for a union card carries nothing"


def test_no_token_goes_where_the_card_leads_to(tmp_path: Path) -> None:
    with serving(agent()) as other, both(Door()) as (one, server):
        inner = one.answer
        one.answer = lambda asked: says_json(card(f"{other.url}/rpc")) if asked.path == CARD else inner(asked)
        result = checked(vendor_file(tmp_path, one.url, oauth(server.url)), send=True)
    assert result.verdict.value == "refuse" and f"--allow-origin {other.url}" in result.said
    assert not [asked for asked in other.asked if "authorization" in asked.headers]


# ---- a program that prints them --------------------------------------------------------------------------------------


def helper(folder: Path, code: str, *lines: str) -> str:
    (folder / "helper.py").write_text(code)
    command = json.dumps([sys.executable, "helper.py"])
    return "\n".join(["[auth]", 'kind = "exec"', f"command = {command}", *lines])


@pytest.mark.parametrize(
    "printed",
    [
        {"headers": {"Authorization": "Bearer token-9"}, "expires_in": 60},
        {"headers": {"Authorization": "Bearer token-9"}, "expires_at": "2099-01-01T00:00:00Z"},
        {
            "kind": "ExecCredential",
            "apiVersion": "client.authentication.k8s.io/v1",
            "status": {"token": "token-9", "expirationTimestamp": "2099-01-01T00:00:00Z"},
        },
    ],
    ids=["seconds", "time", "kubectl"],
)
def test_a_program_prints_headers_and_how_long_they_hold(tmp_path: Path, printed: dict[str, Any]) -> None:
    with both(Door()) as (one, _):
        lines = helper(tmp_path, f"import json; open('ran', 'a').write('x'); print(json.dumps({printed!r}))")
        result = checked(vendor_file(tmp_path, one.url, lines), send=True)
    assert result.verdict.value == "accept" and (tmp_path / "ran").read_text() == "x", "once, in the file's folder"
    assert b"token-9" not in kept(tmp_path)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import time; time.sleep(60)", "did not end within 0.5 s"),
        ("import os, time; os.fork() or time.sleep(60)", "did not end within 0.5 s"),
        ("print('token: token-1')", "printed 15 bytes that are no JSON object"),
        ("print('[]')", "that are no JSON object"),
        ("print('{}')", "printed JSON without headers"),
        ('print(\'{"headers": {"Authorization": 5}}\')', "printed JSON without headers"),
        ('print(\'{"headers": {"X": "a\\\\nb"}}\')', "printed a header that HTTP cannot carry"),
        ('print(\'{"headers": {"Content-Length": "5"}}\')', "printed a header that HTTP cannot carry"),
        ('print(\'{"headers": {"X": "token-\\\\ud800"}}\')', "printed a header that HTTP cannot carry"),
        ("print('x' * 1_000_000)", "printed more than 65536 bytes"),
        ("import sys; print('s3cr3t', file=sys.stderr); sys.exit(3)", "ended with exit status 3"),
    ],
    ids=[
        "hangs",
        "child holds",
        "garbage",
        "list",
        "empty",
        "number",
        "line break",
        "framing",
        "surrogate",
        "megabyte",
        "fails",
    ],
)
def test_a_program_that_does_not_deliver_is_named_and_its_output_is_not(tmp_path: Path, code: str, said: str) -> None:
    began = time.monotonic()
    with both(Door()) as (one, _):
        lines = helper(tmp_path, code, "timeout_s = 0.5")
        result = checked(vendor_file(tmp_path, one.url, lines), send=True)
    assert (result.verdict.value, result.exit_code) == ("auth-needed", 2)
    assert said in result.said and "run it by hand" in result.said
    assert "s3cr3t" not in result.said and "token-1" not in result.said and time.monotonic() - began < 10
    assert not [asked for asked in one.asked if asked.method == "POST"]


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    lines = '[auth]\nkind = "exec"\ncommand = ["no-such-program-of-anybody"]'
    with serving(agent()) as one:
        result = checked(vendor_file(tmp_path, one.url, lines), send=True)
    assert "'no-such-program-of-anybody' could not be started: No such file or directory" in result.said


def test_a_program_is_run_again_once_where_its_headers_are_refused(tmp_path: Path) -> None:
    code = (
        "import json, pathlib\nfile = pathlib.Path('count')\n"
        "count = int(file.read_text()) + 1 if file.exists() else 1\nfile.write_text(str(count))\n"
        "print(json.dumps({'headers': {'Authorization': f'Bearer token-{count}'}}))"
    )
    door = Door(good=lambda token: token == "token-2")
    with both(door) as (one, _):
        result = checked(vendor_file(tmp_path, one.url, helper(tmp_path, code)), send=True)
    assert result.verdict.value == "accept" and door.refused == ["token-1"]
